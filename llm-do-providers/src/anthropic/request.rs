//! Converts a request to one of the Messages API.

use std::sync::Arc;

use serde_json::Value;

use super::thinking::{Plan, answer};
use super::wire::{
    Block, CacheControl, JsonSchema, MessageParam, MessagesRequest, OutputConfig, Role, SystemText, Tool,
    ToolChoiceParam, ToolKind,
};
use super::{parts, programs, replay, server_tools};
use crate::error::ProviderError;
use crate::message::Message;
use crate::model::{Json, JsonWriter, OutputSchema, Profile, Request, ToolChoice, ToolSpec};
use crate::programs::Programs;
use crate::schema::anthropic::NotEnforceable;
use crate::schema::tool::{self, ToolForm};
use crate::schema::{SchemaCache, anthropic, modern_schema};
use crate::sent_history::{Answered, CONTINUE, Step, steps};

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
    writer: &mut JsonWriter<'_>,
) -> Result<MessagesRequest<'a>, ProviderError> {
    let settings = request.settings;
    let (format, instead) = request.output.map_or((None, None), output);
    let mut body = MessagesRequest {
        model,
        max_tokens: plan.max_tokens,
        system: system(request.instructions, instead),
        tools: tools(model, profile, request, writer)?,
        tool_choice: tool_choice(request, plan),
        messages: conversation(request.messages, plan.thoughts_from, writer)?,
        thinking: plan.thinking,
        output_config: OutputConfig { effort: plan.effort, format },
        temperature: plan.temperature,
        top_p: plan.top_p,
        stop_sequences: &settings.stop,
        service_tier: settings.service_tier.as_deref(),
        container: container(request.messages),
        stream: stream.then_some(true),
    };
    end_with_user(&mut body.messages, plan.continues_answers);
    if settings.cache_prompt == Some(true) {
        mark(&mut body, request.deferred_tools.len());
    }
    Ok(body)
}

/// Returns the schema in the form that the API enforces, or else instructions with the schema.
fn output(output: &OutputSchema) -> (Option<JsonSchema>, Option<String>) {
    static CACHE: SchemaCache<Value, NotEnforceable> = SchemaCache::new();
    if let Ok(schema) = CACHE.get_or_translate(&output.schema, |schema| anthropic::translate(&modern_schema(schema))) {
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

fn tools<'a>(
    model: &str,
    profile: Profile,
    request: &Request<'a>,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<Tool<'a>>>, ProviderError> {
    let Request { tools, deferred_tools, server_side_tools, .. } = request;
    let mut ours = |place: usize, spec: &'a ToolSpec, is_deferred| {
        let form = u8::from(is_deferred) + 2 * u8::from(request.offers_to_code(spec));
        writer.tool(place, form, spec, || Ok(Tool::from(ours(spec, is_deferred, request))))
    };
    let mut all = Vec::with_capacity(tools.len() + server_side_tools.len() + deferred_tools.len() + 1);
    for (place, spec) in tools.iter().enumerate() {
        all.push(ours(place, spec, false)?);
    }
    for tool in server_tools::declared(request) {
        all.push(Json::New(server_tools::tool(model, profile, tool)?.into()));
    }
    if !deferred_tools.is_empty() {
        all.push(Json::New(server_tools::TOOL_SEARCH.into()));
    }
    // Last: what can be cached comes before them.
    for (place, spec) in deferred_tools.iter().enumerate() {
        all.push(ours(tools.len() + place, spec, true)?);
    }
    Ok(all)
}

fn ours<'a>(spec: &'a ToolSpec, defer_loading: bool, request: &Request<'_>) -> ToolKind<'a> {
    let ToolSpec { name, description, parameters } = spec;
    let allowed_callers = server_tools::allowed_callers(request, spec);
    let input_schema = Arc::clone(&tool::anthropic(parameters).schema);
    ToolKind::Ours { name, description, input_schema, defer_loading, allowed_callers }
}

/// Returns the tools whose properties have other names in the request, by name.
pub(super) fn renamed(request: &Request<'_>) -> Vec<(Arc<str>, Arc<ToolForm>)> {
    let all = request.tools.iter().chain(request.deferred_tools);
    let forms = all.map(|spec| (&spec.name, tool::anthropic(&spec.parameters)));
    forms.filter(|(_, form)| form.renames()).map(|(name, form)| (Arc::clone(name), form)).collect()
}

/// The API refuses a choice without tools. Where no call may be forced, the model chooses.
fn tool_choice<'a>(request: &Request<'a>, plan: &Plan) -> Option<ToolChoiceParam<'a>> {
    if request.tools.is_empty() && request.deferred_tools.is_empty() {
        return None;
    }
    // Code may make several calls, and the API refuses to limit them.
    let disable_parallel_tool_use = request.settings.parallel_tool_calls == Some(false) && !request.takes_programs();
    match request.tool_choice {
        ToolChoice::None => Some(ToolChoiceParam::None),
        ToolChoice::Required if plan.forces_tools => Some(ToolChoiceParam::Any { disable_parallel_tool_use }),
        ToolChoice::Tool(name) if plan.forces_tools => Some(ToolChoiceParam::Tool { name, disable_parallel_tool_use }),
        _ => disable_parallel_tool_use.then_some(ToolChoiceParam::Auto { disable_parallel_tool_use }),
    }
}

/// Returns the messages of each side in turn: results first, as they must follow their calls; and thoughts only from the
/// message `thoughts_from` on.
fn conversation<'a>(
    messages: &'a [Message],
    thoughts_from: usize,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<MessageParam<'a>>, ProviderError> {
    let outline = writer.outline(messages);
    let (mut turns, mut programs) = (Vec::with_capacity(messages.len()), Programs::ALL);
    for (number, step) in steps(messages).enumerate() {
        let place = match step {
            Step::User(place, _) | Step::Answer(place, _) => Some(place),
            Step::Results(results) => results.place(),
        };
        if let (Some(place), true) = (place, number == 0 || matches!(step, Step::User(..))) {
            programs = Programs::of_turn(messages, place, true, programs::links);
        }
        // What is left out depends on the rest of the turn.
        let mut changing = JsonWriter::default();
        let writer = if programs.are_all() { &mut *writer } else { &mut changing };
        let is_for_code = |result: &Answered<'_>| programs::caller(result.call).is_some_and(|id| programs.has(id));
        let (mut content, mut has_code) = (Vec::new(), false);
        let role = match step {
            Step::Answer(place, parts) => {
                let with_thoughts = place >= thoughts_from;
                writer.message(place, with_thoughts, &mut content, || {
                    let repeats = |number| outline.repeats(place, number);
                    Ok(replay::assistant(parts, repeats, &programs, with_thoughts))
                })?;
                Role::Assistant
            }
            Step::User(place, parts) => {
                writer.message(place, false, &mut content, || parts::user(parts))?;
                Role::User
            }
            Step::Results(results) => {
                has_code = results.calls().filter_map(programs::caller).any(|id| programs.has(id));
                writer.message(place, false, &mut content, || {
                    Ok(parts::results(&results.answered(&outline), is_for_code))
                })?;
                Role::User
            }
        };
        push_content(&mut turns, role, content, has_code);
    }
    Ok(turns)
}

/// Lets the user go on after an answer that the conversation ends in: "final assistant content cannot end with trailing
/// whitespace"; and newer models, and those that think, continue none. "The conversation must end with a user message."
fn end_with_user(messages: &mut Vec<MessageParam<'_>>, continues_answers: bool) {
    let Some(last) = messages.last().filter(|last| last.role == Role::Assistant) else { return };
    if !continues_answers || last.content.last().is_some_and(ends_in_space) {
        push_content(messages, Role::User, vec![Json::New(Block::text(CONTINUE))], false);
    }
}

fn ends_in_space(block: &Json<Block<'_>>) -> bool {
    let block = serde_json::to_value(block).unwrap_or_default();
    block["text"].as_str().is_some_and(|text| text.ends_with(char::is_whitespace))
}

fn push_content<'a>(
    messages: &mut Vec<MessageParam<'a>>,
    role: Role,
    content: Vec<Json<Block<'a>>>,
    is_for_code: bool,
) {
    match messages.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => {
            last.content.extend(content);
            last.is_for_code |= is_for_code;
        }
        _ => messages.push(MessageParam { role, content, is_for_code }),
    }
}

/// Returns the container in which code of the current turn ran: calls may wait there for their results.
fn container(messages: &[Message]) -> Option<&str> {
    let [before @ .., Message::Tool { .. }] = messages else { return None };
    let turn = before.iter().rev().take_while(|message| !matches!(message, Message::User { .. }));
    turn.filter_map(answer).find_map(replay::container)
}

/// Sets cache breakpoints after what stays the same from request to request: tools, system and the history; four, the
/// maximum of the API. The last `deferred` tools get none, since the API refuses a breakpoint at a tool that is not loaded.
fn mark(body: &mut MessagesRequest<'_>, deferred: usize) {
    let loaded = body.tools.len() - deferred;
    match body.tools[..loaded].last_mut() {
        Some(Json::New(tool)) => tool.cache_control = Some(CacheControl {}),
        Some(Json::Written(json)) => drop(CacheControl::add_to(json)),
        None => {}
    }
    if let Some(text) = body.system.last_mut() {
        text.cache_control = Some(CacheControl {});
    }
    let is_cached = |message: &&mut MessageParam<'_>| message.role == Role::User && !message.is_for_code;
    let users = body.messages.iter_mut().rev().filter(is_cached);
    for message in users.take(MARKED_MESSAGES) {
        // A message that can have no breakpoint is not the user's.
        message.content.iter_mut().rev().any(|block| match block {
            Json::New(block) => block.mark(CacheControl {}),
            Json::Written(json) => CacheControl::add_to(json),
        });
    }
}
