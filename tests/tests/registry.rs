//! Duplicate names: in two crates, in a declaration that is resolved at run time, and in arguments.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use llm_do::prelude::*;
use llm_do::{Registry, Runtime, Value};
use {same_name_a as _, same_name_b as _};

/// Read.
#[tool]
fn read() {}

/// Read another way.
#[tool]
fn x_read() {}

toolset! {
    /// Reads, by another name.
    reading = [prefixed("x_", read)];

    /// Reads, by the same name.
    again = [prefixed("x_", read)];

    /// Reads another way, with a name that is in use.
    otherwise = [x_read];
}

/// Names toolsets that the compiler does not see.
#[entry(toolsets = [reading, "again", "otherwise"])]
async fn start() {}

/// A place, and what else is known of it.
#[data]
struct Place {
    name: String,
    #[serde(flatten)]
    others: std::collections::BTreeMap<String, Value>,
}

/// Find.
#[tool]
fn find(#[arg(flatten)] place: Place) -> usize {
    place.name.len() + place.others.len()
}

/// A size.
#[data]
struct Size {
    width: u32,
}

/// Draw.
#[tool]
fn draw(#[arg(flatten)] size: Size, width: u32) -> u32 {
    size.width + width
}

#[test]
fn a_duplicate_name_in_two_crates_is_an_error_with_both_locations() {
    let error = Registry::collect().unwrap_err();
    let fault = &error.faults()[0];
    assert!(fault.contains("`which` is registered 2 times"), "{fault}");
    assert!(fault.contains("same_name_a/src/lib.rs:4"), "{fault}");
    assert!(fault.contains("same_name_b/src/lib.rs:4"), "{fault}");
}

#[test]
fn a_runtime_with_a_duplicate_name_is_not_built() {
    let error = Runtime::builder().build().unwrap_err();
    assert!(error.to_string().contains("`which`"), "{error}");
}

#[test]
fn a_declaration_with_two_tools_of_one_name_is_rejected() {
    let error = Registry::collect().unwrap_err();
    let faults: Vec<_> = error.faults().iter().filter(|fault| fault.contains("`start`")).collect();
    let [fault] = faults[..] else { panic!("one fault of `start`, not {faults:?}") };
    assert!(fault.ends_with("declares two tools with the name `x_read`: `read` and `x_read`"), "{fault}");
}

#[test]
fn a_flattened_struct_with_unknown_or_duplicate_fields_is_rejected() {
    let error = Registry::collect().unwrap_err().to_string();
    assert!(
        error.contains(
            "): `place` cannot be flattened: its type must be a struct with named fields that takes no other fields"
        ),
        "{error}"
    );
    assert!(error.contains("`draw` (tests/tests/registry.rs:52): two arguments are named `width`"), "{error}");
}
