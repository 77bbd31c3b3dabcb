//! The types of errors that a journal keeps.

use std::error::Error;

use serde_json::Value;

use super::BoxError;

/// How a journal stores the errors of one type, and reads them back.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ErrorType {
    write: fn(&(dyn Error + 'static)) -> Option<Value>,
    read: fn(Value) -> Option<BoxError>,
}

impl ErrorType {
    /// `write` returns `None` for an error of another type, and for one that cannot be stored.
    pub(crate) const fn new(
        write: fn(&(dyn Error + 'static)) -> Option<Value>,
        read: fn(Value) -> Option<BoxError>,
    ) -> Self {
        Self { write, read }
    }

    pub(super) fn write(self, error: &(dyn Error + 'static)) -> Option<Value> {
        (self.write)(error)
    }

    pub(super) fn read(self, stored: Value) -> Option<BoxError> {
        (self.read)(stored)
    }
}

/// Resolves the type of a tool's errors.
pub(crate) trait ErrorTypes: Send + Sync {
    /// Returns the type of the errors of a tool, by its registered name; `None` if it declares none.
    fn error_type(&self, tool: &str) -> Option<ErrorType>;
}

/// Resolves no type, so that each error keeps only its text.
pub(crate) struct TextOnly;

impl ErrorTypes for TextOnly {
    fn error_type(&self, _: &str) -> Option<ErrorType> {
        None
    }
}
