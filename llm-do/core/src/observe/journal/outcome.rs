//! The outcome of a step: locally, and in the journal.

use std::any::Any;

use serde_json::Value;

/// The outcome of the local future of a step.
#[derive(Debug)]
pub enum LocalOutcome {
    /// A value to record before it is returned. A failure that code or a model may handle is a value too.
    Record(Value),
    /// Nothing is recorded, such as after a cancelled call: the effect runs again on resume.
    Skip(Unrecorded),
}

/// The outcome of a step, as its journal returns it.
///
/// It compares as equal to the value that it contains.
#[derive(Debug)]
pub enum JournalOutcome {
    /// The value was recorded before: the local future did not run.
    Replayed(Value),
    /// The local future ran, and the value is recorded now.
    Recorded(Value),
    /// The local future ran, and nothing is recorded.
    Unrecorded(Unrecorded),
}

/// An outcome that is not recorded; a journal passes it on unchanged.
#[derive(Debug)]
pub struct Unrecorded(Option<Box<dyn Any + Send>>);

impl JournalOutcome {
    /// Returns the value, if one is recorded.
    #[must_use]
    pub fn into_value(self) -> Option<Value> {
        match self {
            Self::Replayed(value) | Self::Recorded(value) => Some(value),
            Self::Unrecorded(_) => None,
        }
    }
}

impl<T> PartialEq<T> for JournalOutcome
where
    Value: PartialEq<T>,
{
    fn eq(&self, value: &T) -> bool {
        matches!(self, Self::Replayed(own) | Self::Recorded(own) if own == value)
    }
}

impl Unrecorded {
    /// Creates the outcome of an interrupted effect, for tests of a journal and for engines with their own effects.
    #[must_use]
    pub fn interrupted() -> Self {
        Self(None)
    }

    pub(crate) fn of<T: Send + 'static>(outcome: T) -> Self {
        Self(Some(Box::new(outcome)))
    }

    /// Returns the outcome, unless it was interrupted.
    pub(crate) fn take<T: 'static>(self) -> Option<T> {
        self.0?.downcast::<T>().ok().map(|outcome| *outcome)
    }
}
