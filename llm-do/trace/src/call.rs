//! A call, as its events describe it.

use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::observe::event::{ApprovalScope, ArgumentOrigin, Caller, DecidedBy, ItemKind, Labels, RuleSource};
use llm_do_core::plane::approval::RefusedEdit;
use serde::Serialize;
use serde_json::Value;

use super::figures::Figures;
use super::repeats::Repeats;
use super::times::Times;
use super::work::Work;

/// A call of a run.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) run: Arc<str>,
    pub(super) id: u64,
    pub(super) name: Arc<str>,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    /// The number of calls above it.
    pub(super) level: usize,
    /// `None` if the log has no start of the call.
    pub(super) what: Option<ItemKind>,
    pub(super) by: Option<Caller>,
    pub(super) arguments: Value,
    /// The time of the first event.
    pub(super) first: Timestamp,
    /// When it started last, and in which attempt.
    pub(super) started: Option<(Timestamp, u32)>,
    pub(super) work: Work,
    pub(super) ending: Ending,
    /// Whether the log has an end of the call that was not replayed.
    pub(super) has_end: bool,
    /// Whose text its result may carry, and whether it is private.
    pub(super) labels: Labels,
    pub(super) note: Option<String>,
    pub(super) attachments: Vec<String>,
    /// Whether the log has only a replay of the call.
    pub(super) is_replayed: bool,
    pub(super) requests: Vec<ModelRequest>,
    /// The index of the request that is answered next.
    pub(super) open_request: usize,
    /// A request that the current attempt repeats, and that an earlier attempt has with its answer.
    pub(super) asked_again: Option<ModelRequest>,
    pub(super) approvals: Vec<Approval>,
    pub(super) questions: Vec<Question>,
    /// The number of leading approvals and questions known to be decided and answered.
    pub(super) decided_approvals: usize,
    pub(super) answered_questions: usize,
    /// The reasons why the model was asked again, and other failures that did not end the call.
    pub(super) retries: Vec<String>,
    pub(super) remarks: Vec<String>,
    /// The items that the current attempt has repeated.
    pub(super) repeats: Repeats,
    /// The times in which the call itself waited.
    pub(super) waits: Times,
    /// The times in which its model answered.
    pub(super) answers: Times,
    /// The waiting time of the call and all calls below it, in milliseconds.
    pub(super) waited: u64,
    /// The time that attempts worked on the call, including its waits, in milliseconds.
    pub(super) elapsed: u64,
    pub(super) own: Figures,
    pub(super) total: Figures,
}

/// The end of a call.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    /// The log has no end of the call.
    Unfinished,
    Result(Value),
    Error(String),
    /// It never ran.
    Refused(String),
    /// A dry run did not make the call; the text describes it, with the approval that it needs.
    Planned(String),
}

/// A request to a model.
#[derive(Debug, Serialize)]
pub(super) struct ModelRequest {
    pub(super) model: Arc<str>,
    pub(super) turn: u32,
    pub(super) sent: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered: Option<Timestamp>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) replayed: bool,
    /// The attempt that sent it.
    #[serde(skip)]
    pub(super) attempt: u32,
}

/// A decision about the call.
#[derive(Debug, Default, Serialize)]
pub(super) struct Approval {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<Timestamp>,
    /// Where the values of the arguments came from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) origins: Vec<ArgumentOrigin>,
    /// The approver's arguments that could not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) refused_edits: Vec<RefusedEdit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decided: Option<Decided>,
}

#[derive(Debug, Serialize)]
pub(super) struct Decided {
    pub(super) time: Timestamp,
    pub(super) approved: bool,
    pub(super) by: DecidedBy,
    pub(super) rule: RuleSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edited: Option<Value>,
    pub(super) scope: ApprovalScope,
    /// Whether the log has only a replay of the decision.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) replayed: bool,
}

impl Decided {
    /// Returns whether both have the same decision and reason.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let Self { time: _, approved, by, rule, reason, edited, scope, replayed: _ } = self;
        (approved, by, rule) == (&other.approved, &other.by, &other.rule)
            && (reason, edited, scope) == (&other.reason, &other.edited, &other.scope)
    }
}

/// A question to the user.
#[derive(Debug, Serialize)]
pub(super) struct Question {
    pub(super) prompt: String,
    pub(super) asked_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answered_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
}

impl Ending {
    pub(super) fn status(&self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Result(_) => "finished",
            Self::Error(_) => "failed",
            Self::Refused(_) => "refused",
            Self::Planned(_) => "planned",
        }
    }
}

impl Call {
    pub(super) fn new((run, id): (Arc<str>, u64), name: Arc<str>, at: Timestamp, attempt: u32) -> Self {
        Self {
            run,
            id,
            name,
            parent: None,
            children: Vec::new(),
            level: 0,
            what: None,
            by: None,
            arguments: Value::Null,
            first: at,
            started: None,
            work: Work::new(at, attempt),
            ending: Ending::Unfinished,
            has_end: false,
            labels: Labels::default(),
            note: None,
            attachments: Vec::new(),
            is_replayed: false,
            requests: Vec::new(),
            open_request: 0,
            asked_again: None,
            approvals: Vec::new(),
            questions: Vec::new(),
            decided_approvals: 0,
            answered_questions: 0,
            retries: Vec::new(),
            remarks: Vec::new(),
            repeats: Repeats::default(),
            waits: Times::default(),
            answers: Times::default(),
            waited: 0,
            elapsed: 0,
            own: Figures::default(),
            total: Figures::default(),
        }
    }

    /// Returns the time that attempts worked on the call, including its waits, in milliseconds, without the time
    /// between attempts, replays, and the time after its end.
    pub(super) fn elapsed(&self) -> u64 {
        self.elapsed
    }

    /// Returns how long the call or a call below it waited for a decision, an answer or a rate limit, in milliseconds.
    pub(super) fn waiting(&self) -> u64 {
        self.waited
    }

    /// Returns the error of a call that failed or was refused.
    pub(super) fn error(&self) -> Option<&str> {
        match &self.ending {
            Ending::Error(error) | Ending::Refused(error) => Some(error),
            _ => None,
        }
    }
}

/// Returns the milliseconds between two times; 0 if the clock went backwards.
pub(super) fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or_default()
}
