//! Converts a request to one of chat completions.

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::dialect::{Dialect, Field, Schemas, Target};
use super::thinking::{NO_FIELD, Plan};
use super::wire::{CacheControl, ChatRequest, Format, JsonSchema, StreamOptions, WebSearchOptions};
use super::{PROVIDER, history, tools};
use crate::error::ProviderError;
use crate::model::{JsonWriter, OutputSchema, Request};
use crate::schema::{SchemaCache, Unsupported, llama_cpp, modern_schema, openai_strict, tool};
use crate::settings::{Settings, Warnings};

/// Returns the body of `request` for `target`, and warnings about settings that are changed or not sent.
///
/// # Errors
///
/// Returns an error if the request has a file, a tool or a schema that the server does not support.
pub(super) fn request<'a>(
    target: Target<'a>,
    request: &Request<'a>,
    stream: bool,
    writer: &mut JsonWriter<'_>,
) -> Result<(ChatRequest<'a>, Warnings), ProviderError> {
    tools::check(target, request)?;
    let Target { model, dialect, .. } = target;
    let settings = request.settings;
    let mut warnings = Warnings::default();
    let plan = Plan::new(target, request, &mut warnings);
    let (tools, tool_choice) = tools::offer(request, dialect, plan.forces, writer, &mut warnings)?;
    let (max_completion_tokens, max_tokens) = limit(settings, target);
    let sampling = plan.sampling(settings, dialect, &mut warnings);
    let takes_seed = dialect.takes(Field::Seed) || dialect.takes(Field::RandomSeed);
    let seed = warnings.accept("seed", settings.seed, takes_seed, NO_FIELD);
    warnings.no_field(&[("compact_at", settings.compact_at.is_some())], NO_FIELD);
    // Servers refuse this field without tools.
    let may_limit_calls = if tools.is_empty() { None } else { settings.parallel_tool_calls };
    let chat = ChatRequest {
        model,
        messages: history::messages(request, target, writer)?,
        tool_choice,
        response_format: request.output.map(|output| format(output, dialect)).transpose()?,
        web_search_options: (!request.server_side_tools.is_empty()).then_some(WebSearchOptions {}),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_tokens,
        max_completion_tokens,
        seed: if dialect.takes(Field::Seed) { seed } else { None },
        random_seed: if dialect.takes(Field::RandomSeed) { seed } else { None },
        stop: sampling.stop,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        parallel_tool_calls: limited_calls(may_limit_calls, target, &mut warnings),
        service_tier: warnings.accept(
            "service_tier",
            settings.service_tier.as_deref(),
            dialect.takes(Field::ServiceTier),
            NO_FIELD,
        ),
        stream: stream.then_some(true),
        stream_options: (stream && dialect.takes(Field::StreamOptions))
            .then_some(StreamOptions { include_usage: true }),
        cache_control: settings
            .cache_prompt
            .filter(|marked| *marked && dialect.takes(Field::CacheControl))
            .map(|_| CacheControl::Ephemeral),
        thinking: plan.fields,
        tools,
    };
    Ok((chat, warnings))
}

/// Returns whether parallel calls are allowed, if the server has a field for it.
fn limited_calls(allowed: Option<bool>, target: Target<'_>, warnings: &mut Warnings) -> Option<bool> {
    let is_taken = target.capabilities.parallel_tool_calls;
    let reason = if is_taken { NO_FIELD } else { "the model does not accept it" };
    warnings.accept("parallel_tool_calls", allowed, is_taken && target.dialect.takes(Field::ParallelToolCalls), reason)
}

/// Returns the values of `max_completion_tokens` and `max_tokens`, one of which is the token limit.
fn limit(settings: &Settings, target: Target<'_>) -> (Option<u32>, Option<u32>) {
    // A proxy of OpenAI's models has the rules of OpenAI.
    let is_of_openai = target.provider() == PROVIDER && target.capabilities.is_thinking();
    if target.dialect.takes(Field::MaxCompletionTokens) || is_of_openai {
        (settings.max_tokens, None)
    } else {
        (None, settings.max_tokens)
    }
}

fn format<'a>(output: &'a OutputSchema, dialect: &Dialect) -> Result<Format<'a>, ProviderError> {
    let (schema, strict) = match dialect.schemas {
        Schemas::Words => return Ok(Format::JsonObject),
        Schemas::LlamaCpp { .. } => {
            static CACHE: SchemaCache<Value, Unsupported> = SchemaCache::new();
            let schema = CACHE.get_or_translate(&output.schema, |schema| llama_cpp::translate(&modern_schema(schema)));
            let schema = schema.map_err(|unsupported| {
                let text = format!("the output schema cannot be converted to a grammar: {unsupported}");
                ProviderError::invalid_request(dialect.server.provider, text)
            })?;
            (schema, None)
        }
        Schemas::Grammar => (tool::output(&output.schema), None),
        Schemas::Strict => match openai_strict::translate(&output.schema) {
            Some(schema) => (schema, Some(true)),
            None => (tool::output(&output.schema), Some(false)),
        },
    };
    Ok(Format::JsonSchema { json_schema: JsonSchema { name: &output.name, schema, strict } })
}
