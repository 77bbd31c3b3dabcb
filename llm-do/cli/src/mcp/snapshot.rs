//! `mcp snapshot` and `mcp check`: print the schemas of a server, and compare them with the live server.

use std::io::{self, Write};
use std::path::Path;

use llm_do_core::app::snapshot::{Snapshot, check_snapshots, linked_servers};
use llm_do_core::base::printable::printable;
use llm_do_core::plane::registry::{LeftOut, why_left_out};
use llm_do_core::plane::tool_source::Listing;
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_worker_file::{did_you_mean, mcp_toolset_name};

use crate::args::{CheckServersOptions, SnapshotOptions};
use crate::output::warn;
use crate::{CommandError, print, print_json};

/// The file of a project with its servers.
const SERVERS: &str = ".mcp.json";

/// Prints a snapshot of the tools of a server.
pub(super) fn snapshot(
    builder: RuntimeBuilder,
    options: &SnapshotOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (listings, left_out) = listings(builder, &options.servers, runs_projects)?;
    if let Some(why) = why_left_out(&left_out, &mcp_toolset_name(&options.server)) {
        return Err(CommandError::Error(format!("the MCP server `{}` cannot be used{why}", options.server)));
    }
    let names: Vec<_> = listings.iter().map(|listing| listing.source.clone()).collect();
    let Some(found) = listings.into_iter().find(|listing| listing.source == options.server) else {
        let hint = did_you_mean(&options.server, names.iter().map(String::as_str));
        let known = if names.is_empty() {
            "none; add one to `.mcp.json` in this folder, name another project with `--project`, or add one with \
             `RuntimeBuilder::mcp`"
                .to_owned()
        } else {
            names.join(", ")
        };
        return Err(CommandError::Usage(format!("unknown MCP server `{}`{hint}\nservers: {known}", options.server)));
    };
    print_json(live(found)?.to_string().trim_end())
}

/// Compares each server with its linked snapshots.
pub(super) fn check(
    builder: RuntimeBuilder,
    options: &CheckServersOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let (listings, left_out) = listings(builder, options, runs_projects)?;
    warn(&left_out.into_iter().map(|left_out| left_out.reason).collect::<Vec<_>>());
    let mut missing = linked_servers();
    let mut errors = Vec::new();
    for listing in listings {
        missing.remove(listing.source.as_str());
        let changes = check_snapshots(&live(listing)?).unwrap_or_else(|changes| changes);
        errors.extend(changes.errors().iter().cloned());
        for note in changes.notes() {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "note: {}", printable(note));
        }
    }
    errors.extend(missing.iter().map(|server| {
        format!(
            "a snapshot of the MCP server `{server}` is linked, but the server is missing; add it to `.mcp.json`, or with \
             `RuntimeBuilder::mcp`"
        )
    }));
    if errors.is_empty() {
        return print(&format!("ok: MCP servers that match their snapshots: {}", linked_servers().len()));
    }
    Err(CommandError::Error(errors.join("\n")))
}

/// Requests the tools of the servers of the program and its project. A folder with a `.mcp.json` is a project here, as
/// for `mcp login`.
fn listings(
    builder: RuntimeBuilder,
    options: &CheckServersOptions,
    runs_projects: bool,
) -> Result<(Vec<Listing>, Vec<LeftOut>), CommandError> {
    let runs_projects = runs_projects || Path::new(SERVERS).is_file();
    let mut settings = options.items.settings().read(options.items.project.as_deref())?;
    let trust = options.items.trust(false);
    let (mut builder, _) = options.items.add_to(builder, &mut settings, runs_projects, trust)?;
    builder.load_listings().map_err(CommandError::from_error)
}

fn live(listing: Listing) -> Result<Snapshot, CommandError> {
    Snapshot::new(listing.source, listing.tools).map_err(CommandError::from_error)
}
