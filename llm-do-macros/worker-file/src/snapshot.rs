//! Snapshots of MCP servers: the tools of a server in a JSON file, as the protocol lists them.
//!
//! ```text
//! { "version": 1, "server": "github", "tools": [{ "name": "create_issue", "inputSchema": { .. }, .. }] }
//! ```

mod schema;
mod tool;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

pub use self::schema::definition;
pub use self::tool::SnapshotTool;
use crate::suggestion::did_you_mean;

/// The version of the format.
const VERSION: u64 = 1;
const KEYS: [&str; 3] = ["version", "server", "tools"];

/// The tools of an MCP server at one time: the content of a `.mcp.json` snapshot.
///
/// [`FromStr`] reads the file and [`Display`](fmt::Display) writes it, with equal texts for equal tools: tools are
/// sorted by name, and schemas are kept as the server lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    server: String,
    tools: Vec<SnapshotTool>,
}

impl Snapshot {
    /// Returns a snapshot of tools in the form of the protocol: JSON objects with `name`, `inputSchema` and so on.
    ///
    /// Further data, such as icons, is omitted.
    ///
    /// # Errors
    ///
    /// Returns all faults: an empty server name, invalid tools and schemas, and tools with the same name.
    pub fn new(server: impl Into<String>, tools: impl IntoIterator<Item = Value>) -> Result<Self, SnapshotError> {
        let mut faults = Vec::new();
        let (mut snapshot, listed) = (Self { server: server.into(), tools: Vec::new() }, tools.into_iter().enumerate());
        if snapshot.server.trim().is_empty() {
            faults.push("`server`: empty name".to_owned());
        }
        snapshot.tools = listed.filter_map(|(place, tool)| SnapshotTool::listed(place, tool, &mut faults)).collect();
        snapshot.finish(faults).map_err(|(_, error)| error)
    }

    /// Reads a snapshot; with faults, also returns the valid part.
    ///
    /// # Errors
    ///
    /// Returns all faults, and a snapshot of the tools without faults.
    pub fn read(text: &str) -> Result<Self, (Self, SnapshotError)> {
        let mut snapshot = Self { server: String::new(), tools: Vec::new() };
        let mut faults = Vec::new();
        match serde_json::from_str(text) {
            Ok(Value::Object(file)) => snapshot.fill(file, &mut faults),
            Ok(_) => faults.push("expected a JSON object with `version`, `server` and `tools`".to_owned()),
            Err(error) => faults.push(format!("invalid JSON: {error}")),
        }
        snapshot.finish(faults)
    }

    fn fill(&mut self, mut file: Map<String, Value>, faults: &mut Vec<String>) {
        match file.remove("version") {
            Some(version) if version == VERSION => {}
            Some(version) => {
                let way_out = "take the snapshot again with `mcp snapshot`";
                faults.push(format!("`version`: unsupported version {version}: expected {VERSION}; {way_out}"));
                // Other versions have other keys.
                return;
            }
            None => faults.push(format!("missing `version`: expected {VERSION}")),
        }
        match file.remove("server") {
            Some(Value::String(server)) if !server.trim().is_empty() => self.server = server,
            Some(_) => faults.push("`server`: expected the name of the server as a string".to_owned()),
            None => faults.push("missing `server`: expected the name of the server".to_owned()),
        }
        match file.remove("tools") {
            Some(Value::Array(tools)) => {
                let tools = tools.into_iter().enumerate();
                self.tools = tools.filter_map(|(place, tool)| SnapshotTool::read(place, tool, faults)).collect();
            }
            Some(_) => faults.push("`tools`: expected a list of tools".to_owned()),
            None => faults.push("missing `tools`: expected a list of tools".to_owned()),
        }
        faults.extend(file.keys().map(|key| unknown_key(key, &KEYS)));
    }

    /// Sorts the tools, and keeps only the first with each name.
    fn finish(mut self, mut faults: Vec<String>) -> Result<Self, (Self, SnapshotError)> {
        self.tools.sort_by(|one, other| one.name.cmp(&other.name));
        let mut known = BTreeSet::new();
        self.tools.retain(|tool| {
            let is_new = known.insert(tool.name.clone());
            if !is_new {
                faults.push(format!("the tool `{}` is listed twice; remove one", tool.name));
            }
            is_new
        });
        if faults.is_empty() { Ok(self) } else { Err((self, SnapshotError { faults })) }
    }

    /// Returns the name of the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the tools, sorted by name.
    #[must_use]
    pub fn tools(&self) -> &[SnapshotTool] {
        &self.tools
    }
}

impl FromStr for Snapshot {
    type Err = SnapshotError;

    fn from_str(text: &str) -> Result<Self, SnapshotError> {
        Self::read(text).map_err(|(_, error)| error)
    }
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(SnapshotTool::to_json).collect();
        let file = json!({ "version": VERSION, "server": self.server, "tools": tools });
        writeln!(f, "{file:#}")
    }
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    let list = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    format!("unknown key `{key}`{}\nkeys: {list}", did_you_mean(key, known.iter().copied()))
}

/// All faults of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotError {
    faults: Vec<String>,
}

impl SnapshotError {
    /// Returns the faults, one sentence each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid snapshot:")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for SnapshotError {}
