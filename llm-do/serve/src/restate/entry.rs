//! The entries of a run's log, as the engine keeps them.

use std::sync::Arc;

use bytes::Bytes;
use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::journal::StepKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::store;

/// An entry of the log of a run, in the order of recording.
///
/// Some entries are followed by a command of the engine; entries and commands have the same order in each attempt.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A [`Record`](llm_do_core::observe::journal::Record).
    Step(Box<RawValue>),
    Forget(Vec<Arc<str>>),
    Sleep {
        key: Arc<str>,
        millis: u64,
    },
    Ask(ShownRequest),
    /// The call with this key runs as a separate invocation.
    Call(Arc<str>),
    /// Questions are removed from the inbox, by their ids there.
    Withdraw(Vec<String>),
    Outcome(Outcome),
}

/// A question of a run to a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShownRequest {
    pub(crate) key: Arc<str>,
    pub(crate) kind: StepKind,
    /// The number of invalid answers that the run received before.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) repeats: u32,
    pub(crate) digest: String,
    /// The content that the person sees.
    pub(crate) shown: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_first(repeats: &u32) -> bool {
    *repeats == 0
}

/// The outcome of a run, which its caller receives too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    #[serde(flatten)]
    pub(crate) end: End,
    pub(crate) usage: RunUsage,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Result(Value),
    Error(String),
    /// An operator cancelled it.
    Cancelled {},
}

/// Entries that are appended together, in JSON.
#[derive(Clone, Debug)]
pub(super) struct Batch(pub(super) String);

impl restate_sdk::serde::Serialize for Batch {
    type Error = std::convert::Infallible;

    fn serialize(&self) -> Result<Bytes, Self::Error> {
        Ok(Bytes::from(self.0.clone()))
    }
}

impl restate_sdk::serde::Deserialize for Batch {
    type Error = std::string::FromUtf8Error;

    fn deserialize(bytes: &mut Bytes) -> Result<Self, Self::Error> {
        String::from_utf8(bytes.to_vec()).map(Self)
    }
}

impl From<End> for store::Outcome {
    fn from(end: End) -> Self {
        match end {
            End::Result(value) => Self::Result(value),
            End::Error(error) => Self::Error(error),
            End::Cancelled {} => Self::Cancelled,
        }
    }
}
