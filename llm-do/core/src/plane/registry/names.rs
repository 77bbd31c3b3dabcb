//! Checks that names are unique, and resolves the names in declarations.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use llm_do_worker_file::did_you_mean;

use super::{Group, LeftOut, Registered, why_left_out};
use crate::declare::toolset::{Member, OUTPUT_TOOL};
use crate::plane::declared::{Declared, DeclaredTool};
use crate::plane::definition::{Declaration, InstanceDef, ToolsetDef};

/// The maximum number of faults with a suggestion.
const MAX_SUGGESTIONS: usize = 100;

/// The names that a declaration may use.
pub(super) struct Names<'a> {
    items: &'a BTreeMap<Arc<str>, Arc<Registered>>,
    toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
    groups: &'a BTreeMap<Arc<str>, Group>,
    left_out: &'a [LeftOut],
    /// The registered names for each name in the files of other programs, collected on first use.
    foreign: OnceCell<HashMap<&'a str, Vec<&'a Arc<str>>>>,
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

impl<'a> Names<'a> {
    pub(super) fn new(
        items: &'a BTreeMap<Arc<str>, Arc<Registered>>,
        toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
        groups: &'a BTreeMap<Arc<str>, Group>,
        left_out: &'a [LeftOut],
    ) -> Self {
        Self { items, toolsets, groups, left_out, foreign: OnceCell::new() }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        let groups = self.groups.keys().map(AsRef::as_ref);
        self.items.keys().map(AsRef::as_ref).chain(self.toolsets.keys().copied()).chain(groups)
    }

    /// Returns the registered names for a name in the files of other programs.
    fn foreign(&self, name: &str) -> &[&'a Arc<str>] {
        let collected = self.foreign.get_or_init(|| {
            let mut names: HashMap<_, Vec<_>> = HashMap::new();
            for (foreign, own) in self.groups.values().flat_map(|group| &group.foreign) {
                names.entry(foreign.as_str()).or_default().push(own);
            }
            names
        });
        collected.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a suggestion for an unknown name, or its registered name. Omitted after some faults, since all names are
    /// compared.
    fn suggestion(&self, name: &str, faults: usize) -> String {
        if let Some(why) = why_left_out(self.left_out, name) {
            return why;
        }
        let own: Vec<_> = self.foreign(name).iter().map(|own| format!("`{own}`")).collect();
        if !own.is_empty() {
            return format!("; its name here is {}", own.join(" or "));
        }
        let compared = self.all().take(if faults < MAX_SUGGESTIONS { usize::MAX } else { 0 });
        match did_you_mean(name, compared) {
            near if near.is_empty() => "; link its library, or load the folder of its worker file".to_owned(),
            near => near,
        }
    }

    /// Returns the callees of an item, and the instances that its call opens. A worker without a declaration has no
    /// callees.
    pub(super) fn open(
        &self,
        item: &Registered,
        declarations: &HashMap<Arc<str>, DeclarationSource>,
        faults: &mut Vec<String>,
        warnings: &mut Vec<String>,
    ) -> (Option<Arc<Declared>>, Vec<InstanceDef>) {
        let Some(source) = declarations.get(&item.name) else {
            return (item.plan().map(|_| Arc::default()), Vec::new());
        };
        let tools = match item.origin.taken_away() {
            None => self.resolve(item, source, faults),
            Some(without) => {
                let mut tools = self.resolve(item, source, warnings);
                let without = self.all_of(without);
                tools.retain(|tool| !without.contains(&*tool.tool));
                tools
            }
        };
        let instances = self.instances(&tools);
        (Some(Arc::new(self.declared(tools))), instances)
    }

    /// Returns the registered names of tools, of members of toolsets, and of all tools that a name of another program
    /// may mean.
    fn all_of<'b>(&'b self, names: &'b [String]) -> HashSet<&'b str> {
        let mut all: HashSet<&str> = names.iter().map(String::as_str).collect();
        all.extend(names.iter().flat_map(|name| self.foreign(name)).map(|own| &***own));
        let groups: Vec<_> = all.iter().filter_map(|name| self.groups.get(*name)).collect();
        all.extend(groups.into_iter().flat_map(|group| &group.tools).map(|tool| &**tool));
        all
    }

    /// Returns the tools with the specs that models see.
    pub(super) fn declared(&self, tools: Vec<DeclaredTool>) -> Declared {
        let offered =
            tools.iter().filter_map(|tool| Some(self.items.get(&tool.tool)?.offered_as(Arc::clone(&tool.shown))));
        let offered = offered.collect();
        Declared::new(tools, offered)
    }

    /// Returns the tools of a declaration.
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
            let known = match self.foreign(name) {
                [only] if item.is_external() && !self.has(name) => *only,
                _ => name,
            };
            match (self.toolsets.get(&**known), self.groups.get(known)) {
                (Some(set), _) => set.members.iter().for_each(|member| declare(member, faults)),
                (None, Some(group)) => named.extend(group.tools.iter().cloned()),
                (None, None) if self.items.contains_key(known) => named.push(Arc::clone(known)),
                (None, None) if self.groups.values().any(|group| group.lacks(name)) => {}
                (None, None) => faults.push(self.unknown(item, name, faults.len())),
            }
        }
        for name in named {
            faults.extend(self::declare(&mut tools, item, Arc::clone(&name), name));
        }
        tools
    }

    fn has(&self, name: &Arc<str>) -> bool {
        self.items.contains_key(name) || self.groups.contains_key(name) || self.toolsets.contains_key(&**name)
    }

    /// Returns the fault of an unknown name; in the file of another program, it is a warning.
    fn unknown(&self, item: &Registered, name: &str, count: usize) -> String {
        let (place, hint) = (item.location_of(name), self.suggestion(name, count));
        if item.is_external() {
            return format!("{place}: the tool `{name}` is left out: unknown tool or toolset{hint}");
        }
        format!("`{}` ({place}): unknown tool or toolset `{name}`{hint}", item.name())
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

/// The owner of a name.
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

/// Describes the owner and its location.
impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(item) => {
                let of = item.instance().map(|instance| format!(" of the instance `{instance}`")).unwrap_or_default();
                write!(f, "{}{of} at {}", item.kind().as_str(), item.location())
            }
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

/// Returns the fault of several owners of one name.
fn collision(named: &[Named<'_>]) -> Option<String> {
    let name = named.first()?.name();
    let all = || named.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if name == OUTPUT_TOOL {
        return Some(format!("`{name}` is reserved for the results of workers; rename {}", all()));
    }
    (named.len() > 1).then(|| format!("`{name}` is registered {} times: {}", named.len(), all()))
}
