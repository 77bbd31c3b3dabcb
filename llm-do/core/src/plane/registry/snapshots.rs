//! Checks the typed toolsets of MCP servers against the tools that the runtime has.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_worker_file::mcp_toolset_name;

use super::{Code, Registered};
use crate::plane::definition::{LiveTool, SnapshotDef};

/// Returns the differences to each snapshot whose server is in the runtime, and the items that declare tools of a server
/// that is not.
pub(super) fn faults(items: &BTreeMap<Arc<str>, Arc<Registered>>) -> Vec<String> {
    let mut linked: Vec<_> = inventory::iter::<SnapshotDef>.into_iter().collect();
    linked.sort_by_key(|def| (def.server, def.location));
    linked.into_iter().flat_map(|def| faults_of(def, items)).collect()
}

fn faults_of(def: &SnapshotDef, items: &BTreeMap<Arc<str>, Arc<Registered>>) -> Vec<String> {
    let prefix = format!("{}__", mcp_toolset_name(def.server));
    let added = items.values().filter(|item| matches!(item.code, Code::Value(_)) && item.name().starts_with(&prefix));
    let live: Vec<_> = added.map(|item| live(item)).collect();
    if live.is_empty() { declared(def, items) } else { (def.check)(def, &live) }
}

fn live(item: &Registered) -> LiveTool<'_> {
    LiveTool {
        name: item.name(),
        description: item.description(),
        parameters: item.parameters(),
        output: item.output(),
    }
}

/// Returns a fault for each item that declares a tool of a server that is not in the runtime.
fn declared(def: &SnapshotDef, items: &BTreeMap<Arc<str>, Arc<Registered>>) -> Vec<String> {
    let is_member = |tool: &str| def.members.iter().any(|member| member.tool() == tool);
    let fault = |item: &Arc<Registered>| {
        let tools = item.declared.iter().flat_map(|declared| declared.iter());
        let tool = tools.map(|declared| &*declared.tool).find(|tool| is_member(tool))?;
        let (name, place, server) = (item.name(), item.location(), def.server);
        Some(format!(
            "`{name}` ({place}) declares `{tool}` of the MCP server `{server}`, which is not in the runtime; add the server \
             with `RuntimeBuilder::mcp(..)`"
        ))
    };
    items.values().filter_map(fault).collect()
}
