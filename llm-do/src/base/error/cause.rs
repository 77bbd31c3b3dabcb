//! What caused an error.

use std::any::Any;
use std::error::Error;

use super::CallError;

/// A failure as it was recorded: its words, and the call that took too long, if that was the cause.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Recorded {
    pub(crate) text: String,
    pub(crate) cause: CallError,
}

/// Finds the call error that `error` is, or that caused it.
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

/// Returns the text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no text")
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
