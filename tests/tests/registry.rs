//! Two crates that register one name.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use llm_do::{Registry, Runtime};
use {same_name_a as _, same_name_b as _};

#[test]
fn two_crates_with_one_name_are_refused_naming_both_places() {
    let error = Registry::collect().unwrap_err();
    let [fault] = error.faults() else { panic!("one fault, not {:?}", error.faults()) };
    assert!(fault.contains("`which` is registered 2 times"), "{fault}");
    assert!(fault.contains("same_name_a/src/lib.rs:4"), "{fault}");
    assert!(fault.contains("same_name_b/src/lib.rs:4"), "{fault}");
}

#[test]
fn a_runtime_does_not_begin_with_a_collision() {
    let error = Runtime::builder().build().unwrap_err();
    assert!(error.to_string().contains("`which`"), "{error}");
}
