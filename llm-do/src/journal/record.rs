//! One effect, as it is recorded.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{JournalError, StepKind, StepSpec, place};

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
    /// Records that `step` came to `value` now.
    pub(super) fn new(step: StepSpec, value: Value) -> Result<Self, JournalError> {
        if !is_shallow(&value, MAX_DEPTH) || !is_shallow(&step.input, MAX_DEPTH) {
            let message = format!("a journal takes no JSON that is nested deeper than {MAX_DEPTH}; make it flatter");
            return Err(JournalError::Unfit { step: step.to_string(), message });
        }
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

fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_shallow(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|field| is_shallow(field, depth - 1)),
        _ => true,
    }
}
