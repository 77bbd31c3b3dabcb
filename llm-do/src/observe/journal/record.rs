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
    /// How many calls of `parent` had begun when it ended: those from that place on began after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) begun: Option<u32>,
    /// Where the calls that it happened in began, the outermost first; without the root call, which has a record.
    ///
    /// A call has a record once it has ended. If the process dies before, this is how the next one knows of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) callers: Vec<CallerPlace>,
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

/// Where a call began, as it was known when an effect inside it ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallerPlace {
    /// How many calls of its own caller began before it.
    pub(super) place: u32,
    /// Whether another call of its caller was in flight with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) overlapped: bool,
}

impl Record {
    /// Records that `step`, whose input fits, came to `value` now.
    pub(super) fn new(step: StepSpec, value: Value) -> Result<Self, JournalError> {
        fits(&step, &value)?;
        let (overlapped, begun, callers) = (step.is_overlapped(), step.begun(), step.callers());
        let StepSpec { key, parent, place, kind, name, input, .. } = step;
        Ok(Self { key, parent, place, overlapped, begun, callers, kind, name, input, value, time: Timestamp::now() })
    }

    /// Returns the calls that it happened in, below the root call: each with its caller's key, its own, and its place.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = (&str, &str, CallerPlace)> {
        let mut call = &*self.parent;
        self.callers.iter().rev().map_while(move |place| {
            let inner = call;
            call = place::parent(inner)?;
            Some((call, inner, *place))
        })
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
