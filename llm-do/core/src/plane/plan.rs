//! The plan of a dry run: the calls that it did not make.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::mutex::IgnorePoison;
use crate::base::printable::printable_line;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, EventKind, PlannedApproval, PlannedKind, RuleSource};

/// The calls and effects that a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html) did not make, in
/// order.
///
/// `Display` writes it as text, and `Serialize` as JSON: an object with the list `calls`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// The calls and effects.
    pub calls: Vec<PlannedCall>,
}

/// A call or an effect in the plan of a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedCall {
    /// The id of the call, as in its [events](crate::observe::event::Event).
    pub call: u64,
    /// The id of the call that made it; `None` for the root call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// The registered name of the tool, worker or entry, or the name of the effect or of the server-side tool.
    pub name: Arc<str>,
    /// The kind of the call.
    pub what: PlannedKind,
    /// Who made the call.
    pub by: Caller,
    /// The names of the nested calls, from the root to the caller.
    pub path: Vec<Arc<str>>,
    /// A description of the call, in one line: see
    /// [`ApprovalRequest::summary`](crate::plane::approval::ApprovalRequest::summary).
    pub summary: String,
    /// The arguments, the input of the effect or the options of the server-side tool. Values that a type hides when it
    /// is serialized, such as a secret, are hidden here too.
    pub arguments: Value,
    /// The effect of the call.
    pub effect: Effect,
    /// The approval that the call would need.
    pub approval: PlannedApproval,
    /// The source of the rule that decides about the approval; `None` for an effect, which needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleSource>,
    /// Whether the call ran, without the approval that it needs: it changes something only by calls that are planned
    /// separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran: bool,
}

impl PlannedCall {
    /// Returns the event of the call.
    pub(crate) fn event(&self) -> EventKind {
        let Self { what, by, effect, approval, ran, .. } = *self;
        let (summary, arguments, rule) = (self.summary.clone(), self.arguments.clone(), self.rule.clone());
        EventKind::CallPlanned { what, by, summary, arguments, effect, approval, rule, ran }
    }

    /// Returns who makes the call.
    fn caller(&self) -> String {
        let path: Vec<_> = self.path.iter().map(|name| printable_line(name)).collect();
        let path = path.join(" > ");
        match self.by {
            Caller::User => "the user".to_owned(),
            Caller::Code => path,
            Caller::Model => format!("the model of {path}"),
        }
    }
}

/// Formats the call as one line for a terminal.
impl fmt::Display for PlannedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            PlannedKind::Tool => "tool",
            PlannedKind::Worker => "worker",
            PlannedKind::Entry => "entry",
            PlannedKind::Effect => "effect",
            PlannedKind::ServerSideTool => "server-side tool",
        };
        let (effect, approval) = (self.effect.word(), self.approval.words());
        write!(f, "{} ({what}, {effect}) {approval}; called by {}", printable_line(&self.summary), self.caller())?;
        if self.ran { f.write_str("; it ran, since its own calls are planned") } else { Ok(()) }
    }
}

/// Formats the plan as several lines for a terminal.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.calls.len() {
            0 => return f.write_str("plan: no call would change anything"),
            1 => f.write_str("plan: 1 call")?,
            calls => write!(f, "plan: {calls} calls")?,
        }
        self.calls.iter().enumerate().try_for_each(|(place, call)| write!(f, "\n{:>3}. {call}", place + 1))
    }
}

/// Returns the result of a planned call, in place of the error.
pub(crate) type PlannedAnswer = dyn Fn(&PlannedCall) -> Option<Value> + Send + Sync;

/// A dry run: its plan so far, and the source of the results of planned calls.
#[derive(Default)]
pub(crate) struct DryRun {
    calls: Mutex<Vec<PlannedCall>>,
    answer: Option<Box<PlannedAnswer>>,
}

impl DryRun {
    /// Returns a dry run in which a function provides the results of planned calls, if any.
    pub(crate) fn answered_by(answer: Box<PlannedAnswer>) -> Self {
        Self { calls: Mutex::default(), answer: Some(answer) }
    }

    /// Adds a call to the plan; returns its result, if any.
    pub(crate) fn add(&self, call: PlannedCall) -> Option<Value> {
        let answer = self.answer.as_ref().filter(|_| !call.ran).and_then(|answer| answer(&call));
        self.calls.lock().ignore_poison().push(call);
        answer
    }

    /// Returns the plan so far.
    pub(crate) fn plan(&self) -> Plan {
        Plan { calls: self.calls.lock().ignore_poison().clone() }
    }
}

impl fmt::Debug for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryRun").finish_non_exhaustive()
    }
}
