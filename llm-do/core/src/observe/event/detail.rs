//! The types of the fields of events: kind of item, caller, decision, action of a guard, outcome.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::value::EventValue;

/// Whether an item is a tool, a worker or an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// A function in code.
    Tool,
    /// A function that a model implements.
    Worker,
    /// A root call.
    Entry,
}

impl ItemKind {
    /// Returns the lower-case name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Worker => "worker",
            Self::Entry => "entry",
        }
    }
}

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caller {
    /// The user who started the run.
    User,
    /// Code: `ctx.call(..)`.
    Code,
    /// A model.
    Model,
}

/// The result of asking code before a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CodeAnswer {
    /// The code answered, and no model was asked.
    Answered,
    /// The code answered, and the worker answers too, to be compared with it: its answer counts.
    Compared,
    /// The code abstained with [`Unsure`](crate::base::error::Unsure).
    Abstained,
    /// The code failed, or returned a value that is invalid for the worker.
    Failed,
    /// The code abstained or failed after a call with an effect, which the worker might repeat: so the worker does not answer, and its call
    /// fails.
    Stopped,
}

/// What decided whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecidedBy {
    /// A rule, or a missing approver: none is configured, or its inbox was dropped.
    Policy,
    /// The approval mode of the run: `approve_all` or `reject_all`.
    Mode,
    /// The approver.
    Approver,
    /// The worker that [reviews](crate::plane::approval::Policy::reviewer) calls before the approver is asked.
    Reviewer,
    /// An earlier decision, whose [scope](ApprovalScope) covers the call.
    Memory,
    /// The run was cancelled before a decision.
    Cancellation,
}

impl DecidedBy {
    /// Returns whether the approver or the reviewer decided: such a decision is recorded, and holds in a resumed run.
    #[doc(hidden)]
    #[must_use]
    pub fn is_judgment(self) -> bool {
        matches!(self, Self::Approver | Self::Reviewer)
    }

    /// Returns what decided, in words.
    #[doc(hidden)]
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Policy => "a rule",
            Self::Mode => "the approval mode",
            Self::Approver => "the approver",
            Self::Reviewer => "the reviewer",
            Self::Memory => "an earlier decision",
            Self::Cancellation => "the end of the run",
        }
    }
}

/// Which equal calls an approval covers: calls of the same tool with the same arguments.
///
/// As JSON: `"call"`, `"caller"`, `"run"` or `"session"`. Narrower scopes compare as less than wider ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalScope {
    /// This call, and equal calls of the same caller that wait for the same answer.
    #[default]
    Call,
    /// Equal calls in this run with the same path of callers, which are the same registered names from the root.
    ///
    /// A caller that was defined at run time counts as the same only if its definition is equal: its instructions,
    /// model, settings, schemas and tools.
    Caller,
    /// Equal calls in this run, by any caller.
    Run,
    /// Equal calls in all runs of the [`Runtime`](crate::session::runtime::Runtime), by any caller: in the same project, with the same server and settings.
    Session,
}

/// Where the rule came from that decided whether a call needs approval, in the order of precedence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleSource {
    /// The user made the call; no rule applies.
    User,
    /// The policy's function.
    Function,
    /// The rule about where values came from: see [`Policy::source`](crate::plane::approval::Policy::source).
    Flow(FlowReason),
    /// The policy's rule for calls with exactly these arguments.
    PolicyCall,
    /// The policy's rule for calls whose arguments match a condition.
    PolicyCondition,
    /// The policy's rule for the tool.
    PolicyTool,
    /// The policy's rule for the worker.
    PolicyWorker,
    /// The policy's rule for this toolset, which includes the tool.
    PolicyToolset(Arc<str>),
    /// The policy's rule for all workers.
    PolicyWorkers,
    /// `approval = ..` of the tool.
    DeclaredTool,
    /// `approval = ..` of this toolset, which includes the tool.
    DeclaredToolset(Arc<str>),
    /// The policy's rule for the server-side tool.
    PolicyServerSideTool,
    /// The policy's rule for all server-side tools.
    PolicyServerSideTools,
    /// `server_side_tools` of the worker.
    DeclaredWorker,
    /// The tool's effect; for a worker, its lack of effects of its own.
    Effect,
    /// No rule was applied: the journal has the call's result or a permanent denial.
    Journal,
}

/// Why a call needs the approval of a person because of where its values came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowReason {
    /// An untrusted value would decide what the call does.
    Steered,
    /// Untrusted text would leave to other people.
    UntrustedOutside,
    /// A private value would leave to other people.
    PrivateOutside,
}

impl FlowReason {
    /// Returns a text about the call for people.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Steered => "untrusted values steer this call",
            Self::UntrustedOutside => "untrusted text would leave with this call",
            Self::PrivateOutside => "private values would leave with this call",
        }
    }
}

/// What a guard examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardHook {
    /// The call, before its approval.
    BeforeCall,
    /// The outcome of the call.
    AfterCall,
    /// The worker's request to its model, before it is sent.
    BeforeRequest,
    /// The model's response.
    AfterResponse,
}

impl GuardHook {
    /// Returns the name as shown to users.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeCall => "call",
            Self::AfterCall => "result",
            Self::BeforeRequest => "request",
            Self::AfterResponse => "response",
        }
    }
}

/// The action of a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardAction {
    /// It changed what it examined.
    Changed,
    /// It refused what it examined.
    Refused,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The result.
    Result(EventValue),
    /// The text of the error.
    Error(String),
}

impl Outcome {
    /// Returns the result.
    ///
    /// # Errors
    ///
    /// Returns the text of the error.
    #[doc(hidden)]
    pub fn as_result(&self) -> Result<&EventValue, &str> {
        match self {
            Self::Result(value) => Ok(value),
            Self::Error(error) => Err(error),
        }
    }
}

/// A piece of a model's answer, while it streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of a reasoning text.
    Thinking(String),
    /// More of a tool call's arguments.
    Arguments(String),
}
