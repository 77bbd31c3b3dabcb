//! The example `web_searcher`: one worker file.

use super::Place;

const FILE: &str = include_str!("../../../../examples/web_searcher/main.worker");
const README: &str = include_str!("../../../../examples/web_searcher/README.md");

/// Returns the arguments of the README's command that begins with this word.
fn arguments(command: &str) -> Vec<&'static str> {
    let start = format!("cargo run -p llm-do --features bin -- {command} ");
    let line = README.lines().find(|line| line.starts_with(&start)).unwrap();
    let (_, arguments) = line.split_once(" -- ").unwrap();
    arguments.split(' ').map(|word| word.trim_matches('"')).collect()
}

fn place() -> Place {
    Place::new(&[("examples/web_searcher/main.worker", FILE)])
}

#[test]
fn the_command_of_its_page_that_needs_no_key_works() {
    let answer = place().run(&arguments("check"));
    assert!(answer.output().starts_with("ok (entries: 0, workers: 1"), "its file has a fault");
}

#[test]
fn a_model_without_a_web_search_is_refused() {
    let run = ["run", "examples/web_searcher", "--model", "echo:model", "--trust-project", "Who won?"];
    let answer = place().run(&run);
    answer.fails(1, "compatible_models");
}
