//! The record of a finished call in a journal.

use std::sync::Arc;

use llm_do_providers::Attachment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::error::{CallError, ErrorTypes, Failure, TextOnly, chain};
use crate::base::usage::UsageTree;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{self, Labels};
use crate::observe::journal::{digest, too_deep};
use crate::plane::conversation::ThreadChange;
use crate::plane::dispatch::StoredWorker;

/// The record of a finished call: its result or error, and its effects on the session.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CallRecord {
    #[serde(flatten)]
    pub(super) outcome: RecordedOutcome,
    /// The keys of the nested failures that caused the failure of the call.
    #[serde(rename = "because", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) causes: Vec<Arc<str>>,
    /// Its usage, so that a replay counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<UsageTree>,
    /// The workers that it created or replaced, so that a replay restores them.
    #[serde(rename = "made", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) created_workers: Vec<StoredWorker>,
    /// The user's messages during the call, so that a replay adds them to the conversation.
    #[serde(rename = "heard", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) user_messages: Vec<String>,
    /// The approvals for more than one call, so that a replay does not ask again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) approved: Vec<Value>,
    /// The changes of threads during the call, so that a replay restores them; the change of its own thread is the last
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) threads: Vec<Arc<ThreadChange>>,
    /// The code of a model that it ran, with the results of its calls, so that later code finds its variables.
    #[serde(rename = "ran", default, skip_serializing_if = "Option::is_none")]
    pub(super) ran_code: Option<String>,
    /// The calls whose results it had read, each in one line, so that a replay knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) read: Vec<Arc<str>>,
    /// The join of what it had read, if values were labelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Labels>,
    /// The labels of its result, if it returned less than it had read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) returned: Option<Labels>,
    /// The tools whose calls in it may have changed something, in a hybrid, so that the worker does not repeat them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) acted: Vec<Arc<str>>,
}

/// The nesting depth of a result inside its record.
const RESULT_DEPTH: usize = 2;

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedOutcome {
    Result { result: RecordedResult },
    Failure(Failure),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordedResult {
    pub(super) value: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) attachments: Vec<Attachment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

impl RecordedOutcome {
    /// Returns the outcome to record; an error that ends the run is not recorded.
    pub(super) fn from_result(
        result: Result<ToolReturn, CallError>,
        types: &dyn ErrorTypes,
    ) -> Result<Self, CallError> {
        match result {
            Ok(returned) => Ok(Self::returned(returned)),
            Err(error) => Failure::from_error(error, types).map(Self::Failure),
        }
    }

    /// Records a result that is nested too deeply for a journal as a failure, since the call must not run again.
    fn returned(ToolReturn { content, attachments, note, .. }: ToolReturn) -> Self {
        let value = content.into_value();
        match too_deep(&value, RESULT_DEPTH) {
            Some(fault) => Self::Failure(Failure::Failed(fault)),
            None => Self::Result { result: RecordedResult { value, attachments, note } },
        }
    }

    pub(super) fn into_result(self, tool: &str, types: &dyn ErrorTypes) -> Result<ToolReturn, CallError> {
        match self {
            Self::Result { result: RecordedResult { value, attachments, note } } => {
                Ok(ToolReturn { attachments, note, ..value.into() })
            }
            Self::Failure(failure) => Err(failure.into_error(tool, types)),
        }
    }
}

impl CallRecord {
    pub(super) fn new(outcome: RecordedOutcome, causes: Vec<Arc<str>>) -> Self {
        // Only the causes of a failure are retried.
        let causes = if matches!(outcome, RecordedOutcome::Failure(_)) { causes } else { Vec::new() };
        let (created_workers, user_messages) = (Vec::new(), Vec::new());
        let (approved, threads, read, acted) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (usage, ran_code, labels, returned) = (None, None, None, None);
        Self {
            outcome,
            causes,
            usage,
            created_workers,
            user_messages,
            approved,
            threads,
            ran_code,
            read,
            labels,
            returned,
            acted,
        }
    }
}

/// Returns a digest of a root call's record; it distinguishes the effects that follow different records.
pub(super) fn digest_of(record: &CallRecord) -> String {
    digest(&serde_json::to_value(record).unwrap_or_default())
}

/// Returns the record of a call without its effects on the session: only its result or its error. `None` if it is not one.
#[cfg(feature = "script")]
pub(crate) fn recorded_outcome_only(value: Value) -> Option<Value> {
    let record: CallRecord = serde_json::from_value(value).ok()?;
    serde_json::to_value(CallRecord::new(record.outcome, Vec::new())).ok()
}

/// Returns the outcome of a recorded call of `tool`: the value of a [`Call`](StepKind::Call) or [`Result`](StepKind::Result) step.
///
/// Returns `None` if the record is the failure of a model, so that there is no answer.
#[doc(hidden)]
pub fn recorded_outcome(tool: &str, value: Value) -> Option<event::Outcome> {
    let Ok(CallRecord { outcome, .. }) = serde_json::from_value(value) else {
        return Some(event::Outcome::Error(format!("invalid journal record: expected a result of `{tool}`")));
    };
    if matches!(outcome, RecordedOutcome::Failure(Failure::Model { .. })) {
        return None;
    }
    let result = outcome.into_result(tool, &TextOnly).map(|returned| event::EventValue::from_json(returned.content));
    Some(result.map_or_else(|error| event::Outcome::Error(chain(&error)), event::Outcome::Result))
}
