//! A recorded effect.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JournalError, StepKind, StepSpec, key};
use crate::declare::schema::is_shallow;

/// The maximum nesting depth of a recorded value: the JSON reader stops at 128 levels, and the record adds some.
const MAX_DEPTH: usize = 120;

/// A finished effect, with its input and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The step's [`key`](StepSpec::key).
    pub key: Arc<str>,
    /// The key of the call that contains the step; empty for a root call.
    pub parent: Arc<str>,
    /// The 0-based index of the step among the calls of `parent`, in the order in which they began.
    pub place: u32,
    /// Whether another call of `parent` was in flight at the same time.
    pub overlapped: bool,
    /// The number of calls of `parent` that had begun when the step ended; calls with this place or a later one began
    /// after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begun: Option<u32>,
    /// The places of the calls that contain the step, outermost first; without the root call, which has a record.
    ///
    /// A call is recorded when it ends. If the process dies before that, the next process learns of the call from this
    /// list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) callers: Vec<CallerPlace>,
    /// The kind of the step.
    pub kind: StepKind,
    /// The name of what was called.
    pub name: Arc<str>,
    /// The input of the call.
    pub input: Arc<Value>,
    /// The outcome.
    pub value: Value,
    /// When the step ended: RFC 3339, UTC.
    pub time: Timestamp,
}

/// The position of a call that was in flight when a step inside it ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallerPlace {
    /// The 0-based index among the calls of its caller.
    pub(super) place: u32,
    /// Whether another call of its caller was in flight with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) overlapped: bool,
}

impl Record {
    /// Creates the record of `step`, whose input was checked before, with its outcome and the current time.
    pub(super) fn new(step: StepSpec, value: Value) -> Result<Self, JournalError> {
        check_depth(&step, &value)?;
        let (overlapped, begun, callers) = (step.is_overlapped(), step.begun(), step.callers());
        let StepSpec { key, parent, place, kind, name, input, .. } = step;
        Ok(Self { key, parent, place, overlapped, begun, callers, kind, name, input, value, time: Timestamp::now() })
    }

    /// Returns the key of the call that contains this part, or its own key.
    #[doc(hidden)]
    #[must_use]
    pub fn call(&self) -> &str {
        key::call(&self.key, &self.parent)
    }

    /// Returns the record as it would be if its run had the first of equal root calls: as a run in a journal of its own.
    #[doc(hidden)]
    #[must_use]
    pub fn in_own_journal(mut self) -> Self {
        self.key = key::unnumbered_run(self.key);
        self.parent = key::unnumbered_run(self.parent);
        self
    }

    /// Returns whether it is a call in the background.
    #[cfg(feature = "script")]
    pub(crate) fn is_in_background(&self) -> bool {
        key::is_in_background(&self.key)
    }

    /// Returns whether it is a call that continues a thread.
    pub(crate) fn is_in_thread(&self) -> bool {
        key::is_in_thread(&self.key)
    }
}

/// The facts about a record that matching requires, so that not all of the record must be in memory.
pub(super) trait Recorded {
    /// The representation of the outcome in memory.
    type Value;

    fn key(&self) -> &Arc<str>;
    fn parent(&self) -> &Arc<str>;
    fn place(&self) -> u32;
    fn is_overlapped(&self) -> bool;
    fn begun(&self) -> Option<u32>;
    fn callers(&self) -> &[CallerPlace];
    fn kind(&self) -> StepKind;
    fn value(&self) -> Self::Value;

    /// Returns whether the record has this input.
    fn is_input(&self, input: &Value) -> bool;

    /// Describes the step without its content.
    fn describe(&self) -> String;

    /// Returns the key of the call that contains this part, or its own key.
    fn call(&self) -> &str {
        key::call(self.key(), self.parent())
    }

    /// Returns the calls that contain the step, below the root call, innermost first: the caller's key, the key, the place.
    fn in_flight(&self) -> impl Iterator<Item = (&str, &str, CallerPlace)> {
        let mut call = &**self.parent();
        self.callers().iter().rev().map_while(move |place| {
            let inner = call;
            call = key::parent(inner)?;
            Some((call, inner, *place))
        })
    }
}

impl Recorded for Record {
    type Value = Value;

    fn key(&self) -> &Arc<str> {
        &self.key
    }

    fn parent(&self) -> &Arc<str> {
        &self.parent
    }

    fn place(&self) -> u32 {
        self.place
    }

    fn is_overlapped(&self) -> bool {
        self.overlapped
    }

    fn begun(&self) -> Option<u32> {
        self.begun
    }

    fn callers(&self) -> &[CallerPlace] {
        &self.callers
    }

    fn kind(&self) -> StepKind {
        self.kind
    }

    fn value(&self) -> Value {
        self.value.clone()
    }

    fn is_input(&self, input: &Value) -> bool {
        *self.input == *input
    }

    fn describe(&self) -> String {
        key::describe(self.kind, &self.name, &self.input)
    }
}

/// Checks that an input or an outcome of a step is not nested too deeply to be read back.
pub(super) fn check_depth(step: &StepSpec, part: &Value) -> Result<(), JournalError> {
    too_deep(part, 0).map_or(Ok(()), |message| Err(JournalError::InvalidValue { step: step.to_string(), message }))
}

/// Returns an error message if a value inside `inside` arrays and objects is nested too deeply to be recorded.
pub(crate) fn too_deep(value: &Value, inside: usize) -> Option<String> {
    let is_recordable = is_shallow(value, MAX_DEPTH - inside);
    (!is_recordable).then(|| format!("JSON nested deeper than {MAX_DEPTH} levels cannot be recorded; make it flatter"))
}
