//! The tools that a server lists. Each one is read by itself, so that an invalid one does not end the list.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use rmcp::model::{
    ClientRequest, CustomResult, ErrorCode, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::{Map, Value};

use super::text;

/// The most pages of a list.
const MAX_PAGES: usize = 100;
/// The most tools of a server.
const MAX_TOOLS: usize = 1000;
/// How long a list is used at least: the server's own figure may be 0.
const MIN_AGE: Duration = Duration::from_secs(5);

/// The tools of a server, by the server's names.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    tools: BTreeMap<String, Tool>,
    pub(super) unused: Unused,
    /// When the list should be asked for again; `None` if only a notification makes it stale.
    expires: Option<Instant>,
}

/// What of a list is not used, the first of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Unused {
    pub(super) first: Vec<UnusedTool>,
    /// How many more there are.
    pub(super) more: usize,
}

/// A tool of a list that is not used.
#[derive(Clone, Debug)]
pub(super) enum UnusedTool {
    /// One with the name of another.
    Twice(String),
    Invalid {
        name: String,
        reason: String,
    },
    /// The whole list.
    NoList,
}

impl Unused {
    /// The most that are kept.
    const MAX: usize = 20;

    fn push(&mut self, unused: UnusedTool) {
        if self.first.len() < Self::MAX { self.first.push(unused) } else { self.more += 1 }
    }
}

/// A page of a list.
struct Page {
    /// Each tool, or what its server sent in place of one.
    tools: Vec<Result<Tool, UnusedTool>>,
    next_cursor: Option<String>,
    ttl_ms: Option<u64>,
}

impl Page {
    /// Reads an answer; `None` if it is not a list of tools.
    fn of(answer: ServerResult) -> Option<Self> {
        match answer {
            ServerResult::ListToolsResult(page) => Some(Self {
                tools: page.tools.into_iter().map(Ok).collect(),
                next_cursor: page.next_cursor,
                ttl_ms: page.ttl_ms,
            }),
            // A list that is invalid as a whole.
            ServerResult::CustomResult(CustomResult(Value::Object(fields))) => Self::of_fields(fields),
            _ => None,
        }
    }

    fn of_fields(mut fields: Map<String, Value>) -> Option<Self> {
        let tools = match fields.remove("tools")? {
            Value::Array(tools) => tools.into_iter().map(read).collect(),
            _ => vec![Err(UnusedTool::NoList)],
        };
        let next_cursor = fields.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        Some(Self { tools, next_cursor, ttl_ms: fields.get("ttlMs").and_then(Value::as_u64) })
    }
}

/// Reads one tool of a list.
fn read(tool: Value) -> Result<Tool, UnusedTool> {
    let name = tool.get("name").and_then(Value::as_str).map(text::line).unwrap_or_default();
    serde_json::from_value(tool).map_err(|error| UnusedTool::Invalid {
        name,
        reason: format!("invalid definition: {}", text::line(&error.to_string())),
    })
}

impl Catalog {
    /// Asks a server for its tools; a faulty list is an error with the reason.
    pub(super) async fn of(peer: &Peer<RoleClient>) -> Result<Self, ListError> {
        let (mut catalog, mut cursor) = (Self::default(), None);
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let page = match peer.send_request(request).await {
                Ok(answer) => Page::of(answer).ok_or(ListError::Service(ServiceError::UnexpectedResponse))?,
                // A server of prompts or resources alone.
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => return Ok(catalog),
                Err(error) => return Err(ListError::Service(error)),
            };
            let age = page.ttl_ms.map(|milliseconds| MIN_AGE.max(Duration::from_millis(milliseconds)));
            let expires = age.and_then(|age| Instant::now().checked_add(age));
            catalog.expires = [catalog.expires, expires].into_iter().flatten().min();
            for tool in page.tools {
                match tool {
                    Ok(tool) => catalog.add(tool),
                    Err(unused) => catalog.unused.push(unused),
                }
            }
            if catalog.tools.len() > MAX_TOOLS {
                return Err(ListError::Excess(format!("more than {MAX_TOOLS} tools")));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(catalog);
            }
        }
        Err(ListError::Excess(format!("more than {MAX_PAGES} pages of tools")))
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

/// Why a list cannot be used.
#[derive(Debug)]
pub(super) enum ListError {
    Service(ServiceError),
    Excess(String),
}
