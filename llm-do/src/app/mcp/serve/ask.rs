//! What a run asks its client: approvals and questions, as forms of the protocol.

use async_trait::async_trait;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::base::error::BoxError;
use crate::base::printable::printable;
use crate::declare::question::Question;
use crate::plane::approval::{ApprovalRequest, Approver, Decision};
use crate::plane::user_input::{self, InputHandler};

/// The field of a form about an approval.
const DECISION: &str = "decision";
/// The field of a form about a question.
const ANSWER: &str = "answer";

/// Something that a run asks, and that waits for an answer.
#[derive(Debug)]
pub(super) enum Ask {
    Approval { request: Box<ApprovalRequest>, answer: oneshot::Sender<Decision> },
    Question { request: user_input::InputRequest, answer: oneshot::Sender<Result<String, BoxError>> },
}

/// Sends what a run asks to the call that its client waits for.
#[derive(Clone, Debug)]
pub(super) struct Asker(mpsc::UnboundedSender<Ask>);

impl Asker {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Ask>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }
}

#[async_trait]
impl Approver for Asker {
    async fn review(&self, request: &ApprovalRequest) -> Decision {
        let (answer, answered) = oneshot::channel();
        let request = Box::new(request.clone());
        let undecided = || Decision::undecided("the client ended the call without an answer");
        match self.0.send(Ask::Approval { request, answer }) {
            Ok(()) => answered.await.unwrap_or_else(|_| undecided()),
            Err(_) => undecided(),
        }
    }

    fn max_concurrent(&self) -> usize {
        usize::MAX
    }
}

#[async_trait]
impl InputHandler for Asker {
    async fn answer(&self, request: &user_input::InputRequest) -> Result<String, BoxError> {
        let (answer, answered) = oneshot::channel();
        let ended = "the client ended the call without an answer";
        self.0.send(Ask::Question { request: request.clone(), answer }).map_err(|_| ended)?;
        answered.await.map_err(|_| ended)?
    }
}

impl Ask {
    /// Returns the name by which a client's answer refers to it, if it has one of its own.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Approval { .. } => None,
            Self::Question { request, .. } => request.question.name.as_deref(),
        }
    }

    /// Returns whether the run still waits for the answer.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Approval { answer, .. } => !answer.is_closed(),
            Self::Question { answer, .. } => !answer.is_closed(),
        }
    }

    /// Returns the form that shows it to the user of the client.
    pub(super) fn form(&self) -> ElicitRequestParams {
        let (message, schema) = match self {
            Self::Approval { request, .. } => (approval_message(request), decision_schema()),
            Self::Question { request, .. } => (question_message(request), answer_schema(&request.question)),
        };
        let requested_schema = schema.as_object().cloned().unwrap_or_default();
        let requested_schema = ElicitationSchema::from_json_schema(requested_schema).unwrap_or_else(|_| {
            // Unreachable: both schemas have the form that the protocol allows.
            ElicitationSchema::new(std::collections::BTreeMap::new())
        });
        ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema }
    }

    /// Returns the form as the request of an input-required round.
    pub(super) fn input_request(&self) -> InputRequest {
        InputRequest::Elicitation(ElicitRequest::new(self.form()))
    }

    /// Passes the client's answer on to the run.
    pub(super) fn respond(self, result: &ElicitResult) {
        // Ignored: the call that asked may have been cancelled.
        match self {
            Self::Approval { answer, .. } => drop(answer.send(decision(result))),
            Self::Question { request, answer } => {
                let name = request.question.name.as_deref().unwrap_or(ANSWER);
                drop(answer.send(text(result, name).map_err(Into::into)));
            }
        }
    }

    /// Tells the run that nobody can answer.
    pub(super) fn refuse(self, reason: &str) {
        match self {
            Self::Approval { answer, .. } => drop(answer.send(Decision::deny(reason))),
            Self::Question { answer, .. } => drop(answer.send(Err(reason.into()))),
        }
    }
}

fn approval_message(request: &ApprovalRequest) -> String {
    let problem = request.problem.as_ref().map(|problem| format!("{}\n\n", printable(problem))).unwrap_or_default();
    format!("{problem}Allow this call?\n\n{}", request.details())
}

fn question_message(request: &user_input::InputRequest) -> String {
    let problem = request.problem.as_ref().map(|problem| format!("{}\n\n", printable(problem))).unwrap_or_default();
    format!("{problem}{}", printable(&request.question.prompt))
}

fn decision_schema() -> Value {
    let choices = json!([{ "const": "allow", "title": "Allow once" }, { "const": "deny", "title": "Deny" }]);
    json!({
        "type": "object",
        "properties": { DECISION: { "type": "string", "title": "Decision", "oneOf": choices } },
        "required": [DECISION],
    })
}

fn answer_schema(question: &Question) -> Value {
    let mut field = match (question.choices.is_empty() || question.accepts_text, question.several) {
        (true, _) => json!({ "type": "string" }),
        (false, false) => json!({ "type": "string", "enum": question.choices }),
        (false, true) => json!({ "type": "array", "items": { "type": "string", "enum": question.choices } }),
    };
    field["title"] = "Answer".into();
    if question.accepts_text && !question.choices.is_empty() {
        field["description"] = format!("suggestions: {}", question.choices.join(", ")).into();
    }
    if let Some(default) = &question.default {
        field["default"] = if field["type"] == "array" { json!([default]) } else { json!(default) };
    }
    let name = question.name.as_deref().unwrap_or(ANSWER);
    json!({ "type": "object", "properties": { name: field }, "required": [name] })
}

/// Reads the client's answer about an approval: only an explicit `allow` approves.
fn decision(result: &ElicitResult) -> Decision {
    let decided = result.content.as_ref().map(|content| &content[DECISION]);
    match (&result.action, decided.and_then(Value::as_str)) {
        (ElicitationAction::Accept, Some("allow")) => Decision::approve(),
        (ElicitationAction::Accept, Some("deny")) | (ElicitationAction::Decline, _) => {
            Decision::deny("the user of the client denied it")
        }
        (ElicitationAction::Accept, _) => Decision::deny("the client's answer contains no decision"),
        _ => Decision::undecided("the user of the client did not decide"),
    }
}

/// Reads the client's answer to a question: the field `name`, or the only field.
fn text(result: &ElicitResult, name: &str) -> Result<String, &'static str> {
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Err("the user of the client declined to answer"),
        _ => return Err("the user of the client did not answer"),
    }
    let fields = result.content.as_ref().and_then(Value::as_object);
    let only = || fields.filter(|fields| fields.len() == 1).and_then(|fields| fields.values().next());
    match fields.and_then(|fields| fields.get(name)).or_else(only) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(list @ Value::Array(_)) => Ok(list.to_string()),
        Some(Value::Null) | None => Err("the client's answer is empty"),
        Some(other) => Ok(other.to_string()),
    }
}
