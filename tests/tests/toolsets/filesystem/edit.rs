//! `edit_file`.

use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn a_text_that_occurs_once_is_replaced() {
    let project = Project::new();
    project.put("a.rs", "fn a() {\n    1\n}\n");
    let done = project.edit("a.rs", "    1\n}", "    2\n}").await.unwrap();
    assert_eq!(done, "replaced 1 occurrence in `a.rs`, at line 2");
    assert_eq!(project.content("a.rs"), "fn a() {\n    2\n}\n");
}

#[tokio::test]
async fn a_text_that_occurs_several_times_needs_replace_all() {
    let project = Project::new();
    project.put("a.txt", "one\ntwo\none one\n");
    let several = "`old_text` occurs 3 times in `a.txt`, at lines 1, 3, 3; include more of the text around it, or set \
                   `replace_all`";
    assert_eq!(fault(project.edit("a.txt", "one", "1").await), several);
    assert_eq!(project.content("a.txt"), "one\ntwo\none one\n");
    let all = json!({ "path": "a.txt", "old_text": "one", "new_text": "1", "replace_all": true });
    let done = project.call("edit_file", all).await.unwrap();
    assert_eq!(done, "replaced 3 occurrences in `a.txt`, at lines 1, 3, 3");
    assert_eq!(project.content("a.txt"), "1\ntwo\n1 1\n");
}

#[tokio::test]
async fn a_text_that_is_missing_is_an_error_with_the_nearest_line() {
    let project = Project::new();
    project.put("a.py", "def a():\n\treturn 1\n");
    let nearest = "`old_text` was not found in `a.py`; a text that differs only in white space begins at line 1";
    assert_eq!(fault(project.edit("a.py", "def a():\n    return 1", "").await), nearest);
    let unknown =
        "`old_text` was not found in `a.py`; read the file again, and copy the text exactly, without line numbers";
    assert_eq!(fault(project.edit("a.py", "def b():", "").await), unknown);
    assert_eq!(fault(project.edit("a.py", "  ", "").await), unknown);
}

#[tokio::test]
async fn an_edit_that_changes_nothing_is_an_error() {
    let project = Project::new();
    project.put("a.txt", "one");
    let empty = "empty `old_text`; give the text to replace, or use `write_file`";
    assert_eq!(fault(project.edit("a.txt", "", "two").await), empty);
    let equal = "`old_text` and `new_text` are equal, so the edit would change nothing";
    assert_eq!(fault(project.edit("a.txt", "one", "one").await), equal);
}

#[tokio::test]
async fn windows_line_ends_and_a_byte_order_mark_stay() {
    let project = Project::new();
    project.put("a.txt", "\u{feff}one\r\ntwo\r\nthree\r\n");
    project.edit("a.txt", "one\ntwo\n", "1\n2\n3\n").await.unwrap();
    assert_eq!(project.content("a.txt"), "\u{feff}1\r\n2\r\n3\r\nthree\r\n");
    project.put("mixed.txt", "one\r\ntwo\nthree");
    project.edit("mixed.txt", "two\nthree", "2\n3").await.unwrap();
    assert_eq!(project.content("mixed.txt"), "one\r\n2\n3");
}

#[tokio::test]
async fn a_match_spans_line_ends_of_both_kinds_and_each_line_keeps_its_own() {
    let project = Project::new();
    for (before, old, new, after) in [
        ("a\r\nb\nc\r\nd\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc\r\nd\n"),
        ("a\r\nb\nc\r\nd\n", "b\nc\n", "b\nnew\nc\n", "a\r\nb\nnew\nc\r\nd\n"),
        ("a\r\nb\nc\r\n", "c", "c\nd", "a\r\nb\nc\r\nd\r\n"),
        ("a\r\nb\n", "b\n", "b\nc\n", "a\r\nb\nc\n"),
        ("a\nb\n", "a\r\nb\r\n", "1\r\n2\r\n", "1\n2\n"),
        ("a\r\nb\r\nc\r\n", "a\r\nb\r\n", "a\nb\n", "a\nb\nc\r\n"),
    ] {
        project.put("a.txt", before);
        project.edit("a.txt", old, new).await.unwrap();
        assert_eq!(project.content("a.txt"), after, "{before:?} {old:?}");
    }
}

#[tokio::test]
async fn a_last_line_without_a_line_break_is_found_with_one_and_stays_without_it() {
    let project = Project::new();
    for (before, after) in [("one\ntwo", "one\n2"), ("one\r\ntwo", "one\r\n2")] {
        project.put("a.txt", before);
        let done = project.edit("a.txt", "two\n", "2\n").await.unwrap();
        assert_eq!(done, "replaced 1 occurrence in `a.txt`, at line 2");
        assert_eq!(project.content("a.txt"), after);
    }
}

#[tokio::test]
async fn a_binary_file_is_not_edited() {
    let project = Project::new();
    project.put("a.bin", b"a\0b");
    assert!(fault(project.edit("a.bin", "a", "b").await).contains("is not UTF-8 text"));
}

#[tokio::test]
async fn a_failed_edit_leaves_the_file_as_it_was() {
    let project = Project::with(llm_do::toolsets::filesystem::Filesystem::new().max_bytes(10));
    project.put("a.txt", "one");
    let large = "`a.txt` has 12 bytes; the maximum is 10 after the edit";
    assert_eq!(fault(project.edit("a.txt", "one", "twelve bytes").await), large);
    assert_eq!(project.content("a.txt"), "one");
}
