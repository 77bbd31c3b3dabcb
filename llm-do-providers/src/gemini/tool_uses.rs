//! Uses of the tools that Google runs: their inputs and outputs, and the parts that are sent back.

use serde_json::{Map, Value, json};

use super::PROVIDER;
use super::wire::{Data, Part, ServerTool};
use crate::message::{ProviderData, ResponsePart, ServerSideToolUse};

/// The fields with the queries of a search.
const QUERIES: [&str; 2] = ["webSearchQueries", "imageSearchQueries"];

/// Returns the tool use in a part of an answer; `None` if the part is the result of the last use in `parts`, which then
/// has it.
pub(super) fn take(
    own: ServerTool,
    value: Value,
    signature: Option<String>,
    parts: &mut [ResponsePart],
) -> Option<ServerSideToolUse> {
    let Some(asked) = own.answered() else {
        let data = ProviderData::new(PROVIDER, json!({ "asked": part_of(own, signature) }));
        return Some(ServerSideToolUse::new(name(own, &value), value, Value::Null).with_provider_data(data));
    };
    let answered = part_of(own, signature);
    match parts.last_mut() {
        Some(ResponsePart::ServerSideTool(used)) if waits_for(used, asked, &value) => {
            used.error = failure(&value);
            used.output = value;
            if let Some(Value::Object(fields)) = used.provider_data.as_mut().map(|data| &mut data.data) {
                fields.insert("answered".to_owned(), answered);
            }
            None
        }
        // It is sent back at its own position, after the parts in between.
        _ => {
            let data = ProviderData::new(PROVIDER, json!({ "answered": answered }));
            let error = failure(&value);
            let used = ServerSideToolUse::new(name(own, &value), Value::Null, value).with_error(error);
            Some(used.with_provider_data(data))
        }
    }
}

/// Returns the outcome of code that failed, by <https://ai.google.dev/api/caching#Outcome>.
fn failure(result: &Value) -> Option<String> {
    result["outcome"].as_str().filter(|outcome| *outcome != "OUTCOME_OK").map(str::to_owned)
}

/// Returns the status of the first page, if no page could be read.
pub(super) fn unread(fetched: &Map<String, Value>) -> Option<String> {
    const READ: &str = "URL_RETRIEVAL_STATUS_SUCCESS";
    let pages = fetched.get("urlMetadata")?.as_array()?;
    let mut statuses = pages.iter().map(|page| page["urlRetrievalStatus"].as_str().unwrap_or(READ));
    let first = statuses.next().filter(|first| *first != READ)?;
    statuses.all(|status| status != READ).then(|| first.to_owned())
}

fn part_of(own: ServerTool, signature: Option<String>) -> Value {
    let mut part = json!({ "as": own.name() });
    if let Some(signature) = signature {
        part["thoughtSignature"] = signature.into();
    }
    part
}

/// Whether `value` is the result of the use `asked`.
fn waits_for(used: &ServerSideToolUse, asked: ServerTool, value: &Value) -> bool {
    let data = used.provider_data.as_ref().and_then(|data| data.of(PROVIDER));
    data.is_some_and(|data| data["asked"]["as"] == asked.name() && data.get("answered").is_none())
        && (value["id"].is_null() || used.input["id"] == value["id"])
}

fn name(own: ServerTool, value: &Value) -> String {
    match (own, value["toolType"].as_str()) {
        (ServerTool::ExecutableCode | ServerTool::CodeExecutionResult, _) => "code_execution".to_owned(),
        (_, Some(kind)) if kind.starts_with("GOOGLE_SEARCH") => "web_search".to_owned(),
        (_, Some("URL_CONTEXT")) => "web_fetch".to_owned(),
        (_, kind) => kind.unwrap_or("tool").to_ascii_lowercase(),
    }
}

/// Returns the parts of a use; empty if it is not Gemini's, or came from the metadata of an answer.
pub(super) fn parts(used: &ServerSideToolUse) -> impl Iterator<Item = Part<'_>> {
    let data = used.provider_data.as_ref().and_then(|data| data.of(PROVIDER));
    let part = move |key: &str, value| {
        let part = data?.get(key)?;
        let signature = part.get("thoughtSignature").and_then(Value::as_str);
        Some(Part { signature, ..Data::ServerTool(part["as"].as_str()?, value).into() })
    };
    [part("asked", &used.input), part("answered", &used.output)].into_iter().flatten()
}

/// Returns the queries of a search, if the metadata has them.
pub(super) fn queries(grounding: &Map<String, Value>) -> Option<Value> {
    let queries = QUERIES.into_iter().filter_map(|key| grounding.get(key)?.as_array()).flatten();
    let queries: Vec<_> = queries.cloned().collect();
    (!queries.is_empty()).then(|| json!({ "queries": queries }))
}

/// Returns the number of queries of an answer: the larger one of those in its metadata and in its parts.
pub(super) fn searches(parts: &[ResponsePart], grounding: &Map<String, Value>) -> u64 {
    let count = |queries: &Value| queries["queries"].as_array().map_or(0, Vec::len);
    let reported = queries(grounding).map_or(0, |queries| count(&queries));
    let uses = parts.iter().filter_map(|part| match part {
        // A result alone belongs to an earlier use.
        ResponsePart::ServerSideTool(used) if used.name == "web_search" && !used.is_result_alone() => {
            Some(count(&used.input["args"]).max(count(&used.input)).max(1))
        }
        _ => None,
    });
    u64::try_from(reported.max(uses.sum())).unwrap_or(u64::MAX)
}

/// Returns the number of uses of Google's tools.
pub(super) fn count(parts: &[ResponsePart]) -> u64 {
    let is_use = |part: &&ResponsePart| matches!(part, ResponsePart::ServerSideTool(used) if !used.is_result_alone());
    u64::try_from(parts.iter().filter(is_use).count()).unwrap_or(u64::MAX)
}

/// Returns the pages that were read, if the metadata has them.
pub(super) fn urls(fetched: &Map<String, Value>) -> Option<Value> {
    let pages = fetched.get("urlMetadata")?.as_array()?;
    let urls: Vec<_> = pages.iter().filter_map(|page| page.get("retrievedUrl")).cloned().collect();
    (!urls.is_empty()).then(|| json!({ "urls": urls }))
}
