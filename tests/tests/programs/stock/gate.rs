//! What hostile projects do: the user sees what it is, and has to agree to it.

mod agreement;
mod contained;
mod demands;
mod programs;

use super::{ASSISTANT, Answer, Place, USES_SERVER};

/// A worker with these keys.
fn worker(name: &str, keys: &str) -> String {
    format!("---\nname: {name}\n{keys}\n---\nHelp.\n")
}

/// Asserts that nothing ran, since the user did not agree to what is named.
fn is_refused(answer: Answer, named: &str) {
    assert!(answer.err.contains(named), "`{named}` is not named: {answer:?}");
    answer.fails(2, "give --trust-project to agree to it");
}
