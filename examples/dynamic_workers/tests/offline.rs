//! A worker is created once it is approved, called, and kept as a file.

use llm_do_example::Example;

const PROGRAM: &str = env!("CARGO_BIN_EXE_dynamic_workers");

#[test]
fn a_created_worker_is_called_and_kept_as_a_file_that_runs() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let answer = example.run_readme(PROGRAM, &[]);
    let teams: Vec<_> = answer.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(teams, ["delivery", "accounting", "service", "none"], "{answer}");
    let file = example.read("created/team.worker");
    assert!(file.contains("Answer with one word: delivery, accounting or service."), "{file}");
    let later = ["run", "--worker-dir", "created", "--tool", "team", "--model", "demo:lead", "I got no invoice."];
    assert_eq!(example.run(PROGRAM, &later), "accounting\n");
}

#[test]
fn a_file_of_an_earlier_run_is_not_replaced() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let _ = example.run_readme(PROGRAM, &[]);
    let file = example.read("created/team.worker");
    let answer = example.run_readme(PROGRAM, &[]);
    assert!(answer.contains("`team` already exists"), "{answer}");
    assert_eq!(example.read("created/team.worker"), file);
}

#[test]
fn a_worker_is_not_created_without_approval() {
    let example = Example::copy(env!("CARGO_MANIFEST_DIR"));
    let answer = example.run(PROGRAM, &["run", "--model", "demo:lead", "--reject-all"]);
    assert!(answer.contains("`worker_create`") && answer.contains("denied"), "{answer}");
    assert_eq!(example.read("created/team.worker"), "");
}
