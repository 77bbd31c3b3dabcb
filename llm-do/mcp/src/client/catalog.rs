//! The tools that a server lists. Each tool is parsed separately, so that an invalid one does not end the list.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientRequest, CustomResult, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
    ToolAnnotations,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{message, reason, text};

/// The most pages of a list.
const MAX_PAGES: usize = 100;
/// The most tools of a server.
const MAX_TOOLS: usize = 1000;
/// The minimum time for which a list is used, since the server's own value may be 0.
const MIN_AGE: Duration = Duration::from_secs(5);

/// The tools of a server, by the server's names.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    tools: BTreeMap<String, Tool>,
    pub(super) unused: Unused,
    /// When the list must be fetched again; `None` if only a notification makes it stale.
    expires: Option<Instant>,
}

/// The unused tools of a list, up to a maximum number.
#[derive(Clone, Debug, Default)]
pub(super) struct Unused {
    pub(super) first: Vec<UnusedTool>,
    /// The number of further ones.
    pub(super) more: usize,
}

/// A tool of a list that is not used.
#[derive(Clone, Debug)]
pub(super) enum UnusedTool {
    /// A tool with the name of another tool.
    Twice(String),
    Invalid {
        name: String,
        reason: String,
    },
    /// The whole page.
    NoList,
    /// The rest of the list.
    Rest(String),
}

impl Unused {
    /// The maximum number of stored tools.
    const MAX: usize = 20;

    fn push(&mut self, unused: UnusedTool) {
        if self.first.len() < Self::MAX { self.first.push(unused) } else { self.more += 1 }
    }
}

/// A page of a list.
struct ToolPage {
    /// Each tool, or the fault of an invalid one.
    tools: Vec<Result<Tool, UnusedTool>>,
    /// Where the next page begins, or why it cannot be fetched.
    next: Result<Option<String>, String>,
    ttl_ms: Option<u64>,
}

impl ToolPage {
    /// Reads an answer; `None` if it is not a list of tools.
    fn from_result(answer: ServerResult) -> Option<Self> {
        match answer {
            ServerResult::ListToolsResult(page) => Some(Self {
                tools: page.tools.into_iter().map(Ok).collect(),
                next: Ok(page.next_cursor),
                ttl_ms: page.ttl_ms,
            }),
            // The list as a whole is invalid.
            ServerResult::CustomResult(CustomResult(value)) => match message::unwrapped(value) {
                Value::Object(fields) => Self::of_fields(fields),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_fields(mut fields: Map<String, Value>) -> Option<Self> {
        let tools = match fields.remove("tools")? {
            Value::Array(tools) => tools.into_iter().map(read).collect(),
            _ => vec![Err(UnusedTool::NoList)],
        };
        let next = match fields.remove("nextCursor") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(cursor)) => Ok(Some(cursor)),
            Some(other) => Err(format!("the cursor {} is not a text", text::excerpt(&other.to_string()))),
        };
        Some(Self { tools, next, ttl_ms: fields.get("ttlMs").and_then(Value::as_u64) })
    }
}

/// Reads one tool of a list. A fault in descriptive fields drops only these fields.
fn read(tool: Value) -> Result<Tool, UnusedTool> {
    const NEEDED: [&str; 4] = ["name", "description", "inputSchema", "outputSchema"];
    let name = tool.get("name").and_then(Value::as_str).map(text::line).unwrap_or_default();
    let error = match Tool::deserialize(&tool) {
        Ok(tool) => return Ok(tool),
        Err(error) => error,
    };
    let mut plain = tool;
    if let Some(fields) = plain.as_object_mut() {
        // Hints must be readable too, since they can make an effect stricter.
        let has_hints = fields.get("annotations").is_some_and(|hints| ToolAnnotations::deserialize(hints).is_ok());
        let is_free = fields.get("annotations").is_none_or(Value::is_null);
        if has_hints || is_free {
            fields.retain(|key, value| {
                !value.is_null() && (NEEDED.contains(&key.as_str()) || (key == "annotations" && has_hints))
            });
        }
    }
    Tool::deserialize(plain).map_err(|_| UnusedTool::Invalid {
        name,
        reason: format!("invalid definition: {}", text::line(&error.to_string())),
    })
}

impl Catalog {
    /// Fetches the tools of a server. If a later page is invalid, the list ends before it.
    pub(super) async fn fetch(peer: &Peer<RoleClient>) -> Result<Self, ServiceError> {
        let (mut catalog, mut cursor, mut seen) = (Self::default(), None, HashSet::new());
        for page in 1.. {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let answer = peer.send_request(request).await;
            let next = match answer
                .and_then(|answer| ToolPage::from_result(answer).ok_or(ServiceError::UnexpectedResponse))
            {
                Ok(found) => catalog.take(found, page > 1),
                // The server has only prompts or resources.
                Err(ServiceError::McpError(error)) if page == 1 && error.code == ErrorCode::METHOD_NOT_FOUND => {
                    Ok(None)
                }
                Err(ServiceError::McpError(error)) if page > 1 => {
                    Err(format!("page {page}: {}", reason::words(&error)))
                }
                Err(ServiceError::UnexpectedResponse) if page > 1 => Err(format!("page {page} is not a list of tools")),
                Err(error) => return Err(error),
            };
            cursor = next.unwrap_or_else(|reason| {
                catalog.unused.push(UnusedTool::Rest(reason));
                None
            });
            match &cursor {
                None => break,
                Some(next) if !seen.insert(next.clone()) => {
                    let reason = format!("the cursor `{}` was there before", text::excerpt(next));
                    catalog.unused.push(UnusedTool::Rest(reason));
                    break;
                }
                Some(_) if page == MAX_PAGES => {
                    catalog.unused.push(UnusedTool::Rest(format!("there are more than {MAX_PAGES} pages")));
                    break;
                }
                Some(_) => {}
            }
        }
        Ok(catalog)
    }

    /// Adds the tools of a page; returns where the next page begins, or why it is not fetched.
    ///
    /// If a later page repeats a tool, there is no warning.
    fn take(&mut self, page: ToolPage, is_later: bool) -> Result<Option<String>, String> {
        let age = page.ttl_ms.map(|milliseconds| MIN_AGE.max(Duration::from_millis(milliseconds)));
        let expires = age.and_then(|age| Instant::now().checked_add(age));
        self.expires = [self.expires, expires].into_iter().flatten().min();
        for tool in page.tools {
            match tool {
                Ok(tool) if is_later && self.tools.get(&*tool.name) == Some(&tool) => {}
                Ok(_) if self.tools.len() == MAX_TOOLS => return Err(format!("there are more than {MAX_TOOLS} tools")),
                Ok(tool) => self.add(tool),
                Err(unused) => self.unused.push(unused),
            }
        }
        page.next
    }

    fn add(&mut self, tool: Tool) {
        match self.tools.entry(tool.name.clone().into_owned()) {
            Entry::Vacant(entry) => drop(entry.insert(tool)),
            Entry::Occupied(entry) => self.unused.push(UnusedTool::Twice(text::line(entry.key()))),
        }
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= Instant::now())
    }

    pub(super) fn get(&self, tool: &str) -> Option<&Tool> {
        self.tools.get(tool)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }
}
