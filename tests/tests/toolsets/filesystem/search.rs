//! `search_files`.

use serde_json::json;

use super::{Project, fault};

#[tokio::test]
async fn matching_lines_are_listed_with_their_numbers() {
    let project = Project::new();
    project.put("b.rs", "fn one() {}\nfn two() {}\n");
    project.put("a/c.rs", "let x = 1;\r\nfn three() {}\r\n");
    let found = project.search(r"^fn \w+\(\) \{\}$").await.unwrap();
    let expected =
        "a/c.rs\n     2: fn three() {}\nb.rs\n     1: fn one() {}\n     2: fn two() {}\n[3 matches in 2 files]";
    assert_eq!(found, expected);
    assert_eq!(project.search("four").await.unwrap(), "[no match found]");
}

#[tokio::test]
async fn a_search_is_limited_to_a_folder_a_file_or_a_pattern() {
    let project = Project::new();
    for path in ["a.rs", "src/b.rs", "src/c.txt"] {
        project.put(path, "X");
    }
    let found = |mut arguments: serde_json::Value| {
        arguments["regex"] = json!("x");
        arguments["ignore_case"] = json!(true);
        let project = &project;
        async move { project.call("search_files", arguments).await.unwrap() }
    };
    assert!(found(json!({})).await.ends_with("[3 matches in 3 files]"));
    assert_eq!(found(json!({ "path": "src/b.rs" })).await, "src/b.rs\n     1: X\n[1 match in 1 file]");
    assert!(found(json!({ "path": "src" })).await.ends_with("[2 matches in 2 files]"));
    assert!(found(json!({ "pattern": "**/*.rs" })).await.ends_with("[2 matches in 2 files]"));
}

#[tokio::test]
async fn lines_around_a_match_are_shown_once() {
    let project = Project::new();
    let lines: Vec<_> = (1..=12).map(|line| if [3, 5, 11].contains(&line) { "x" } else { "." }).collect();
    project.put("a.txt", lines.join("\n"));
    let found = project.call("search_files", json!({ "regex": "x", "context": 1 })).await.unwrap();
    let expected = "a.txt\n     2- .\n     3: x\n     4- .\n     5: x\n     6- .\n  --\n    10- .\n    11: x\n    12- .\n\
                    [3 matches in 1 file]";
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_page_names_both_counts_and_how_to_go_on() {
    let project = Project::new();
    project.put("a.txt", "x\nx\nx\n");
    project.put("b.txt", "x\nx\n");
    let page = |offset, limit| project.call("search_files", json!({ "regex": "x", "offset": offset, "limit": limit }));
    let first =
        "a.txt\n     1: x\n     2: x\n[matches 1 to 2 of 5; to go on, set `offset` to 2]\n[5 matches in 2 files]";
    assert_eq!(page(0, 2).await.unwrap(), first);
    let last = "b.txt\n     2: x\n[matches 5 to 5 of 5]\n[5 matches in 2 files]";
    assert_eq!(page(4, 2).await.unwrap(), last);
}

#[tokio::test]
async fn binary_and_large_files_are_counted_and_not_searched() {
    let project = Project::with(llm_do::toolsets::filesystem::Filesystem::new().max_bytes(100));
    project.put("a.bin", b"x\0");
    project.put("large.txt", "x".repeat(101));
    project.put("latin1.txt", b"x caf\xe9\n");
    let expected = "latin1.txt\n     1: x caf\u{fffd}\n[1 match in 1 file]\n[1 file not searched: too large]\n\
                    [1 file not searched: binary]";
    assert_eq!(project.search("x").await.unwrap(), expected);
}

#[tokio::test]
async fn long_lines_and_control_characters_do_not_reach_the_answer_whole() {
    let project = Project::new();
    project.put("a.txt", format!("{}\n\u{1b}[2Jb\n", "b".repeat(1_000_000)));
    let found = project.search("b").await.unwrap();
    assert!(found.contains("b… 999600 more characters\n     2: \\u{1b}[2Jb\n"), "{}", &found[..500]);
}

#[tokio::test]
async fn a_huge_answer_is_cut_and_names_the_next_offset() {
    let project = Project::new();
    project.put("a.txt", format!("{}\n", "b".repeat(399)).repeat(1000));
    let found = project.call("search_files", json!({ "regex": "b", "limit": 1000 })).await.unwrap();
    assert!(found.len() < 101_000, "{}", found.len());
    assert!(found.contains("of 1000; to go on, set `offset` to "), "{}", &found[100_000..]);
}

#[tokio::test]
async fn an_invalid_or_huge_expression_is_an_error() {
    let project = Project::new();
    project.put("a.txt", "");
    assert!(fault(project.search("(").await).starts_with("invalid regular expression: "));
    assert!(fault(project.search(r"(\pL{1000}){1000}").await).starts_with("invalid regular expression: "));
}

#[tokio::test]
async fn an_expression_that_is_slow_elsewhere_is_quick() {
    let project = Project::new();
    project.put("a.txt", "a".repeat(100_000));
    assert_eq!(project.search("(a*)*b").await.unwrap(), "[no match found]");
}

#[tokio::test]
async fn ignored_files_are_not_searched_unless_they_are_asked_for() {
    let project = Project::new();
    project.put(".gitignore", "build\n");
    project.put("build/a.txt", "x");
    assert_eq!(project.search("x").await.unwrap(), "[no match found]");
    let all = project.call("search_files", json!({ "regex": "x", "include_ignored": true })).await.unwrap();
    assert!(all.starts_with("build/a.txt\n"), "{all}");
}
