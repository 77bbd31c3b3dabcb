//! Results that are too long for a request: the model gets their beginning and end, and reads the rest with two tools.
//!
//! The tools are in the requests after the first such result. They read what the run keeps, so the plane does not see them as calls.

mod pages;

use std::sync::Arc;

use llm_do_providers::{Message, ToolCall, ToolResult, ToolSpec, UserPart};
use llm_do_worker_file::MIN_RESULT;
use serde::Deserialize;
use serde_json::{Value, json};

use self::pages::{MARK, MAX_WANTED, handle_in, page, search, shortened};
use super::WorkerRun;
use super::turn::{CallFault, CallResult};
use crate::observe::event::EventKind;
use crate::plane::history::background_result;

/// The tool that returns a part of a result.
const READ: &str = "result_read";
/// The tool that finds a text in a result.
const SEARCH: &str = "result_search";
/// How many bytes a result may have if nothing sets it, and the window of the model is large or unknown.
const USUAL_MAX: u64 = 64 * 1024;
/// How many results of the usual size a window has room for, at 4 bytes for a token.
const RESULTS_IN_WINDOW: u64 = 8;

/// The arguments of `result_read`.
#[derive(Deserialize)]
struct ReadArguments {
    handle: String,
    #[serde(default)]
    from: usize,
}

/// The arguments of `result_search`.
#[derive(Deserialize)]
struct SearchArguments {
    handle: String,
    text: String,
    #[serde(default)]
    from: usize,
}

impl WorkerRun {
    /// Shortens a result that is too long for the model; the run keeps the whole.
    pub(super) fn shorten(&self, call: &ToolCall, outcome: &mut CallResult) {
        let max = self.max_result(&call.name);
        let content = &mut outcome.result.content;
        // Code reads the whole: half a value would be an error there.
        if content.len() <= max || call.is_by_code() {
            return;
        }
        let handle = self.has_result_tools().then(|| self.results.keep(content));
        *content = shortened(content, max, handle.as_deref());
        if handle.is_some() {
            outcome.loaded.extend(names());
        }
    }

    /// Shortens all results that have more than `max` bytes, also those that were shortened before; returns whether there were such.
    pub(super) fn shorten_all(&self, messages: &mut [Message], max: usize) -> bool {
        let mut is_changed = false;
        let results = messages.iter_mut().filter_map(|message| match message {
            Message::Tool { results } => Some(results),
            _ => None,
        });
        for result in results.flatten().filter(|result| result.content.len() > max) {
            result.content = self.shorter(&result.content, max);
            is_changed = true;
        }
        self.shorten_joined(messages, max) || is_changed
    }

    /// Shortens the results of calls in the background that have more than `max` bytes; returns whether there were such.
    fn shorten_joined(&self, messages: &mut [Message], max: usize) -> bool {
        let mut is_changed = false;
        let unpinned = messages.iter_mut().filter(|message| !message.is_pinned());
        let parts = unpinned.filter_map(|message| match message {
            Message::User { parts } => Some(parts),
            _ => None,
        });
        for part in parts.flatten() {
            let UserPart::Text { text } = part else { continue };
            let Some((_, heading, content)) = background_result(text).filter(|(_, _, content)| content.len() > max)
            else {
                continue;
            };
            *text = format!("{heading}\n{}", self.shorter(content, max));
            is_changed = true;
        }
        is_changed
    }

    /// Returns the beginning and the end of a result, which may have been shortened before.
    fn shorter(&self, content: &str, max: usize) -> String {
        let known = handle_in(content).and_then(|handle| self.results.get(handle).ok());
        let whole = known.as_deref().unwrap_or(content);
        let handle = self.has_result_tools().then(|| self.results.keep(whole));
        shortened(whole, max, handle.as_deref())
    }

    /// Returns whether a call of this name reads a shortened result.
    pub(super) fn reads_results(&self, name: &str) -> bool {
        [READ, SEARCH].contains(&name) && self.has_result_tools()
    }

    /// Returns the tools for the results that were shortened in an earlier part of the conversation.
    pub(super) fn result_tools_of(&self, messages: &[Message]) -> Vec<Arc<str>> {
        let is_shortened = |message: &Message| match message {
            Message::Tool { results } => results.iter().any(|result| result.content.contains(MARK)),
            Message::User { parts } => parts.iter().any(has_shortened),
            _ => false,
        };
        if self.has_result_tools() && messages.iter().any(is_shortened) { names().into() } else { Vec::new() }
    }

    /// Reads a shortened result, and reports it.
    pub(super) fn read_result(&self, call: &ToolCall) -> CallResult {
        let max = self.max_result(&call.name);
        let read = if call.name == READ { self.page(&call.arguments, max) } else { self.find(&call.arguments, max) };
        let (text, fault) = match read {
            Ok(text) => (text, None),
            Err(text) => (text.clone(), Some(CallFault { text, is_invalid: true })),
        };
        self.ctx.emit(|| EventKind::Progress { text: format!("`{}`: {} bytes", call.name, text.len()) });
        let result = ToolResult::new(call, text).with_error(fault.is_some());
        CallResult { result, fault, refusal: None, loaded: Vec::new() }
    }

    fn page(&self, arguments: &str, max: usize) -> Result<String, String> {
        let ReadArguments { handle, from } = decoded(READ, arguments)?;
        page(&self.results.get(&handle)?, from, max)
    }

    fn find(&self, arguments: &str, max: usize) -> Result<String, String> {
        let SearchArguments { handle, text, from } = decoded(SEARCH, arguments)?;
        search(&self.results.get(&handle)?, &text, from, max)
    }

    /// Returns whether the model may get the tools: the names must not be those of its own.
    fn has_result_tools(&self) -> bool {
        let declared = self.ctx.frame().declared.as_ref();
        declared.is_none_or(|declared| [READ, SEARCH].iter().all(|name| declared.tool(name).is_none()))
    }

    /// Returns how many bytes a result may have if nothing sets it.
    fn usual_max(&self) -> u64 {
        let window = self.model.profile().window.map(|window| u64::from(window.for_input()) * 4 / RESULTS_IN_WINDOW);
        window.map_or(USUAL_MAX, |share| share.min(USUAL_MAX))
    }

    /// Returns how many bytes a result of a tool may have: the lower bound of the tool and of the worker, or else of the runtime.
    fn max_result(&self, tool: &str) -> usize {
        let bounds = [self.ctx.max_result(tool), self.max_result];
        let max = bounds.into_iter().flatten().min().unwrap_or_else(|| self.usual_max());
        usize::try_from(max.max(MIN_RESULT)).unwrap_or(usize::MAX)
    }
}

/// Returns the spec of one of the two tools.
pub(super) fn spec(name: &str) -> Option<ToolSpec> {
    match name {
        READ => Some(read_spec()),
        SEARCH => Some(search_spec()),
        _ => None,
    }
}

/// Returns whether a part of a message is the shortened result of a call in the background.
fn has_shortened(part: &UserPart) -> bool {
    matches!(part, UserPart::Text { text } if background_result(text).is_some_and(|(_, _, content)| content.contains(MARK)))
}

fn names() -> [Arc<str>; 2] {
    [READ.into(), SEARCH.into()]
}

fn decoded<'a, T: Deserialize<'a>>(tool: &str, arguments: &'a str) -> Result<T, String> {
    serde_json::from_str(arguments).map_err(|error| format!("invalid arguments for `{tool}`: {error}"))
}

fn read_spec() -> ToolSpec {
    let text = "Read the part of a shortened result that begins at a byte; it ends with where to go on.";
    tool_spec(READ, text, &json!({}), &["handle"])
}

fn search_spec() -> ToolSpec {
    let text = "Find a text in a shortened result, ignoring case in ASCII; returns each place with the text around it.";
    let wanted = json!({
        "text": { "type": "string", "description": format!("The text, of at most {MAX_WANTED} bytes.") },
    });
    tool_spec(SEARCH, text, &wanted, &["handle", "text"])
}

fn tool_spec(name: &str, description: &str, more: &Value, required: &[&str]) -> ToolSpec {
    let mut parameters = json!({
        "type": "object",
        "properties": {
            "handle": { "type": "string", "description": "The handle in the shortened result." },
            "from": { "type": "integer", "minimum": 0, "description": "The byte to begin at. Default: 0." },
        },
        "required": required,
        "additionalProperties": false,
    });
    if let (Some(properties), Some(more)) = (parameters["properties"].as_object_mut(), more.as_object()) {
        properties.extend(more.clone());
    }
    ToolSpec { name: name.into(), description: description.into(), parameters: Arc::new(parameters) }
}
