//! The items that runs can reach, by the names in declarations, before these are resolved.

use std::collections::BTreeSet;

use super::{Contents, Selection};
use crate::plane::definition::{ToolDef, ToolsetDef, linked_items};

impl Contents {
    /// Returns the names that runs of items can reach; `None` if one of these items declares nothing, so that it may
    /// call every item.
    pub(crate) fn reached_from(&self, roots: &[String]) -> Option<BTreeSet<String>> {
        let defs: Vec<&ToolDef> = linked_items().collect();
        let toolsets: Vec<_> = inventory::iter::<ToolsetDef>.into_iter().copied().collect();
        let linked = Selection::new(&defs, &toolsets);
        let may_call_everything = |name: &str| {
            defs.iter().any(|def| def.name == name && def.is_composite && def.declaration.is_none())
                || self.tools.iter().any(|(tool, _)| tool.name == name && tool.toolsets.is_none())
        };
        let (mut reached, mut open) = (BTreeSet::new(), roots.to_vec());
        while let Some(name) = open.pop() {
            if may_call_everything(&name) {
                return None;
            }
            if reached.insert(name.clone()) {
                open.extend(linked.declared_by(&name).map(str::to_owned));
                open.extend(self.declared_by(&name));
            }
        }
        Some(reached)
    }

    /// Returns the names in an item's declaration that the program adds.
    fn declared_by(&self, name: &str) -> impl Iterator<Item = String> {
        let workers = self.workers.iter().filter(move |(spec, _)| spec.name() == name);
        let workers = workers.flat_map(|(spec, _)| spec.toolsets.iter().chain(spec.further_tools()).cloned());
        let implied = self.implied.iter().filter(move |(worker, _)| worker == name).map(|(_, tool)| tool.clone());
        let tools = self.tools.iter().filter(move |(tool, _)| tool.name == name);
        let tools = tools.flat_map(|(tool, _)| tool.toolsets.iter().flatten().cloned());
        let groups = self.groups.iter().filter(move |group| *group.name == *name);
        let groups = groups.flat_map(|group| group.tools.iter().map(ToString::to_string));
        let aliases = self.aliases.iter().filter(move |(alias, _)| alias.name == name);
        let aliases = aliases.map(|(alias, _)| alias.target.clone());
        workers.chain(implied).chain(tools).chain(groups).chain(aliases)
    }
}
