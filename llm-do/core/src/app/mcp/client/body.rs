//! The body of a server's tool, which runs in a call.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_timer::Delay;
use rmcp::model::{CallToolResult, InputRequest, InputRequests, InputResponses};
use serde_json::Value;
use tokio::sync::mpsc;

use super::call::{CallEvent, CallJob, CallRequest, RemoteTool, Reply};
use super::connection::McpConnection;
use super::error::McpError;
use super::handler::roots;
use super::{elicitation, result, sampling, text};
use crate::base::error::{Result, UnknownOutcome};
use crate::declare::tool::ToolReturn;
use crate::plane::context::CallContext;

/// The maximum number of times that a server may request input before it answers.
const MAX_ROUNDS: u32 = 10;
/// The delay before a call that the server asks to repeat; it doubles each time.
const PAUSE: Duration = Duration::from_millis(200);
/// The maximum number of progress reports that wait.
const EVENTS: usize = 64;

/// Calls a tool of a server, and answers the requests of the server in the meantime.
pub(super) async fn call(
    connection: McpConnection,
    tool: Arc<RemoteTool>,
    ctx: CallContext,
    arguments: Value,
) -> Result<ToolReturn> {
    let Value::Object(arguments) = arguments else { return Err("the arguments are not an object".into()) };
    let mut request = CallRequest { arguments, input_responses: None, request_state: None };
    for round in 0..MAX_ROUNDS {
        match send(&connection, &tool, &ctx, request.clone()).await? {
            Reply::Complete(answer) => {
                let mismatch = mismatch(&tool, &answer).await;
                let returned = result::from_server(answer, connection.server())?;
                return Ok(match mismatch {
                    Some(mismatch) => returned.note(mismatch),
                    None => returned,
                });
            }
            Reply::InputRequired(asked) => {
                let requests = asked.input_requests.unwrap_or_default();
                if requests.is_empty() {
                    Delay::new(PAUSE * (1 << round)).await;
                }
                let responses = answers(&connection, &tool, &ctx, requests).await?;
                request.input_responses = (!responses.is_empty()).then_some(responses);
                request.request_state = asked.request_state;
            }
        }
    }
    let server = text::line(connection.name());
    Err(format!("the MCP server `{server}` asked for input {MAX_ROUNDS} times and returned no result").into())
}

/// Returns how a result differs from the schema that its tool declares. This is only a note for the operator; the
/// result is used.
async fn mismatch(tool: &RemoteTool, answer: &CallToolResult) -> Option<String> {
    let schema = tool.output.as_ref().filter(|_| answer.is_error != Some(true))?;
    let fault = match answer.structured_content.clone().filter(|value| !value.is_null()) {
        Some(value) => schema.check_async(value).await.1.err()?,
        None => "it has no structured content".to_owned(),
    };
    Some(format!("the result does not match the output schema of the tool: {}", text::line(&fault)))
}

/// Sends one request, and waits for its answer.
async fn send(
    connection: &McpConnection,
    tool: &Arc<RemoteTool>,
    ctx: &CallContext,
    request: CallRequest,
) -> Result<Reply> {
    let (events, mut received) = mpsc::channel(EVENTS);
    let (began, is_repeatable) = (ctx.clock_time(), !ctx.must_not_repeat());
    connection.send(CallJob {
        tool: Arc::clone(tool),
        request,
        is_repeatable,
        events,
        is_sent: AtomicBool::new(false),
    });
    while let Some(event) = received.recv().await {
        match event {
            CallEvent::Progress(text) => ctx.progress(text),
            CallEvent::Ask(request, reply) => {
                let answer = elicitation::ask(ctx, connection.name(), tool.name(), &request).await?;
                // An error means that the server no longer waits for the answer.
                let _ = reply.send(answer);
            }
            CallEvent::Sample(request, mut reply) => {
                let answer = tokio::select! {
                    biased;
                    // The server has cancelled its request.
                    () = reply.closed() => continue,
                    answer = sampling::ask(ctx, connection.server(), *request) => answer?,
                };
                let _ = reply.send(answer);
            }
            CallEvent::Done(result, is_sent) => {
                return (*result).map_err(|error| {
                    match error.unknown_outcome().filter(|_| is_sent && !is_repeatable) {
                        Some(reason) => UnknownOutcome::new(reason).began(began).into(),
                        None => error.into(),
                    }
                });
            }
        }
    }
    let server = connection.name().to_owned();
    Err(McpError::Lost { server, reason: "the connection was closed".to_owned() }.into())
}

/// Answers the requests of a server that it needs before it continues.
async fn answers(
    connection: &McpConnection,
    tool: &RemoteTool,
    ctx: &CallContext,
    requests: InputRequests,
) -> Result<InputResponses> {
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let response = match request {
            InputRequest::Elicitation(request) => {
                serde_json::to_value(elicitation::ask(ctx, connection.name(), tool.name(), &request.params).await?)?
            }
            InputRequest::ListRoots(_) => serde_json::to_value(roots(ctx.project_root()))?,
            InputRequest::CreateMessage(request) => {
                let sampled = sampling::ask(ctx, connection.server(), request.params).await?;
                serde_json::to_value(sampled.map_err(|refused| refused.message.into_owned())?)?
            }
            _ => {
                let server = text::line(connection.name());
                return Err(format!("the MCP server `{server}` asked for an unknown kind of input").into());
            }
        };
        responses.insert(key, response);
    }
    Ok(responses)
}
