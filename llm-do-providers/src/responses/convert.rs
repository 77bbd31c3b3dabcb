//! Converts a request to one of the Responses API.

use super::wire::{ContextEdit, Format, Reasoning, ResponsesRequest, Text};
use super::{history, tools};
use crate::capability::OpenAiCapabilities;
use crate::error::ProviderError;
use crate::model::{JsonWriter, OutputSchema, Request};
use crate::schema::{openai_strict, tool};
use crate::server_side::ServerSideTool;
use crate::settings::{Settings, Warnings};

/// The additional output that is requested: thoughts that can be sent back, and the results of the provider's tools.
const INCLUDED: [&str; 3] =
    ["reasoning.encrypted_content", "web_search_call.action.sources", "code_interpreter_call.outputs"];

/// Returns the body of `request` for `model`, and warnings about settings that are changed or not sent. `summaries`
/// requests summaries of thoughts.
///
/// # Errors
///
/// Returns an error if the request has a file or a tool that the API does not support.
pub(super) fn request<'a>(
    model: &'a str,
    capabilities: &'a OpenAiCapabilities,
    summaries: bool,
    request: &Request<'a>,
    stream: bool,
    writer: &mut JsonWriter<'_>,
) -> Result<(ResponsesRequest<'a>, Warnings), ProviderError> {
    let settings = request.settings;
    let effort = effort(capabilities, request);
    let mut warnings = warnings(settings, capabilities, effort);
    let samples = capabilities.samples(effort);
    let unsampled = if capabilities.may_think() {
        "the model does not accept it while thinking is on"
    } else {
        "the model does not accept it"
    };
    let tools = tools::tools(request, writer)?;
    let include = INCLUDED.into_iter().filter(|included| is_asked(included, capabilities, request)).collect();
    let asking = ResponsesRequest {
        model,
        instructions: request.instructions,
        input: history::input(request, capabilities.may_think(), writer)?,
        tool_choice: tools::tool_choice(request),
        text: request.output.map(|output| Text { format: format(output) }),
        reasoning: effort.map(|effort| reasoning(effort, summaries)),
        temperature: warnings.accept("temperature", settings.temperature, samples, unsampled),
        top_p: warnings.accept("top_p", settings.top_p, samples, unsampled),
        max_output_tokens: settings.max_tokens,
        parallel_tool_calls: if tools.is_empty() { None } else { settings.parallel_tool_calls },
        service_tier: settings.service_tier.as_deref(),
        include,
        // <https://developers.openai.com/api/docs/guides/compaction> (read 2026-11-29).
        context_management: settings.compact_at.map(|tokens| [ContextEdit::Compaction { compact_threshold: tokens }]),
        store: false,
        stream: stream.then_some(true),
        tools,
    };
    Ok((asking, warnings))
}

/// Returns the warnings about settings that the API has no field for, and about a level that is sent as another one.
fn warnings(settings: &Settings, capabilities: &OpenAiCapabilities, effort: Option<&str>) -> Warnings {
    let mut warnings = Warnings::default();
    let absent = [
        ("seed", settings.seed.is_some()),
        ("stop", !settings.stop.is_empty()),
        ("presence_penalty", settings.presence_penalty.is_some()),
        ("frequency_penalty", settings.frequency_penalty.is_some()),
    ];
    warnings.no_field(&absent, "the Responses API has no field for it");
    match (settings.thinking, effort) {
        (Some(level), Some(word)) => warnings.thinking_as(level, word),
        (Some(level), None) if capabilities.may_think() || !level.is_off() => {
            warnings.not_sent("thinking", "the model has no thinking levels");
        }
        _ => {}
    }
    warnings
}

/// Returns the word for a thinking level. The API refuses `minimal` with server-side tools:
/// <https://github.com/openai/codex/issues/3559>.
fn effort<'a>(capabilities: &'a OpenAiCapabilities, request: &Request<'_>) -> Option<&'a str> {
    let word = capabilities.effort(request.settings.thinking);
    if word == Some("minimal") && !request.server_side_tools.is_empty() { Some("low") } else { word }
}

/// Whether the additional output can be requested.
fn is_asked(included: &str, capabilities: &OpenAiCapabilities, request: &Request<'_>) -> bool {
    let tools = request.server_side_tools;
    match included.split_once('.') {
        Some(("reasoning", _)) => capabilities.may_think(),
        Some(("web_search_call", _)) => tools.iter().any(|tool| matches!(tool, ServerSideTool::WebSearch(_))),
        Some(("code_interpreter_call", _)) => tools.contains(&ServerSideTool::CodeExecution),
        _ => true,
    }
}

fn format(output: &OutputSchema) -> Format<'_> {
    let strict = openai_strict::translate(&output.schema);
    let is_strict = strict.is_some();
    let schema = strict.unwrap_or_else(|| tool::output(&output.schema));
    Format::JsonSchema { name: &output.name, schema, strict: is_strict }
}

/// Thoughts are only shown as summaries, which must be requested.
fn reasoning(effort: &str, summaries: bool) -> Reasoning<'_> {
    Reasoning { effort, summary: (summaries && effort != "none").then_some("auto") }
}
