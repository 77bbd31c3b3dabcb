//! Arguments that multiply: what they would cost is computed before it is done, and before anyone is asked.

use std::time::{Duration, Instant};

use llm_do::approval::Decision;
use llm_do::toolsets::filesystem::Filesystem;
use serde_json::json;

use super::approval::{asked, preview};
use super::{Project, fault};

/// Returns the lines of a file of this many lines.
fn numbered(lines: usize) -> String {
    (0..lines).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn a_replacement_is_refused_by_its_computed_size_before_the_question_shows_it() {
    for (old, new, bytes) in [
        ("a\n", "x".repeat(60_000), "24000000000"),
        ("a", "y\n".repeat(30_000), "24000400000"),
        ("\n", "é".repeat(30_000), "24000400000"),
    ] {
        let project = Project::new();
        project.put("a.txt", "a\n".repeat(400_000));
        let arguments = json!({ "path": "a.txt", "old_text": old, "new_text": new, "replace_all": true });
        let started = Instant::now();
        let (request, result) = asked(&project, "edit_file", arguments, Decision::approve()).await;
        let shown = request.preview.unwrap();
        let sizes = format!("`a.txt` has {bytes} bytes; the maximum is 10485760 after the edit");
        assert!(shown.starts_with("No preview: ") && shown.contains(&sizes), "{shown}");
        assert!(llm_do::error::chain(&result.unwrap_err()).contains(&sizes));
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        assert_eq!(project.content("a.txt").len(), 800_000);
    }
}

#[tokio::test]
async fn a_replacement_within_the_maximum_is_made_however_often() {
    let project = Project::with(Filesystem::new().max_bytes(3_000_000));
    project.put("a.txt", "a\n".repeat(400_000));
    let edit = |new: &str| json!({ "path": "a.txt", "old_text": "a", "new_text": new, "replace_all": true });
    let replaced = project.call("edit_file", edit("aaaaaa")).await.unwrap();
    assert!(
        replaced.starts_with(
            "replaced 400000 occurrences in `a.txt`, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 399990 more"
        )
    );
    assert_eq!(project.content("a.txt").len(), 2_800_000);
    let error = fault(project.call("edit_file", edit("aa")).await);
    assert!(error.contains("`a.txt` has 5200000 bytes; the maximum is 3000000 after the edit"), "{error}");
}

#[tokio::test]
async fn a_small_change_of_a_large_file_is_shown_as_a_difference_with_its_lines() {
    let project = Project::new();
    project.put("a.txt", numbered(500_000));
    let edit = json!({ "path": "a.txt", "old_text": "line 250000\n", "new_text": "changed\nagain\n" });
    let shown = preview(&project, "edit_file", edit).await;
    let expected = "--- a.txt\n+++ a.txt\n@@ -249998,7 +249998,8 @@\n line 249997\n line 249998\n line 249999\n-line 250000\n+changed\n\
                    +again\n line 250001\n line 250002\n line 250003";
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn changes_at_the_ends_of_a_file_are_shown_as_a_difference() {
    for (old, new, expected) in [
        ("line 0\n", "first\n", "@@ -1,4 +1,4 @@\n-line 0\n+first\n line 1\n line 2\n line 3"),
        ("line 299\n", "", "@@ -297,4 +297,3 @@\n line 296\n line 297\n line 298\n-line 299"),
        (
            "line 299\n",
            "line 299",
            "@@ -297,4 +297,4 @@\n line 296\n line 297\n line 298\n-line 299\n+line 299\n\\ No newline at end of file",
        ),
    ] {
        let project = Project::new();
        project.put("a.txt", numbered(300));
        let shown = preview(&project, "edit_file", json!({ "path": "a.txt", "old_text": old, "new_text": new })).await;
        assert_eq!(shown, format!("--- a.txt\n+++ a.txt\n{expected}"));
    }
}

#[tokio::test]
async fn a_difference_that_is_too_large_is_described_without_being_computed() {
    let project = Project::new();
    project.put("a.txt", numbered(500_000));
    let changed = (0..500_000).map(|line| format!("other {}\n", line * 7 % 500_000)).collect::<Vec<_>>().concat();
    let bytes = changed.len();
    for content in [changed, "x".repeat(6_000_000), "\n".repeat(3_000_000)] {
        let started = Instant::now();
        let shown = preview(&project, "write_file", json!({ "path": "a.txt", "content": content })).await;
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        assert!(
            shown.starts_with(
                "the difference of `a.txt` is too large to show: from line 1 on, 500000 lines changed to "
            ),
            "{shown}"
        );
        // The file keeps the line break at its end.
        let bytes = content.len() + usize::from(!content.ends_with('\n'));
        let sizes = format!("; the file goes from 5888890 to {bytes} bytes; digest of the new content: ");
        assert!(shown.contains(&sizes), "{shown}");
        assert!(shown.len() < 400, "{shown}");
    }
    assert!(bytes > 6_000_000);
}

#[tokio::test]
async fn a_difference_of_many_lines_is_shown_in_time() {
    let project = Project::new();
    let lines =
        |factor: usize| (0..40_000).map(|line| format!("{}\n", line * factor % 40_009)).collect::<Vec<_>>().concat();
    project.put("a.txt", lines(7));
    let started = Instant::now();
    let shown = preview(&project, "write_file", json!({ "path": "a.txt", "content": lines(11) })).await;
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert!(shown.ends_with(" more characters of the difference are not shown"), "{}", &shown[shown.len() - 100..]);
}

#[tokio::test]
async fn a_text_that_is_missing_is_reported_in_time_however_alike_the_lines_are() {
    let project = Project::new();
    project.put("a.txt", "a\n".repeat(5_000_000));
    let started = Instant::now();
    let error = fault(project.edit("a.txt", &format!("{}b", "a\n".repeat(30_000)), "c").await);
    assert!(error.contains("`old_text` was not found"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[tokio::test]
async fn expressions_and_globs_that_multiply_are_errors_or_quick() {
    let project = Project::new();
    project.put("a.txt", "a".repeat(60_000));
    let search =
        |regex: &str, pattern: Option<&str>| json!({ "regex": regex, "pattern": pattern, "ignore_case": true });
    let started = Instant::now();
    for regex in [
        "a{1000}{1000}".to_owned(),
        "((a{100}){100}){100}".to_owned(),
        r"\w{5000}".to_owned(),
        "(".repeat(2_000) + &")".repeat(2_000),
        format!("({})", "[a-z]?".repeat(600)),
        r"(\pL|\pN){60}$".to_owned(),
        "(a?){300}a{300}b".to_owned(),
    ] {
        drop(project.call("search_files", search(&regex, None)).await);
    }
    let error = fault(project.call("search_files", search(&"a|".repeat(5_000), None)).await);
    assert!(error.contains("the regular expression has 10000 bytes; the maximum is 4000"), "{error}");
    for pattern in ["{a,b}".repeat(190), "{".repeat(400) + "a" + &"}".repeat(400), "**/".repeat(300), "*a".repeat(400)]
    {
        drop(project.call("search_files", search("a", Some(&pattern))).await);
        drop(project.call("list_files", json!({ "pattern": pattern })).await);
    }
    let error = fault(project.call("list_files", json!({ "pattern": "x".repeat(1_001) })).await);
    assert!(error.contains("longer than 1000 bytes"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_expensive_search_stops_by_its_time_with_a_note() {
    let project = Project::new();
    let line = "ab".repeat(30_000) + "\n";
    project.put("a.txt", line.repeat(100));
    let started = Instant::now();
    let found = project.search(r"(?:[ab]*b[ab]{400}){2}c").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
    let is_late =
        found.contains("[stopped after 20 s: choose a folder as `path`, a `pattern`, or a simpler expression]");
    assert!(is_late || found.contains("[no match found]"), "{found}");
}

#[tokio::test]
async fn an_expensive_search_of_many_small_files_stops_by_its_time_with_a_note() {
    let project = Project::new();
    for number in 0..2_000 {
        project.put(format!("{number}.txt"), "ab".repeat(3_000));
    }
    let started = Instant::now();
    let found = project.search(r"(?:[ab]*b[ab]{400}){2}[c-z]").await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(found.contains("[stopped after 20 s: ") || found.contains("[no match found]"), "{found}");
}

#[tokio::test]
async fn ignore_files_that_are_too_large_are_applied_in_part_and_named() {
    let hostile = |number: usize| format!("*a*{number}*[a-z0-9]*?*[!x]*{number}?\n");
    let project = Project::new();
    let patterns = (0..30_000).map(hostile).collect::<Vec<_>>().concat();
    project.put(".gitignore", format!("first.txt\n{patterns}last.txt\n"));
    let mut folder = String::new();
    for _ in 0..20 {
        folder.push_str("folder/");
        project.put(format!("{folder}.ignore"), &patterns);
    }
    for path in ["first.txt", "last.txt", "needle.txt"] {
        project.put(path, "needle");
    }
    let started = Instant::now();
    let note = "[ignore files are too large: not all of their patterns were applied]";
    let listed = project.list(".").await.unwrap();
    assert!(!listed.contains("first.txt") && listed.contains("last.txt\nneedle.txt\n") && listed.ends_with(note));
    let found = project.search("needle").await.unwrap();
    assert!(!found.contains("first.txt") && found.contains("last.txt") && found.contains(note), "{found}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_line_that_is_too_long_is_counted_and_not_searched() {
    let project = Project::new();
    project.put("a.txt", format!("{}\nneedle\n", "needle ".repeat(200_000)));
    let found = project.search("needle").await.unwrap();
    assert_eq!(found, "a.txt\n     2: needle\n[1 match in 1 file]\n[1 line not searched: too long]");
}

#[tokio::test]
async fn a_file_of_empty_lines_is_searched_without_a_list_of_its_lines() {
    let project = Project::new();
    project.put("a.txt", "\n".repeat(200_000));
    let found = project
        .call("search_files", json!({ "regex": "^$", "limit": 2, "context": 20, "offset": 100_000 }))
        .await
        .unwrap();
    assert!(found.contains("100001: \n"), "{found:.200}");
    assert!(found.ends_with("[200000 matches in 1 file]"), "{found}");
}

#[tokio::test]
async fn a_list_of_long_paths_is_cut_and_names_the_next_offset() {
    let project = Project::new();
    for number in 0..3_000 {
        project.put(format!("{}/{}/{number}", "d".repeat(200), "e".repeat(200)), "");
    }
    let listed = project.call("list_files", json!({ "limit": 5_000 })).await.unwrap();
    assert!(listed.len() < 201_000, "{}", listed.len());
    assert!(listed.contains(" of 3000; to go on, set `offset` to "), "{}", &listed[listed.len() - 200..]);
}
