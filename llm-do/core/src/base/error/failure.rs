//! Failures in the form that a journal records, from which a replay rebuilds the same error.

use std::error::Error;
use std::time::Duration;

use jiff::Timestamp;
use llm_do_providers::{ErrorKind, ProviderError};
use serde::{Deserialize, Serialize};

use super::cause::RecordedError;
use super::error_type::ErrorTypes;
use super::stored_error::StoredError;
use super::{CallError, Fault, chain};

/// A failure that a caller can handle, in the form that a journal records.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    Failed(String),
    /// A tool failed with an error of its declared type: the failed call, or a nested call whose error was passed on.
    Typed(StoredError),
    /// The call `of` timed out: the failed call itself, or, with `text`, a nested call whose error was passed on.
    TimedOut {
        of: String,
        after: Duration,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The model of `worker` failed: of the failed call, or, with `text`, of a nested call whose error was passed on.
    Model {
        worker: String,
        error: ProviderError,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The call `of` abstained: the failed call itself, or, with `text`, a nested call whose error was passed on.
    Unsure {
        of: String,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The outcome of the call `of` is unknown. It is the failed call itself, or, with `text`, a nested call whose
    /// error was passed on.
    OutcomeUnknown {
        of: String,
        began: Timestamp,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    Panicked(String),
    InvalidArguments(Fault),
    GaveUp(String),
}

impl Failure {
    /// Returns whether the outcome of a call of a tool other than `tool` is unknown.
    pub(crate) fn is_unknown_inside(&self, tool: &str) -> bool {
        matches!(self, Self::OutcomeUnknown { of, .. } if of != tool)
    }

    /// Returns the record of an error, or the error itself if it ends the run and is not recorded, such as a limit.
    pub(crate) fn from_error(error: CallError, types: &dyn ErrorTypes) -> Result<Self, CallError> {
        match error {
            CallError::Model { worker, source } if source.kind() != ErrorKind::Cancelled => {
                Ok(Self::Model { worker, error: source, text: None })
            }
            error @ CallError::Failed { .. } => Self::passed_on(error, types),
            error if !error.is_recoverable() => Err(error),
            CallError::Timeout { tool, after } => Ok(Self::TimedOut { of: tool, after, text: None }),
            CallError::Unsure { tool, reason } => Ok(Self::Unsure { of: tool, reason, text: None }),
            CallError::OutcomeUnknown { tool, began, reason } => {
                Ok(Self::OutcomeUnknown { of: tool, began, reason, text: None })
            }
            CallError::Panicked { message, .. } => Ok(Self::Panicked(message)),
            CallError::InvalidArguments { message, .. } => Ok(Self::InvalidArguments(message)),
            CallError::GaveUp { message, .. } => Ok(Self::GaveUp(message)),
            CallError::Other(source) => Ok(Self::Failed(chain(source.as_ref()))),
            error => Err(error),
        }
    }

    /// Records a call that failed with the text of its error, and with its cause if callers can match on that.
    fn passed_on(error: CallError, types: &dyn ErrorTypes) -> Result<Self, CallError> {
        let text = || error.source().map(chain).unwrap_or_default();
        match error.innermost() {
            CallError::Timeout { tool, after } => {
                Ok(Self::TimedOut { of: tool.clone(), after: *after, text: Some(text()) })
            }
            CallError::Model { worker, source } if source.kind() != ErrorKind::Cancelled => {
                let copy = serde_json::to_value(source).and_then(serde_json::from_value);
                let Ok(copy) = copy else { return Err(error) };
                Ok(Self::Model { worker: worker.clone(), error: copy, text: Some(text()) })
            }
            CallError::Unsure { tool, reason } => {
                Ok(Self::Unsure { of: tool.clone(), reason: reason.clone(), text: Some(text()) })
            }
            CallError::OutcomeUnknown { tool, began, reason } => {
                let (of, reason) = (tool.clone(), reason.clone());
                Ok(Self::OutcomeUnknown { of, began: *began, reason, text: Some(text()) })
            }
            _ if !error.is_recoverable() => Err(error),
            _ => Ok(StoredError::from_error(&error, types).map_or_else(|| Self::Failed(text()), Self::Typed)),
        }
    }

    /// Rebuilds the error of a call to `tool`.
    pub(crate) fn into_error(self, tool: &str, types: &dyn ErrorTypes) -> CallError {
        let tool = tool.to_owned();
        let passed_on = |tool, text, cause| match text {
            Some(text) => CallError::Failed { tool, source: RecordedError { text, cause }.into() },
            None => cause,
        };
        match self {
            Self::Failed(text) => CallError::Failed { tool, source: text.into() },
            Self::Typed(error) => error.into_error(tool, types),
            Self::TimedOut { of, after, text } => passed_on(tool, text, CallError::Timeout { tool: of, after }),
            Self::Model { worker, error, text } => passed_on(tool, text, CallError::Model { worker, source: error }),
            Self::Unsure { of, reason, text } => passed_on(tool, text, CallError::Unsure { tool: of, reason }),
            Self::OutcomeUnknown { of, began, reason, text } => {
                passed_on(tool, text, CallError::OutcomeUnknown { tool: of, began, reason })
            }
            Self::Panicked(message) => CallError::Panicked { tool, message },
            Self::InvalidArguments(message) => CallError::InvalidArguments { tool, message },
            Self::GaveUp(message) => CallError::GaveUp { worker: tool, message },
        }
    }
}
