//! The source, the state and the outcome of a run.

use std::str::FromStr;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use llm_do_core::observe::event::Label;

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
#[doc(hidden)]
pub enum RunState {
    /// It waits for a process to start or resume it.
    Queued,
    /// A process runs it.
    Running,
    /// It waits for a decision, an answer or a time; once it is suspended, it takes no memory.
    Waiting,
    /// It returned a result.
    Succeeded,
    /// It returned an error; it can be resumed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunState {
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Waiting, Self::Succeeded, Self::Failed, Self::Cancelled];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_finished(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// Returns whether it has ended without a result.
    pub(crate) fn is_unsuccessful(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled)
    }
}

impl FromStr for RunState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or(())
    }
}

impl ToSql for RunState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for RunState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(|()| FromSqlError::InvalidType)
    }
}

/// The source of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(crate = "::schemars")]
pub(crate) enum Source {
    /// A request of a client.
    Client,
    /// A schedule.
    Schedule {
        /// Its name.
        name: String,
    },
    /// A webhook.
    Webhook {
        /// Its name.
        name: String,
        /// The type of the event, if it is GitHub's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<String>,
    },
}

impl Source {
    /// Returns whose text the arguments of a run may carry, unless they are the user's or the operator's words.
    pub(crate) fn label(&self) -> Option<Label> {
        match self {
            Self::Client | Self::Schedule { .. } => None,
            // What happened at the other service, such as a comment of anyone.
            Self::Webhook { .. } => Some(Label::Untrusted),
        }
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Result(Value),
    Error(String),
    Cancelled,
}

impl Outcome {
    pub(crate) fn state(&self) -> RunState {
        match self {
            Self::Result(_) => RunState::Succeeded,
            Self::Error(_) => RunState::Failed,
            Self::Cancelled => RunState::Cancelled,
        }
    }
}
