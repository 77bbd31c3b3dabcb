//! The tools of a server as tools of the runtime.

use std::sync::Arc;

use llm_do_worker_file::mcp_tool_name;
use rmcp::model::Tool;
use serde_json::{Map, Value};

use super::call::RemoteTool;
use super::catalog::UnusedTool;
use super::connection::{FirstList, McpConnection};
use super::server::McpServer;
use super::{body, effect, sampling, text};
use crate::declare::schema::{CheckedSchema, MAX_VALUE_DEPTH, UsableSchema, is_shallow, untrusted_schema_fault};
use crate::plane::function_tool::{Acts, FunctionTool};
use crate::plane::tool_source::{Listing, LoadedTools};

/// The most warnings about the tools of a server.
const MAX_WARNINGS: usize = 20;
/// The longest description of a tool, in characters.
const MAX_DESCRIPTION: usize = 8_000;

/// Returns the tools that are used; each one that is unusable is a warning with its name.
pub(super) fn loaded(connection: &McpConnection, list: &FirstList) -> LoadedTools {
    let server = connection.server();
    let mut warnings: Vec<_> = unknown(server, list).collect();
    let unused = list.unused.first.iter().filter_map(|unused| of_unused(server, unused));
    let mut of_server: Vec<_> = unused.collect();
    let mut tools = Vec::new();
    for listed in list.tools.iter().filter(|tool| server.uses(&tool.name)) {
        let usable = UsableSchema::of(&schema(&listed.input_schema));
        let notes = usable.as_ref().map(|usable| usable.notes.clone()).unwrap_or_default();
        let tool = function_tool(connection, listed, usable);
        let faults = tool.faults();
        if faults.is_empty() {
            of_server.extend(output_fault(server, listed));
            tools.push(tool);
            of_server.extend(notes.iter().map(|note| weakened(server, &listed.name, note)));
        } else {
            of_server.push(left_out(server, &listed.name, &text::line(&faults.join("; "))));
        }
    }
    warnings.extend(first(server, of_server, list.unused.more));
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

/// Returns the warning for a tool that is not used, unless the settings leave it out.
fn of_unused(server: &McpServer, unused: &UnusedTool) -> Option<String> {
    let shown = text::line(&server.name);
    match unused {
        UnusedTool::Twice(tool) => server
            .uses(tool)
            .then(|| format!("the MCP server `{shown}` lists the tool `{tool}` twice; the first one is used")),
        UnusedTool::Invalid { name, reason } => server.uses(name).then(|| left_out(server, name, reason)),
        UnusedTool::NoList => {
            Some(format!("the MCP server `{shown}` returned `tools` that is not a list; no tools of it are used"))
        }
        UnusedTool::Rest(reason) => {
            Some(format!("the list of tools of the MCP server `{shown}` is cut: {reason}; the tools before are used"))
        }
    }
}

/// Returns the first warnings about a server, and how many more there are.
fn first(server: &McpServer, mut warnings: Vec<String>, more: usize) -> Vec<String> {
    let more = more + warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if more > 0 {
        let server = text::line(&server.name);
        warnings.push(format!("there are {more} more warnings about the tools of the MCP server `{server}`"));
    }
    warnings
}

fn left_out(server: &McpServer, tool: &str, reason: &str) -> String {
    format!("the tool `{}` of the MCP server `{}` is left out: {reason}", text::line(tool), text::line(&server.name))
}

fn weakened(server: &McpServer, tool: &str, note: &str) -> String {
    let (tool, server) = (text::line(tool), text::line(&server.name));
    format!("the schema of the tool `{tool}` of the MCP server `{server}`: {}", text::line(note))
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

fn function_tool(connection: &McpConnection, listed: &Tool, usable: Result<UsableSchema, String>) -> FunctionTool {
    let server = connection.server();
    let effect = effect::of_tool(server, &listed.name, listed.annotations.as_ref());
    let output = output(listed).filter(|schema| output_schema_fault(schema).is_none());
    let output = output.map(|schema| Arc::new(CheckedSchema::new(&schema).untrusted()));
    let remote = Arc::new(RemoteTool { definition: listed.clone(), output });
    let connection = connection.clone();
    let call = move |ctx, arguments| body::call(connection.clone(), Arc::clone(&remote), ctx, arguments);
    let name = mcp_tool_name(&server.name, &listed.name);
    let (parameters, checked) = match usable {
        Ok(usable) => (usable.schema, usable.checked),
        // Its fault is reported for the tool.
        Err(_) => (Value::Object((*listed.input_schema).clone()), None),
    };
    let mut tool = FunctionTool::new(name, description(listed), unhidden(parameters), effect, call);
    tool.checked = checked;
    // What the server asks meanwhile are steps, but its own effect is not.
    tool.acts = Acts::Itself;
    tool.server = Some(server.identity(listed).into());
    match self::output(listed) {
        Some(output) => tool.output_schema(output),
        None => tool,
    }
}

/// Returns the schema of the results.
fn output(tool: &Tool) -> Option<Value> {
    tool.output_schema.as_ref().map(|schema| Value::Object((**schema).clone()))
}

/// Returns why results cannot be compared with their schema.
fn output_schema_fault(schema: &Value) -> Option<String> {
    let is_deep = !is_shallow(schema, MAX_VALUE_DEPTH);
    // A tool with such a schema is left out.
    if is_deep { Some(String::new()) } else { untrusted_schema_fault(schema) }
}

/// Returns the warning about a schema of results that is not used.
fn output_fault(server: &McpServer, tool: &Tool) -> Option<String> {
    let fault = output_schema_fault(&output(tool)?)?;
    let (server, tool) = (text::line(&server.name), text::line(&tool.name));
    Some(format!(
        "results of the tool `{tool}` of the MCP server `{server}` are not checked: its output schema {}",
        text::line(&fault)
    ))
}

/// Returns the description for models, without characters that the user would not see.
pub(super) fn description(tool: &Tool) -> String {
    let title = || tool.title.as_deref().unwrap_or_default();
    text::visible(tool.description.as_deref().unwrap_or_else(title), MAX_DESCRIPTION)
}

/// Returns the schema of the arguments as that of an object, which arguments always are.
fn schema(listed: &Map<String, Value>) -> Value {
    let mut schema = listed.clone();
    let is_open = schema
        .get("type")
        .is_none_or(|kind| kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object")));
    if is_open {
        schema.insert("type".to_owned(), "object".into());
    }
    Value::Object(schema)
}

/// Returns a schema without hidden characters in its texts.
fn unhidden(mut schema: Value) -> Value {
    if is_shallow(&schema, MAX_VALUE_DEPTH) {
        text::unhide(&mut schema);
    }
    schema
}
