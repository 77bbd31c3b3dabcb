//! Faults of a worker file and their places.

use std::fmt::Display;

/// A position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The 1-based line.
    pub line: usize,
    /// The 1-based column in characters.
    pub column: usize,
}

impl Place {
    /// Returns the start of a line.
    #[must_use]
    pub fn line(line: usize) -> Self {
        Self { line, column: 1 }
    }
}

/// A value with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The start of the value; for the value of a top-level key, the start of the key.
    pub place: Place,
    /// The value.
    pub value: T,
}

/// A fault of a worker file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place of the fault.
    pub place: Place,
    /// The fault and how to fix it; lines after the first are details.
    pub message: String,
}

impl Fault {
    /// Creates a fault.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { place, message: message.into() }
    }

    /// Returns `file:line: message`.
    #[must_use]
    pub fn in_file(&self, file: impl Display) -> String {
        format!("{file}:{}: {}", self.place.line, self.message)
    }
}
