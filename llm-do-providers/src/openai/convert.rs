//! Converts requests to the API's types, and its usage and finish reasons back.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

use super::dialect::{Dialect, Field, Schemas, Target};
use super::thinking::{NO_FIELD, Plan};
use super::wire::{
    CacheControl, ChatRequest, Format, Function, JsonSchema, Named, StreamOptions, Tokens, Tool, ToolChoiceParam,
    Typed, WebSearchOptions,
};
use super::{PROVIDER, history};
use crate::capability::ToolsInChat;
use crate::error::{ErrorKind, ProviderError};
use crate::message::FinishReason;
use crate::model::{Json, JsonWriter, OutputSchema, Request, ToolChoice, ToolSpec};
use crate::schema::tool::{self, ToolForm};
use crate::schema::{SchemaCache, Unsupported, llama_cpp, modern_schema, openai_strict};
use crate::server_side::{ServerSideTool, WebSearch};
use crate::settings::{Settings, Warnings};
use crate::usage::Usage;

/// Returns the body of `request` for `target`, whole or streamed, with warnings for settings that are not sent as they are.
///
/// # Errors
///
/// Returns an error if the request holds a file that the server does not take, a schema that it makes no grammar of, or tools
/// that it does not let the model call or does not run.
pub(super) fn chat<'a>(
    target: Target<'a>,
    request: &Request<'a>,
    stream: bool,
    writer: &mut JsonWriter<'_>,
) -> Result<(ChatRequest<'a>, Warnings), ProviderError> {
    check_tools(target, request)?;
    check_server_side_tools(target, request.server_side_tools)?;
    let Target { model, dialect, .. } = target;
    let settings = request.settings;
    let mut warnings = Warnings::default();
    let plan = Plan::new(target, request, &mut warnings);
    let (tools, tool_choice) = tools(request, dialect, plan.forces, writer, &mut warnings)?;
    let (max_completion_tokens, max_tokens) = limit(settings, target);
    let sampling = plan.sampling(settings, dialect, &mut warnings);
    let takes_seed = dialect.takes(Field::Seed) || dialect.takes(Field::RandomSeed);
    let seed = warnings.accept("seed", settings.seed, takes_seed, NO_FIELD);
    let may_limit_calls = settings.parallel_tool_calls.filter(|_| !tools.is_empty());
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
        seed: seed.filter(|_| dialect.takes(Field::Seed)),
        random_seed: seed.filter(|_| dialect.takes(Field::RandomSeed)),
        stop: sampling.stop,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        // Servers refuse it without tools.
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

/// Refuses tools where OpenAI's own server would: one in between may use the other protocol for them.
fn check_tools(target: Target<'_>, request: &Request<'_>) -> Result<(), ProviderError> {
    let Target { model, dialect, capabilities, .. } = target;
    let is_openai = target.provider() == PROVIDER && dialect.takes(Field::MaxCompletionTokens);
    if request.tools.is_empty() || !is_openai || capabilities.tools_in_chat != ToolsInChat::Never {
        return Ok(());
    }
    let text = format!("`{model}` does not support tools over chat completions; use `openai-responses:{model}`");
    Err(ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text))
}

/// Refuses tools of the server's that chat completions have no words for, before they are asked for in part: the one that they
/// have is the web search of the models made for it.
fn check_server_side_tools(target: Target<'_>, tools: &[ServerSideTool]) -> Result<(), ProviderError> {
    let (model, searches) = (target.model, target.provider() == PROVIDER);
    let refused = |text: String| Err(ProviderError::new(target.provider(), ErrorKind::InvalidRequest, text));
    for tool in tools {
        match tool {
            ServerSideTool::WebSearch(search) if searches && *search == WebSearch::new() => {}
            ServerSideTool::WebSearch(_) if searches => {
                return refused(format!(
                    "`{model}` searches the web over chat completions, which know neither `max_uses`, \
                     `allowed_domains` nor `blocked_domains` of `web_search`; leave them out"
                ));
            }
            other => return refused(format!("`{model}` does not support `{other}` over chat completions; remove it")),
        }
    }
    Ok(())
}

/// Returns whether parallel calls are allowed, where the API has a field for it.
fn limited_calls(allowed: Option<bool>, target: Target<'_>, warnings: &mut Warnings) -> Option<bool> {
    let is_taken = target.capabilities.parallel_tool_calls;
    let reason = if is_taken { NO_FIELD } else { "the model does not accept it" };
    warnings.accept("parallel_tool_calls", allowed, is_taken && target.dialect.takes(Field::ParallelToolCalls), reason)
}

/// Returns the limit on tokens under its newer name, or under its older one.
fn limit(settings: &Settings, target: Target<'_>) -> (Option<u32>, Option<u32>) {
    // A proxy before OpenAI's own models has to be asked like OpenAI.
    let is_of_openai = target.provider() == PROVIDER && target.capabilities.is_thinking();
    if target.dialect.takes(Field::MaxCompletionTokens) || is_of_openai {
        (settings.max_tokens, None)
    } else {
        (None, settings.max_tokens)
    }
}

/// The tools that are offered, and the choice among them.
type Offer<'a> = (Vec<Json<Tool<'a>>>, Option<ToolChoiceParam<Typed<Named<'a>>>>);

/// Returns the tools that are offered, and the choice: servers refuse a choice without tools. Where the server does not
/// support the choice, only the tools that it allows are offered; where no call may be forced, the model chooses.
fn tools<'a>(
    request: &Request<'a>,
    dialect: &Dialect,
    forces: bool,
    writer: &mut JsonWriter<'_>,
    warnings: &mut Warnings,
) -> Result<Offer<'a>, ProviderError> {
    let choice = dialect.choice;
    let required = choice.filter(|_| forces).map(|choice| ToolChoiceParam::Word(choice.required));
    let is_named = forces && choice.is_some_and(|choice| choice.names);
    let (only, word) = match request.tool_choice {
        _ if request.tools.is_empty() => (None, None),
        ToolChoice::Auto => (None, None),
        ToolChoice::Required => (None, required),
        ToolChoice::None if choice.is_some() => (None, Some(ToolChoiceParam::Word("none"))),
        ToolChoice::None => return Ok((Vec::new(), None)),
        ToolChoice::Tool(name) if is_named => {
            (None, Some(ToolChoiceParam::Tool(Typed::Function { function: Named { name } })))
        }
        ToolChoice::Tool(name) => (Some(name), required),
    };
    let offered = request.tools.iter().enumerate().filter(|(_, spec)| only.is_none_or(|only| *spec.name == *only));
    let mut all = Vec::with_capacity(request.tools.len());
    for (place, spec) in offered {
        match form(spec, dialect) {
            Ok(form) => all.push(writer.tool(place, 0, spec, || Ok(tool(spec, &form)))?),
            Err(unsupported) if request.must_have(spec) => {
                return Err(unsupported.of_tool(dialect.server.provider, &spec.name));
            }
            Err(unsupported) => warnings.without_tool(&spec.name, &unsupported),
        }
    }
    Ok((all, word))
}

/// Returns the schema of a tool as the server takes it.
pub(super) fn form(spec: &ToolSpec, dialect: &Dialect) -> Result<Arc<ToolForm>, Unsupported> {
    match dialect.schemas {
        Schemas::LlamaCpp { of_tools: true } => tool::llama_cpp(&spec.parameters),
        _ => Ok(tool::openai(&spec.parameters)),
    }
}

fn tool<'a>(spec: &'a ToolSpec, form: &ToolForm) -> Tool<'a> {
    let parameters = Arc::clone(&form.schema);
    Typed::Function { function: Function { name: &spec.name, description: &spec.description, parameters } }
}

/// Returns a schema in the dialect of llama.cpp's grammars.
fn grammar(schema: &Arc<Value>) -> Result<Arc<Value>, Unsupported> {
    static CACHE: SchemaCache<Value, Unsupported> = SchemaCache::new();
    CACHE.get_or_translate(schema, |schema| llama_cpp::translate(&modern_schema(schema)))
}

fn format<'a>(output: &'a OutputSchema, dialect: &Dialect) -> Result<Format<'a>, ProviderError> {
    let (schema, strict) = match dialect.schemas {
        Schemas::Words => return Ok(Format::JsonObject),
        Schemas::LlamaCpp { .. } => {
            let schema = grammar(&output.schema).map_err(|unsupported| {
                let text = format!("the output schema cannot be converted to a grammar: {unsupported}");
                ProviderError::new(dialect.server.provider, ErrorKind::InvalidRequest, text)
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

/// Converts a finish reason; `None` if it is absent.
pub(super) fn finish_reason(word: &str) -> Option<FinishReason> {
    match word {
        "" => None,
        "stop" => Some(FinishReason::Stop),
        "tool_calls" | "function_call" => Some(FinishReason::ToolCalls),
        "length" | "model_length" => Some(FinishReason::Length),
        "content_filter" => Some(FinishReason::ContentFilter),
        _ => Some(FinishReason::Other),
    }
}

/// Returns the usage of one request.
pub(super) fn usage(tokens: Tokens) -> Usage {
    let prompt = tokens.prompt_tokens_details.unwrap_or_default();
    let completion = tokens.completion_tokens_details.unwrap_or_default();
    let mut cached = tokens.prompt_cache_hit_tokens;
    cached.update(tokens.cached_tokens);
    cached.update(prompt.cached_tokens);
    Usage {
        cached_tokens: cached.count(),
        cache_write_tokens: prompt.cache_write_tokens.count(),
        audio_tokens: prompt.audio_tokens.count(),
        reasoning_tokens: completion.reasoning_tokens.count(),
        ..Usage::of_request(tokens.prompt_tokens.count(), tokens.completion_tokens.count())
    }
}
