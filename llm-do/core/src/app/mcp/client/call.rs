//! One request of a tool, as made on the thread of the connection.
#![expect(deprecated, reason = "servers may ask for sampling until 2027")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, CreateMessageRequestParams, CustomResult,
    ElicitRequestParams, ElicitResult, InputRequiredResult, InputResponses, JsonObject, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::error::McpError;
use super::in_flight::CallInFlight;
use super::live::Live;
use super::sampling::Sampled;
use super::server::McpServer;
use super::{message, result, text};
use crate::base::pauses::PausableTimer;
use crate::declare::schema::CheckedSchema;

/// How long sending a cancellation may take.
const CANCELLING: Duration = Duration::from_secs(2);

/// A tool of a server, with which the runtime was built.
#[derive(Debug)]
pub(super) struct RemoteTool {
    /// The definition from when the runtime was built.
    pub(super) definition: Tool,
    /// The schema of its results, if results can be compared with it.
    pub(super) output: Option<Arc<CheckedSchema>>,
}

impl RemoteTool {
    /// Returns the server's name of the tool.
    pub(super) fn name(&self) -> &str {
        &self.definition.name
    }
}

/// A call to make on the thread of the connection.
#[derive(Debug)]
pub(super) struct CallJob {
    pub(super) tool: Arc<RemoteTool>,
    pub(super) request: CallRequest,
    /// Whether it may be sent again.
    pub(super) is_repeatable: bool,
    /// Closed once the caller has stopped waiting for the call.
    pub(super) events: mpsc::Sender<CallEvent>,
    /// Whether the server may have received the request.
    pub(super) is_sent: AtomicBool,
}

/// The content of a call request.
#[derive(Clone, Debug)]
pub(super) struct CallRequest {
    pub(super) arguments: JsonObject,
    pub(super) input_responses: Option<InputResponses>,
    pub(super) request_state: Option<String>,
}

/// An event during a call.
#[derive(Debug)]
pub(super) enum CallEvent {
    Progress(String),
    /// The server asks the user.
    Ask(Box<ElicitRequestParams>, oneshot::Sender<ElicitResult>),
    /// The server requests an answer of a model.
    Sample(Box<CreateMessageRequestParams>, oneshot::Sender<Sampled>),
    /// The call has ended; the flag is whether the server may have received the request.
    Done(Box<Result<Reply, McpError>>, bool),
}

/// The answer of a server.
#[derive(Debug)]
pub(super) enum Reply {
    Complete(CallToolResult),
    InputRequired(InputRequiredResult),
}

impl Live {
    /// Sends a call and waits for the answer; cancels it after a timeout, or if the caller stops waiting.
    pub(super) async fn call(&self, job: &CallJob) -> Result<Reply, McpError> {
        let limit = self.server.timeout;
        let mut params = CallToolRequestParams::new(job.tool.name().to_owned());
        params.arguments = Some(job.request.arguments.clone());
        params.input_responses.clone_from(&job.request.input_responses);
        params.request_state.clone_from(&job.request.request_state);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        if job.events.is_closed() {
            return Err(abandoned(&self.server));
        }
        job.is_sent.store(true, Ordering::Relaxed);
        let sent = self.service.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failure(error).await),
        };
        let timer = Arc::new(PausableTimer::new(limit));
        let flight = CallInFlight { events: job.events.clone(), timer: Arc::clone(&timer) };
        let landing = self.calls.add(handle.progress_token.clone(), flight);
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => answer,
            () = timer.expired() => {
                landing.cancelled();
                cancel(handle, "timed out").await;
                return Err(McpError::Timeout { server: self.server.name.clone(), after: limit });
            }
            () = job.events.closed() => {
                landing.cancelled();
                cancel(handle, "cancelled by the caller").await;
                return Err(abandoned(&self.server));
            }
        };
        match answer.unwrap_or(Err(ServiceError::TransportClosed)) {
            Ok(answer) => self.reply(answer),
            Err(error) => Err(self.failure(error).await),
        }
    }

    fn reply(&self, answer: ServerResult) -> Result<Reply, McpError> {
        match answer {
            ServerResult::CallToolResult(result) => Ok(Reply::Complete(result)),
            ServerResult::InputRequiredResult(result) => Ok(Reply::InputRequired(result)),
            // A result without content.
            ServerResult::EmptyResult(_) => Ok(Reply::Complete(CallToolResult::default())),
            ServerResult::CreateTaskResult(_) => Err(self.unusable("expected a tool result, found a task")),
            ServerResult::CustomResult(CustomResult(value)) => {
                reply(message::unwrapped(value)).map_err(|reason| self.unusable(reason))
            }
            _ => Err(self.unusable("expected a tool result")),
        }
    }

    pub(super) fn unusable(&self, reason: impl Into<String>) -> McpError {
        McpError::Answer { server: self.server.name.clone(), reason: reason.into() }
    }
}

/// Parses a result as the server sent it.
fn reply(value: Value) -> Result<Reply, String> {
    /// The fields of an empty result.
    const NOTHING: [&str; 2] = ["_meta", "resultType"];
    let kind = value.get("resultType").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "input_required" => {
            let unreadable = |error: serde_json::Error| {
                format!("a request for input that cannot be read: {}", text::excerpt(&error.to_string()))
            };
            return serde_json::from_value(value).map(Reply::InputRequired).map_err(unreadable);
        }
        "task" => return Err("expected a tool result, found a task".to_owned()),
        _ => {}
    }
    match value {
        Value::Object(fields) if result::has_fields(&fields) => Ok(Reply::Complete(result::of_fields(fields))),
        Value::Object(fields) if fields.keys().all(|key| NOTHING.contains(&key.as_str())) => {
            Ok(Reply::Complete(CallToolResult::default()))
        }
        other => Err(format!("expected a tool result, found {}", text::excerpt(&other.to_string()))),
    }
}

/// Returns the error of a call whose caller has stopped waiting, so that the error is never read.
pub(super) fn abandoned(server: &McpServer) -> McpError {
    McpError::Answer { server: server.name.clone(), reason: "the call was cancelled".to_owned() }
}

/// Notifies the server that a call is cancelled.
async fn cancel(handle: RequestHandle<RoleClient>, reason: &str) {
    // The notification fails if a server does not read its input.
    let _ = timeout(CANCELLING, handle.cancel(Some(reason.to_owned()))).await;
}
