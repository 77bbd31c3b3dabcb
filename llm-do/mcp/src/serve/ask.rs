//! Requests of a run to its client: approvals, questions, and requests of tools.

use std::time::Duration;

use async_trait::async_trait;
use llm_do_core::base::error::BoxError;
use llm_do_core::plane::approval::{ApprovalRequest, Approver, Decision, PendingApproval};
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::user_input::{self, InputHandler};
use rmcp::model::{
    ClientCapabilities, CreateMessageResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationSchema,
    InputRequest, ListRootsResult,
};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::form::{answer_schema, approval_message, decision, decision_schema, form, question_message, text};

/// A pending request of a run to its client.
#[derive(Debug)]
pub(super) enum Ask {
    Approval(Box<PendingApproval>),
    Question {
        request: user_input::InputRequest,
        answer: oneshot::Sender<Result<String, BoxError>>,
    },
    /// A request that a tool makes itself.
    Client {
        name: String,
        request: Box<InputRequest>,
        answer: oneshot::Sender<Result<Value, BoxError>>,
    },
}

/// Sends the requests of a run to the call that its client waits for.
#[derive(Clone, Debug)]
pub(super) struct Asker(mpsc::UnboundedSender<Ask>);

/// The reason of a denial if no answer will come.
const ENDED: &str = "the client ended the call without an answer";

impl Asker {
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<Ask>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Makes a request to the client on behalf of a tool.
    pub(super) async fn ask(&self, name: String, request: InputRequest) -> Result<Value, BoxError> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Ask::Client { name, request: Box::new(request), answer }).map_err(|_| ENDED)?;
        answered.await.map_err(|_| ENDED)?
    }
}

#[async_trait]
impl Approver for Asker {
    async fn review(&self, request: &ApprovalRequest, _: &CallContext) -> Decision {
        let (pending, answered) = PendingApproval::new(request.clone());
        match self.0.send(Ask::Approval(Box::new(pending))) {
            Ok(()) => answered.await.unwrap_or_else(|_| Decision::undecided(ENDED)),
            Err(_) => Decision::undecided(ENDED),
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
        self.0.send(Ask::Question { request: request.clone(), answer }).map_err(|_| ENDED)?;
        answered.await.map_err(|_| ENDED)?
    }
}

impl Ask {
    /// Returns the name by which a client's answer refers to the request, if it has its own name.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Approval(_) => None,
            Self::Question { request, .. } => request.question.name.as_deref(),
            Self::Client { name, .. } => Some(name),
        }
    }

    /// Returns whether the run still waits for the answer.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Approval(pending) => pending.is_open(),
            Self::Question { answer, .. } => !answer.is_closed(),
            Self::Client { answer, .. } => !answer.is_closed(),
        }
    }

    /// Returns the request as the client receives it.
    pub(super) fn request(&self) -> InputRequest {
        let asked = match self {
            Self::Approval(pending) => form(approval_message(pending.request()), &decision_schema(pending.request())),
            Self::Question { request, .. } => form(question_message(request), &answer_schema(&request.question)),
            Self::Client { request, .. } => return (**request).clone(),
        };
        // Both schemas have the form that the protocol allows.
        let asked = asked.unwrap_or_else(|_| ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: String::new(),
            requested_schema: ElicitationSchema::new(std::collections::BTreeMap::new()),
        });
        InputRequest::Elicitation(ElicitRequest::new(asked))
    }

    /// Returns whether a client with these capabilities can answer.
    pub(super) fn is_supported(&self, capabilities: &ClientCapabilities) -> bool {
        match self {
            Self::Approval(_) | Self::Question { .. } => has_forms(capabilities),
            Self::Client { request, .. } => supports(capabilities, request),
        }
    }

    /// Passes the client's answer on to the run; returns itself if the answer does not have the form of the protocol.
    pub(super) fn respond(self, response: Value) -> Option<Self> {
        if !is_valid(&self, &response) {
            return Some(self);
        }
        let result = || serde_json::from_value::<ElicitResult>(response.clone()).ok();
        // Ignored: the call that asked may have been cancelled.
        match self {
            Self::Approval(pending) => {
                let decided = result().map(|result| decision(&result, pending.request()));
                pending.respond(decided.unwrap_or_else(|| Decision::undecided(ENDED)));
            }
            Self::Question { request, answer } => {
                let answered = result().ok_or(ENDED).and_then(|result| text(&result, &request.question));
                drop(answer.send(answered.map_err(Into::into)));
            }
            Self::Client { answer, .. } => drop(answer.send(Ok(response))),
        }
        None
    }

    /// Reports to the run that no answer came in time.
    pub(super) fn expire(self, after: Duration) {
        let reason = format!("the client gave no answer within {after:?}");
        match self {
            Self::Approval(pending) => pending.respond(Decision::undecided(reason)),
            ask => ask.refuse(&reason),
        }
    }

    /// Reports to the run that no answer will come.
    pub(super) fn refuse(self, reason: &str) {
        match self {
            Self::Approval(pending) => pending.respond(Decision::undecided(reason)),
            Self::Question { answer, .. } => drop(answer.send(Err(reason.into()))),
            Self::Client { answer, .. } => drop(answer.send(Err(reason.into()))),
        }
    }
}

fn is_valid(ask: &Ask, response: &Value) -> bool {
    match ask {
        Ask::Client { request, .. } => match **request {
            InputRequest::CreateMessage(_) => serde_json::from_value::<CreateMessageResult>(response.clone()).is_ok(),
            InputRequest::ListRoots(_) => serde_json::from_value::<ListRootsResult>(response.clone()).is_ok(),
            _ => serde_json::from_value::<ElicitResult>(response.clone()).is_ok(),
        },
        _ => serde_json::from_value::<ElicitResult>(response.clone()).is_ok(),
    }
}

/// Returns whether a client shows forms. A client that names no mode has forms, as in protocol versions without modes.
fn has_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Returns whether a client with these capabilities accepts a request.
pub(super) fn supports(capabilities: &ClientCapabilities, request: &InputRequest) -> bool {
    match request {
        InputRequest::CreateMessage(_) => capabilities.sampling.is_some(),
        InputRequest::ListRoots(_) => capabilities.roots.is_some(),
        _ => has_forms(capabilities),
    }
}
