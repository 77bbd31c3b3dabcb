//! Checks code before it runs: its size, its syntax, its types, and where it calls tools.

use monty_types::MontyException;
use ruff_python_ast::PySourceType;
use ruff_python_parser::parse_unchecked_source;

use super::super::fault::{Faults, at};
use super::super::limits::MAX_SOURCE;
use super::super::names::Callees;
use super::super::stubs::Stubs;
use super::super::{checker, classes, nested_calls, program, read};

/// The name of the code in faults.
pub(super) const FILE: &str = "code";

/// Checks code against the tools and against the code that ran before; returns what the interpreter runs.
pub(super) fn check(code: &str, before: &str, callees: &Callees, stubs: &Stubs) -> Result<String, Vec<String>> {
    let mut faults = Faults::new(code);
    if code.len() > MAX_SOURCE {
        return Err(vec![format!("the code has {} bytes; the maximum is {MAX_SOURCE}: split it", code.len())]);
    }
    let parsed = parse_unchecked_source(code, PySourceType::Python);
    for error in parsed.errors() {
        faults.at(&error.location, format!("invalid syntax: {}", error.error));
    }
    if !faults.is_empty() {
        return Err(faults.in_file(FILE));
    }
    let body = &parsed.syntax().body;
    let dicts = classes::dict_classes(body);
    let names: Vec<_> = dicts.iter().map(|class| class.name.clone()).collect();
    let mut found = checker::check_after(FILE, code, before, stubs, &names);
    found.extend(nested_calls::faults(FILE, code, callees));
    if found.is_empty() { Ok(program::runnable(code, body, &dicts)) } else { Err(found) }
}

/// Returns the words for code that the interpreter does not accept.
pub(super) fn unsupported(exception: &MontyException) -> String {
    let (place, message) = read::unsupported(exception);
    at(FILE, place, message)
}
