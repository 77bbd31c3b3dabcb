//! Links scripts with the tools that they declare, and checks them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contents::by_name;
use super::names::Names;
use super::{Code, Origin, Registered, Registry, effects};
use crate::declare::tool::Effect;
use crate::plane::function_tool::FunctionTool;
use crate::plane::script::{LinkedScript, Script, ScriptCallee, TypeProcess, on_large_stack};

/// A script in the registry.
struct Item {
    name: Arc<str>,
    tool: Arc<FunctionTool>,
    script: Arc<Script>,
    effect: Effect,
    callees: Vec<ScriptCallee>,
}

impl Registry {
    /// Returns this registry with a script in place of the tool with its name, without callers; returns all faults of
    /// the script.
    pub(crate) fn with_script(&self, tool: FunctionTool) -> Result<Self, Vec<String>> {
        let mut faults = tool.faults();
        let source = tool.toolsets.as_deref().map(by_name).unwrap_or_default();
        let mut item = Registered::from_tool(tool, Origin::Session);
        let name = Arc::clone(&item.name);
        let names = Names::new(&self.tools, &self.toolsets, &self.groups, &self.left_out);
        let declared = names.resolve(&item, &source, &mut faults);
        item.instances = names.instances(&declared);
        item.declared = Some(Arc::new(names.declared(declared)));
        item.effect = effects::of_item(&item, &self.tools, self.adds_tools);
        // Approvals find the rules of an item by its place, so the order must not change.
        item.place = self.tools.get(&name).and_then(|replaced| replaced.place);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut registry = self.clone();
        registry.by_name.remove(&name);
        registry.tools.insert(Arc::clone(&name), Arc::new(item));
        link(&mut registry.tools, &mut faults);
        registry
            .by_name
            .extend(registry.tools.get_key_value(&name).map(|(name, item)| (Arc::clone(name), Arc::clone(item))));
        if faults.is_empty() { Ok(registry) } else { Err(faults) }
    }

    /// Returns the tools that the script of this name may call.
    pub(crate) fn script_callees(&self, name: &str) -> Vec<ScriptCallee> {
        callees(name, &self.tools)
    }
}

/// Checks all scripts, and makes them callable; adds the faults of each.
pub(super) fn link(items: &mut BTreeMap<Arc<str>, Arc<Registered>>, faults: &mut Vec<String>) {
    let mut scripts: Vec<Item> = items.values().filter_map(|item| item_of(item)).collect();
    if scripts.is_empty() {
        return;
    }
    for script in &mut scripts {
        script.callees = callees(&script.name, items);
    }
    let checked = on_large_stack(|| {
        let mut types = TypeProcess::default();
        let mut check_types = |text: &str, module: &str| types.check(text, module);
        let check = |script: &mut Item| {
            LinkedScript::new(&script.script, std::mem::take(&mut script.callees), &mut check_types)
        };
        scripts.iter_mut().map(check).collect::<Vec<_>>()
    });
    let checked = match checked {
        Ok(checked) => checked,
        Err(fault) => return faults.push(fault),
    };
    for (script, linked) in scripts.into_iter().zip(checked) {
        match linked {
            Ok(linked) => {
                let tool = Arc::new(script.tool.linked(&script.script, linked, script.effect));
                change(items, &script.name, |item| item.code = Code::Value(tool));
            }
            Err(found) => faults.extend(found),
        }
    }
}

fn item_of(item: &Registered) -> Option<Item> {
    let Code::Value(tool) = &item.code else { return None };
    let script = tool.script.clone()?;
    let (name, tool) = (Arc::clone(&item.name), Arc::clone(tool));
    Some(Item { name, tool, script, effect: item.effect, callees: Vec::new() })
}

/// Returns the tools that a script may call.
pub(super) fn callees(name: &str, items: &BTreeMap<Arc<str>, Arc<Registered>>) -> Vec<ScriptCallee> {
    let declared = items[name].declared.iter().flat_map(|declared| declared.iter());
    declared.filter_map(|tool| Some(items.get(&tool.tool)?.as_callee(&tool.shown))).collect()
}

impl Registered {
    /// Returns the facts that a script needs to call the item by this name.
    pub(crate) fn as_callee(&self, shown: &Arc<str>) -> ScriptCallee {
        ScriptCallee {
            shown: Arc::clone(shown),
            description: self.description.to_string(),
            parameters: Arc::new(self.parameters().clone()),
            output: self.output(),
            is_read_only: self.effect == Effect::ReadOnly,
        }
    }
}

fn change(items: &mut BTreeMap<Arc<str>, Arc<Registered>>, name: &str, change: impl FnOnce(&mut Registered)) {
    if let Some(item) = items.get_mut(name).and_then(Arc::get_mut) {
        change(item);
    }
}
