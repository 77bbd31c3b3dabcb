//! `tools`: what is there to run and to call.

use serde_json::{Value, json};

use super::args::ToolsOptions;
use super::{Failure, print};
use crate::declare::toolset::Member;
use crate::plane::declared::Declared;
use crate::plane::registry::Registered;
use crate::session::runtime::RuntimeBuilder;

/// Prints every tool, worker, entry and toolset.
pub(super) fn list(builder: RuntimeBuilder, options: &ToolsOptions) -> Result<(), Failure> {
    let registry = options.workers.added(builder).collect().map_err(Failure::error)?;
    if options.json {
        let items = registry.iter().map(|item| describe(item)).chain(registry.toolsets().map(describe_set));
        return print(&format!("{:#}", items.collect::<Value>()));
    }
    let items = registry.iter().map(|item| (item.name(), item.kind().as_str(), item.description()));
    let rows: Vec<_> = items.chain(registry.toolsets().map(|(name, docs, _)| (name, "toolset", docs))).collect();
    let width = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    for (name, kind, description) in rows {
        let summary = description.lines().next().unwrap_or_default();
        print(format!("{name:width$}  {kind:7}  {summary}").trim_end())?;
    }
    Ok(())
}

fn describe_set((name, description, members): (&str, &str, &[Member])) -> Value {
    let members = members.iter().map(|member| pair(member.shown(), member.tool()));
    json!({ "name": name, "kind": "toolset", "description": description, "members": members.collect::<Value>() })
}

/// A tool under the name that callers see, and the name that it is registered by.
fn pair(shown: &str, tool: &str) -> Value {
    json!({ "name": shown, "tool": tool })
}

fn describe(item: &Registered) -> Value {
    let pairs = |declared: &Declared| declared.iter().map(|tool| pair(&tool.shown, &tool.tool)).collect::<Value>();
    let declared = item.declared.as_deref().map(pairs);
    json!({
        "name": item.name(),
        "kind": item.kind(),
        "description": item.description(),
        "effect": item.effect(),
        "hints": item.hints(),
        "location": item.location(),
        "toolsets": declared,
        "parameters": item.parameters(),
        "output": item.output(),
    })
}
