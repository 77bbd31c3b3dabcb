//! The tools of a request: functions, and the tools that run on Anthropic's servers.
//!
//! By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling> and
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool>.

use std::sync::Arc;

use super::PROVIDER;
use super::thinking::Plan;
use super::wire::{Tool, ToolChoiceParam, ToolKind};
use crate::error::ProviderError;
use crate::model::{Json, JsonWriter, Profile, Request, ToolChoice, ToolSpec};
use crate::schema::anthropic::is_recursive;
use crate::schema::tool::{self, ToolForm};
use crate::server_side::ServerSideTool;

/// The search for deferred tools, by words; its name is fixed.
const TOOL_SEARCH: ToolKind<'static> = ToolKind::ServerSide {
    r#type: "tool_search_tool_bm25_20251119",
    name: "tool_search_tool_bm25",
    max_uses: None,
    allowed_domains: None,
    blocked_domains: None,
};

/// The version of the code execution whose code may call tools.
const CALLING_CODE: &str = "code_execution_20260120";
/// The callers of a tool that is also offered to code.
const CALLERS: &[&str] = &["direct", CALLING_CODE];

/// Returns the tools of `request`: functions, server-side tools, and deferred functions with the search for them.
///
/// # Errors
///
/// Returns an error if `model` does not support a server-side tool.
pub(super) fn tools<'a>(
    model: &str,
    profile: Profile,
    request: &Request<'a>,
    writer: &mut JsonWriter<'_>,
) -> Result<Vec<Json<Tool<'a>>>, ProviderError> {
    let Request { tools, deferred_tools, server_side_tools, .. } = request;
    let mut function = |place: usize, spec: &'a ToolSpec, is_deferred| {
        let form = u8::from(is_deferred) + 2 * u8::from(request.offers_to_code(spec));
        writer.tool(place, form, spec, || Ok(Tool::from(function(spec, is_deferred, request))))
    };
    let mut all = Vec::with_capacity(tools.len() + server_side_tools.len() + deferred_tools.len() + 1);
    for (place, spec) in tools.iter().enumerate() {
        all.push(function(place, spec, false)?);
    }
    for tool in declared(request) {
        all.push(Json::New(server_side(model, profile, tool)?.into()));
    }
    if !deferred_tools.is_empty() {
        all.push(Json::New(TOOL_SEARCH.into()));
    }
    // Deferred tools come last, after the tools that can be cached.
    for (place, spec) in deferred_tools.iter().enumerate() {
        all.push(function(tools.len() + place, spec, true)?);
    }
    Ok(all)
}

fn function<'a>(spec: &'a ToolSpec, defer_loading: bool, request: &Request<'_>) -> ToolKind<'a> {
    let ToolSpec { name, description, parameters } = spec;
    let allowed_callers = allowed_callers(request, spec);
    let input_schema = Arc::clone(&tool::anthropic(parameters).schema);
    ToolKind::Function { name, description, input_schema, defer_loading, allowed_callers }
}

/// Returns the tools whose properties have other names in the request, by name.
pub(super) fn renamed(request: &Request<'_>) -> Vec<(Arc<str>, Arc<ToolForm>)> {
    let all = request.tools.iter().chain(request.deferred_tools);
    let forms = all.map(|spec| (&spec.name, tool::anthropic(&spec.parameters)));
    forms.filter(|(_, form)| form.renames()).map(|(name, form)| (Arc::clone(name), form)).collect()
}

/// Returns the tool choice, which the API refuses without tools. If a call cannot be forced, the model chooses.
pub(super) fn tool_choice<'a>(request: &Request<'a>, plan: &Plan) -> Option<ToolChoiceParam<'a>> {
    if request.tools.is_empty() && request.deferred_tools.is_empty() {
        return None;
    }
    // Code may make several calls, and the API refuses to limit them.
    let disable_parallel_tool_use = request.settings.parallel_tool_calls == Some(false) && !request.takes_programs();
    match request.tool_choice {
        ToolChoice::None => Some(ToolChoiceParam::None),
        ToolChoice::Required if plan.forces_tools => Some(ToolChoiceParam::Any { disable_parallel_tool_use }),
        ToolChoice::Tool(name) if plan.forces_tools => Some(ToolChoiceParam::Tool { name, disable_parallel_tool_use }),
        _ => disable_parallel_tool_use.then_some(ToolChoiceParam::Auto { disable_parallel_tool_use }),
    }
}

/// Returns the callers of a function; empty for the model alone. The API refuses to offer a recursive schema to code.
fn allowed_callers(request: &Request<'_>, tool: &ToolSpec) -> &'static [&'static str] {
    if request.offers_to_code(tool) && !is_recursive(&tool.parameters) { CALLERS } else { &[] }
}

/// Returns the server-side tools to declare. Code that may call tools needs a tool to call, and replaces the other code
/// execution.
fn declared<'a>(request: &Request<'a>) -> impl Iterator<Item = &'a ServerSideTool> + use<'a> {
    let has_tools = request.tools.iter().chain(request.deferred_tools).any(|tool| request.offers_to_code(tool));
    request.server_side_tools.iter().filter(move |tool| match tool {
        ServerSideTool::ProgrammaticToolCalling => has_tools,
        ServerSideTool::CodeExecution => !has_tools,
        _ => true,
    })
}

/// Returns a tool as the API declares it, or an error for a setting that the API does not support.
///
/// Newer versions of search and fetch run code on the pages; these versions do not.
fn server_side<'a>(model: &str, profile: Profile, tool: &'a ServerSideTool) -> Result<ToolKind<'a>, ProviderError> {
    if !profile.runs(tool) {
        return Err(refused(format!(
            "`{model}` does not support `{tool}`; remove it, or add it to the model's profile"
        )));
    }
    let plain = |r#type, name| ToolKind::ServerSide {
        r#type,
        name,
        max_uses: None,
        allowed_domains: None,
        blocked_domains: None,
    };
    match tool {
        ServerSideTool::WebSearch(search) => {
            if search.allowed_domains.is_some() && search.blocked_domains.is_some() {
                let text = "a search takes `allowed_domains` or `blocked_domains`, not both; leave one out";
                return Err(refused(text));
            }
            Ok(ToolKind::ServerSide {
                r#type: "web_search_20250305",
                name: tool.name(),
                max_uses: search.max_uses,
                allowed_domains: search.allowed_domains.as_deref(),
                blocked_domains: search.blocked_domains.as_deref(),
            })
        }
        ServerSideTool::WebFetch => Ok(plain("web_fetch_20250910", tool.name())),
        ServerSideTool::CodeExecution => Ok(plain("code_execution_20250825", tool.name())),
        ServerSideTool::ProgrammaticToolCalling => Ok(plain(CALLING_CODE, ServerSideTool::CodeExecution.name())),
        ServerSideTool::ImageGeneration => {
            Err(refused(format!("the Messages API does not support `{tool}`; remove it from `server_side_tools`")))
        }
    }
}

fn refused(text: impl Into<String>) -> ProviderError {
    ProviderError::invalid_request(PROVIDER, text)
}
