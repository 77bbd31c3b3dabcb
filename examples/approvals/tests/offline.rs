//! Each way to decide about calls.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_approvals");
const BASE: [&str; 3] = ["run", "--model", "demo:clerk"];

fn example() -> Example {
    Example::copy(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the clerk with more options; returns its answer and the payments.
fn payments(options: &[&str]) -> (String, String) {
    let example = example();
    let answer = example.run(PROGRAM, &[&BASE, options].concat());
    (answer, example.read("payments.txt"))
}

#[test]
fn a_function_lowers_a_payment_and_approves_equal_notes_once() {
    let example = example();
    let answer = example.run_readme(PROGRAM, &["--events", "events.jsonl"]);
    assert_eq!(answer, "3 of 3 invoices are paid.\n");
    assert_eq!(example.read("payments.txt"), "35 Bakery Blume\n180 Roofer Rasch\n500 Printer Prinz\n");
    assert_eq!(example.read("notes.txt"), "0 payments were not made\n".repeat(2));
    let events = example.read("events.jsonl");
    let decided = |by: &str| events.matches(&format!(r#""by":"{by}""#)).count();
    assert_eq!((decided("approver"), decided("memory")), (3, 1), "two payments and a note, and the note again");
}

#[test]
fn all_calls_are_approved_except_the_blocked_one() {
    let (answer, paid) = payments(&["--approve-all"]);
    assert_eq!((&*answer, paid.lines().count()), ("3 of 3 invoices are paid.\n", 3));
    let example = example();
    let error = example.fail(PROGRAM, &["run", "--model", "demo:clerk", "--approve-all", "--end-on-denial"]);
    assert!(error.contains("suppliers are kept for ten years"), "{error}");
}

#[test]
fn only_the_small_payment_runs_if_all_calls_are_rejected() {
    let (answer, paid) = payments(&["--reject-all"]);
    assert_eq!((&*answer, &*paid), ("1 of 3 invoices are paid.\n", "35 Bakery Blume\n"));
}

#[test]
fn without_a_terminal_a_call_that_needs_approval_ends_the_run() {
    let error = example().fail(PROGRAM, &["run", "--model", "demo:clerk"]);
    assert!(error.contains("--approve-all"), "{error}");
}

#[test]
fn a_policy_file_approves_a_call_by_its_arguments() {
    let (answer, paid) = payments(&["--reject-all", "--policy", "policy.json"]);
    assert_eq!((&*answer, &*paid), ("2 of 3 invoices are paid.\n", "35 Bakery Blume\n180 Roofer Rasch\n"));
}
