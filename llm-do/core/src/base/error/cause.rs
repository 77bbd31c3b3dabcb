//! The causes of an error.

use std::any::Any;
use std::error::Error;

use super::{BoxError, CallError};

/// A failure from a journal: its text, and the error that caused it, which has a different text.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct RecordedError {
    pub(crate) text: String,
    pub(crate) cause: CallError,
}

/// An outer error from a journal.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct Wrapped {
    pub(super) text: String,
    pub(super) source: BoxError,
}

impl CallError {
    /// Returns the first error of the type `E` among this error and its causes.
    ///
    /// Finds the error that a tool returned, also in the error of a caller that passed it on. With a journal, it finds the errors whose
    /// type a journal [keeps](https://docs.rs/llm-do/latest/llm_do/attr.tool.html#errors), in a resumed run too.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// #[llm_do::data]
    /// struct SoldOut {
    ///     left: u32,
    /// }
    ///
    /// impl std::fmt::Display for SoldOut {
    ///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    ///         write!(f, "only {} left", self.left)
    ///     }
    /// }
    ///
    /// impl std::error::Error for SoldOut {}
    ///
    /// /// Reserve seats.
    /// #[tool(effect = idempotent)]
    /// fn reserve(seats: u32) -> Result<(), SoldOut> {
    ///     if seats > 3 { Err(SoldOut { left: 3 }) } else { Ok(()) }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let error = runtime.run(reserve { seats: 5 }).await.unwrap_err();
    /// assert_eq!(error.downcast_ref::<SoldOut>().map(|error| error.left), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        let mut next = Some(actual(self));
        while let Some(error) = next {
            if let Some(found) = error.downcast_ref() {
                return Some(found);
            }
            next = error.source().map(actual);
        }
        None
    }
}

/// Returns the error that `error` wraps.
pub(super) fn actual<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    if let Some(CallError::Other(inner)) = error.downcast_ref() {
        return actual(inner.as_ref());
    }
    if let Some(RecordedError { cause, .. }) = error.downcast_ref() {
        return actual(cause);
    }
    error
}

/// Returns the first call error in `error` and its causes.
pub(super) fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CallError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        if let Some(RecordedError { cause, .. }) = error.downcast_ref() {
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
