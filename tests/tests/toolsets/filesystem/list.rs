//! `list_files`.

use std::fs;

use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn files_are_listed_in_order_relative_to_the_root() {
    let project = Project::new();
    for path in ["b.txt", "a/z.txt", "a/b/c.txt", ".hidden/d.txt", "a.txt"] {
        project.put(path, "");
    }
    fs::create_dir(project.root().join("empty")).unwrap();
    assert_eq!(project.list(".").await.unwrap(), ".hidden/d.txt\na/b/c.txt\na/z.txt\na.txt\nb.txt");
    assert_eq!(project.list("a").await.unwrap(), "a/b/c.txt\na/z.txt");
    assert_eq!(project.list("empty").await.unwrap(), "[no file found]");
    assert_eq!(fault(project.list("missing").await), "file not found: `missing`");
    assert_eq!(fault(project.list("a.txt").await), "not a folder: `a.txt`");
}

#[tokio::test]
async fn a_pattern_is_matched_below_the_folder() {
    let project = Project::new();
    for path in ["a.rs", "src/b.rs", "src/c/d.rs", "src/c/e.txt"] {
        project.put(path, "");
    }
    let matching = |path: &str, pattern: &str| {
        let arguments = json!({ "path": path, "pattern": pattern });
        let project = &project;
        async move { project.call("list_files", arguments).await }
    };
    assert_eq!(matching(".", "*.rs").await.unwrap(), "a.rs");
    assert_eq!(matching(".", "**/*.rs").await.unwrap(), "a.rs\nsrc/b.rs\nsrc/c/d.rs");
    assert_eq!(matching("src", "c/*").await.unwrap(), "src/c/d.rs\nsrc/c/e.txt");
    assert_eq!(matching(".", "**/*.{txt,md}").await.unwrap(), "src/c/e.txt");
    for pattern in ["../*", "/etc/*", "a/../../*", "..\\*"] {
        assert!(
            fault(matching(".", pattern).await).contains("patterns are matched against paths below `path`"),
            "{pattern}"
        );
    }
    assert!(fault(matching(".", "[").await).starts_with("invalid pattern `[`: "));
    assert_eq!(fault(matching(".", &"{a,".repeat(500)).await), "the pattern is longer than 1000 bytes");
}

#[tokio::test]
async fn ignored_files_are_left_out_unless_they_are_asked_for() {
    let project = Project::new();
    project.put(".gitignore", "target/\n*.log\n!keep.log\n/only_here\n");
    project.put(".ignore", "notes.md\n");
    project.put("src/.gitignore", "!b.log\n");
    let files = ["target/x", "a.log", "keep.log", "only_here", "src/only_here", "notes.md", "src/b.log", "src/c.log"];
    for path in files {
        project.put(path, "");
    }
    let shown = ".gitignore\n.ignore\nkeep.log\nsrc/.gitignore\nsrc/b.log\nsrc/only_here";
    assert_eq!(project.list(".").await.unwrap(), shown);
    assert_eq!(project.list("src").await.unwrap(), "src/.gitignore\nsrc/b.log\nsrc/only_here");
    let all = project.call("list_files", json!({ "include_ignored": true })).await.unwrap();
    assert_eq!(all.lines().count(), files.len() + 3);
    assert_eq!(project.list("target").await.unwrap(), "target/x", "a folder that is named itself is listed");
}

#[tokio::test]
async fn the_git_folder_is_not_listed() {
    let project = Project::new();
    project.put(".git/config", "");
    project.put("sub/.GIT/config", "");
    project.put("a.txt", "");
    let all = project.call("list_files", json!({ "include_ignored": true })).await.unwrap();
    assert_eq!(all, "a.txt");
}

#[tokio::test]
async fn a_page_names_both_counts_and_how_to_go_on() {
    let project = Project::new();
    (0..5).for_each(|number| project.put(format!("{number}.txt"), ""));
    let page = |offset, limit| project.call("list_files", json!({ "offset": offset, "limit": limit }));
    let first = "0.txt\n1.txt\n[files 1 to 2 of 5; to go on, set `offset` to 2]";
    assert_eq!(page(0, 2).await.unwrap(), first);
    assert_eq!(page(4, 2).await.unwrap(), "4.txt\n[files 5 to 5 of 5]");
    assert_eq!(page(9, 2).await.unwrap(), "[offset 9 is past the end: there are 5 files]");
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_listed_and_not_entered() {
    let project = Project::new();
    project.put("folder/a.txt", "");
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, project.root().join(name)).unwrap();
    link(".", "folder/loop");
    link("../outside", "out");
    assert_eq!(project.list(".").await.unwrap(), "folder/a.txt\nfolder/loop (symbolic link)\nout (symbolic link)");
}
