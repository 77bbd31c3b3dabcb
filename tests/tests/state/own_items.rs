//! A part of a program: the items of one module.

use std::panic::Location;

use llm_do::runtime::RuntimeBuilder;
use llm_do::{Registry, Runtime};

/// Returns a builder with the items of the caller's module of this program.
#[track_caller]
pub(crate) fn own_builder() -> RuntimeBuilder {
    let module = module_of(Location::caller().file());
    let registry = Registry::collect().unwrap();
    let own = registry.iter().filter(|item| module_of(&item.location()) == module);
    Runtime::builder().only(own.map(|item| item.name()))
}

/// Returns the module in the path of a source file: `tests/tests/PROGRAM/MODULE.rs` or `tests/tests/PROGRAM/MODULE/..`.
fn module_of(path: &str) -> &str {
    path.split(['/', '\\', '.']).nth(3).unwrap()
}
