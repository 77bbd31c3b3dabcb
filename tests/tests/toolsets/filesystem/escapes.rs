//! Ways out of the root: each is refused, and nothing outside changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{Project, SECRET, fault};

/// Tries to read, list, search, write, edit, move and delete at `path`; returns the answers, errors included.
async fn attack(project: &Project, path: &str) -> Vec<String> {
    project.put("bait.txt", "bait");
    let beyond = format!("{path}/new.txt");
    let text = |result: Result<String, String>| result.unwrap_or_else(|error| error);
    vec![
        text(project.read(path).await),
        text(project.list(path).await),
        text(project.call("search_files", json!({ "path": path, "regex": "." })).await),
        text(project.write(path, "changed").await),
        text(project.write(&beyond, "changed").await),
        text(project.edit(path, SECRET, "changed").await),
        text(project.rename(path, "taken.txt").await),
        text(project.rename("bait.txt", path).await),
        text(project.rename("bait.txt", &beyond).await),
        text(project.delete(path).await),
        text(project.delete(&beyond).await),
    ]
}

/// Checks that no call at `path` reads or changes anything outside the root.
async fn assert_contained(project: &Project, path: &str) {
    let before = project.outside_state();
    let answers = attack(project, path).await;
    assert_eq!(project.outside_state(), before, "{path}");
    for answer in answers {
        assert!(!answer.contains(SECRET) && !answer.contains("deeper"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_path_with_dots_does_not_leave_the_root() {
    let project = Project::new();
    project.put("folder/a.txt", "");
    for path in [
        "..",
        "../",
        "../outside/secret.txt",
        "../outside",
        "folder/../../outside/secret.txt",
        "./../outside/secret.txt",
        "folder/./../../outside/secret.txt",
        "folder/../folder/../../outside",
        "folder//..//..//outside//secret.txt",
        "../project/../outside/secret.txt",
        "../../../../../../../../etc/passwd",
        "folder/a.txt/../../../outside/secret.txt",
        "missing/../../outside/secret.txt",
        "..\u{2f}outside/secret.txt",
    ] {
        assert_contained(&project, path).await;
        assert!(project.read(path).await.is_err(), "{path}");
    }
}

#[tokio::test]
async fn a_path_that_leaves_the_root_and_returns_is_refused() {
    let project = Project::new();
    project.put("a.txt", "");
    assert!(fault(project.read("../project/a.txt").await).contains("is outside the root folder"));
}

#[tokio::test]
async fn an_absolute_path_outside_is_refused() {
    let project = Project::new();
    let secret = project.outside().join("secret.txt");
    let sibling = format!("{}-other/a.txt", project.root().display());
    let dots = format!("{}/../outside/secret.txt", project.root().display());
    let paths = [
        secret.to_str().unwrap(),
        "/",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "/dev/null",
        &sibling,
        &dots,
    ];
    for path in paths {
        assert_contained(&project, path).await;
        assert!(fault(project.read(path).await).contains("is outside the root folder"), "{path}");
    }
}

#[tokio::test]
async fn a_symbolic_link_to_the_outside_is_not_followed() {
    let project = Project::new();
    project.put("folder/a.txt", "");
    let link = |target: &Path, name: &str| symlink(target, project.root().join(name)).unwrap();
    link(Path::new("../outside/secret.txt"), "relative");
    link(&project.outside().join("secret.txt"), "absolute");
    link(Path::new("../outside"), "folder_relative");
    link(&project.outside(), "folder_absolute");
    link(Path::new("folder_relative"), "twice");
    link(Path::new("../../outside/secret.txt"), "folder/deep");
    link(Path::new("folder/../../outside/secret.txt"), "dotted");
    link(Path::new("folder/../.."), "above");
    link(Path::new("/"), "slash");
    link(Path::new("/proc/self/root"), "magic");
    link(Path::new("/proc/self/cwd"), "cwd");
    link(Path::new("/dev/fd/0"), "descriptor");
    link(Path::new("../outside/new.txt"), "dangling");
    for path in [
        "relative",
        "absolute",
        "folder_relative",
        "folder_relative/secret.txt",
        "folder_absolute/secret.txt",
        "folder_absolute/deeper/secret.txt",
        "twice/secret.txt",
        "folder/deep",
        "dotted",
        "above/outside/secret.txt",
        "slash/etc/passwd",
        "magic/etc/passwd",
        "cwd/Cargo.toml",
        "descriptor",
        "dangling",
        "folder_relative/../outside/secret.txt",
    ] {
        assert!(project.read(path).await.is_err(), "{path}");
    }
    let names =
        ["relative", "absolute", "twice/secret.txt", "folder/deep", "above/outside", "dangling", "slash", "magic"];
    for path in names {
        // Moving or deleting the link itself stays inside, so it may succeed.
        assert_contained(&project, path).await;
    }
}

#[tokio::test]
async fn links_are_not_entered_by_lists_and_searches() {
    let project = Project::new();
    symlink("../outside", project.root().join("out")).unwrap();
    symlink("..", project.root().join("up")).unwrap();
    symlink("../outside/secret.txt", project.root().join("file")).unwrap();
    assert_eq!(project.list(".").await.unwrap(), "file (symbolic link)\nout (symbolic link)\nup (symbolic link)");
    assert_eq!(project.search("secret").await.unwrap(), "[no match found]");
}

#[tokio::test]
async fn an_ignore_file_that_is_a_link_is_not_read() {
    let project = Project::new();
    fs::write(project.outside().join("rules"), "a.txt\n").unwrap();
    symlink("../outside/rules", project.root().join(".gitignore")).unwrap();
    project.put("a.txt", "");
    assert!(project.list(".").await.unwrap().contains("a.txt"));
}

#[tokio::test]
async fn chains_and_loops_of_links_end() {
    let project = Project::new();
    let link = |target: String, name: String| symlink(target, project.root().join(name)).unwrap();
    link("loop".into(), "loop".into());
    link("two".into(), "one".into());
    link("one".into(), "two".into());
    (0..60).for_each(|number| link(format!("chain{}", number + 1), format!("chain{number}")));
    project.put("chain60", "end");
    project.put("folder/a.txt", "");
    link(".".into(), "folder/self".into());
    for path in
        ["loop", "one", "two/a", "chain0", "loop/../a.txt", &*("folder/".to_owned() + &"self/".repeat(50) + "a.txt")]
    {
        let text = fault(project.read(path).await);
        assert!(text.ends_with("leads through more than 40 symbolic links"), "{path}: {text}");
    }
    assert!(project.read("chain30").await.is_ok());
    // Each link doubles the path of the one before.
    link("x/../x/..".into(), "double0".into());
    fs::create_dir(project.root().join("x")).unwrap();
    (1..30).for_each(|n| link(format!("double{0}/double{0}", n - 1), format!("double{n}")));
    assert!(project.read("double29/a.txt").await.is_err());
}

#[tokio::test]
async fn a_link_inside_the_root_is_followed() {
    let project = Project::new();
    project.put("folder/a.txt", "one");
    symlink("folder", project.root().join("link")).unwrap();
    symlink("../folder/a.txt", project.root().join("folder/up_and_down")).unwrap();
    for path in ["link/a.txt", "folder/up_and_down", "link/../link/a.txt"] {
        assert_eq!(project.read(path).await.unwrap(), "     1\tone", "{path}");
    }
    // `..` behind a link leads to the folder that the link stands for, as in the system.
    assert_eq!(fault(project.read("link/../../outside/secret.txt").await).matches("outside the root").count(), 1);
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let project = Project::new();
    let root = project.root();
    assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
    let _listener = UnixListener::bind(root.join("socket")).unwrap();
    symlink("pipe", root.join("link")).unwrap();
    for (path, name) in [("pipe", "pipe"), ("socket", "socket"), ("link", "pipe")] {
        let special = format!("not a file: `{name}` is a pipe, a socket or a device");
        assert_eq!(fault(project.read(path).await), special);
        assert_eq!(fault(project.write(path, "x").await), special);
        assert_eq!(fault(project.edit(path, "x", "y").await), special);
    }
    for path in ["pipe", "socket"] {
        assert!(fault(project.delete(path).await).starts_with("not a file: "));
        assert!(fault(project.rename(path, "other").await).starts_with("not a file: "));
    }
    assert_eq!(project.list(".").await.unwrap(), "link (symbolic link)", "special files are not listed");
    assert_eq!(project.search(".").await.unwrap(), "[no match found]");
    for device in ["/dev/zero", "/dev/tty"] {
        symlink(device, root.join("device")).unwrap();
        assert!(fault(project.read("device").await).contains("is outside the root folder"));
        fs::remove_file(root.join("device")).unwrap();
    }
}

#[tokio::test]
async fn a_huge_sparse_file_is_refused_without_reading_it() {
    let project = Project::new();
    let file = fs::File::create(project.root().join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(fault(project.read("huge").await).starts_with("`huge` has 1099511627776 bytes; the maximum is 10485760"));
    assert_eq!(project.search("x").await.unwrap(), "[no match found]\n[1 file not searched: too large]");
    let shown = project.edit("huge", "x", "y").await;
    assert!(fault(shown).starts_with("`huge` has 1099511627776 bytes"));
}

#[tokio::test]
async fn a_write_does_not_reach_a_hard_link_of_the_file() {
    let project = Project::new();
    fs::hard_link(project.outside().join("secret.txt"), project.root().join("linked.txt")).unwrap();
    project.write("linked.txt", "changed").await.unwrap();
    project.edit("linked.txt", "changed", "again").await.unwrap();
    assert_eq!(fs::read_to_string(project.outside().join("secret.txt")).unwrap(), SECRET);
}

#[tokio::test]
async fn an_error_names_no_path_outside_the_root() {
    let project = Project::new();
    symlink(project.outside().join("secret.txt"), project.root().join("link")).unwrap();
    let text = project.read("link").await.unwrap_err();
    assert!(!text.contains(project.outer.path().to_str().unwrap()), "{text}");
    let text = project.read("missing/file").await.unwrap_err();
    assert!(!text.contains(project.outer.path().to_str().unwrap()), "{text}");
}

#[tokio::test]
async fn a_deep_tree_ends_a_walk_and_not_the_process() {
    let project = Project::new();
    let mut path = project.root();
    for _ in 0..150 {
        path.push("d");
        fs::create_dir(&path).unwrap();
    }
    fs::write(path.join("a.txt"), "x").unwrap();
    assert_eq!(project.list(".").await.unwrap(), "[no file found]\n[1 folder could not be read]");
}
