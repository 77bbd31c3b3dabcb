//! All linked items: those of the attributes, and the tools of named instances, which are made from them.

use std::sync::LazyLock;

use super::{ToolDef, ToolsetDef};

/// The tools of all named instances.
static OF_INSTANCES: LazyLock<Vec<ToolDef>> =
    LazyLock::new(|| inventory::iter::<ToolsetDef>.into_iter().flat_map(of_instance).collect());

/// Returns the definitions of all linked items, in no order.
pub(crate) fn linked_items() -> impl Iterator<Item = &'static ToolDef> {
    inventory::iter::<ToolDef>.into_iter().chain(OF_INSTANCES.iter())
}

/// Returns the tools of a named instance; none for other toolsets.
fn of_instance(set: &'static ToolsetDef) -> Vec<ToolDef> {
    let Some(tools) = set.instance_of else { return Vec::new() };
    let own_name = |tool: &str| {
        let mut pairs = tools.iter().zip(set.members);
        pairs.find(|(member, _)| member.tool() == tool).map(|(_, own)| own.tool())
    };
    let defs = inventory::iter::<ToolDef>.into_iter();
    defs.filter_map(|def| Some(of_tool(set, def, own_name(def.name)?, own_name))).collect()
}

/// Returns a tool of the type as that of the instance; `own_name` returns the name in the instance of a tool of the type.
fn of_tool(
    set: &ToolsetDef,
    def: &ToolDef,
    name: &'static str,
    own_name: impl Fn(&str) -> Option<&'static str>,
) -> ToolDef {
    ToolDef {
        name,
        description: description(set, def),
        instance: def.instance.map(|instance| instance.named(set.name)),
        instance_of: Some(def.name),
        reconcile: def.reconcile.map(|tool| own_name(tool).unwrap_or(tool)),
        ..*def
    }
}

/// Returns the description of the tool, followed by that of the instance, so that models can distinguish the instances.
fn description(set: &ToolsetDef, def: &ToolDef) -> &'static str {
    if set.description.is_empty() {
        return def.description;
    }
    // Made once, and kept as long as the program runs, as those of the macros are.
    format!("{}\n\n{}", def.description, set.description).leak()
}
