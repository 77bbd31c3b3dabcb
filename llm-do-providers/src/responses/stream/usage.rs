//! The usage of an answer: its tokens, and the uses of server-side tools that are charged in addition.
//!
//! By <https://developers.openai.com/api/docs/pricing> (read 2026-11-28): a search is charged by use, and opening a page of
//! its results is not; code by the time of its container; images by the tokens of another model.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lenient::LenientCount;
use crate::message::ResponsePart;
use crate::responses::{PROVIDER, programs};
use crate::usage::Usage;

/// Returns the usage of one request; an absent count is 0.
pub(super) fn usage(tokens: &Value) -> Usage {
    let count = |pointer: &str| {
        tokens.pointer(pointer).map(|tokens| LenientCount::from_value(tokens).count()).unwrap_or_default()
    };
    Usage {
        cached_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
        ..Usage::of_request(count("/input_tokens"), count("/output_tokens"))
    }
}

/// Adds the uses of tools in `parts`.
pub(super) fn with_tools(mut usage: Usage, parts: &[ResponsePart]) -> Usage {
    let mut containers = BTreeSet::new();
    for item in parts.iter().filter_map(item) {
        let kind = item["type"].as_str().unwrap_or_default();
        let is_use = match kind {
            "web_search_call" => {
                // A call without an action is a search.
                let is_search = item["action"]["type"].as_str().is_none_or(|action| action == "search");
                usage.web_searches += u64::from(is_search);
                true
            }
            "file_search_call" => {
                usage.file_searches += 1;
                true
            }
            "code_interpreter_call" => {
                containers.insert(item["container_id"].as_str().unwrap_or_default());
                true
            }
            // These have no charge in addition to tokens: a program needs no container.
            programs::START | "mcp_call" | "tool_search_call" => true,
            kind if kind.ends_with("_call") && !matches!(kind, "function_call" | "custom_tool_call") => {
                usage.other_charged_tools += 1;
                true
            }
            _ => false,
        };
        usage.server_side_tools += u64::from(is_use);
    }
    usage.containers = containers.len().try_into().unwrap_or(u64::MAX);
    usage
}

/// Returns the item of a part that is not the model's own text, thought or call.
fn item(part: &ResponsePart) -> Option<&Value> {
    match part {
        ResponsePart::ServerSideTool(used) => used.provider_data.as_ref()?.of(PROVIDER),
        ResponsePart::Opaque(data) => data.of(PROVIDER),
        _ => None,
    }
}
