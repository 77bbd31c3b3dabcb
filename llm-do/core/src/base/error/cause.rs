//! The causes of an error.

use std::any::Any;
use std::error::Error;

use super::CallError;

/// A failure that was read from a journal: its text and the call error that caused it.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Recorded {
    pub(crate) text: String,
    pub(crate) cause: CallError,
}

/// Returns the first call error in `error` and its causes.
pub(super) fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CallError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        if let Some(Recorded { cause, .. }) = error.downcast_ref() {
            return Some(cause);
        }
        next = error.source();
    }
    None
}

/// Returns the message of a panic, or `no message`.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message")
}

/// Returns an error and all its causes as one line.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(": ");
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}
