//! The worker file calls the linked tools.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_calculator");

fn example() -> Example {
    Example::copy(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_worker_in_the_file_calls_a_linked_tool() {
    assert_eq!(example().run_readme(PROGRAM, &[]), "20! = 2432902008176640000\n");
}

#[test]
fn a_failed_call_is_returned_to_the_model() {
    let answer = example().run(PROGRAM, &["run", "--model", "demo:pupil", "What is the factorial of 21?"]);
    assert!(answer.contains("use at most 20"), "{answer}");
}

#[test]
fn a_tool_is_called_without_a_model() {
    let call = ["call", "divide", "--dividend", "355", "--divisor", "113"];
    assert_eq!(example().run(PROGRAM, &call), "3.1415929203539825\n");
    let error = example().fail(PROGRAM, &["call", "divide", "--dividend", "1", "--divisor", "0"]);
    assert!(error.contains("division by zero"), "{error}");
}
