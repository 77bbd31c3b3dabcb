//! Programs, by <https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling> (read 2026-11-26).
//!
//! A program is an item with an id and code. Its calls and their results name it as their caller, and its output is an
//! item after the last call.

use serde_json::Value;

use super::PROVIDER;
use crate::message::{ProviderData, ResponsePart, ToolCall};
use crate::programs::{Link, Programs};

pub(super) const START: &str = "program";
pub(super) const END: &str = "program_output";

/// Returns the program that made a call: the field `caller`, unless it is the model itself.
pub(super) fn caller(item: &Value) -> Option<&Value> {
    item.get("caller").filter(|caller| caller["caller_id"].is_string())
}

/// Returns the relation of a part to a program.
pub(super) fn link(part: &ResponsePart) -> Option<Link<'_>> {
    match part {
        ResponsePart::ToolCall(call) => caller_of(call).and_then(id_of).map(Link::Calls),
        ResponsePart::ServerSideTool(used) => {
            let item = data(used.provider_data.as_ref())?;
            let id = item["call_id"].as_str()?;
            match item["type"].as_str()? {
                START => Some(Link::Starts(id)),
                END => Some(Link::Ends(id)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the program that made a call, if this API reported it.
pub(super) fn caller_of(call: &ToolCall) -> Option<&Value> {
    caller(data(call.provider_data.as_ref())?)
}

/// Whether a call by `caller` is sent back as the program's.
pub(super) fn goes_back(caller: &Value, programs: &Programs<'_>) -> bool {
    id_of(caller).is_some_and(|id| programs.has(id))
}

/// Whether a part is a program, or its output, that is not sent back.
pub(super) fn is_left_out(part: &ResponsePart, programs: &Programs<'_>) -> bool {
    matches!(link(part), Some(Link::Starts(id) | Link::Ends(id)) if !programs.has(id))
}

fn id_of(caller: &Value) -> Option<&str> {
    caller["caller_id"].as_str()
}

/// Whether an answer has a program but neither a call nor a message: the API continues once the answer is sent back.
pub(super) fn is_paused(parts: &[ResponsePart]) -> bool {
    let goes_on = |part: &ResponsePart| matches!(part, ResponsePart::ToolCall(_) | ResponsePart::Text { .. });
    parts.iter().any(|part| matches!(link(part), Some(Link::Starts(_) | Link::Ends(_)))) && !parts.iter().any(goes_on)
}

fn data(data: Option<&ProviderData>) -> Option<&Value> {
    data?.of(PROVIDER)
}
