//! Hard names and paths, on every system.

use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn invalid_paths_are_refused() {
    let project = Project::new();
    let nul = "invalid path `a\\u{0}b`: it contains a NUL character";
    let long = "the path is too long: at most 4096 bytes and 256 names";
    let home = "`~` in `~/.ssh/id_rsa` is not expanded; give a path relative to the root";
    for (path, expected) in [
        ("", "empty path; the root folder is `.`"),
        ("a\0b", nul),
        (&*"a/".repeat(300), long),
        (&*"../".repeat(300), long),
        (&*"a".repeat(5000), long),
        ("~/.ssh/id_rsa", home),
    ] {
        assert_eq!(fault(project.read(path).await), expected);
        assert_eq!(fault(project.write(path, "x").await), expected);
        assert_eq!(fault(project.list(path).await), expected);
        assert_eq!(fault(project.delete(path).await), expected);
    }
    assert!(fault(project.write("~", "x").await).contains("is not expanded"));
    assert!(project.has(".") && !project.has("~"));
}

#[tokio::test]
async fn no_name_with_characters_that_cannot_be_seen_is_created() {
    let project = Project::new();
    project.put("a.txt", "");
    for name in ["a\nb", "a\u{202e}txt.exe", "a\u{200b}", "\u{1b}[2J", " a", "a ", "folder\n/a.txt", "\u{feff}", "a\tb"]
    {
        assert!(fault(project.write(name, "x").await).starts_with("invalid name "), "{name:?}");
        assert!(fault(project.rename("a.txt", name).await).starts_with("invalid name "), "{name:?}");
        assert!(!project.has(name), "{name:?}");
    }
}

#[tokio::test]
async fn names_of_any_language_are_kept_as_they_are() {
    let project = Project::new();
    // The last two look alike: composed, and decomposed.
    for name in ["übung.txt", "日本語/メモ.txt", "👩‍👩‍👧.txt", "-rf", "a b.txt", "$HOME", "*", "caf\u{e9}", "cafe\u{301}"]
    {
        project.write(name, name).await.unwrap();
        assert_eq!(project.read(name).await.unwrap(), format!("     1\t{name}"));
    }
    if cfg!(target_os = "linux") {
        assert_eq!(project.content("caf\u{e9}"), "caf\u{e9}", "not normalized");
    }
}

#[tokio::test]
async fn look_alikes_of_dots_and_slashes_are_plain_characters() {
    let project = Project::new();
    for name in ["．．", "‥", "a／b", "..／outside", "%2e%2e%2foutside", "..%2foutside", "…"] {
        project.write(name, "inside").await.unwrap();
        assert!(project.has(name), "{name}");
    }
    assert_eq!(project.outside_state().len(), 4);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn names_that_cannot_be_seen_are_listed_so_that_they_can_be_written_as_json() {
    use std::os::unix::ffi::OsStrExt;

    let project = Project::new();
    project.put("a\n[fake line]", "one");
    project.put(std::ffi::OsStr::from_bytes(b"caf\xe9"), "two");
    project.put(" \u{202e}", "three");
    let listed = project.list(".").await.unwrap();
    assert_eq!(listed, "\" \u{202e}\"\n\"a\\n[fake line]\"\n[1 file not listed: the name is not UTF-8]");
    assert_eq!(project.read("a\n[fake line]").await.unwrap(), "     1\tone");
    assert_eq!(project.delete("a\n[fake line]").await.unwrap(), "deleted `a\\n[fake line]`");
}

#[tokio::test]
async fn arguments_beyond_their_limits_are_refused() {
    let project = Project::new();
    project.put("a.txt", "x");
    for (tool, arguments) in [
        ("read_file", json!({ "path": "a.txt", "offset": 0 })),
        ("read_file", json!({ "path": "a.txt", "offset": -1 })),
        ("read_file", json!({ "path": "a.txt", "max_chars": 1e12 })),
        ("read_file", json!({ "path": ["a.txt"] })),
        ("list_files", json!({ "limit": 100_000 })),
        ("search_files", json!({ "regex": "x", "context": 1000 })),
        ("write_file", json!({ "path": "a.txt" })),
    ] {
        let text = project.call(tool, arguments.clone()).await.unwrap_err();
        assert!(text.starts_with("invalid arguments for "), "{arguments}: {text}");
    }
}
