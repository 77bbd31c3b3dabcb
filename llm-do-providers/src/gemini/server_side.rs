//! The tools that Google runs, as a request asks for them.

use super::PROVIDER;
use super::wire::Tool;
use crate::capability::GeminiCapabilities;
use crate::error::{ErrorKind, ProviderError};
use crate::model::Request;
use crate::server_side::{ServerSideTool, WebSearch};

/// Returns a tool as the API declares it; image generation is not a tool there.
pub(super) fn tool(tool: &ServerSideTool) -> Option<Tool<'static>> {
    match tool {
        ServerSideTool::WebSearch(_) => Some(Tool::GoogleSearch {}),
        ServerSideTool::WebFetch => Some(Tool::UrlContext {}),
        ServerSideTool::CodeExecution => Some(Tool::CodeExecution {}),
        ServerSideTool::ImageGeneration | ServerSideTool::ProgrammaticToolCalling => None,
    }
}

/// Returns an error for a tool, or a setting of one, that the model does not support.
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
    let runs = request.server_side_tools.iter().any(|known| tool(known).is_some());
    if runs && !capabilities.combines_tools() && (!request.tools.is_empty() || request.output.is_some()) {
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
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text)
}
