//! Names: which are taken twice, and what those in a declaration stand for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Registered, did_you_mean};
use crate::declare::toolset::{Member, OUTPUT_TOOL};
use crate::plane::declared::{Declared, DeclaredTool};
use crate::plane::definition::{Declaration, InstanceDef, ToolsetDef};

/// What a declaration may name.
pub(super) struct Names<'a> {
    pub(super) items: &'a BTreeMap<Arc<str>, Arc<Registered>>,
    pub(super) toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
}

/// What an item declares, as it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    /// Members that the compiler knows.
    pub(super) members: Vec<Member>,
    /// Names that are looked up.
    pub(super) by_name: Vec<Arc<str>>,
}

impl From<&Declaration> for Written {
    fn from(declaration: &Declaration) -> Self {
        let by_name = declaration.by_name.iter().copied().map(Into::into).collect();
        Self { members: declaration.members.concat(), by_name }
    }
}

impl Names<'_> {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.items.keys().map(AsRef::as_ref).chain(self.toolsets.keys().copied())
    }

    /// Says which name may be meant, or else how a name comes to be registered.
    fn near(&self, name: &str) -> String {
        match did_you_mean(name, self.all()) {
            near if near.is_empty() => "; link what registers it, or give the folder of its worker file".to_owned(),
            near => near,
        }
    }

    /// Returns what an item may call, and the instances that a call of it opens; a worker calls nothing undeclared.
    pub(super) fn open(
        &self,
        item: &Registered,
        declarations: &HashMap<Arc<str>, Option<Written>>,
        faults: &mut Vec<String>,
    ) -> (Option<Arc<Declared>>, Vec<InstanceDef>) {
        let written = declarations.get(&item.spec.name).and_then(Option::as_ref);
        let Some(written) = written else { return (item.plan().map(|_| Arc::default()), Vec::new()) };
        let tools = self.resolve(item, written, faults);
        let instances = self.instances(&tools);
        (Some(Arc::new(self.declared(tools))), instances)
    }

    /// Returns the tools with what models are told of them.
    pub(super) fn declared(&self, tools: Vec<DeclaredTool>) -> Declared {
        Declared::new(tools, |tool| self.items.get(tool).map(|item| item.spec.clone()))
    }

    /// Lists the tools that a declaration stands for.
    pub(super) fn resolve(&self, item: &Registered, written: &Written, faults: &mut Vec<String>) -> Vec<DeclaredTool> {
        let mut tools = Vec::new();
        let mut declare = |member: &Member, faults: &mut Vec<String>| {
            faults.extend(declare(&mut tools, item, member.shown().into(), member.tool().into()));
        };
        written.members.iter().for_each(|member| declare(member, faults));
        let mut named = Vec::new();
        for name in &written.by_name {
            match self.toolsets.get(&**name) {
                Some(set) => set.members.iter().for_each(|member| declare(member, faults)),
                None if self.items.contains_key(name) => named.push(Arc::clone(name)),
                None => faults.push(format!(
                    "`{}` ({}) declares the toolset `{name}`, which is not registered{}",
                    item.name(),
                    item.location(),
                    self.near(name)
                )),
            }
        }
        for name in named {
            faults.extend(self::declare(&mut tools, item, Arc::clone(&name), name));
        }
        tools
    }

    /// Returns one of each stateful toolset of which tools are declared.
    pub(super) fn instances(&self, declared: &[DeclaredTool]) -> Vec<InstanceDef> {
        let mut instances: Vec<InstanceDef> = Vec::new();
        for declared in declared {
            let instance = self.items.get(&declared.tool).and_then(|item| item.receiver);
            instances.extend(instance.filter(|new| instances.iter().all(|known| known.key() != new.key())));
        }
        instances
    }
}

/// Adds a member to what `item` declares, once; returns the fault of one that is shown as another is.
fn declare(tools: &mut Vec<DeclaredTool>, item: &Registered, shown: Arc<str>, tool: Arc<str>) -> Option<String> {
    match tools.iter().find(|known| known.shown == shown) {
        None => {
            tools.push(DeclaredTool { shown, tool });
            None
        }
        Some(known) if known.tool == tool => None,
        Some(DeclaredTool { tool: known, .. }) => Some(format!(
            "`{}` ({}) declares two tools that are shown as `{shown}`: `{known}` and `{tool}`",
            item.name(),
            item.location()
        )),
    }
}

/// Says of each name that stands for more than one item, or may not be used, where they all are.
pub(super) fn collisions(items: &[Registered], toolsets: &[ToolsetDef]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for item in items {
        places.entry(item.name()).or_default().push(format!("{} at {}", item.kind().as_str(), item.location()));
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
