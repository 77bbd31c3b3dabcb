//! Converts a request to one of the Gemini API.

use std::sync::Arc;

use serde_json::Value;

use super::wire::{Content, Data, GenerateRequest, GenerationConfig};
use super::{PROVIDER, history, thinking, tools};
use crate::capability::GeminiCapabilities;
use crate::error::ProviderError;
use crate::model::{JsonWriter, OutputSchema, Request};
use crate::schema::{SchemaCache, Unsupported, gemini, modern_schema};
use crate::server_side::ServerSideTool;
use crate::settings::Warnings;

/// Returns the body of `request` for a model with `capabilities`, and warnings about settings that are changed or not
/// sent.
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
        contents: history::contents(request.messages, capabilities, writer)?,
        tools: tools::tools(request, writer, &mut warnings)?,
        tool_config: tools::tool_config(request, capabilities),
        generation_config: generation_config(request, capabilities, &mut warnings)?,
        service_tier: request.settings.service_tier.as_deref(),
    };
    if request.settings.parallel_tool_calls == Some(false) && !request.tools.is_empty() {
        warnings.not_sent("parallel_tool_calls", "the API cannot disable parallel tool calls");
    }
    if request.settings.compact_at.is_some() {
        warnings.not_sent("compact_at", "the API does not summarize conversations");
    }
    Ok((wire, warnings))
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
    static CACHE: SchemaCache<Value, Unsupported> = SchemaCache::new();
    let schema = CACHE.get_or_translate(&output.schema, |schema| gemini::translate(&modern_schema(schema)));
    schema.map_err(|unsupported| {
        let text = format!("the output schema `{}` cannot be converted for Gemini: {unsupported}", output.name);
        ProviderError::invalid_request(PROVIDER, text)
    })
}
