//! The tools that the provider runs.

use super::PROVIDER;
use super::wire::{Container, Filters, Tool};
use crate::error::{ErrorKind, ProviderError};
use crate::server_side::{ServerSideTool, WebSearch};

/// The tools of the API.
pub(super) const SERVER_SIDE: &[ServerSideTool] =
    &[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution, ServerSideTool::ImageGeneration];

/// Returns a tool as the API declares it.
///
/// # Errors
///
/// Returns an error if the API does not support the tool, or one of its settings.
pub(super) fn server_side(tool: &ServerSideTool) -> Result<Tool<'_>, ProviderError> {
    match tool {
        ServerSideTool::WebSearch(search) => web_search(search),
        ServerSideTool::CodeExecution => Ok(Tool::CodeInterpreter { container: Container::Auto }),
        ServerSideTool::ImageGeneration => Ok(Tool::ImageGeneration {}),
        other => {
            Err(refused(format!("the Responses API does not support `{other}`; its `web_search` opens pages too")))
        }
    }
}

fn web_search(search: &WebSearch) -> Result<Tool<'_>, ProviderError> {
    if search.max_uses.is_some() || search.blocked_domains.is_some() {
        let text = "the Responses API supports neither `max_uses` nor `blocked_domains` of `web_search`; remove them";
        return Err(refused(text.to_owned()));
    }
    let filters = search.allowed_domains.as_ref().map(|allowed_domains| Filters { allowed_domains });
    Ok(Tool::WebSearch { filters })
}

fn refused(text: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text)
}
