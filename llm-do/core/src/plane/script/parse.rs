//! Parses source text within its maximum size.

use llm_do_worker_file::Place;
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Parsed, parse_unchecked_source};

use super::fault::Faults;
use super::limits::MAX_SOURCE;

/// Parses the text of `what`, such as "the script"; `None` if it has faults, which are added. Needs a large stack.
pub(super) fn parse(text: &str, what: &str, faults: &mut Faults<'_>) -> Option<Parsed<ModModule>> {
    if text.len() > MAX_SOURCE {
        let message = format!("{what} has {} bytes; the maximum is {MAX_SOURCE}: split it", text.len());
        faults.add(Place::line(1), message);
        return None;
    }
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    for error in parsed.errors() {
        faults.at(&error.location, format!("invalid syntax: {}", error.error));
    }
    faults.is_empty().then_some(parsed)
}
