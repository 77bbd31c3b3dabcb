//! Converts a request to one of the Messages API.

use super::thinking::Plan;
use super::wire::{
    Block, CacheControl, JsonSchema, MessageParam, MessagesRequest, OutputConfig, Role, SystemText, Tool,
    ToolChoiceParam, ToolKind,
};
use super::{parts, replay, server_tools};
use crate::error::ProviderError;
use crate::message::Message;
use crate::model::{OutputSchema, Profile, Request, ToolChoice, ToolSpec};
use crate::schema::{SchemaCache, anthropic};

/// How many of the user's last messages have a cache breakpoint: the last one, and that of the previous request, since the
/// API looks back only 20 blocks from a breakpoint.
const MARKED_MESSAGES: usize = 2;

/// Returns the body of `request` for `model` by `plan`, whole or streamed.
///
/// # Errors
///
/// Returns an error if the request has a file or a server-side tool that the API does not support.
pub(super) fn messages<'a>(
    model: &'a str,
    plan: &Plan,
    profile: Profile,
    request: &Request<'a>,
    stream: bool,
) -> Result<MessagesRequest<'a>, ProviderError> {
    let settings = request.settings;
    let (format, instead) = request.output.map_or((None, None), output);
    let mut body = MessagesRequest {
        model,
        max_tokens: plan.max_tokens,
        system: system(request.instructions, instead),
        tools: tools(model, profile, request)?,
        tool_choice: tool_choice(request, plan),
        messages: conversation(request.messages, plan.thoughts_from)?,
        thinking: plan.thinking,
        output_config: OutputConfig { effort: plan.effort, format },
        temperature: plan.temperature,
        top_p: plan.top_p,
        stop_sequences: &settings.stop,
        service_tier: settings.service_tier.as_deref(),
        container: container(request.messages),
        stream: stream.then_some(true),
    };
    if settings.cache_prompt == Some(true) {
        mark(&mut body);
    }
    Ok(body)
}

/// Returns the schema in the form that the API enforces, or else instructions with the schema.
fn output(output: &OutputSchema) -> (Option<JsonSchema>, Option<String>) {
    static CACHE: SchemaCache = SchemaCache::new();
    if let Ok(schema) = CACHE.get_or_translate(&output.schema, anthropic::translate) {
        return (Some(JsonSchema { schema }), None);
    }
    let words = "Answer with one value of JSON and nothing else, no fence around it. It follows this JSON schema:";
    (None, Some(format!("{words}\n{}", output.schema)))
}

fn system(instructions: Option<&str>, output: Option<String>) -> Vec<SystemText<'_>> {
    let instructions = instructions.filter(|text| !text.trim().is_empty()).map(Into::into);
    let texts = instructions.into_iter().chain(output.map(Into::into));
    texts.map(|text| SystemText { text, cache_control: None }).collect()
}

fn tools<'a>(model: &str, profile: Profile, request: &Request<'a>) -> Result<Vec<Tool<'a>>, ProviderError> {
    let ours_now = request.tools.iter().map(|spec| Ok(ours(spec, false)));
    let server_side = request.server_side_tools.iter().map(|tool| server_tools::tool(model, profile, tool));
    let search = (!request.deferred_tools.is_empty()).then(|| Ok(server_tools::TOOL_SEARCH));
    // Last: what can be cached comes before them.
    let deferred = request.deferred_tools.iter().map(|spec| Ok(ours(spec, true)));
    let all = ours_now.chain(server_side).chain(search).chain(deferred);
    all.map(|kind| Ok(Tool { kind: kind?, cache_control: None })).collect()
}

fn ours(spec: &ToolSpec, defer_loading: bool) -> ToolKind<'_> {
    let ToolSpec { name, description, parameters } = spec;
    ToolKind::Ours { name, description, input_schema: parameters, defer_loading }
}

/// The API refuses a choice without tools. Where no call may be forced, the model chooses.
fn tool_choice<'a>(request: &Request<'a>, plan: &Plan) -> Option<ToolChoiceParam<'a>> {
    if request.tools.is_empty() && request.deferred_tools.is_empty() {
        return None;
    }
    let disable_parallel_tool_use = request.settings.parallel_tool_calls == Some(false);
    match request.tool_choice {
        ToolChoice::None => Some(ToolChoiceParam::None),
        ToolChoice::Required if plan.forces_tools => Some(ToolChoiceParam::Any { disable_parallel_tool_use }),
        ToolChoice::Tool(name) if plan.forces_tools => Some(ToolChoiceParam::Tool { name, disable_parallel_tool_use }),
        _ => disable_parallel_tool_use.then_some(ToolChoiceParam::Auto { disable_parallel_tool_use }),
    }
}

/// Returns the messages of each side in turn: results first, as they must follow their calls; and thoughts only from the
/// message `thoughts_from` on.
fn conversation(messages: &[Message], thoughts_from: usize) -> Result<Vec<MessageParam<'_>>, ProviderError> {
    let mut turns = Vec::with_capacity(messages.len());
    for (place, message) in messages.iter().enumerate() {
        match message {
            Message::User { parts } => push_content(&mut turns, Role::User, parts::user(parts)?),
            Message::Assistant { parts } => {
                let is_in_progress = !matches!(messages.get(place + 1), Some(Message::User { .. }));
                let blocks = replay::assistant(parts, is_in_progress, place >= thoughts_from);
                push_content(&mut turns, Role::Assistant, blocks);
            }
            Message::Tool { results } => {
                let (mut blocks, files) = parts::results(results)?;
                blocks.extend(files);
                push_content(&mut turns, Role::User, blocks);
            }
        }
    }
    Ok(turns)
}

fn push_content<'a>(messages: &mut Vec<MessageParam<'a>>, role: Role, content: Vec<Block<'a>>) {
    match messages.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => last.content.extend(content),
        _ => messages.push(MessageParam { role, content }),
    }
}

/// Returns the container in which code of the current turn ran: calls may wait there for their results.
fn container(messages: &[Message]) -> Option<&str> {
    let [.., Message::Assistant { parts }, Message::Tool { .. }] = messages else { return None };
    replay::container(parts)
}

/// Sets cache breakpoints after what stays the same from request to request: tools, system and the history; four, the
/// maximum of the API.
fn mark(body: &mut MessagesRequest<'_>) {
    let mark = Some(CacheControl {});
    // The API refuses a breakpoint at a tool that is not loaded.
    if let Some(tool) = body.tools.iter_mut().rfind(|tool| !tool.kind.is_deferred()) {
        tool.cache_control = mark;
    }
    if let Some(text) = body.system.last_mut() {
        text.cache_control = mark;
    }
    let users = body.messages.iter_mut().rev().filter(|message| message.role == Role::User);
    for message in users.take(MARKED_MESSAGES) {
        // A message that can have no breakpoint is not the user's.
        message.content.iter_mut().rev().any(|block| block.mark(CacheControl {}));
    }
}
