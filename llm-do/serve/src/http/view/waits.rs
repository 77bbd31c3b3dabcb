//! The approvals and questions that wait for a person, and the answers.

use jiff::Timestamp;
use llm_do_core::plane::approval::WrittenDecision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::{Wait, WaitKind};

/// Approvals or questions that wait for a person, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct WaitList {
    pub(in crate::http) waiting: Vec<WaitView>,
    /// `after` of the next page, if there may be one.
    pub(in crate::http) next: Option<String>,
}

/// Which approvals or questions a list contains.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct WaitListQuery {
    /// Only those after this one: `next` of the page before.
    pub(in crate::http) after: Option<String>,
    /// The maximum number: default and at most 500; fewer if they are long.
    pub(in crate::http) limit: Option<u32>,
}

/// An approval or a question.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct WaitView {
    id: String,
    run: String,
    /// The entry of the run.
    entry: String,
    kind: WaitKind,
    /// The content to show. An approval has `tool`, `summary`, `arguments`, `preview` and more, such as `refused_edit`,
    /// the edited arguments that cannot run, and `began`, the time at which a call began that may have had its effect:
    /// the answer may then be `happened`. A question has `prompt` and `choices`.
    request: Value,
    /// The digest of `request`, which the answer must contain.
    digest: String,
    #[schemars(with = "String")]
    created: Timestamp,
    answer: Option<Value>,
    answered_by: Option<String>,
    #[schemars(with = "Option<String>")]
    answered: Option<Timestamp>,
    /// Whether the run no longer waits for it.
    is_withdrawn: bool,
}

impl From<Wait> for WaitView {
    fn from(wait: Wait) -> Self {
        let Wait {
            id, run, entry, kind, request, digest, created, answer, answered_by, answered, is_withdrawn, ..
        } = wait;
        Self { id, run, entry, kind, request, digest, created, answer, answered_by, answered, is_withdrawn }
    }
}

/// The decision about an approval.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct Decision {
    /// The digest of what was shown.
    pub(in crate::http) digest: String,
    #[serde(flatten)]
    pub(in crate::http) decision: WrittenDecision,
}

/// The answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "::schemars")]
pub(crate) struct Answer {
    /// The digest of what was shown.
    pub(in crate::http) digest: String,
    /// A text, or a choice, or a list of choices.
    pub(in crate::http) answer: Value,
}

/// An answer was recorded.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(crate = "::schemars")]
pub(crate) struct Answered {
    pub(in crate::http) id: String,
    pub(in crate::http) answered_by: String,
}
