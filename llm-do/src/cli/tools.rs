//! `tools`: what is linked into the program.

use serde_json::{Value, json};

use super::args::ToolsOptions;
use super::{Failure, print};
use crate::registry::{Registered, Registry};

/// Prints every tool, worker and entry.
pub(super) fn list(options: &ToolsOptions) -> Result<(), Failure> {
    let registry = Registry::collect().map_err(Failure::error)?;
    if options.json {
        let items: Vec<Value> = registry.iter().map(|item| describe(item)).collect();
        return print(&format!("{:#}", Value::Array(items)));
    }
    let width = registry.iter().map(|item| item.name().len()).max().unwrap_or(0);
    for item in registry.iter() {
        let summary = item.description().lines().next().unwrap_or_default();
        print(&format!("{:width$}  {:6}  {summary}", item.name(), item.kind().as_str()))?;
    }
    Ok(())
}

fn describe(item: &Registered) -> Value {
    let declared: Option<Vec<&str>> = item.declared().map(Iterator::collect);
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
