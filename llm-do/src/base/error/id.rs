//! Which error is which, wherever it is moved to or wrapped.

use std::error::Error;

use super::{CallError, chain};

/// Tells a call error from all others that exist at the same time.
///
/// An error that is moved, boxed or kept keeps the memory of its name. Its text is a part of the id, so that another error
/// is not taken for one that was dropped before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorId {
    address: usize,
    text: String,
}

impl CallError {
    /// Returns what tells it from other errors.
    pub(crate) fn id(&self) -> ErrorId {
        ErrorId { address: self.name().as_ptr().addr(), text: chain(self) }
    }

    /// Returns the ids of the call errors that it came from, its own first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ErrorId> {
        let mut next: Option<&(dyn Error + 'static)> = Some(self);
        let errors = std::iter::from_fn(move || {
            let error = next?;
            next = error.source();
            Some(error)
        });
        errors.filter_map(|error| error.downcast_ref().map(CallError::id))
    }

    /// Returns the name of whose error it is.
    fn name(&self) -> &str {
        match self {
            Self::InvalidArguments { tool, .. }
            | Self::NotFound { tool, .. }
            | Self::NotDeclared { tool, .. }
            | Self::Denied { tool, .. }
            | Self::Blocked { tool, .. }
            | Self::Refused { tool, .. }
            | Self::Depth { tool, .. }
            | Self::Nesting { tool, .. }
            | Self::Cycle { tool }
            | Self::Timeout { tool, .. }
            | Self::Limit { tool, .. }
            | Self::Blocking { tool }
            | Self::NoInput { tool }
            | Self::NoHistory { tool, .. }
            | Self::NoWorker { tool, .. }
            | Self::Journal { tool, .. }
            | Self::Cancelled { tool }
            | Self::Panicked { tool, .. }
            | Self::Failed { tool, .. }
            | Self::NoModel { worker: tool, .. }
            | Self::UnfitModel { worker: tool, .. }
            | Self::Model { worker: tool, .. }
            | Self::GaveUp { worker: tool, .. }
            | Self::Result { tool, .. } => tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::BoxError;

    fn failed(source: impl Into<BoxError>) -> CallError {
        CallError::Failed { tool: "fetch".into(), source: source.into() }
    }

    #[test]
    fn an_error_keeps_its_id_where_it_is_moved_boxed_and_wrapped() {
        let error = failed("down");
        let id = error.id();
        let kept = vec![error];
        let boxed: BoxError = kept.into_iter().next().unwrap().into();
        let outer = failed(failed(boxed));
        assert_eq!(outer.ids().nth(2), Some(id));
        assert_eq!(outer.ids().count(), 3);
    }

    #[test]
    fn errors_that_say_the_same_have_different_ids() {
        let (one, other) = (failed("down"), failed("down"));
        assert_eq!(one.to_string(), other.to_string());
        assert_ne!(one.id(), other.id());
    }
}
