//! The answer of an approver, and its JSON form.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::observe::event::ApprovalScope;

/// An approver's answer: whether a call may run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub enum Decision {
    /// The call may run; an equal call needs approval again.
    Approved,
    /// The call may run, and so may each call of the same tool with equal arguments within this scope.
    ApprovedFor {
        /// Which equal calls run without another request.
        scope: ApprovalScope,
    },
    /// The call may run with other arguments, which are validated like a caller's; an equal call needs approval again.
    ///
    /// If they are invalid, or a rule blocks them, the approver is asked again, and the request has a
    /// [`problem`](super::ApprovalRequest::problem) and the [edit](super::ApprovalRequest::refused_edit).
    ApprovedWith {
        /// The arguments of the call.
        arguments: Value,
    },
    /// The call has already happened, with this result, so it does not run.
    ///
    /// Only valid for a call that [began](super::ApprovalRequest::began) before. For any other call, or with a result
    /// that does not match the [schema](super::ApprovalRequest::result_schema), the approver is asked again.
    Happened {
        /// The result of the call.
        result: Value,
    },
    /// The call may not run. The denial is not remembered: an equal call needs approval again.
    ///
    /// If a model made the call, it receives the reason and continues, unless the runtime [ends its runs on a
    /// denial](crate::session::runtime::RuntimeBuilder::end_on_denial). Code gets an error.
    Denied {
        /// The reason; models may see it.
        reason: String,
    },
    /// The call may not run, and no model continues after it: the run ends with the error.
    ///
    /// Code gets the error too, and may handle it.
    DeniedAndStopped {
        /// The reason.
        reason: String,
    },
    /// The call may not run, because there was no decision, for example since the user interface was closed.
    ///
    /// No model continues after it: the run ends with the error, and asks again when it is resumed. After
    /// [`Denied`](Self::Denied) and [`DeniedAndStopped`](Self::DeniedAndStopped), it does not ask again.
    Undecided {
        /// The reason; models may see it.
        reason: String,
    },
}

impl Decision {
    /// Approves this call only.
    pub fn approve() -> Self {
        Self::Approved
    }

    /// Approves the call, and all equal calls within this scope.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{ApprovalScope, Decision};
    ///
    /// let decision = Decision::approve_for(ApprovalScope::Caller);
    /// assert_eq!(decision, Decision::ApprovedFor { scope: ApprovalScope::Caller });
    /// assert_eq!(Decision::approve_for(ApprovalScope::Session), Decision::approve_for_session());
    /// ```
    pub fn approve_for(scope: ApprovalScope) -> Self {
        Self::ApprovedFor { scope }
    }

    /// Approves the call, and all equal calls of this session, in every run and from every caller.
    pub fn approve_for_session() -> Self {
        Self::approve_for(ApprovalScope::Session)
    }

    /// Approves this call only, with these arguments.
    pub fn approve_with(arguments: Value) -> Self {
        Self::ApprovedWith { arguments }
    }

    /// Reports that a call that [began](super::ApprovalRequest::began) before has happened, with this result: it does
    /// not run again.
    pub fn happened(result: impl Into<Value>) -> Self {
        Self::Happened { result: result.into() }
    }

    /// Denies the call; a model receives `reason` and continues, and the error of code contains it.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::Decision;
    ///
    /// assert_eq!(Decision::deny("use the test account"), Decision::Denied { reason: "use the test account".into() });
    /// assert_eq!(Decision::deny_and_stop("enough"), Decision::DeniedAndStopped { reason: "enough".into() });
    /// ```
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into() }
    }

    /// Denies the call and ends the run; the error contains `reason`.
    pub fn deny_and_stop(reason: impl Into<String>) -> Self {
        Self::DeniedAndStopped { reason: reason.into() }
    }

    /// Denies the call because there was no decision; the caller's error contains `reason`.
    pub fn undecided(reason: impl Into<String>) -> Self {
        Self::Undecided { reason: reason.into() }
    }

    /// Reads a decision that was given under the id of a promise; invalid JSON decides nothing.
    pub(super) fn from_json(given: Value) -> Self {
        let written = serde_json::from_value::<WrittenDecision>(given);
        written.map_or_else(|error| Self::undecided(format!("the stored decision is invalid: {error}")), Into::into)
    }
}

/// A decision about a call.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(crate = "::schemars", rename = "Verdict")]
pub enum WrittenDecision {
    /// The call may run.
    Approve {
        /// Which equal calls run without another request: default only this one.
        #[serde(default)]
        scope: WrittenScope,
    },
    /// The call may run with these arguments, which are validated like a caller's.
    Edit {
        /// The arguments.
        arguments: Value,
    },
    /// The call began before, and has happened.
    Happened {
        /// The result.
        result: Value,
    },
    /// The call may not run: a model receives the reason and continues.
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
pub enum WrittenScope {
    /// This call only.
    #[default]
    Call,
    /// Equal calls of the same callers.
    Caller,
    /// Equal calls of any caller.
    Run,
}

impl From<WrittenDecision> for Decision {
    fn from(written: WrittenDecision) -> Self {
        match written {
            WrittenDecision::Approve { scope: WrittenScope::Call } => Self::approve(),
            WrittenDecision::Approve { scope: WrittenScope::Caller } => Self::approve_for(ApprovalScope::Caller),
            WrittenDecision::Approve { scope: WrittenScope::Run } => Self::approve_for(ApprovalScope::Run),
            WrittenDecision::Edit { arguments } => Self::approve_with(arguments),
            WrittenDecision::Happened { result } => Self::happened(result),
            WrittenDecision::Deny { reason, stop: false } => Self::deny(reason),
            WrittenDecision::Deny { reason, stop: true } => Self::deny_and_stop(reason),
        }
    }
}
