//! The tree as JSON.

use llm_do_core::observe::event::{Caller, ItemKind, Labels};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Trace;
use super::call::{Approval, Call, Ending, ModelRequest, Question};
use super::figures::Figures;

pub(super) fn to_json(trace: &Trace) -> Value {
    let runs: Vec<_> = trace.roots.iter().map(|root| Node { trace, place: *root }).collect();
    json!({
        "runs": runs,
        "skipped_events": trace.skipped,
        "is_torn": trace.is_torn,
        "faults": trace.faults.iter().map(|fault| json!({ "line": fault.line, "message": fault.message })).collect::<Value>(),
    })
}

/// A call with those below it.
struct Node<'a> {
    trace: &'a Trace,
    place: usize,
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = &self.trace.calls[self.place];
        let calls = call.children.iter().map(|child| Node { trace: self.trace, place: *child }).collect();
        Fields::new(call, calls).serialize(serializer)
    }
}

#[derive(Serialize)]
struct Fields<'a> {
    run: &'a str,
    call: u64,
    name: &'a str,
    what: Option<&'static str>,
    by: Option<Caller>,
    arguments: &'a Value,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(flatten)]
    labels: Labels,
    /// The plan of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    planned: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    attachments: &'a [String],
    started: String,
    elapsed_ms: u64,
    waiting_ms: u64,
    working_ms: u64,
    own: Figures,
    total: Figures,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    requests: &'a [ModelRequest],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    approvals: &'a [Approval],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    questions: &'a [Question],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    retries: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    remarks: &'a [String],
    calls: Vec<Node<'a>>,
}

impl<'a> Fields<'a> {
    fn new(call: &'a Call, calls: Vec<Node<'a>>) -> Self {
        let (elapsed_ms, waiting_ms) = (call.elapsed(), call.waiting());
        Self {
            run: &call.run,
            call: call.id,
            name: &call.name,
            what: call.what.map(ItemKind::as_str),
            by: call.by,
            arguments: &call.arguments,
            status: call.ending.status(),
            result: match &call.ending {
                Ending::Result(value) => Some(value),
                _ => None,
            },
            error: call.error(),
            labels: call.labels,
            planned: match &call.ending {
                Ending::Planned(text) => Some(text),
                _ => None,
            },
            note: call.note.as_deref(),
            attachments: &call.attachments,
            started: call.first.to_string(),
            elapsed_ms,
            waiting_ms,
            working_ms: elapsed_ms.saturating_sub(waiting_ms),
            own: call.own,
            total: call.total,
            replayed: call.is_replayed,
            requests: &call.requests,
            approvals: &call.approvals,
            questions: &call.questions,
            retries: &call.retries,
            remarks: &call.remarks,
            calls,
        }
    }
}
