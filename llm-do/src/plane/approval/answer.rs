//! The decision about a call, as a journal records it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalRequest, EnvironmentDigest};
use crate::observe::event::{ApprovalScope, DecidedBy};

/// The decision about a call, as a journal records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) by: DecidedBy,
    /// Which equal calls run without another request. Default in older records: this call only.
    #[serde(default)]
    pub(crate) scope: ApprovalScope,
    /// What the call acted on besides its arguments; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<EnvironmentDigest>,
    /// Whether a denial ends the run instead of being returned to a model. Default in older records: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stops: bool,
}

/// Whether a call may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The call may run: with these arguments, or else with its own.
    Approved(Option<Value>),
    /// The approver, the mode or cancellation denied the call, for this reason.
    Denied(String),
    /// A rule blocks the call, for this reason.
    Blocked(String),
}

/// Returns the arguments by which the approver replaced those of the call, if a recorded answer has them.
pub(crate) fn edited(recorded: &Value) -> Option<Value> {
    match Answer::deserialize(recorded).ok()?.verdict {
        Verdict::Approved(edited) => edited,
        Verdict::Denied(_) | Verdict::Blocked(_) => None,
    }
}

impl Answer {
    pub(crate) fn approved(by: DecidedBy) -> Self {
        Self { verdict: Verdict::Approved(None), by, scope: ApprovalScope::Call, environment: None, stops: false }
    }

    pub(crate) fn denied(reason: impl Into<String>, by: DecidedBy) -> Self {
        let verdict = Verdict::Denied(reason.into());
        Self { verdict, by, scope: ApprovalScope::Call, environment: None, stops: false }
    }

    /// Denies the call, and ends the run if a model made the call.
    pub(crate) fn stopped(reason: impl Into<String>, by: DecidedBy) -> Self {
        Self { stops: true, ..Self::denied(reason, by) }
    }

    /// Denies the call without a decision: the run ends, so that it can ask when it is resumed.
    pub(crate) fn undecided(reason: impl Into<String>) -> Self {
        Self::stopped(reason, DecidedBy::Policy)
    }

    pub(crate) fn is_approved(&self) -> bool {
        matches!(self.verdict, Verdict::Approved(_))
    }

    /// Returns the arguments by which the approver replaced those of the call.
    pub(crate) fn edited_arguments(&self) -> Option<&Value> {
        match &self.verdict {
            Verdict::Approved(edited) => edited.as_ref(),
            Verdict::Denied(_) | Verdict::Blocked(_) => None,
        }
    }

    /// Adds the arguments of the request to an approval without arguments.
    pub(crate) fn set_arguments(&mut self, request: &ApprovalRequest) {
        if let Verdict::Approved(edited @ None) = &mut self.verdict {
            *edited = Some(request.given.as_ref().unwrap_or(&request.arguments).clone());
        }
    }

    /// Returns whether a recorded answer holds for a call that acts on `environment`: an approval holds for what it was given for.
    pub(crate) fn holds_for(&self, environment: &EnvironmentDigest) -> bool {
        !self.is_approved() || self.environment.as_ref().is_none_or(|own| own == environment)
    }

    /// Returns whether a recorded answer holds in a later process: answers of the approver and all denials do.
    ///
    /// An approval by a mode or rule does not, since the mode or rule may have changed.
    pub(crate) fn is_lasting(&self) -> bool {
        self.by == DecidedBy::Approver || !self.is_approved()
    }

    pub(crate) fn blocked(reason: &str) -> Self {
        let verdict = Verdict::Blocked(reason.to_owned());
        Self { verdict, by: DecidedBy::Policy, scope: ApprovalScope::Call, environment: None, stops: false }
    }

    pub(super) fn approved_for(scope: ApprovalScope) -> Self {
        Self { scope, ..Self::approved(DecidedBy::Approver) }
    }

    pub(super) fn edited(arguments: Option<Value>) -> Self {
        Self { verdict: Verdict::Approved(arguments), ..Self::approved(DecidedBy::Approver) }
    }
}
