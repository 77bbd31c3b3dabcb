//! What events say in detail: who calls what, who decides, what a guard did, how a call ended.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether an item is a tool, a worker or an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// Code.
    Tool,
    /// A signature that a model implements.
    Worker,
    /// A root call.
    Entry,
}

impl ItemKind {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Worker => "worker",
            Self::Entry => "entry",
        }
    }
}

/// Who decided to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caller {
    /// The user, who started the run.
    User,
    /// Code: `ctx.call(..)`.
    Code,
    /// A model.
    Model,
}

/// Who or what decided whether a call may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DecidedBy {
    /// A rule, or the want of an approver: nobody was asked, or whoever was is gone.
    Policy,
    /// The run's mode: `approve_all` or `reject_all`.
    Mode,
    /// The approver.
    Approver,
    /// An earlier decision, whose [scope](ApprovalScope) covers the call.
    Memory,
    /// Nobody: the run was cancelled first.
    Cancellation,
}

/// Which equal calls an approval covers: those of the same tool with the same arguments.
///
/// As JSON: `"call"`, `"caller"`, `"run"` or `"session"`.
/// Narrower scopes are less than wider ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalScope {
    /// This call, and equal calls of the same calling call that wait for the same answer.
    #[default]
    Call,
    /// Equal calls in this run that come by the same path of callers: the same registered names from the root.
    ///
    /// A caller that was put together while the program ran counts as the same only if all that makes it is equal: its
    /// instructions, model, settings, schemas and tools.
    Caller,
    /// Equal calls in this run, whoever makes them.
    Run,
    /// Equal calls in all runs of the [`Runtime`](crate::Runtime), whoever makes them.
    Session,
}

/// Where the rule came from that says whether a call needs approval, the most telling first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleSource {
    /// The user's own call, for which there is no rule.
    User,
    /// The policy's function.
    Function,
    /// The policy's rule for the tool.
    PolicyTool,
    /// The policy's rule for the worker.
    PolicyWorker,
    /// The policy's rule for this toolset, which holds the tool.
    PolicyToolset(Arc<str>),
    /// The policy's rule for all workers.
    PolicyWorkers,
    /// `approval = ..` of the tool.
    DeclaredTool,
    /// `approval = ..` of this toolset, which holds the tool.
    DeclaredToolset(Arc<str>),
    /// The policy's rule for the server-side tool.
    PolicyServerSideTool,
    /// The policy's rule for all server-side tools.
    PolicyServerSideTools,
    /// `server_side_tools` of the worker.
    DeclaredWorker,
    /// The tool's effect, or, of a worker, that it has none of its own.
    Effect,
    /// No rule was applied: the journal has the call's result, or a denial that lasts.
    Journal,
}

/// What a guard saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardHook {
    /// The call, before it was approved.
    BeforeCall,
    /// How the call ended.
    AfterCall,
    /// What the worker was about to ask its model.
    BeforeRequest,
    /// What the model answered.
    AfterResponse,
}

impl GuardHook {
    /// Returns the words for it.
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

/// What a guard did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardAction {
    /// It changed what it saw.
    Changed,
    /// It refused what it saw.
    Refused,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// With this result.
    Result(Value),
    /// With this error.
    Error(String),
}

/// A piece of a model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of a thought.
    Thinking(String),
    /// More of a tool call's arguments.
    Arguments(String),
}
