//! The tools of a request: functions, deferred functions, and the tools that the provider runs.

use std::sync::Arc;

use super::PROVIDER;
use super::wire::{Container, Filters, Named, Tool};
use crate::error::ProviderError;
use crate::model::{Json, JsonWriter, Request, ToolChoice, ToolSpec};
use crate::openai::ToolChoiceParam;
use crate::schema::tool;
use crate::server_side::{ServerSideTool, WebSearch};

/// Returns the server-side tools of the API; `may_call_by_code` is whether the model may call tools by code.
pub(super) const fn server_side_tools(may_call_by_code: bool) -> &'static [ServerSideTool] {
    const ALL: &[ServerSideTool] = &[
        ServerSideTool::WEB_SEARCH,
        ServerSideTool::CodeExecution,
        ServerSideTool::ImageGeneration,
        ServerSideTool::ProgrammaticToolCalling,
    ];
    if may_call_by_code { ALL } else { ALL.split_at(3).0 }
}

/// The callers of a function that is also offered to code.
const CALLERS: &[&str] = &["direct", "programmatic"];

/// The maximum number of functions of a namespace: by <https://developers.openai.com/api/docs/guides/tools-tool-search>
/// (read 2026-11-25), models search best among fewer than ten.
const NAMESPACE_SIZE: usize = 9;

/// Returns the tools of `request`: functions, server-side tools, and the search for deferred functions.
///
/// # Errors
///
/// Returns an error if the API does not support a server-side tool, or one of its settings.
pub(super) fn tools<'a>(
    request: &Request<'a>,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<Tool<'a>>>, ProviderError> {
    let functions = request.tools.iter().enumerate().map(|(place, spec)| {
        let form = u8::from(request.offers_to_code(spec));
        writer.tool(place, form, spec, || Ok(function(spec, false, request)))
    });
    // Programs need a function to call.
    let has_functions = request.tools.iter().chain(request.deferred_tools).any(|spec| request.offers_to_code(spec));
    let is_asked = |tool: &&ServerSideTool| has_functions || **tool != ServerSideTool::ProgrammaticToolCalling;
    let server_side_tools = request.server_side_tools.iter().filter(is_asked);
    let server_side_tools = server_side_tools.map(|tool| server_side(tool).map(Json::New));
    let searched = searched(request).map(|tool| Ok(Json::New(tool)));
    functions.chain(server_side_tools).chain(searched).collect()
}

/// Returns the choice among the tools, which servers refuse without tools.
pub(super) fn tool_choice<'a>(request: &Request<'a>) -> Option<ToolChoiceParam<Named<'a>>> {
    if request.tools.is_empty() && request.deferred_tools.is_empty() {
        return None;
    }
    match request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(ToolChoiceParam::Word("required")),
        ToolChoice::None => Some(ToolChoiceParam::Word("none")),
        ToolChoice::Tool(name) => Some(ToolChoiceParam::Tool(Named::Function { name })),
    }
}

/// Returns a function that is not strict; a deferred one is loaded when the model finds it.
fn function<'a>(spec: &'a ToolSpec, defer_loading: bool, request: &Request<'_>) -> Tool<'a> {
    let ToolSpec { name, description, parameters } = spec;
    let parameters = Arc::clone(&tool::openai(parameters).schema);
    let allowed_callers = if request.offers_to_code(spec) { CALLERS } else { &[] };
    Tool::Function { name, description, parameters, strict: false, defer_loading, allowed_callers }
}

/// Returns the search and its functions, in namespaces: outside of a namespace, a function's schema counts as
/// [input](https://github.com/langchain-ai/langchain/issues/38540) although it is deferred.
fn searched<'a>(request: &Request<'a>) -> impl Iterator<Item = Tool<'a>> {
    let deferred = request.deferred_tools;
    let search = (!deferred.is_empty()).then_some(Tool::Search {});
    let namespaces = deferred.chunks(NAMESPACE_SIZE).enumerate().map(|(place, tools)| {
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        Tool::Namespace {
            name: namespace_at(place),
            description: format!("Functions: {}.", names.join(", ")),
            tools: tools.iter().map(|tool| function(tool, true, request)).collect(),
        }
    });
    search.into_iter().chain(namespaces)
}

/// Returns the namespace of a deferred function, which the API requires for calls in a history.
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
fn server_side(tool: &ServerSideTool) -> Result<Tool<'_>, ProviderError> {
    match tool {
        ServerSideTool::WebSearch(search) => web_search(search),
        ServerSideTool::CodeExecution => Ok(Tool::CodeInterpreter { container: Container::Auto }),
        ServerSideTool::ImageGeneration => Ok(Tool::ImageGeneration {}),
        ServerSideTool::ProgrammaticToolCalling => Ok(Tool::ProgrammaticToolCalling {}),
        ServerSideTool::WebFetch => {
            Err(refused(format!("the Responses API does not support `{tool}`; its `web_search` opens pages too")))
        }
    }
}

fn web_search(search: &WebSearch) -> Result<Tool<'_>, ProviderError> {
    if search.max_uses.is_some() || search.blocked_domains.is_some() {
        let text = "the Responses API supports neither `max_uses` nor `blocked_domains` of `web_search`; remove them";
        return Err(refused(text));
    }
    let filters = search.allowed_domains.as_ref().map(|allowed_domains| Filters { allowed_domains });
    Ok(Tool::WebSearch { filters })
}

fn refused(text: impl Into<String>) -> ProviderError {
    ProviderError::invalid_request(PROVIDER, text)
}
