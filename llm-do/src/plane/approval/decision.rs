//! What an approver answers.

use serde_json::Value;

use crate::observe::event::ApprovalScope;

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[must_use]
pub enum Decision {
    /// This once.
    Approved,
    /// Now, and whenever the same tool is called with the same arguments within this scope.
    ApprovedFor {
        /// Which equal calls run without a question.
        scope: ApprovalScope,
    },
    /// This once, with other arguments, which are checked as a caller's are.
    ///
    /// If they do not fit, the approver is asked again and told of the [`problem`](super::ApprovalRequest::problem).
    ApprovedWith {
        /// What the call runs with.
        arguments: Value,
    },
    /// Not. Nothing is remembered of it: an equal call is asked about again.
    Denied {
        /// Why, in words fit to show to a model.
        reason: String,
    },
    /// Not, since nobody decided: whoever would have is gone, such as a user interface that was closed.
    ///
    /// A run that ended by it and is resumed asks again, where one that was denied stays so.
    Undecided {
        /// Why, in words fit to show to a model.
        reason: String,
    },
}

impl Decision {
    /// Lets the call run this once.
    pub fn approve() -> Self {
        Self::Approved
    }

    /// Lets the call run, and all equal ones within this scope.
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

    /// Lets the call run, and all equal ones of this session, in whatever run and from whatever caller.
    pub fn approve_for_session() -> Self {
        Self::approve_for(ApprovalScope::Session)
    }

    /// Lets the call run this once, with these arguments.
    pub fn approve_with(arguments: Value) -> Self {
        Self::ApprovedWith { arguments }
    }

    /// Refuses the call; `reason` is what the caller is told.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Denied { reason: reason.into() }
    }

    /// Refuses the call, since nobody decided; `reason` is what the caller is told.
    pub fn undecided(reason: impl Into<String>) -> Self {
        Self::Undecided { reason: reason.into() }
    }
}
