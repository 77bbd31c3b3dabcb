//! The pages that list keys agree with the tables of the reader.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use llm_do_worker_file::{ATTACHMENTS, KEYS, KeyDef, LIMITS, SETTINGS, WEB_SEARCH};

/// Returns a table of keys in Markdown.
fn table(heading: &str, of: &str, keys: &[KeyDef]) -> String {
    let rows: Vec<_> = keys.iter().map(|KeyDef { name, doc, .. }| format!("| `{name}` | {doc} |\n")).collect();
    format!("{heading}\n\n| Key{of} | Value |\n|---|---|\n{}", rows.concat())
}

/// `UPDATE_EXPECT=1` rewrites the page, which is a part of the documentation of `#[worker]`.
#[test]
fn the_page_of_worker_files_is_made_from_the_tables() {
    let page = [
        table("# Keys of a worker file", "", KEYS),
        table("## Settings of a worker file", " of `settings`", SETTINGS),
        table("## Limits of a worker file", " of `limits`", LIMITS),
        table("## Attachments of a worker file", " of `attachments`", ATTACHMENTS),
        table("## Web search of a worker file", " of a tool in `server_side_tools`", WEB_SEARCH),
    ];
    expect_file!["../../docs/worker_file_keys.md"].assert_eq(&page.join("\n"));
}

#[test]
fn the_page_of_projects_lists_every_key_and_whether_it_is_a_demand() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../llm-do/docs/project.md");
    let page = fs::read_to_string(path).unwrap();
    let rows = page.lines().skip_while(|line| !line.starts_with("| worker file:"));
    let rows = rows.take_while(|line| !line.starts_with("| subagents"));
    let cells = rows.map(|row| row.split(" | ").next().unwrap());
    // Every second part is in backticks; a name with a dot is a file.
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|word| !word.contains('.'));
    let mut listed: Vec<_> = words.collect();
    listed.sort_unstable();
    let mut known: Vec<_> = KEYS.iter().map(|def| def.name).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}
