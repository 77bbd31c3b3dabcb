//! The worker calls itself until each part is short, within the limits.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_recursive_summarizer");

fn example() -> Example {
    Example::copy(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_summary_has_a_sentence_of_each_part() {
    let example = example();
    let text = example.read("lighthouse.txt");
    let lines: Vec<_> = text.lines().collect();
    let expected = [lines[0], lines[17], lines[35], lines[52]].join("\n") + "\n";
    assert_eq!(example.run_readme(PROGRAM, &[]), expected);
}

#[test]
fn the_depth_is_limited() {
    let error = example().fail(PROGRAM, &["run", "--model", "demo:reader", "--max-depth", "2"]);
    assert!(error.contains("depth"), "{error}");
}

#[test]
fn the_requests_of_the_whole_tree_are_limited() {
    let error = example().fail(PROGRAM, &["run", "--model", "demo:reader", "--limit-requests", "5"]);
    assert!(error.contains("requests"), "{error}");
}
