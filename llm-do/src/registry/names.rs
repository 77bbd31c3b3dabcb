//! Names: which are taken twice, and what those in a declaration stand for.

use std::collections::BTreeMap;

use super::did_you_mean;
use crate::declared::DeclaredTool;
use crate::definition::{Declaration, InstanceDef, ToolDef, ToolsetDef};
use crate::toolset::{Member, OUTPUT_TOOL};

/// What a declaration may name.
pub(super) struct Names<'a> {
    pub(super) tools: &'a [ToolDef],
    pub(super) toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
}

impl Names<'_> {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|def| def.name).chain(self.toolsets.keys().copied())
    }

    /// Lists the tools that a declaration stands for.
    pub(super) fn resolve(
        &self,
        def: &ToolDef,
        declaration: &Declaration,
        faults: &mut Vec<String>,
    ) -> Vec<DeclaredTool> {
        let mut members: Vec<Member> = declaration.members.concat();
        for &name in declaration.by_name {
            match self.toolsets.get(name) {
                Some(set) => members.extend(set.members),
                None if self.all().any(|known| known == name) => members.push(Member::new(name)),
                None => faults.push(format!(
                    "`{}` ({}) declares the toolset `{name}`, which is not registered{}",
                    def.name,
                    def.location,
                    did_you_mean(name, self.all())
                )),
            }
        }
        let mut tools = Vec::new();
        for member in members {
            faults.extend(declare(&mut tools, def, &member));
        }
        tools
    }
}

/// Adds a member to what `def` declares, once; returns the fault of one that is shown as another is.
fn declare(tools: &mut Vec<DeclaredTool>, def: &ToolDef, member: &Member) -> Option<String> {
    let (shown, tool) = (member.shown(), member.tool());
    match tools.iter().find(|known| *known.shown == *shown) {
        None => {
            tools.push(DeclaredTool { shown: shown.into(), tool });
            None
        }
        Some(known) if known.tool == tool => None,
        Some(DeclaredTool { tool: known, .. }) => Some(format!(
            "`{}` ({}) declares two tools that are shown as `{shown}`: `{known}` and `{tool}`",
            def.name, def.location
        )),
    }
}

/// Says of each name that stands for more than one item, or may not be used, where they all are.
pub(super) fn collisions(tools: &[ToolDef], toolsets: &[ToolsetDef]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for def in tools {
        places.entry(def.name).or_default().push(format!("{} at {}", def.kind.as_str(), def.location));
    }
    for def in toolsets {
        places.entry(def.name).or_default().push(format!("toolset at {}", def.location));
    }
    places.into_iter().filter_map(|(name, places)| collision(name, &places)).collect()
}

fn collision(name: &str, places: &[String]) -> Option<String> {
    let all = places.join(", ");
    if name == OUTPUT_TOOL {
        return Some(format!("`{name}` is the name under which workers give their results; rename {all}"));
    }
    (places.len() > 1).then(|| format!("`{name}` is registered {} times: {all}", places.len()))
}

/// Returns one of each stateful toolset of which tools are declared.
pub(super) fn instances(tools: &[ToolDef], declared: &[DeclaredTool]) -> Vec<InstanceDef> {
    let mut instances: Vec<InstanceDef> = Vec::new();
    for declared in declared {
        let instance = tools.iter().find(|def| def.name == declared.tool).and_then(|def| def.instance);
        instances.extend(instance.filter(|new| instances.iter().all(|known| known.key() != new.key())));
    }
    instances
}
