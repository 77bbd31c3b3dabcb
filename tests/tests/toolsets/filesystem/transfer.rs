//! `move_file` and `delete_file`.

use super::{Project, fault};

#[tokio::test]
async fn a_file_is_moved_with_missing_folders_created() {
    let project = Project::new();
    project.put("a.txt", "one");
    assert_eq!(project.rename("a.txt", "b/c/d.txt").await.unwrap(), "moved `a.txt` to `b/c/d.txt`");
    assert_eq!(project.content("b/c/d.txt"), "one");
    assert!(!project.has("a.txt"));
}

#[tokio::test]
async fn a_move_replaces_nothing() {
    let project = Project::new();
    project.put("a.txt", "one");
    project.put("b.txt", "two");
    project.put("folder/c.txt", "three");
    let exists = |name: &str| format!("`{name}` already exists; delete it first, or choose another path");
    assert_eq!(fault(project.rename("a.txt", "b.txt").await), exists("b.txt"));
    assert_eq!(fault(project.rename("a.txt", "folder").await), exists("folder"));
    assert_eq!(fault(project.rename("a.txt", "a.txt").await), exists("a.txt"));
    assert_eq!((project.content("a.txt"), project.content("b.txt")), ("one".into(), "two".into()));
}

#[tokio::test]
async fn only_files_are_moved_and_deleted() {
    let project = Project::new();
    project.put("folder/a.txt", "one");
    for failed in [
        project.rename("folder", "other").await,
        project.rename(".", "other").await,
        project.delete("folder").await,
        project.delete(".").await,
        project.delete("folder/..").await,
        project.delete("folder/.").await,
    ] {
        let text = fault(failed);
        assert!(text.starts_with("not a file: ") && text.ends_with(" is a folder"), "{text}");
    }
    assert_eq!(fault(project.rename("missing", "other").await), "file not found: `missing`");
    assert_eq!(fault(project.delete("missing").await), "file not found: `missing`");
    assert_eq!(project.content("folder/a.txt"), "one");
}

#[tokio::test]
async fn a_file_is_deleted() {
    let project = Project::new();
    project.put("a.txt", "one");
    assert_eq!(project.delete("a.txt").await.unwrap(), "deleted `a.txt`");
    assert!(!project.has("a.txt"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_moved_and_deleted_itself() {
    let project = Project::new();
    project.put("a.txt", "one");
    std::os::unix::fs::symlink("a.txt", project.root().join("link")).unwrap();
    project.rename("link", "other").await.unwrap();
    assert_eq!(project.delete("other").await.unwrap(), "deleted the symbolic link `other`");
    assert_eq!(project.content("a.txt"), "one");
}
