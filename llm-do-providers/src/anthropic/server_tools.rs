//! The tools that run on Anthropic's servers.
//!
//! By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-fetch-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling> and
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool>.

use super::PROVIDER;
use super::wire::ToolKind;
use crate::error::{ErrorKind, ProviderError};
use crate::model::{Profile, Request, ToolSpec};
use crate::schema::anthropic::is_recursive;
use crate::server_side::ServerSideTool;

/// The search for deferred tools, by words; its name is fixed.
pub(super) const TOOL_SEARCH: ToolKind<'static> = ToolKind::ServerSide {
    r#type: "tool_search_tool_bm25_20251119",
    name: "tool_search_tool_bm25",
    max_uses: None,
    allowed_domains: None,
    blocked_domains: None,
};

/// The version of the code execution whose code may call tools.
const CALLING_CODE: &str = "code_execution_20260120";
/// Who may call a tool that is offered to code too.
const CALLERS: &[&str] = &["direct", CALLING_CODE];

/// Returns the callers of one of our tools; empty for the model alone. The API refuses to offer a recursive schema to code.
pub(super) fn allowed_callers(request: &Request<'_>, tool: &ToolSpec) -> &'static [&'static str] {
    if request.offers_to_code(tool) && !is_recursive(&tool.parameters) { CALLERS } else { &[] }
}

/// Returns the tools to declare: code that may call tools is the other code execution too, and needs something to call.
pub(super) fn declared<'a>(request: &Request<'a>) -> impl Iterator<Item = &'a ServerSideTool> + use<'a> {
    let has_tools = request.tools.iter().chain(request.deferred_tools).any(|tool| request.offers_to_code(tool));
    request.server_side_tools.iter().filter(move |tool| match tool {
        ServerSideTool::ProgrammaticToolCalling => has_tools,
        ServerSideTool::CodeExecution => !has_tools,
        _ => true,
    })
}

/// Returns a tool as the API declares it, or an error for a setting that the API does not support.
///
/// Newer versions of the search and of the fetch run code on what they find; these versions do not.
pub(super) fn tool<'a>(model: &str, profile: Profile, tool: &'a ServerSideTool) -> Result<ToolKind<'a>, ProviderError> {
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
                return Err(refused(text.to_owned()));
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

fn refused(text: String) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::InvalidRequest, text)
}
