//! Tools that a worker's model finds by searching, for workers with more tools than fit into each request.
//!
//! The model has `search_tools` and `load_tool` instead. A loaded tool is appended to the list of each later request,
//! so requests differ only in their appended part, and providers can cache the part before.

use std::fmt::Write;
use std::sync::Arc;

use llm_do_providers::{Message, ResponsePart, ToolCall, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::mend;
use crate::declare::subtask::{Candidate, SubtaskRequest, score};

/// The tool that finds tools.
const SEARCH: &str = "search_tools";
/// The tool that adds a tool to the requests.
const LOAD: &str = "load_tool";
/// The maximum size of a query in bytes, since it is compared with each tool.
const MAX_QUERY: usize = 2_000;
/// The maximum number of tools that one search returns.
const MAX_FOUND: usize = 10;
/// The maximum number of characters of a description in a search result.
const MAX_DESCRIPTION: usize = 200;

/// The tools of a worker that are not in its requests until its model loads them.
#[derive(Debug)]
pub(crate) struct ToolSearch {
    tools: Arc<[ToolSpec]>,
}

/// The answer to a call of one of the two tools.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) text: String,
    /// The tool to add to all later requests.
    pub(super) loaded: Option<Arc<str>>,
    pub(super) is_error: bool,
}

/// Returns whether a tool is one of the two.
pub(super) fn is_own(name: &str) -> bool {
    [SEARCH, LOAD].contains(&name)
}

impl ToolSearch {
    /// Returns a search over the tools, if there are more than `limit`.
    pub(crate) fn over(tools: &Arc<[ToolSpec]>, limit: usize) -> Option<Self> {
        (tools.len() > limit && !tools.iter().any(|tool| is_own(&tool.name))).then(|| Self { tools: Arc::clone(tools) })
    }

    /// Returns the specs of the two tools.
    pub(crate) fn specs(&self) -> Arc<[ToolSpec]> {
        [search_spec(self.tools.len()), load_spec()].into()
    }

    /// Returns the names of the tools that were loaded in an earlier part of the conversation; `mends` is whether arguments are
    /// mended.
    pub(super) fn loaded_in(&self, messages: &[Message], mends: bool) -> Vec<Arc<str>> {
        let parts = messages.iter().filter_map(|message| match message {
            Message::Assistant { parts } => Some(parts),
            _ => None,
        });
        let calls = parts.flatten().filter_map(|part| match part {
            ResponsePart::ToolCall(call) if call.name == LOAD => Some(call),
            _ => None,
        });
        let mut loaded: Vec<Arc<str>> = Vec::new();
        for call in calls {
            let mended = if mends { mend::arguments(&call.arguments, true) } else { None };
            let arguments = mended.as_ref().map_or(&*call.arguments, |mended| &*mended.json);
            let Some(name) = self.load(arguments).loaded else { continue };
            if !loaded.contains(&name) {
                loaded.push(name);
            }
        }
        loaded
    }

    /// Answers a call of one of the two tools; `None` for a call of another tool.
    pub(super) fn answer(&self, call: &ToolCall) -> Option<Found> {
        match call.name.as_str() {
            SEARCH => Some(self.search(&call.arguments)),
            LOAD => Some(self.load(&call.arguments)),
            _ => None,
        }
    }

    /// Returns the tool with this name.
    pub(super) fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.iter().find(|tool| *tool.name == *name)
    }

    fn search(&self, arguments: &str) -> Found {
        /// The arguments of `search_tools`.
        #[derive(Deserialize)]
        struct Search {
            query: String,
        }
        let query = match serde_json::from_str::<Search>(arguments) {
            Ok(Search { query }) if query.len() > MAX_QUERY => {
                let bytes = query.len();
                return Found::error(format!(
                    "`query` has {bytes} bytes; the maximum is {MAX_QUERY}: write a few words"
                ));
            }
            Ok(Search { query }) => SubtaskRequest::new(query),
            Err(error) => return Found::error(format!("invalid arguments for `{SEARCH}`: {error}")),
        };
        let scored = self.tools.iter().map(|tool| {
            let tool_score = score(&query, Candidate { name: &tool.name, description: &tool.description, hints: &[] });
            (tool_score, tool)
        });
        let mut found: Vec<_> = scored.filter(|(score, _)| *score > 0).collect();
        // The sort is stable, so equal scores stay in the declared order.
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        found.truncate(MAX_FOUND);
        if found.is_empty() {
            return Found::text("no tool matches; search for other words of what the tool does".to_owned());
        }
        let mut text = String::new();
        for (_, tool) in found {
            let line = tool.description.lines().next().unwrap_or_default();
            let _ = writeln!(text, "- {}: {}", tool.name, line.chars().take(MAX_DESCRIPTION).collect::<String>());
        }
        Found::text(text + "load a tool with `load_tool` before you call it")
    }

    fn load(&self, arguments: &str) -> Found {
        /// The arguments of `load_tool`.
        #[derive(Deserialize)]
        struct Load {
            name: String,
        }
        let name = match serde_json::from_str::<Load>(arguments) {
            Ok(Load { name }) => name,
            Err(error) => return Found::error(format!("invalid arguments for `{LOAD}`: {error}")),
        };
        match self.get(&name) {
            Some(tool) => Found {
                text: format!("`{name}` can be called now"),
                loaded: Some(Arc::clone(&tool.name)),
                is_error: false,
            },
            None => Found::error(format!("unknown tool `{name}`; find tools with `{SEARCH}`")),
        }
    }
}

impl Found {
    fn text(text: String) -> Self {
        Self { text, loaded: None, is_error: false }
    }

    fn error(text: String) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

fn search_spec(tools: usize) -> ToolSpec {
    let description = format!("Find tools by words of what they do. {tools} tools can be loaded.");
    spec(SEARCH, &description, "query", "What the tool does, in a few words.")
}

fn load_spec() -> ToolSpec {
    spec(LOAD, "Load a tool, so that it can be called from the next answer on.", "name", "The name of the tool.")
}

fn spec(name: &str, description: &str, argument: &str, text: &str) -> ToolSpec {
    let parameters: Value = json!({
        "type": "object",
        "properties": { argument: { "type": "string", "description": text } },
        "required": [argument],
        "additionalProperties": false,
    });
    ToolSpec { name: name.into(), description: description.into(), parameters: Arc::new(parameters) }
}
