//! The tools of a server as tools of the runtime.

use std::sync::Arc;

use llm_do_worker_file::mcp_tool_name;
use rmcp::model::Tool;
use serde_json::Value;

use super::call::RemoteTool;
use super::connection::{FirstList, McpConnection};
use super::server::McpServer;
use super::{body, effect, sampling, text};
use crate::declare::tool::Effect;
use crate::plane::function_tool::{Acts, FunctionTool};
use crate::plane::tool_source::{Listing, LoadedTools};

/// The longest description of a tool, in characters.
const MAX_DESCRIPTION: usize = 8_000;

/// Returns the tools that are used; each one that is unusable is a warning with its name.
pub(super) fn loaded(connection: &McpConnection, list: &FirstList) -> LoadedTools {
    let server = connection.server();
    let mut warnings: Vec<_> = list.duplicates.iter().map(|tool| listed_twice(server, tool)).collect();
    warnings.extend(unknown(server, list));
    let mut tools = Vec::new();
    for listed in list.tools.iter().filter(|tool| server.uses(&tool.name)) {
        let tool = function_tool(connection, listed);
        let faults = tool.faults();
        if faults.is_empty() {
            tools.push(tool);
        } else {
            warnings.push(left_out(server, &listed.name, &text::line(&faults.join("; "))));
        }
    }
    let description = format!("The tools of the MCP server `{}`.", text::line(&server.name));
    let listed = list.tools.iter().filter_map(|tool| serde_json::to_value(tool).ok());
    let listing = Listing { source: server.name.clone(), tools: listed.collect() };
    LoadedTools {
        toolset: server.toolset(),
        description,
        tools,
        own: sampling::tool(server).into_iter().collect(),
        warnings,
        listing,
    }
}

fn listed_twice(server: &McpServer, tool: &str) -> String {
    let (server, tool) = (text::line(&server.name), text::line(tool));
    format!("the MCP server `{server}` lists the tool `{tool}` twice; the first one is used")
}

fn left_out(server: &McpServer, tool: &str, reason: &str) -> String {
    format!("the tool `{}` of the MCP server `{}` is left out: {reason}", text::line(tool), text::line(&server.name))
}

/// Returns a warning for each name in the settings that the server does not have.
fn unknown(server: &McpServer, list: &FirstList) -> impl Iterator<Item = String> {
    let named = server.only.iter().flatten().chain(&server.except).chain(server.tool_effects.keys());
    let missing = named.filter(|name| !list.tools.iter().any(|tool| tool.name == name.as_str()));
    let server = text::line(&server.name);
    missing.map(move |name| {
        let name = text::line(name);
        format!(
            "the MCP server `{server}` has no tool `{name}`; remove the name from `only`, `except` or `tool_effect`"
        )
    })
}

fn function_tool(connection: &McpConnection, listed: &Tool) -> FunctionTool {
    let server = connection.server();
    let effect = effect::of(server, &listed.name, listed.annotations.as_ref());
    let is_repeatable = matches!(effect, Effect::ReadOnly | Effect::Idempotent);
    let remote = Arc::new(RemoteTool { definition: listed.clone(), is_repeatable });
    let connection = connection.clone();
    let call = move |ctx, arguments| body::call(connection.clone(), Arc::clone(&remote), ctx, arguments);
    let mut tool =
        FunctionTool::new(mcp_tool_name(&server.name, &listed.name), description(listed), schema(listed), effect, call);
    // What the server asks meanwhile are steps, but its own effect is not.
    tool.acts = Acts::Itself;
    match &listed.output_schema {
        Some(output) => tool.output_schema(Value::Object((**output).clone())),
        None => tool,
    }
}

/// Returns the description for models, without characters that the user would not see.
pub(super) fn description(tool: &Tool) -> String {
    let title = || tool.title.as_deref().unwrap_or_default();
    text::visible(tool.description.as_deref().unwrap_or_else(title), MAX_DESCRIPTION)
}

/// Returns the schema of the arguments, without what only names its dialect.
fn schema(tool: &Tool) -> Value {
    let mut schema = (*tool.input_schema).clone();
    schema.remove("$schema");
    let mut schema = Value::Object(schema);
    if crate::declare::schema::is_shallow(&schema, crate::declare::schema::MAX_VALUE_DEPTH) {
        text::unhide(&mut schema);
    }
    schema
}
