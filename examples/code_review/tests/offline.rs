//! The review finds what its patterns describe, and only reads.
#![cfg(unix)]

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_code_review");

#[test]
fn the_findings_have_a_file_and_a_line_and_are_sorted_by_severity() {
    let found = Example::copy(env!("CARGO_MANIFEST_DIR")).run_readme(PROGRAM, &[]);
    let values = |key: &str| -> Vec<String> {
        let key = format!("\"{key}\": ");
        let lines = found.lines().filter_map(|line| line.trim().strip_prefix(&key));
        lines.map(|value| value.trim_end_matches(',').trim_matches('"').to_owned()).collect()
    };
    assert_eq!(values("severity"), ["bug", "risk", "risk", "style"], "{found}");
    assert_eq!(values("file"), ["sample/cart.rs", "sample/cart.rs", "sample/login.rs", "sample/login.rs"]);
    assert_eq!(values("line"), ["14", "9", "5", "3"]);
}

#[test]
fn a_command_that_may_change_something_is_blocked_even_if_all_calls_are_approved() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let delete = ["call", "shell", "--approve-all", "--command", "rm sample/cart.rs"];
    assert!(example.fail(PROGRAM, &delete).contains("a review only reads"));
    assert_eq!(example.list("sample"), ["cart.rs", "login.rs"]);
}
