//! Faults of a script, each with its file, line and column.

use std::fmt::Display;

use llm_do_worker_file::Place;
use ruff_text_size::{Ranged, TextSize};

/// The text of a script and the faults found in it.
#[derive(Debug)]
pub(super) struct Faults<'a> {
    text: &'a str,
    found: Vec<(Place, String)>,
}

impl<'a> Faults<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// Adds a fault where a node of the syntax tree begins.
    pub(super) fn at(&mut self, node: &impl Ranged, message: impl Into<String>) {
        self.add(place(self.text, node.start()), message);
    }

    pub(super) fn add(&mut self, place: Place, message: impl Into<String>) {
        self.found.push((place, message.into()));
    }

    /// Adds a fault of the front matter, which begins on this line of the script.
    pub(super) fn of_front_matter(&mut self, first_line: usize, fault: llm_do_worker_file::Fault) {
        let place = Place { line: first_line + fault.place.line.saturating_sub(1), column: fault.place.column.max(1) };
        self.add(place, fault.message);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the faults in the order of their places.
    pub(super) fn in_file(mut self, file: &str) -> Vec<String> {
        self.found.sort_by_key(|(place, _)| *place);
        self.found.dedup();
        self.found.into_iter().map(|(place, message)| at(file, place, message)).collect()
    }
}

/// Returns `file:line:column: message`.
pub(super) fn at(file: &str, place: Place, message: impl Display) -> String {
    format!("{file}:{}:{}: {message}", place.line, place.column)
}

/// Returns the line and the column, both from 1, of a position; columns count characters.
pub(super) fn place(text: &str, at: TextSize) -> Place {
    let before = text.get(..at.to_usize()).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}
