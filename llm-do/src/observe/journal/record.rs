//! One effect, as it is recorded.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JournalError, StepKind, StepSpec, place};
use crate::declare::schema::is_shallow;

/// How many arrays and objects may be in one another: a reader of JSON stops at 128, the record itself included.
const MAX_DEPTH: usize = 120;

/// One effect that ended, with what it was called with and what it came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The step's [`key`](StepSpec::key).
    pub key: Arc<str>,
    /// The key of the call that it happened in; empty for a root call.
    pub parent: Arc<str>,
    /// How many calls of `parent` began before it.
    pub place: u32,
    /// Whether another call of `parent` was under way with it.
    pub overlapped: bool,
    /// What it was.
    pub kind: StepKind,
    /// What was called.
    pub name: Arc<str>,
    /// What it was called with.
    pub input: Arc<Value>,
    /// What it came to.
    pub value: Value,
    /// When it ended: RFC 3339, UTC.
    pub time: Timestamp,
}

impl Record {
    /// Records that `step`, whose input fits, came to `value` now.
    pub(super) fn new(step: StepSpec, value: Value) -> Result<Self, JournalError> {
        fits(&step, &value)?;
        let overlapped = step.is_overlapped();
        let StepSpec { key, parent, place, kind, name, input, .. } = step;
        Ok(Self { key, parent, place, overlapped, kind, name, input, value, time: Timestamp::now() })
    }

    /// Returns the key of the call that it is a part of, or else its own.
    pub(crate) fn call(&self) -> &str {
        place::call(&self.key, &self.parent)
    }

    /// Returns what it is, without what it holds.
    pub(super) fn describe(&self) -> String {
        place::describe(self.kind, &self.name, &self.input)
    }
}

/// Refuses a part of a step that could not be read again.
pub(super) fn fits(step: &StepSpec, part: &Value) -> Result<(), JournalError> {
    too_deep(part, 0).map_or(Ok(()), |message| Err(JournalError::Unfit { step: step.to_string(), message }))
}

/// Says that a value is nested too deep to be kept `inside` so many arrays and objects, if it is.
pub(crate) fn too_deep(value: &Value, inside: usize) -> Option<String> {
    let is_kept = is_shallow(value, MAX_DEPTH - inside);
    (!is_kept).then(|| format!("a journal takes no JSON that is nested deeper than {MAX_DEPTH}; make it flatter"))
}
