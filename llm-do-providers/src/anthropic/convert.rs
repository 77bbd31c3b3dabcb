//! Converts a request to one of the Messages API.

use serde_json::Value;

use super::thinking::Plan;
use super::wire::{CacheControl, JsonSchema, MessageParam, MessagesRequest, OutputConfig, Role, SystemText};
use super::{compaction, history, tools};
use crate::error::ProviderError;
use crate::model::{Json, JsonWriter, OutputSchema, Profile, Request};
use crate::schema::anthropic::NotEnforceable;
use crate::schema::{SchemaCache, anthropic, modern_schema};

/// The number of user messages with a cache breakpoint: the last one, and the last one of the previous request, since
/// the API looks back only 20 blocks from a breakpoint.
const MARKED_MESSAGES: usize = 2;

/// Returns the body of `request` for `model`, with the settings of `plan`.
///
/// # Errors
///
/// Returns an error if the request has a file or a server-side tool that the API does not support.
pub(super) fn request<'a>(
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
        tools: tools::tools(model, profile, request, writer)?,
        tool_choice: tools::tool_choice(request, plan),
        messages: history::messages(request.messages, plan.thoughts_from, writer)?,
        thinking: plan.thinking,
        output_config: OutputConfig { effort: plan.effort, format },
        temperature: plan.temperature,
        top_p: plan.top_p,
        stop_sequences: &settings.stop,
        service_tier: settings.service_tier.as_deref(),
        container: history::current_container(request.messages),
        context_management: plan.compact_at.map(compaction::field),
        stream: stream.then_some(true),
    };
    history::end_with_user(&mut body.messages, plan.continues_answers);
    if settings.cache_prompt == Some(true) {
        mark(&mut body, request.deferred_tools.len());
    }
    Ok(body)
}

/// Returns the output schema in the form that the API enforces, or else instructions with the schema.
fn output(output: &OutputSchema) -> (Option<JsonSchema>, Option<String>) {
    static CACHE: SchemaCache<Value, NotEnforceable> = SchemaCache::new();
    if let Ok(schema) = CACHE.get_or_translate(&output.schema, |schema| anthropic::translate(&modern_schema(schema))) {
        return (Some(JsonSchema { schema }), None);
    }
    (None, Some(output.instructions()))
}

fn system(instructions: Option<&str>, output: Option<String>) -> Vec<SystemText<'_>> {
    let instructions = instructions.filter(|text| !text.trim().is_empty()).map(Into::into);
    let texts = instructions.into_iter().chain(output.map(Into::into));
    texts.map(|text| SystemText { text, cache_control: None }).collect()
}

/// Sets cache breakpoints after the tools, the system prompt and the last user messages: four, the API's maximum. The
/// last `deferred` tools get none, since the API refuses a breakpoint at a tool that is not loaded.
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
        // Every user message has a block that supports a breakpoint.
        message.content.iter_mut().rev().any(|block| match block {
            Json::New(block) => block.mark(CacheControl {}),
            Json::Written(json) => CacheControl::add_to(json),
        });
    }
}
