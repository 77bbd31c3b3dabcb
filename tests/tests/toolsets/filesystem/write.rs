//! `write_file`.

use std::fs;

use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn a_file_is_created_with_its_folders_or_replaced() {
    let project = Project::new();
    assert_eq!(project.write("a/b/c.txt", "one\ntwo\n").await.unwrap(), "created `a/b/c.txt`: 2 lines, 8 bytes");
    assert_eq!(project.write("a/b/c.txt", "ä\n").await.unwrap(), "replaced `a/b/c.txt`: 1 line, 3 bytes");
    assert_eq!(project.content("a/b/c.txt"), "ä\n");
}

#[tokio::test]
async fn all_missing_folders_are_created_or_none() {
    let project = Project::new();
    let deep = "a/".repeat(200);
    project.write(&format!("{deep}b.txt"), "one").await.unwrap();
    assert_eq!(project.read(&format!("{deep}b.txt")).await.unwrap(), "     1\tone");
    for path in ["new/a\nb/c.txt", "new/../c.txt", "new/folder/.git/c.txt", "new/\u{200b}"] {
        assert!(project.write(path, "").await.is_err(), "{path}");
        assert!(!project.has("new"), "{path}");
    }
}

#[tokio::test]
async fn nothing_but_the_file_is_left_in_its_folder() {
    let project = Project::new();
    project.write("a.txt", "one").await.unwrap();
    project.write("a.txt", "two").await.unwrap();
    project.write(".", "three").await.unwrap_err();
    let names: Vec<_> = fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.txt"]);
}

#[tokio::test]
async fn what_reading_hides_of_a_replaced_file_stays() {
    let project = Project::new();
    for (before, given, after) in [
        ("\u{feff}one\r\ntwo\r\n", "1\n2\n3\n", "\u{feff}1\r\n2\r\n3\r\n"),
        ("one\r\ntwo", "1\n2\n", "1\r\n2"),
        ("one\ntwo\n", "1\n2", "1\n2\n"),
        ("one\r\ntwo\nthree\r\n", "zero\none\ntwo\n3\n", "zero\r\none\r\ntwo\n3\r\n"),
        ("one\n", "1\r\n2\r\n", "1\r\n2\r\n"),
        ("", "1\n2", "1\n2"),
        ("one\n", "", ""),
    ] {
        project.put("a.txt", before);
        project.write("a.txt", given).await.unwrap();
        assert_eq!(project.content("a.txt"), after, "{before:?} {given:?}");
    }
}

#[tokio::test]
async fn the_answer_names_what_was_kept_of_a_replaced_file() {
    let project = Project::new();
    project.put("a.txt", "\u{feff}one\r\n");
    let kept = "replaced `a.txt`: 2 lines, 9 bytes; kept from the old file: the byte order mark, `\\r\\n` line ends, the line break at \
                the end";
    assert_eq!(project.write("a.txt", "1\n2").await.unwrap(), kept);
}

#[tokio::test]
async fn a_text_that_is_read_and_written_again_leaves_the_file_as_it_was() {
    let project = Project::new();
    for before in ["\u{feff}one\r\ntwo\nthree\r\n\n\r\n\nend", "a\r\n\r\n", "\u{feff}", "a", "\r\n"] {
        project.put("a.txt", before);
        let shown = before.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        project.write("a.txt", &shown).await.unwrap();
        assert_eq!(project.content("a.txt"), before, "{before:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_permissions_of_a_file_stay_but_not_special_bits() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    let mode = |path: &str| project.root().join(path).metadata().unwrap().permissions().mode() & 0o7777;
    for (before, after) in [(0o640, 0o640), (0o755, 0o755), (0o4711, 0o711), (0o600, 0o600)] {
        project.put("a.sh", "one");
        fs::set_permissions(project.root().join("a.sh"), fs::Permissions::from_mode(before)).unwrap();
        project.write("a.sh", "two").await.unwrap();
        assert_eq!(mode("a.sh"), after, "{before:o}");
        project.edit("a.sh", "two", "three").await.unwrap();
        assert_eq!(mode("a.sh"), after, "{before:o}");
    }
    project.write("new.txt", "").await.unwrap();
    project.put("other.txt", "");
    assert_eq!(mode("new.txt"), mode("other.txt"), "as any new file of the process");
}

#[tokio::test]
async fn a_read_only_file_is_not_replaced() {
    let project = Project::new();
    project.put("a.txt", "one");
    let path = project.root().join("a.txt");
    let mut permissions = path.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    assert_eq!(fault(project.write("a.txt", "two").await), "`a.txt` is a read-only file");
    assert_eq!(fault(project.edit("a.txt", "one", "two").await), "`a.txt` is a read-only file");
    assert_eq!(project.content("a.txt"), "one");
}

#[cfg(unix)]
#[tokio::test]
async fn a_reader_sees_the_old_content_or_the_new() {
    let project = Project::new();
    project.put("a.txt", "x".repeat(200_000));
    let path = project.root().join("a.txt");
    let reader = std::thread::spawn(move || {
        let whole = |text: &[u8]| text.len() == 200_000 && text.iter().all(|byte| *byte == text[0]);
        (0..2000).all(|_| whole(&fs::read(&path).unwrap()))
    });
    while !reader.is_finished() {
        for text in ["y", "x"] {
            project.write("a.txt", &text.repeat(200_000)).await.unwrap();
        }
    }
    assert!(reader.join().unwrap());
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_inside_the_root_stays_and_its_target_is_written() {
    let project = Project::new();
    project.put("folder/a.txt", "one");
    std::os::unix::fs::symlink("folder/a.txt", project.root().join("link")).unwrap();
    assert_eq!(project.write("link", "two").await.unwrap(), "replaced `folder/a.txt`: 1 line, 3 bytes");
    assert_eq!(project.content("folder/a.txt"), "two");
    assert!(project.root().join("link").is_symlink());
}

#[tokio::test]
async fn a_folder_is_not_replaced() {
    let project = Project::new();
    project.put("folder/a.txt", "");
    assert_eq!(fault(project.write("folder", "").await), "not a file: `folder` is a folder");
    assert_eq!(fault(project.write("folder/a.txt/b", "").await), "not a folder: `folder/a.txt`");
}

#[tokio::test]
async fn concurrent_edits_of_one_file_are_all_applied() {
    let project = Project::new();
    let lines: Vec<_> = (0..20).map(|line| format!("<{line}>")).collect();
    project.put("a.txt", lines.join("\n"));
    let edit = |line: usize| {
        let runtime = project.runtime.clone();
        let arguments = json!({ "path": "a.txt", "old_text": format!("<{line}>"), "new_text": format!("[{line}]") });
        tokio::spawn(async move { runtime.run_named("project_edit_file", arguments).await.map(drop) })
    };
    for edited in (0..20).map(edit).collect::<Vec<_>>() {
        edited.await.unwrap().unwrap();
    }
    let expected: Vec<_> = (0..20).map(|line| format!("[{line}]")).collect();
    assert_eq!(project.content("a.txt"), expected.join("\n"));
}
