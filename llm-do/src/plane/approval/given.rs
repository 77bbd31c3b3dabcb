//! A decision as JSON: how a person answers an approval under the id of its promise.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Decision;
use crate::observe::event::ApprovalScope;

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(crate = "::schemars", rename = "Verdict")]
pub(crate) enum GivenDecision {
    /// The call may run.
    Approve {
        /// Which equal calls run without another request: default only this one.
        #[serde(default)]
        scope: GivenScope,
    },
    /// The call may run with these arguments, which are validated like a caller's.
    Edit {
        /// The arguments.
        arguments: Value,
    },
    /// The call may not run: a model gets the reason and goes on.
    Deny {
        /// The reason; models may see it.
        reason: String,
        /// Whether the run ends instead: default false.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        stop: bool,
    },
}

/// Which equal calls of the run an approval holds for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(crate = "::schemars", rename = "Scope")]
pub(crate) enum GivenScope {
    /// This call only.
    #[default]
    Call,
    /// Equal calls of the same callers.
    Caller,
    /// Equal calls of any caller.
    Run,
}

impl GivenDecision {
    /// Returns the decision that was given as JSON; one without a form that is known decides nothing.
    pub(crate) fn read(given: Value) -> Decision {
        let given = serde_json::from_value::<Self>(given);
        given.map_or_else(|error| Decision::undecided(format!("the stored decision is invalid: {error}")), Into::into)
    }
}

impl From<GivenDecision> for Decision {
    fn from(given: GivenDecision) -> Self {
        match given {
            GivenDecision::Approve { scope: GivenScope::Call } => Self::approve(),
            GivenDecision::Approve { scope: GivenScope::Caller } => Self::approve_for(ApprovalScope::Caller),
            GivenDecision::Approve { scope: GivenScope::Run } => Self::approve_for(ApprovalScope::Run),
            GivenDecision::Edit { arguments } => Self::approve_with(arguments),
            GivenDecision::Deny { reason, stop: false } => Self::deny(reason),
            GivenDecision::Deny { reason, stop: true } => Self::deny_and_stop(reason),
        }
    }
}
