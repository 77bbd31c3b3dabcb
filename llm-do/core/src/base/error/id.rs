//! The identity of an error, which survives moving and wrapping it.

use std::error::Error;

use super::{CallError, chain};

/// Identifies a call error among all errors that exist at the same time.
///
/// The address of its name stays the same when an error is moved, boxed or stored. The id includes the text, so that a
/// later error at the same address has a different id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorId {
    /// `None` for an error of another type, which may hide a call error inside.
    address: Option<usize>,
    text: String,
}

impl ErrorId {
    /// Returns whether this is the id of an error of another type with the text of the call error `other`.
    ///
    /// `io::Error::other` and the general error types of applications have the text of the inner error, but hide its
    /// type.
    pub(crate) fn may_contain(&self, other: &Self) -> bool {
        self.address.is_none() && self.text == other.text
    }
}

impl CallError {
    /// Returns the id of this error.
    pub(crate) fn id(&self) -> ErrorId {
        ErrorId { address: Some(self.address()), text: chain(self) }
    }

    /// Returns the ids of this error and of the errors that caused it, outermost first.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ErrorId> {
        let mut next: Option<&(dyn Error + 'static)> = Some(self);
        let errors = std::iter::from_fn(move || {
            let error = next?;
            next = error.source();
            Some(error)
        });
        let other = |error| ErrorId { address: None, text: chain(error) };
        errors.map(move |error| error.downcast_ref().map_or_else(|| other(error), CallError::id))
    }

    /// Returns the address of the name of the tool, worker or entry that failed, or of the error inside.
    fn address(&self) -> usize {
        let name = match self {
            Self::Other(source) => return std::ptr::from_ref(&**source).addr(),
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
            | Self::ThreadOpen { tool, .. }
            | Self::DryRun { tool }
            | Self::NoWorker { tool, .. }
            | Self::Journal { tool, .. }
            | Self::Cancelled { tool }
            | Self::Panicked { tool, .. }
            | Self::OutcomeUnknown { tool, .. }
            | Self::Unsure { tool, .. }
            | Self::Failed { tool, .. }
            | Self::NoModel { worker: tool, .. }
            | Self::UnfitModel { worker: tool, .. }
            | Self::Model { worker: tool, .. }
            | Self::GaveUp { worker: tool, .. }
            | Self::Result { tool, .. } => tool,
        };
        name.as_ptr().addr()
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
        assert_eq!(outer.ids().count(), 4);
    }

    #[test]
    fn an_error_that_hides_the_type_of_another_may_contain_it() {
        let error = failed("down");
        let id = error.id();
        let outer = failed(std::io::Error::other(error));
        let ids: Vec<_> = outer.ids().collect();
        assert!(!ids.contains(&id));
        assert_eq!(ids.iter().map(|outer| outer.may_contain(&id)).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn errors_with_equal_texts_have_different_ids() {
        let (one, other) = (failed("down"), failed("down"));
        assert_eq!(one.to_string(), other.to_string());
        assert_ne!(one.id(), other.id());
    }
}
