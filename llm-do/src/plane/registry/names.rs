//! Checks that names are unique, and resolves the names in declarations.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use llm_do_worker_file::did_you_mean;

use super::{Group, Registered};
use crate::declare::toolset::{Member, OUTPUT_TOOL};
use crate::plane::declared::{Declared, DeclaredTool};
use crate::plane::definition::{Declaration, InstanceDef, ToolsetDef};

/// The maximum number of faults with a suggestion.
const MAX_SUGGESTIONS: usize = 100;

/// The names that a declaration may use.
pub(super) struct Names<'a> {
    pub(super) items: &'a BTreeMap<Arc<str>, Arc<Registered>>,
    pub(super) toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
    pub(super) groups: &'a BTreeMap<Arc<str>, Group>,
}

/// A declaration before its names are resolved.
#[derive(Clone, Debug, Default)]
pub(super) struct DeclarationSource {
    /// Members that are known at compile time.
    pub(super) members: Vec<Member>,
    /// Names that are looked up at run time.
    pub(super) by_name: Vec<Arc<str>>,
}

impl From<&Declaration> for DeclarationSource {
    fn from(declaration: &Declaration) -> Self {
        let by_name = declaration.by_name.iter().copied().map(Into::into).collect();
        Self { members: declaration.members.concat(), by_name }
    }
}

impl Names<'_> {
    fn all(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.keys().map(AsRef::as_ref);
        self.items.keys().map(AsRef::as_ref).chain(self.toolsets.keys().copied()).chain(groups)
    }

    /// Returns a suggestion for an unknown name, or how a name is registered: this too after some faults, since all names are compared.
    fn suggestion(&self, name: &str, faults: usize) -> String {
        let compared = self.all().take(if faults < MAX_SUGGESTIONS { usize::MAX } else { 0 });
        match did_you_mean(name, compared) {
            near if near.is_empty() => "; link its library, or load the folder of its worker file".to_owned(),
            near => near,
        }
    }

    /// Returns what an item may call, and the instances that its call opens. A worker without a declaration may call
    /// nothing.
    pub(super) fn open(
        &self,
        item: &Registered,
        declarations: &HashMap<Arc<str>, DeclarationSource>,
        faults: &mut Vec<String>,
    ) -> (Option<Arc<Declared>>, Vec<InstanceDef>) {
        let Some(source) = declarations.get(&item.name) else {
            return (item.plan().map(|_| Arc::default()), Vec::new());
        };
        let tools = self.resolve(item, source, faults);
        let instances = self.instances(&tools);
        (Some(Arc::new(self.declared(tools))), instances)
    }

    /// Returns the tools with the specs that models see.
    pub(super) fn declared(&self, tools: Vec<DeclaredTool>) -> Declared {
        let offered =
            tools.iter().filter_map(|tool| Some(self.items.get(&tool.tool)?.offered_as(Arc::clone(&tool.shown))));
        let offered = offered.collect();
        Declared::new(tools, offered)
    }

    /// Returns the tools that a declaration includes.
    pub(super) fn resolve(
        &self,
        item: &Registered,
        source: &DeclarationSource,
        faults: &mut Vec<String>,
    ) -> Vec<DeclaredTool> {
        let mut tools = Vec::new();
        let mut declare = |member: &Member, faults: &mut Vec<String>| {
            faults.extend(declare(&mut tools, item, member.shown().into(), member.tool().into()));
        };
        source.members.iter().for_each(|member| declare(member, faults));
        let mut named = Vec::new();
        for name in &source.by_name {
            let count = faults.len();
            match (self.toolsets.get(&**name), self.groups.get(name)) {
                (Some(set), _) => set.members.iter().for_each(|member| declare(member, faults)),
                (None, Some(group)) => named.extend(group.tools.iter().cloned()),
                (None, None) if self.items.contains_key(name) => named.push(Arc::clone(name)),
                (None, None) if self.groups.values().any(|group| group.lacks(name)) => {}
                (None, None) => faults.push(format!(
                    "`{}` ({}): unknown tool or toolset `{name}`{}",
                    item.name(),
                    item.location_of(name),
                    self.suggestion(name, count)
                )),
            }
        }
        for name in named {
            faults.extend(self::declare(&mut tools, item, Arc::clone(&name), name));
        }
        tools
    }

    /// Returns one instance for each stateful toolset whose tools are declared.
    pub(super) fn instances(&self, declared: &[DeclaredTool]) -> Vec<InstanceDef> {
        let mut instances: Vec<InstanceDef> = Vec::new();
        for declared in declared {
            let instance = self.items.get(&declared.tool).and_then(|item| item.receiver);
            instances.extend(instance.filter(|new| instances.iter().all(|known| known.key() != new.key())));
        }
        instances
    }
}

/// Adds a tool to the declaration of `item` once; returns a fault if another tool has the same shown name.
fn declare(tools: &mut Vec<DeclaredTool>, item: &Registered, shown: Arc<str>, tool: Arc<str>) -> Option<String> {
    match tools.iter().find(|known| known.shown == shown) {
        None => {
            tools.push(DeclaredTool { shown, tool });
            None
        }
        Some(known) if known.tool == tool => None,
        Some(DeclaredTool { tool: known, .. }) => Some(format!(
            "`{}` ({}) declares two tools with the name `{shown}`: `{known}` and `{tool}`",
            item.name(),
            item.location()
        )),
    }
}

/// What has a name.
#[derive(Clone, Copy)]
enum Named<'a> {
    Item(&'a Registered),
    Toolset(&'a ToolsetDef),
    Group(&'a Group),
}

impl<'a> Named<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Item(item) => item.name(),
            Self::Toolset(def) => def.name,
            Self::Group(group) => &group.name,
        }
    }
}

/// What it is, and where.
impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(item) => write!(f, "{} at {}", item.kind().as_str(), item.location()),
            Self::Toolset(def) => write!(f, "toolset at {}", def.location),
            Self::Group(group) => write!(f, "toolset at {}", group.origin),
        }
    }
}

/// Returns a fault for each duplicate or reserved name, with all its locations.
pub(super) fn collisions(items: &[Arc<Registered>], toolsets: &[ToolsetDef], groups: &[Group]) -> Vec<String> {
    let items = items.iter().map(|item| Named::Item(item));
    let mut named: Vec<_> =
        items.chain(toolsets.iter().map(Named::Toolset)).chain(groups.iter().map(Named::Group)).collect();
    named.sort_by_key(|named| named.name());
    named.chunk_by(|one, next| one.name() == next.name()).filter_map(collision).collect()
}

/// Returns the fault of all that has one name.
fn collision(named: &[Named<'_>]) -> Option<String> {
    let name = named.first()?.name();
    let all = || named.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if name == OUTPUT_TOOL {
        return Some(format!("`{name}` is reserved for the results of workers; rename {}", all()));
    }
    (named.len() > 1).then(|| format!("`{name}` is registered {} times: {}", named.len(), all()))
}
