//! Tools as the API declares them: ours, those that it searches, and those that the provider runs.

use super::PROVIDER;
use super::wire::{Container, Filters, Tool};
use crate::error::{ErrorKind, ProviderError};
use crate::model::ToolSpec;
use crate::server_side::{ServerSideTool, WebSearch};

/// The tools of the API.
pub(super) const SERVER_SIDE: &[ServerSideTool] =
    &[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution, ServerSideTool::ImageGeneration];

/// How many functions a namespace has at most: by <https://developers.openai.com/api/docs/guides/tools-tool-search> (read
/// 2026-11-25), models search best among fewer than ten.
const NAMESPACE_SIZE: usize = 9;

/// Returns a function that is not strict: in the request from the start, or once the model has found it.
pub(super) fn function(spec: &ToolSpec, defer_loading: bool) -> Tool<'_> {
    let ToolSpec { name, description, parameters } = spec;
    Tool::Function { name, description, parameters, strict: false, defer_loading }
}

/// Returns the search, and the functions that it finds in namespaces: outside of one, a function's schema counts as
/// [input](https://github.com/langchain-ai/langchain/issues/38540) although it is deferred.
pub(super) fn searched(deferred: &[ToolSpec]) -> impl Iterator<Item = Tool<'_>> {
    let search = (!deferred.is_empty()).then_some(Tool::Search {});
    let namespaces = deferred.chunks(NAMESPACE_SIZE).enumerate().map(|(place, tools)| {
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        Tool::Namespace {
            name: namespace_at(place),
            description: format!("Functions: {}.", names.join(", ")),
            tools: tools.iter().map(|tool| function(tool, true)).collect(),
        }
    });
    search.into_iter().chain(namespaces)
}

/// Returns the namespace of a function, without which the API does not find a call's function in a history.
pub(super) fn namespace_of(deferred: &[ToolSpec], name: &str) -> Option<String> {
    let place = deferred.iter().position(|tool| *tool.name == *name)?;
    Some(namespace_at(place / NAMESPACE_SIZE))
}

fn namespace_at(place: usize) -> String {
    format!("tools_{}", place + 1)
}

/// Returns a tool that the provider runs.
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
