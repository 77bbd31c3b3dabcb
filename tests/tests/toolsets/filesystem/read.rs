//! `read_file`.

use serde_json::{Value, json};

use super::{Project, fault};

#[tokio::test]
async fn lines_are_numbered() {
    let project = Project::new();
    project.put("a.txt", "one\ntwo\n\nfour");
    assert_eq!(project.read("a.txt").await.unwrap(), "     1\tone\n     2\ttwo\n     3\t\n     4\tfour");
    assert_eq!(project.read("./b/../a.txt").await.unwrap_err(), "`project_read_file` failed: file not found: `b`");
}

#[tokio::test]
async fn an_empty_file_and_an_offset_past_the_end_succeed() {
    let project = Project::new();
    project.put("a.txt", "");
    project.put("b.txt", "one\n");
    assert_eq!(project.read("a.txt").await.unwrap(), "[the file is empty]");
    let past = project.call("read_file", json!({ "path": "b.txt", "offset": 9 })).await.unwrap();
    assert_eq!(past, "[line 9 is past the end: the file has 1 line]");
}

#[tokio::test]
async fn a_part_names_both_counts_and_how_to_go_on() {
    let project = Project::new();
    project.put("a.txt", (1..=9).map(|line| line.to_string()).collect::<Vec<_>>().join("\n"));
    let part = |arguments| project.call("read_file", arguments);
    let shown = part(json!({ "path": "a.txt", "limit": 2 })).await.unwrap();
    assert_eq!(shown, "     1\t1\n     2\t2\n[lines 1 to 2 of 9; to go on, set `offset` to 3]");
    let shown = part(json!({ "path": "a.txt", "offset": 8 })).await.unwrap();
    assert_eq!(shown, "     8\t8\n     9\t9\n[lines 8 to 9 of 9]");
    let shown = part(json!({ "path": "a.txt", "max_chars": 4 })).await.unwrap();
    assert_eq!(shown, "     1\t1\n     2\t2\n[lines 1 to 2 of 9; to go on, set `offset` to 3]");
}

#[tokio::test]
async fn a_raw_text_is_the_text_of_the_file() {
    let project = Project::new();
    let raw = async |mut arguments: Value| {
        arguments["raw"] = json!(true);
        project.call("read_file", arguments).await
    };
    project.put("a.txt", "\u{feff}one\r\n\n  two\nthree\n");
    assert_eq!(raw(json!({ "path": "a.txt" })).await.unwrap(), "one\r\n\n  two\nthree\n");
    assert_eq!(raw(json!({ "path": "a.txt", "offset": 3, "limit": 1 })).await.unwrap(), "  two\n");
    assert_eq!(raw(json!({ "path": "a.txt", "offset": 3, "column": 3 })).await.unwrap(), "two\nthree\n");
    assert_eq!(raw(json!({ "path": "a.txt", "offset": 9 })).await.unwrap(), "");
    project.put("b.txt", "");
    assert_eq!(raw(json!({ "path": "b.txt" })).await.unwrap(), "");
}

#[tokio::test]
async fn a_raw_text_is_whole_or_an_error() {
    let project = Project::new();
    project.put("a.txt", "äöü\n");
    let raw =
        |max_chars: u32| project.call("read_file", json!({ "path": "a.txt", "raw": true, "max_chars": max_chars }));
    assert_eq!(raw(4).await.unwrap(), "äöü\n");
    assert_eq!(
        raw(3).await.unwrap_err(),
        "`project_read_file` failed: `a.txt`: the text has 4 characters, and `max_chars` is 3; raise it, or read fewer lines \
         with `offset` and `limit`"
    );
}

#[tokio::test]
async fn all_parts_together_are_the_whole_file() {
    let project = Project::new();
    let lines: Vec<_> = (0..200).map(|line| "ä".repeat(line * 7 % 90)).collect();
    project.put("a.txt", lines.join("\n"));
    let (mut read, mut offset, mut column): (Vec<String>, usize, usize) = (Vec::new(), 1, 1);
    loop {
        let arguments = json!({ "path": "a.txt", "offset": offset, "column": column, "max_chars": 70 });
        let answer = project.call("read_file", arguments).await.unwrap();
        for line in answer.lines().filter(|line| !line.starts_with('[')) {
            let (number, text) = line.split_once('\t').unwrap();
            let number: usize = number.trim().parse().unwrap();
            if number > read.len() { read.push(text.to_owned()) } else { read[number - 1].push_str(text) }
        }
        let numbers = |note: &str| note.split('`').skip(2).step_by(2).map(number_in).collect::<Vec<_>>();
        match answer.lines().last().filter(|note| note.contains("to go on")).map(numbers).as_deref() {
            Some([next]) => (offset, column) = (*next, 1),
            Some([next, first]) => (offset, column) = (*next, *first),
            _ => break,
        }
    }
    assert_eq!(read, lines);
}

fn number_in(text: &str) -> usize {
    text.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[tokio::test]
async fn a_long_line_is_read_in_parts_by_column() {
    let project = Project::new();
    project.put("a.txt", format!("{}\nend", "ä".repeat(50)));
    let part = |column| project.call("read_file", json!({ "path": "a.txt", "max_chars": 20, "column": column }));
    let first = format!("     1\t{}\n[line 1 of 2: characters 1 to 20 of 50; ", "ä".repeat(20));
    assert_eq!(part(1).await.unwrap(), first + "to go on, set `offset` to 1 and `column` to 21]");
    let last = format!("     1\t{}\n     2\tend", "ä".repeat(10));
    assert_eq!(part(41).await.unwrap(), last);
}

#[tokio::test]
async fn windows_line_ends_and_a_byte_order_mark_are_not_shown() {
    let project = Project::new();
    project.put("a.txt", "\u{feff}one\r\ntwo\r\n");
    assert_eq!(project.read("a.txt").await.unwrap(), "     1\tone\n     2\ttwo");
}

#[tokio::test]
async fn a_file_that_is_not_utf_8_text_is_refused_with_the_place() {
    let project = Project::new();
    project.put("latin1.txt", b"caf\xe9");
    project.put("binary", b"\x7fELF\0\0");
    project.put("utf16.txt", b"\xff\xfea\0");
    let wrong = |name: &str, what| format!("`{name}` is not UTF-8 text: {what}");
    assert_eq!(fault(project.read("latin1.txt").await), wrong("latin1.txt", "an invalid sequence at byte 3"));
    let nul = "a NUL character, as in binary files, at byte 4";
    assert_eq!(fault(project.read("binary").await), wrong("binary", nul));
    assert_eq!(fault(project.read("utf16.txt").await), wrong("utf16.txt", "a byte order mark of UTF-16 at byte 0"));
}

#[tokio::test]
async fn a_missing_file_and_a_folder_are_errors_that_name_them() {
    let project = Project::new();
    project.put("folder/a.txt", "");
    assert_eq!(fault(project.read("missing.txt").await), "file not found: `missing.txt`");
    assert_eq!(fault(project.read("folder").await), "not a file: `folder` is a folder");
    assert_eq!(fault(project.read(".").await), "not a file: `.` is a folder");
    assert_eq!(fault(project.read("folder/a.txt/b").await), "not a folder: `folder/a.txt`");
}

#[tokio::test]
async fn an_absolute_path_inside_the_root_is_accepted() {
    let project = Project::new();
    project.put("folder/a.txt", "one");
    let path = project.root().join("folder/a.txt");
    assert_eq!(project.read(path.to_str().unwrap()).await.unwrap(), "     1\tone");
}
