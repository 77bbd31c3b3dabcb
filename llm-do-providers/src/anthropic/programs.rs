//! Code that the provider runs and that calls tools, by
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling> (read 2026-11-26).
//!
//! A program is a use of a server-side tool. Its calls have its id in `caller`, and its result is a block after the
//! last call, in a later answer. The same rule decides which uses of other server-side tools are sent back.

use serde_json::Value;

use super::PROVIDER;
use crate::message::{ProviderData, ResponsePart, ToolCall};
use crate::programs::{Link, Programs};

/// Returns the relations of a part to server-side tool uses; a use may contain its result.
pub(super) fn links(part: &ResponsePart) -> impl Iterator<Item = Link<'_>> {
    let (start, call, end) = match part {
        ResponsePart::ToolCall(call) => (None, caller(call), None),
        ResponsePart::ServerSideTool(used) => {
            let data = data(used.provider_data.as_ref());
            let id = data.and_then(|data| data["use"]["id"].as_str());
            let has_result = data.is_some_and(|data| data.get("result").is_some());
            (id, None, if has_result { id } else { None })
        }
        ResponsePart::Opaque(block) => match block.of(PROVIDER) {
            Some(block) => (started(block), None, ended(block)),
            None => (None, None, None),
        },
        _ => (None, None, None),
    };
    let links = [start.map(Link::Starts), call.map(Link::Calls), end.map(Link::Ends)];
    links.into_iter().flatten()
}

/// Returns the use whose code made a call, unless the model itself made it.
pub(super) fn caller(call: &ToolCall) -> Option<&str> {
    data(call.provider_data.as_ref())?["caller"]["tool_id"].as_str()
}

/// Whether a part is sent back, if it is a use or the result of one.
pub(super) fn goes_back(part: &ResponsePart, programs: &Programs<'_>) -> bool {
    programs.are_all()
        || links(part).all(|link| match link {
            Link::Starts(id) | Link::Calls(id) | Link::Ends(id) => programs.has(id),
        })
}

/// Returns the id of the use that an opaque block starts, such as a use of an MCP connector.
fn started(block: &Value) -> Option<&str> {
    if is_of_type(block, "_tool_use") { block["id"].as_str() } else { None }
}

fn ended(block: &Value) -> Option<&str> {
    if is_of_type(block, "_tool_result") { block["tool_use_id"].as_str() } else { None }
}

fn is_of_type(block: &Value, end: &str) -> bool {
    block["type"].as_str().is_some_and(|kind| kind.ends_with(end))
}

fn data(data: Option<&ProviderData>) -> Option<&Value> {
    data?.of(PROVIDER)
}
