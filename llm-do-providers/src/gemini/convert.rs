//! Converts requests to the API's types, and its usage and finish reasons back.

use std::sync::Arc;

use serde_json::Value;

use super::wire::{
    Content, Data, FunctionCallingConfig, FunctionDeclaration, GenerateRequest, GenerationConfig, Tokens, Tool,
    ToolConfig,
};
use super::{PROVIDER, contents, server_side, thinking};
use crate::capability::GeminiCapabilities;
use crate::error::{ErrorKind, ProviderError};
use crate::message::FinishReason;
use crate::model::{JsonWriter, OutputSchema, Request, ToolChoice, ToolSpec};
use crate::schema::tool::{self, ToolForm};
use crate::schema::{SchemaCache, Unsupported, gemini, modern_schema};
use crate::server_side::ServerSideTool;
use crate::settings::Warnings;
use crate::usage::Usage;

/// Returns the body of `request` for a model with those capabilities, with warnings for settings that are not sent as they are.
///
/// # Errors
///
/// Returns an error if the request has a file or a schema that the API does not support.
pub(super) fn request<'a>(
    request: &Request<'a>,
    capabilities: &GeminiCapabilities,
    writer: &mut JsonWriter<'_>,
) -> Result<(GenerateRequest<'a>, Warnings), ProviderError> {
    let mut warnings = Warnings::default();
    let wire = GenerateRequest {
        system_instruction: request
            .instructions
            .map(|text| Content { role: None, parts: vec![Data::Text(text.into()).into()] }),
        contents: contents::contents(request.messages, capabilities, writer)?,
        tools: tools(request, writer, &mut warnings)?,
        tool_config: tool_config(request, capabilities),
        generation_config: generation_config(request, capabilities, &mut warnings)?,
        service_tier: request.settings.service_tier.as_deref(),
    };
    if request.settings.parallel_tool_calls == Some(false) && !request.tools.is_empty() {
        warnings.not_sent("parallel_tool_calls", "the API cannot disable parallel tool calls");
    }
    Ok((wire, warnings))
}

fn tools<'a>(
    request: &Request<'a>,
    writer: &mut JsonWriter<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Tool<'a>>, ProviderError> {
    let mut declarations = Vec::with_capacity(request.tools.len());
    for (place, spec) in request.tools.iter().enumerate() {
        match tool::gemini(&spec.parameters) {
            Ok(form) => declarations.push(writer.tool(place, 0, spec, || Ok(declaration(spec, &form)))?),
            Err(unsupported) if request.must_have(spec) => return Err(unsupported.of_tool(PROVIDER, &spec.name)),
            Err(unsupported) => warnings.without_tool(&spec.name, &unsupported),
        }
    }
    let functions = (!declarations.is_empty()).then_some(Tool::FunctionDeclarations(declarations));
    Ok(functions
        .into_iter()
        .chain(request.server_side_tools.iter().filter_map(|tool| server_side::tool(tool)))
        .collect())
}

fn declaration<'a>(spec: &'a ToolSpec, form: &ToolForm) -> FunctionDeclaration<'a> {
    let schema = Arc::clone(&form.schema);
    // A function without parameters has no schema.
    let parameters_json_schema = has_properties(&schema).then_some(schema);
    FunctionDeclaration { name: &spec.name, description: &spec.description, parameters_json_schema }
}

fn has_properties(schema: &Value) -> bool {
    let is_named = schema["properties"].as_object().is_some_and(|properties| !properties.is_empty());
    is_named || schema["additionalProperties"].is_object() || schema["anyOf"].is_array()
}

fn tool_config<'a>(request: &Request<'a>, capabilities: &GeminiCapabilities) -> Option<ToolConfig<'a>> {
    let calling =
        |mode, name: Option<&'a str>| FunctionCallingConfig { mode, allowed_function_names: name.map(|name| [name]) };
    let function_calling_config = match request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(calling("ANY", None)),
        ToolChoice::None => Some(calling("NONE", None)),
        ToolChoice::Tool(name) => Some(calling("ANY", Some(name))),
    };
    // Required where functions are combined with Google's tools, and for parts that show their use.
    let runs = request.server_side_tools.iter().any(|tool| server_side::tool(tool).is_some());
    let include_server_side_tool_invocations = (runs && capabilities.version_3_rules).then_some(true);
    let config = ToolConfig { function_calling_config, include_server_side_tool_invocations };
    (config != ToolConfig::default()).then_some(config)
}

fn generation_config<'a>(
    request: &Request<'a>,
    capabilities: &GeminiCapabilities,
    warnings: &mut Warnings,
) -> Result<GenerationConfig<'a>, ProviderError> {
    let settings = request.settings;
    let schema = request.output.map(output_schema).transpose()?;
    let thinking_config = settings.thinking.and_then(|level| thinking::config(level, capabilities, warnings));
    let mut penalty =
        |name, value| warnings.accept(name, value, capabilities.penalties, "the model does not accept it");
    let presence_penalty = penalty("presence_penalty", settings.presence_penalty);
    let frequency_penalty = penalty("frequency_penalty", settings.frequency_penalty);
    let makes_images = request.server_side_tools.contains(&ServerSideTool::ImageGeneration);
    Ok(GenerationConfig {
        temperature: settings.temperature,
        top_p: settings.top_p,
        max_output_tokens: settings.max_tokens,
        stop_sequences: &settings.stop,
        seed: settings.seed.map(|set| seed(set, warnings)),
        presence_penalty,
        frequency_penalty,
        response_mime_type: schema.is_some().then_some("application/json"),
        response_json_schema: schema,
        response_modalities: makes_images.then_some(["TEXT", "IMAGE"]),
        thinking_config,
    })
}

/// Returns a seed as the API's signed 32-bit integer.
fn seed(seed: u64, warnings: &mut Warnings) -> u64 {
    let cut = seed & u64::from(u32::MAX >> 1);
    if cut != seed {
        warnings.changed("seed", format!("{seed} sent as {cut}: the API accepts at most 31 bits"));
    }
    cut
}

fn output_schema(output: &OutputSchema) -> Result<Arc<Value>, ProviderError> {
    known(&output.schema).map_err(|unsupported| {
        invalid(format!("the output schema `{}` cannot be converted for Gemini: {unsupported}", output.name))
    })
}

/// Returns a schema in Gemini's dialect.
fn known(schema: &Arc<Value>) -> Result<Arc<Value>, Unsupported> {
    static CACHE: SchemaCache<Value, Unsupported> = SchemaCache::new();
    CACHE.get_or_translate(schema, |schema| gemini::translate(&modern_schema(schema)))
}

fn invalid(text: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text)
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateFinish {
    As(FinishReason),
    /// A call, or an answer, that the server itself could not parse.
    Malformed,
    /// A call although no tool was offered, or none was allowed.
    UnexpectedCall,
}

/// Converts a finish reason of <https://ai.google.dev/api/generate-content#FinishReason>; `None` if it is absent.
pub(super) fn parse_finish(word: &str) -> Option<CandidateFinish> {
    Some(match word {
        "" | "FINISH_REASON_UNSPECIFIED" => return None,
        "STOP" => CandidateFinish::As(FinishReason::Stop),
        "MAX_TOKENS" => CandidateFinish::As(FinishReason::Length),
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "MODEL_ARMOR" => CandidateFinish::As(FinishReason::ContentFilter),
        "MALFORMED_FUNCTION_CALL" | "MALFORMED_RESPONSE" => CandidateFinish::Malformed,
        "UNEXPECTED_TOOL_CALL" => CandidateFinish::UnexpectedCall,
        _ => CandidateFinish::As(FinishReason::Other),
    })
}

/// Returns the usage of one request.
pub(super) fn usage(tokens: &Tokens) -> Usage {
    let read = tokens.prompt_token_count.count();
    let thought = tokens.thoughts_token_count.count();
    Usage {
        audio_tokens: tokens.audio_tokens(),
        cached_audio_tokens: tokens.cached_audio_tokens(),
        cached_tokens: tokens.cached_content_token_count.count(),
        reasoning_tokens: thought,
        ..Usage::of_request(
            read.saturating_add(tokens.tool_use_prompt_token_count.count()),
            tokens.candidates_token_count.count().saturating_add(thought),
        )
    }
}
