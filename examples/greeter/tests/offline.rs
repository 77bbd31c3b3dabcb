//! The program runs as its README shows.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_greeter");

#[test]
fn the_name_is_tidied_and_the_worker_is_called() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let arguments = ["run", " ann", "--model", "test:any", "--events", "events.jsonl"];
    assert_eq!(example.run(PROGRAM, &arguments), "success (no tool calls)\n");
    let events = example.read("events.jsonl");
    assert!(events.contains("Write a short, friendly greeting for Ann."), "{events}");
}

#[test]
#[ignore = "needs the weights of the embedded model"]
fn the_embedded_model_answers() {
    let greeting = Example::copy(env!("CARGO_MANIFEST_DIR")).run_readme(PROGRAM, &[]);
    assert!(greeting.to_lowercase().contains("hello"), "{greeting}");
}
