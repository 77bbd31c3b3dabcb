//! Faults of a worker file and their places.

use std::fmt::Display;

/// A position in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// Returns the beginning of a line.
    #[must_use]
    pub fn line(line: usize) -> Self {
        Self { line, column: 1 }
    }
}

/// A value and where it begins in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// Where the value begins; of the value of a top-level key, where the key begins.
    pub place: Place,
    /// The value.
    pub value: T,
}

/// A fault of a worker file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// What is wrong and what to do; lines after the first are details.
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
