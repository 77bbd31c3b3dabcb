//! Compares the tools of a live server with a snapshot, to find the changes that break typed calls.

mod combined;
mod fields;
mod keywords;
mod numbers;
mod schema;
mod types;

use std::fmt;

use llm_do_providers::modern_schema;
use llm_do_worker_file::{Snapshot, SnapshotError, SnapshotTool};

use self::schema::{Direction, differences};
use crate::plane::definition::SnapshotDef;

/// The differences of a live server from a snapshot.
///
/// Errors are changes that may break a compiled typed call: a tool or an argument was removed, an argument became
/// required or accepts fewer values, or a result is invalid for its type. Notes are all other changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    errors: Vec<String>,
    notes: Vec<String>,
}

impl Changes {
    /// Compares a snapshot with the live server.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::json;
    /// use llm_do::mcp::{Changes, Snapshot};
    ///
    /// let tool = |limit| {
    ///     let arguments = json!({ "limit": { "type": "integer", "maximum": limit } });
    ///     json!({ "name": "search", "inputSchema": { "type": "object", "properties": arguments } })
    /// };
    /// let snapshot = Snapshot::new("notes", [tool(100)])?;
    /// let changes = Changes::between(&snapshot, &Snapshot::new("notes", [tool(50)])?);
    /// assert_eq!(changes.errors(), ["the tool `search`: the argument `limit`: `maximum` was 100 and is 50"]);
    /// # Ok::<_, llm_do::mcp::SnapshotError>(())
    /// ```
    #[must_use]
    pub fn between(snapshot: &Snapshot, live: &Snapshot) -> Self {
        let mut changes = Self::default();
        for old in snapshot.tools() {
            match live.tools().iter().find(|new| new.name == old.name) {
                Some(new) => changes.compare(old, new),
                None => changes.errors.push(format!("the tool `{}` was removed", old.name)),
            }
        }
        let is_new = |new: &&SnapshotTool| snapshot.tools().iter().all(|old| old.name != new.name);
        let new = live.tools().iter().filter(is_new).map(|new| format!("the tool `{}` is new", new.name));
        changes.notes.extend(new);
        changes
    }

    fn compare(&mut self, old: &SnapshotTool, new: &SnapshotTool) {
        let mut found = Self::default();
        found.arguments(old, new);
        found.results(old, new);
        if old.description.as_deref().unwrap_or_default() != new.description.as_deref().unwrap_or_default() {
            found.notes.push("the description changed".to_owned());
        }
        let named = |change| format!("the tool `{}`: {change}", old.name);
        self.errors.extend(found.errors.into_iter().map(named));
        self.notes.extend(found.notes.into_iter().map(named));
    }

    fn arguments(&mut self, old: &SnapshotTool, new: &SnapshotTool) {
        let (errors, notes) =
            differences(Direction::Arguments, &modern_schema(&old.input_schema), &modern_schema(&new.input_schema));
        let has_changed = old.input_schema != new.input_schema;
        if has_changed && errors.is_empty() && notes.is_empty() {
            self.notes.push("the schema of the arguments changed, and accepts all that it accepted".to_owned());
        }
        self.errors.extend(errors);
        self.notes.extend(notes);
    }

    fn results(&mut self, old: &SnapshotTool, new: &SnapshotTool) {
        match (&old.output_schema, &new.output_schema) {
            (None, None) => {}
            (None, Some(_)) => self.notes.push("the result has a schema now".to_owned()),
            (Some(_), None) => self.errors.push("the result has no schema any longer".to_owned()),
            (Some(old), Some(new)) => {
                // The type of the snapshot must accept the current results of the server.
                let (errors, notes) = differences(Direction::Result, &modern_schema(new), &modern_schema(old));
                if old != new && errors.is_empty() && notes.is_empty() {
                    self.notes.push("the schema of the result changed, and its type accepts it".to_owned());
                }
                self.errors.extend(errors);
                self.notes.extend(notes);
            }
        }
    }

    /// Returns the changes that break typed calls, one sentence each.
    #[must_use]
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    /// Returns the other changes, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds the changes of a linked snapshot.
    pub(super) fn add(&mut self, changes: Self, def: &SnapshotDef) {
        let (server, place) = (def.server, &def.location);
        let placed =
            |change| format!("the snapshot of the MCP server `{server}` ({place}) differs from the server: {change}");
        let with_remedy = |change| format!("{}; take it again with `mcp snapshot`", placed(change));
        self.errors.extend(changes.errors.into_iter().map(with_remedy));
        self.notes.extend(changes.notes.into_iter().map(placed));
    }

    pub(super) fn into_errors(self) -> Vec<String> {
        self.errors
    }
}

impl From<SnapshotError> for Changes {
    fn from(error: SnapshotError) -> Self {
        Self { errors: error.faults().to_vec(), notes: Vec::new() }
    }
}

/// All changes, one per line: `error: ..` and `note: ..`.
impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.errors.iter().try_for_each(|error| writeln!(f, "error: {error}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}
