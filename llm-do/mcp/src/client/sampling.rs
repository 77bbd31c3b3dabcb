//! Requests of a server for a model's answer (sampling): calls of a tool of ours, which are approved and counted.
#![expect(deprecated, reason = "servers may ask for sampling until 2027")]

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use llm_do_core::base::error::{CallError, Result, chain};
use llm_do_core::declare::tool::Effect;
use llm_do_core::declare::worker_spec::WorkerSpec;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::function_tool::FunctionTool;
use llm_do_core::plane::tool_source::RootCalls;
use llm_do_providers::{Attachment, FinishReason, Message, ResponsePart, Settings, UserPart};
use llm_do_worker_file::mcp_sampling_name;
use rmcp::ErrorData;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ErrorCode, Role, SamplingMessage, SamplingMessageContentBlock,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::server::McpServer;
use super::text;

/// What a server gets: an answer, or why it gets none.
pub(super) type Sampled = std::result::Result<CreateMessageResult, ErrorData>;

/// The error code that the protocol has for a user who refuses.
const REFUSED: ErrorCode = ErrorCode(-1);
const NOT_CONFIGURED: &str = "no model is configured for sampling requests of this server";
/// The most files of a request.
const MAX_FILES: usize = 20;

/// The arguments of the tool, which the user approves.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// How many tokens the answer may have.
    max_tokens: u32,
    /// The conversation that the model continues.
    messages: Vec<ChatMessage>,
    /// The instructions of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// Texts that end the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<String>,
}

/// A message of the conversation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ChatMessage {
    role: Speaker,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    files: Vec<File>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    User,
    Assistant,
}

/// An image or a sound.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    media_type: String,
    /// In base64.
    data: String,
}

/// The result of the tool.
#[derive(Debug, Serialize, Deserialize)]
struct SamplingAnswer {
    model: String,
    text: String,
    stop_reason: Option<String>,
}

/// Returns the error for a server whose request is refused.
pub(super) fn refused(reason: impl Into<String>) -> ErrorData {
    ErrorData::new(REFUSED, format!("llm-do refuses the sampling request: {}", reason.into()), None)
}

/// Returns the tool by which a server asks a model, if one is configured.
pub(super) fn tool(server: &McpServer) -> Option<FunctionTool> {
    let model: Arc<str> = server.sampling.as_deref()?.into();
    let shown = text::line(&server.name).replace(['{', '}'], "");
    let summary = format!("let the MCP server `{shown}` ask `{model}` for {{max_tokens}} tokens: {{messages}}");
    let description = format!("Answers requests of the MCP server `{shown}` by the model `{model}`.");
    let function = move |ctx, arguments| answer(ctx, Arc::clone(&model), arguments);
    let mut tool = FunctionTool::typed(mcp_sampling_name(&server.name), description, Effect::Undeclared, function);
    tool.server = Some(server.identity(&json!({ "sampling": server.sampling })).into());
    Some(tool.summary(summary).toolsets([""; 0]))
}

/// Asks a model in the run of `ctx`; an error ends the call that the server answers.
pub(super) async fn ask(
    ctx: &CallContext,
    server: &McpServer,
    request: CreateMessageRequestParams,
) -> std::result::Result<Sampled, CallError> {
    let arguments = match arguments(server, request) {
        Ok(arguments) => arguments,
        Err(reason) => return Ok(Err(refused(reason))),
    };
    match ctx.call_tool(&mcp_sampling_name(&server.name), arguments).await {
        // Limits, cancellation and the denial of a person who stops the run end the whole run.
        Err(error) if error.is_of_plane() && (!error.is_denied() || error.is_stopped()) => Err(error),
        answer => Ok(sampled(answer)),
    }
}

/// Asks a model in a run of its own, of the runtime that has the connection.
pub(super) async fn ask_runtime(
    runtime: Option<Arc<dyn RootCalls>>,
    server: &McpServer,
    request: CreateMessageRequestParams,
) -> Sampled {
    let arguments = arguments(server, request).map_err(refused)?;
    let call = runtime.and_then(|runtime| runtime.call(&mcp_sampling_name(&server.name), arguments));
    sampled(call.ok_or_else(|| refused("no runtime uses the server"))?.await)
}

fn sampled(answer: std::result::Result<Value, CallError>) -> Sampled {
    let answer = answer.map_err(|error| match error {
        error if error.is_denied() => refused("it is not approved"),
        error => refused(text::line(&chain(&error))),
    })?;
    let SamplingAnswer { model, text, stop_reason } =
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let mut result = CreateMessageResult::new(SamplingMessage::assistant_text(text), model);
    result.stop_reason = stop_reason;
    Ok(result)
}

/// Returns the arguments of the tool, or why a request is refused.
fn arguments(server: &McpServer, request: CreateMessageRequestParams) -> std::result::Result<Value, String> {
    if server.sampling.is_none() {
        return Err(NOT_CONFIGURED.to_owned());
    }
    if request.tools.is_some() || request.tool_choice.is_some() {
        return Err("tools in sampling requests are not supported".to_owned());
    }
    let messages: Vec<_> = request.messages.into_iter().map(converted).collect::<std::result::Result<_, _>>()?;
    if messages.last().is_none_or(|last| last.role != Speaker::User) {
        return Err("its last message is not one of the user".to_owned());
    }
    let arguments = Arguments {
        max_tokens: request.max_tokens.clamp(1, server.max_sampling_tokens.max(1)),
        messages,
        system_prompt: request.system_prompt,
        temperature: request.temperature,
        stop_sequences: request.stop_sequences.unwrap_or_default(),
    };
    within_bounds(&arguments, server.max_result)?;
    serde_json::to_value(arguments).map_err(|error| error.to_string())
}

/// Refuses a request with too much text, or too many files.
fn within_bounds(arguments: &Arguments, most: usize) -> std::result::Result<(), String> {
    let texts = arguments.messages.iter().map(|message| &message.text).chain(&arguments.system_prompt);
    let size: usize = texts.chain(&arguments.stop_sequences).map(String::len).sum();
    if size > most {
        return Err(format!("its messages have {size} bytes, more than the limit of {most}"));
    }
    let files: usize = arguments.messages.iter().map(|message| message.files.len()).sum();
    if files > MAX_FILES { Err(format!("it has {files} files, more than the limit of {MAX_FILES}")) } else { Ok(()) }
}

fn converted(message: SamplingMessage) -> std::result::Result<ChatMessage, String> {
    let role = if message.role == Role::Assistant { Speaker::Assistant } else { Speaker::User };
    let mut kept = ChatMessage { role, text: String::new(), files: Vec::new() };
    for block in message.content.into_vec() {
        match block {
            SamplingMessageContentBlock::Text(block) => {
                let separator = if kept.text.is_empty() { "" } else { "\n" };
                kept.text = format!("{}{separator}{}", kept.text, block.text);
            }
            SamplingMessageContentBlock::Image(image) if kept.role == Speaker::User => {
                kept.files.push(File { media_type: image.mime_type, data: image.data });
            }
            SamplingMessageContentBlock::Audio(audio) if kept.role == Speaker::User => {
                kept.files.push(File { media_type: audio.mime_type, data: audio.data });
            }
            SamplingMessageContentBlock::Image(_) | SamplingMessageContentBlock::Audio(_) => {
                return Err("images and audio in messages of the assistant are not supported".to_owned());
            }
            _ => return Err("calls of tools and their results in messages are not supported".to_owned()),
        }
    }
    Ok(kept)
}

/// The body of the tool: asks the model once.
async fn answer(ctx: CallContext, model: Arc<str>, arguments: Arguments) -> Result<Value> {
    let Arguments { max_tokens, messages, system_prompt, temperature, stop_sequences } = arguments;
    let mut settings = Settings::new().max_tokens(max_tokens);
    settings.temperature = temperature.map(f64::from);
    settings.stop = stop_sequences;
    let worker = WorkerSpec::new("sampling", system_prompt.unwrap_or_default()).model(&*model).settings(settings);
    let messages = messages.into_iter().map(ChatMessage::into_message).collect::<Result<_>>()?;
    let response = ctx.respond(&worker, messages).await?;
    let stop_reason = match response.finish {
        FinishReason::Stop => Some(CreateMessageResult::STOP_REASON_END_TURN.to_owned()),
        FinishReason::Length => Some(CreateMessageResult::STOP_REASON_END_MAX_TOKEN.to_owned()),
        FinishReason::ContentFilter => {
            return Err("the model refused, or its provider's filter stopped the answer".into());
        }
        _ => None,
    };
    Ok(serde_json::to_value(SamplingAnswer { text: response.text(), model: response.model, stop_reason })?)
}

impl ChatMessage {
    fn into_message(self) -> Result<Message> {
        let text = self.text;
        if self.role == Speaker::Assistant {
            return Ok(Message::Assistant { parts: vec![ResponsePart::Text { text }] });
        }
        let mut parts = Vec::new();
        if !text.is_empty() || self.files.is_empty() {
            parts.push(UserPart::Text { text });
        }
        for File { media_type, data } in self.files {
            let data = STANDARD.decode(data).map_err(|error| format!("a file is not base64: {error}"))?;
            parts.push(UserPart::Attachment(Attachment::new(media_type, data)));
        }
        Ok(Message::User { parts })
    }
}
