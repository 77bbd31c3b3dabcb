//! The tools that a server lists.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use rmcp::model::{ErrorCode, PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient, ServiceError};

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
    /// Names that are listed twice.
    pub(super) duplicates: Vec<String>,
    /// When the list should be asked for again; `None` if only a notification makes it stale.
    expires: Option<Instant>,
}

impl Catalog {
    /// Asks a server for its tools; a faulty list is an error with the reason.
    pub(super) async fn of(peer: &Peer<RoleClient>) -> Result<Self, ListError> {
        let (mut catalog, mut cursor) = (Self::default(), None);
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match peer.list_tools(Some(params)).await {
                Ok(page) => page,
                // A server of prompts or resources alone.
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => return Ok(catalog),
                Err(error) => return Err(ListError::Service(error)),
            };
            let age = page.ttl_ms.map(|milliseconds| MIN_AGE.max(Duration::from_millis(milliseconds)));
            let expires = age.and_then(|age| Instant::now().checked_add(age));
            catalog.expires = [catalog.expires, expires].into_iter().flatten().min();
            page.tools.into_iter().for_each(|tool| catalog.add(tool));
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
            Entry::Occupied(entry) => self.duplicates.push(text::line(entry.key())),
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
