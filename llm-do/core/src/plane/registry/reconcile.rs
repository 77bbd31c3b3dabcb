//! Checks the tools that find out whether a call has happened.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_worker_file::did_you_mean;
use serde_json::Value;

use super::Registered;
use crate::declare::schema::CheckedSchema;
use crate::declare::tool::Effect;
use crate::observe::event::ItemKind;

/// Returns a fault for each tool whose `reconcile` tool is unusable.
pub(super) fn faults(items: &BTreeMap<Arc<str>, Arc<Registered>>) -> Vec<String> {
    let faults = items.values().filter_map(|item| {
        let fault = fault(items, item, item.reconcile()?)?;
        Some(format!("`{}` ({}): {fault}", item.name(), item.location()))
    });
    faults.collect()
}

fn fault(items: &BTreeMap<Arc<str>, Arc<Registered>>, tool: &Registered, reconcile: &str) -> Option<String> {
    // Null is the answer that the call has not happened.
    let returns_null = |schema: Value| CheckedSchema::new(&schema).check(&Value::Null).is_ok();
    if tool.result_schema().is_some_and(returns_null) {
        return Some("the result of a tool with `reconcile` cannot be null, which means that the call has not happened; return a receipt".to_owned());
    }
    let Some(item) = items.get(reconcile).filter(|item| item.kind() == ItemKind::Tool) else {
        let tools = items.values().filter(|item| item.kind() == ItemKind::Tool);
        let hint = did_you_mean(reconcile, tools.map(|item| item.name()));
        return Some(format!("unknown tool `{reconcile}` of `reconcile`{hint}"));
    };
    let is_read_only = item.effect() == Effect::ReadOnly && reconcile != tool.name();
    (!is_read_only).then(|| {
        format!(
            "`{reconcile}` finds out whether a call has happened, so it must be another tool, with `effect = read_only`"
        )
    })
}
