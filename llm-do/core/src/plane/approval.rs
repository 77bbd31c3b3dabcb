//! Approval of calls: from the rule that asks, to the approval that the journal records.
//!
//! For each call, the [`Policy`] of the program and what tools declare give one [`Rule`]: the call runs, is blocked, or needs
//! approval. In the last case, it becomes an [`ApprovalRequest`], which is submitted to the [`Approvals`] of its run. There, the
//! [`ApprovalMode`] decides about it, or an approval in memory that covers equal calls. Otherwise it waits in the approval queue,
//! where equal requests of one caller share an answer, until the [reviewer](Policy::reviewer) decides, or the [`Approver`] returns a [`Decision`]; an [`ApprovalInbox`] is the
//! approver whose requests another task answers. While edited arguments cannot run, the approver is asked again. The result is an
//! `Approval`: the verdict with the edited arguments, who decided, and the [scope](ApprovalScope). The journal records it, an event
//! reports it, and the memory keeps it if it covers more than its call.

mod approvals;
mod approver;
mod decision;
mod edit;
mod flow_mode;
mod flow_overview;
mod inbox;
mod memory;
mod mode;
mod overview;
mod policy;
mod queue;
mod request;
mod review;
mod reviewer;
mod rule;
mod rule_set;
mod rules;
mod submitted;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::approvals::Approvals;
pub use self::approver::Approver;
pub(crate) use self::approver::ByFunction;
pub use self::decision::Decision;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::decision::WrittenDecision;
pub use self::edit::RefusedEdit;
pub use self::flow_mode::FlowMode;
#[doc(hidden)]
pub use self::flow_overview::{FlowOverview, SinkFlow, SourceFlow, WorkerFlow};
pub use self::inbox::{ApprovalInbox, InboxApprover, PendingApproval};
pub(crate) use self::memory::{EnvironmentDigest, LastingApproval, RunMemory, RunScope};
pub use self::mode::ApprovalMode;
pub use self::overview::{ApprovalOverview, RememberedApproval};
pub(crate) use self::policy::with_defaults;
pub use self::policy::{Policy, ProposedCall, WorkerRule};
pub use self::request::ApprovalRequest;
pub(crate) use self::request::{LazyRequest, may_have_happened};
pub(crate) use self::review::{OpenReview, ShowPreview};
pub(crate) use self::reviewer::Reviewer;
pub use self::reviewer::{CallReview, ReviewVerdict};
pub(crate) use self::rule::AppliedRule;
pub use self::rule::Rule;
pub(crate) use self::submitted::SubmittedRequest;
use crate::base::error::CallError;
use crate::base::usage::UsageTree;
pub use crate::declare::flow::Reach;
use crate::observe::event::{ApprovalScope, DecidedBy, EventKind, RuleSource};
use crate::plane::registry::{Prepared, Registered};

/// The reason that a call does not run if it has happened.
const HAPPENED: &str = "the call has happened already, and its result was given";

/// A decision about a call, in the form in which a journal records it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Approval {
    verdict: Verdict,
    pub(crate) by: DecidedBy,
    /// The equal calls that run without another request. Default in older records: this call only.
    #[serde(default)]
    pub(crate) scope: ApprovalScope,
    /// The environment that the call acted on besides its arguments; `None` in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<EnvironmentDigest>,
    /// Whether a denial ends the run instead of being returned to a model. Default in older records: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stops: bool,
    /// What its review used, so that a replay counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Box<UsageTree>>,
}

/// Whether a call may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// The call may run, with these arguments if present, or else with its own.
    Approved(Option<Value>),
    /// The call began before, and has happened, with this result.
    Happened(Value),
    /// The approver, the mode or cancellation denied the call, for this reason.
    Denied(String),
    /// A rule blocks the call, for this reason.
    Blocked(String),
}

impl Approval {
    fn new(verdict: Verdict, by: DecidedBy) -> Self {
        Self { verdict, by, scope: ApprovalScope::Call, environment: None, stops: false, usage: None }
    }

    pub(crate) fn approved(by: DecidedBy) -> Self {
        Self::new(Verdict::Approved(None), by)
    }

    /// Approves the call with the approver's arguments, or else with its own.
    fn edited(arguments: Option<Value>) -> Self {
        Self::new(Verdict::Approved(arguments), DecidedBy::Approver)
    }

    /// Reports that the call has already happened.
    fn happened(result: Value) -> Self {
        Self::new(Verdict::Happened(result), DecidedBy::Approver)
    }

    pub(crate) fn blocked(reason: &str) -> Self {
        Self::new(Verdict::Blocked(reason.to_owned()), DecidedBy::Policy)
    }

    pub(crate) fn denied(reason: impl Into<String>, by: DecidedBy) -> Self {
        Self::new(Verdict::Denied(reason.into()), by)
    }

    /// Denies the call, and ends the run if a model made the call.
    fn stopped(reason: impl Into<String>, by: DecidedBy) -> Self {
        Self { stops: true, ..Self::denied(reason, by) }
    }

    /// Denies the call without a decision: the run ends, so that it can ask when it is resumed.
    pub(crate) fn undecided(reason: impl Into<String>) -> Self {
        Self::stopped(reason, DecidedBy::Policy)
    }

    pub(crate) fn is_approved(&self) -> bool {
        matches!(self.verdict, Verdict::Approved(_))
    }

    /// Returns whether there was no decision.
    pub(crate) fn is_undecided(&self) -> bool {
        self.stops && self.by == DecidedBy::Policy
    }

    /// Returns the result of the call, if it has happened according to the approver.
    pub(crate) fn result(&self) -> Option<&Value> {
        match &self.verdict {
            Verdict::Happened(result) => Some(result),
            Verdict::Approved(_) | Verdict::Denied(_) | Verdict::Blocked(_) => None,
        }
    }

    /// Returns why a rule blocks the call, if one does.
    pub(crate) fn block_reason(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Blocked(reason) => Some(reason),
            Verdict::Approved(_) | Verdict::Happened(_) | Verdict::Denied(_) => None,
        }
    }

    /// Returns why the approver, the reviewer, the mode or cancellation denied the call, if one did.
    pub(crate) fn denial_reason(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Denied(reason) => Some(reason),
            Verdict::Approved(_) | Verdict::Happened(_) | Verdict::Blocked(_) => None,
        }
    }

    /// Returns the arguments with which the approver replaced those of the call.
    pub(crate) fn edited_arguments(&self) -> Option<&Value> {
        match &self.verdict {
            Verdict::Approved(edited) => edited.as_ref(),
            Verdict::Happened(_) | Verdict::Denied(_) | Verdict::Blocked(_) => None,
        }
    }

    /// Returns the arguments with which the approver replaced those of the call `tool`, or the error of a call that may
    /// not run.
    pub(crate) fn into_edit(self, tool: &str) -> Result<Option<Value>, CallError> {
        let tool = tool.to_owned();
        match self.verdict {
            Verdict::Approved(edited) => Ok(edited),
            // Only a call that began before has this answer, and it does not run.
            Verdict::Happened(_) => Err(CallError::Denied { tool, reason: HAPPENED.to_owned(), stops: true }),
            Verdict::Denied(_) if self.by == DecidedBy::Cancellation => Err(CallError::Cancelled { tool }),
            Verdict::Denied(reason) => Err(CallError::Denied { tool, reason, stops: self.stops }),
            Verdict::Blocked(reason) => Err(CallError::Blocked { tool, reason }),
        }
    }

    /// Adds the arguments of the request to an approval without arguments.
    pub(crate) fn set_arguments(&mut self, request: &ApprovalRequest) {
        if let Verdict::Approved(edited @ None) = &mut self.verdict {
            *edited = Some(request.given.as_ref().unwrap_or(&request.arguments).clone());
        }
    }

    /// Returns the approval for events: edited arguments are serialized by their types, which may hide secrets.
    pub(crate) fn masked(&self, tool: &Registered) -> Self {
        let shown = |edited: &Value| -> Option<Value> {
            let decoded = Prepared::decode(tool, edited.clone()).ok()?;
            Some(decoded.arguments().ok()?.value().clone())
        };
        let mut masked = self.clone();
        if let Verdict::Approved(Some(edited)) = &mut masked.verdict
            && !tool.is_checked_slowly(edited)
            && let Some(shown) = shown(edited)
        {
            *edited = shown;
        }
        masked
    }

    /// Returns the event about the approval; `rule` is the source of the rule for the call.
    pub(crate) fn event(&self, rule: RuleSource, replayed: bool) -> EventKind {
        let (approved, reason, edited) = match &self.verdict {
            Verdict::Approved(edited) => (true, None, edited.clone()),
            Verdict::Happened(_) => (false, Some(HAPPENED.to_owned()), None),
            Verdict::Denied(reason) | Verdict::Blocked(reason) => (false, Some(reason.clone()), None),
        };
        EventKind::ApprovalDecided { approved, by: self.by, rule, reason, edited, scope: self.scope, replayed }
    }

    /// Returns whether a recorded approval holds for a call that acts on `environment`; it must have been given for the
    /// same environment.
    pub(crate) fn holds_for(&self, environment: &EnvironmentDigest) -> bool {
        !self.is_approved() || self.environment.as_ref().is_none_or(|own| own == environment)
    }

    /// Returns whether a recorded approval holds in a later process: those of the approver do, and the reviewer, and all denials.
    ///
    /// An approval by a mode or rule does not, since the mode or rule may have changed.
    pub(crate) fn is_lasting(&self) -> bool {
        self.by.is_judgment() || !self.is_approved()
    }
}
