//! Snapshots of the tools of a server: schemas in a file, which are compared with the live server.

mod compare;

#[doc = include_str!("../../docs/typed_toolsets.md")]
pub use llm_do_worker_file::Snapshot;
use llm_do_worker_file::mcp_tool_name;
pub use llm_do_worker_file::{SnapshotError, SnapshotTool};
use serde_json::{Value, json};

pub use self::compare::Changes;
use crate::declare::toolset::Member;
use crate::plane::definition::{LiveTool, Location, SnapshotDef};

/// Compares a live server with each linked snapshot of it that `toolset!` has expanded to a typed toolset.
///
/// Building a runtime does this for the servers of the runtime.
///
/// # Errors
///
/// Returns the changes of all snapshots, if some are errors.
pub fn check_snapshots(live: &Snapshot) -> Result<Changes, Changes> {
    let mut linked: Vec<_> =
        inventory::iter::<SnapshotDef>.into_iter().filter(|def| def.server == live.server()).collect();
    linked.sort_by_key(|def| def.location.to_string());
    let mut changes = Changes::default();
    for def in linked {
        match def.text.parse::<Snapshot>() {
            Ok(snapshot) => changes.add(Changes::between(&snapshot, live), def),
            Err(error) => changes.add(Changes::from(error), def),
        }
    }
    if changes.errors().is_empty() { Ok(changes) } else { Err(changes) }
}

/// Returns the servers of the linked snapshots, sorted.
#[doc(hidden)]
#[must_use]
pub fn linked_servers() -> std::collections::BTreeSet<&'static str> {
    inventory::iter::<SnapshotDef>.into_iter().map(|def| def.server).collect()
}

/// Defines a snapshot; called by generated code of `toolset!`.
#[doc(hidden)]
#[must_use]
pub const fn snapshot_definition(
    server: &'static str,
    members: &'static [Member],
    text: &'static str,
    location: Location,
) -> SnapshotDef {
    SnapshotDef { server, members, text, location, check }
}

/// Returns the errors of a snapshot, with its place.
fn check(def: &SnapshotDef, live: &[LiveTool<'_>]) -> Vec<String> {
    let mut changes = Changes::default();
    changes.add(between(def, live).unwrap_or_else(Changes::from), def);
    changes.into_errors()
}

fn between(def: &SnapshotDef, live: &[LiveTool<'_>]) -> Result<Changes, SnapshotError> {
    let snapshot: Snapshot = def.text.parse()?;
    // The names at the server, which may differ from the registered names.
    let name_of = |registered: &str| {
        let known = snapshot.tools().iter().find(|tool| mcp_tool_name(def.server, &tool.name) == registered);
        known.map_or(registered, |tool| &tool.name).to_owned()
    };
    let listed = live.iter().map(|tool| {
        let mut listed = json!({
            "name": name_of(tool.name),
            "description": tool.description,
            "inputSchema": tool.parameters,
        });
        if let Some(output) = &tool.output {
            listed["outputSchema"] = Value::clone(output);
        }
        listed
    });
    Ok(Changes::between(&snapshot, &Snapshot::new(def.server, listed)?))
}
