//! The tools of a request: functions, and the tools that Google runs.

use std::sync::Arc;

use serde_json::Value;

use super::PROVIDER;
use super::wire::{FunctionCallingConfig, FunctionDeclaration, Tool, ToolConfig};
use crate::capability::GeminiCapabilities;
use crate::error::ProviderError;
use crate::model::{JsonWriter, Request, ToolChoice, ToolSpec};
use crate::schema::tool::{self, ToolForm};
use crate::server_side::{ServerSideTool, WebSearch};
use crate::settings::Warnings;

/// Returns the tools of `request`. A function whose schema cannot be sent is left out, unless the request requires it.
///
/// # Errors
///
/// Returns an error if a required function cannot be sent.
pub(super) fn tools<'a>(
    request: &Request<'a>,
    writer: &mut JsonWriter<'_>,
    warnings: &mut Warnings,
) -> Result<Vec<Tool<'a>>, ProviderError> {
    let mut declarations = Vec::with_capacity(request.tools.len());
    for (place, spec) in request.tools.iter().enumerate() {
        match tool::gemini(&spec.parameters) {
            Ok(form) => declarations.push(writer.tool(place, 0, spec, || Ok(declaration(spec, &form)))?),
            Err(unsupported) => unsupported.leave_out(spec, request, PROVIDER, warnings)?,
        }
    }
    let functions = (!declarations.is_empty()).then_some(Tool::FunctionDeclarations(declarations));
    Ok(functions.into_iter().chain(request.server_side_tools.iter().filter_map(|tool| server_side(tool))).collect())
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

pub(super) fn tool_config<'a>(request: &Request<'a>, capabilities: &GeminiCapabilities) -> Option<ToolConfig<'a>> {
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
    let include_server_side_tool_invocations = (runs_tools(request) && capabilities.version_3_rules).then_some(true);
    let config = ToolConfig { function_calling_config, include_server_side_tool_invocations };
    (config != ToolConfig::default()).then_some(config)
}

/// Whether Google runs a tool for the request.
fn runs_tools(request: &Request<'_>) -> bool {
    request.server_side_tools.iter().any(|tool| server_side(tool).is_some())
}

/// Returns a server-side tool as the API declares it; `None` for image generation, which is a setting there.
fn server_side(tool: &ServerSideTool) -> Option<Tool<'static>> {
    match tool {
        ServerSideTool::WebSearch(_) => Some(Tool::GoogleSearch {}),
        ServerSideTool::WebFetch => Some(Tool::UrlContext {}),
        ServerSideTool::CodeExecution => Some(Tool::CodeExecution {}),
        ServerSideTool::ImageGeneration | ServerSideTool::ProgrammaticToolCalling => None,
    }
}

/// Checks that the model supports the server-side tools of a request, and their settings.
pub(super) fn check(
    model: &str,
    capabilities: &GeminiCapabilities,
    request: &Request<'_>,
) -> Result<(), ProviderError> {
    for tool in request.server_side_tools {
        match tool {
            ServerSideTool::WebSearch(search) if *search != WebSearch::new() => {
                return Err(refused(
                    "the Gemini API does not support `max_uses`, `allowed_domains` and `blocked_domains` of \
                     `web_search`; remove them",
                ));
            }
            ServerSideTool::ImageGeneration if !capabilities.makes_images() => {
                return Err(refused(format!(
                    "`{model}` does not generate images; use a model with `image` in its name, or remove `image_generation`"
                )));
            }
            ServerSideTool::ProgrammaticToolCalling => {
                return Err(refused(format!("the Gemini API does not support `{tool}`; remove it")));
            }
            _ => {}
        }
    }
    if runs_tools(request) && !capabilities.combines_tools() && (!request.tools.is_empty() || request.output.is_some())
    {
        let tools: Vec<_> = request.server_side_tools.iter().map(|tool| format!("`{tool}`")).collect();
        return Err(refused(format!(
            "`{model}` supports {} only in requests without other tools and without an output schema; remove these, \
             or use a model of version 3",
            tools.join(", ")
        )));
    }
    Ok(())
}

fn refused(text: impl Into<String>) -> ProviderError {
    ProviderError::invalid_request(PROVIDER, text)
}
