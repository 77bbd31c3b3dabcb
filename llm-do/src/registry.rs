//! The link-time registry: every tool, worker, entry and toolset of the program, under one name each.

mod registered;
mod worker;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

pub use self::registered::Registered;
use crate::context::StateKey;
use crate::declared::{Declared, DeclaredTool};
use crate::definition::{Declaration, ToolDef, ToolsetDef};
use crate::toolset::{Member, OUTPUT_TOOL};

/// The tools, workers, entries and toolsets that are linked into the program.
///
/// A library's items are only linked if the program names the library somewhere: `use my_tools as _;` suffices.
#[derive(Debug)]
pub struct Registry {
    tools: BTreeMap<&'static str, Arc<Registered>>,
    toolsets: BTreeMap<&'static str, ToolsetDef>,
}

impl Registry {
    /// Collects what is linked.
    ///
    /// # Errors
    ///
    /// Returns an error that names **every** collision of names, with the places of both, every name in a
    /// `toolsets = ["name"]` that stands for nothing, and every worker whose `output` or `output_schema` does not go
    /// with its return type.
    pub fn collect() -> Result<Self, RegistryError> {
        let tools = inventory::iter::<ToolDef>.into_iter().copied().collect();
        let toolsets = inventory::iter::<ToolsetDef>.into_iter().copied().collect();
        Self::build(tools, toolsets)
    }

    fn build(mut tools: Vec<ToolDef>, mut toolsets: Vec<ToolsetDef>) -> Result<Self, RegistryError> {
        tools.sort_by_key(|def| (def.name, def.location.to_string()));
        toolsets.sort_by_key(|def| (def.name, def.location.to_string()));
        let mut faults = collisions(&tools, &toolsets);
        faults.extend(tools.iter().flat_map(worker::faults));
        faults.extend(tools.iter().flat_map(unfit_arguments));
        let toolsets = toolsets.iter().map(|def| (def.name, *def)).collect();
        let mut registry = Self { tools: BTreeMap::new(), toolsets };
        let items = tools.iter().map(|def| (def.name, Registered::new(def))).collect();
        registry.tools = registry.declaring(items, &mut faults);
        if faults.is_empty() { Ok(registry) } else { Err(RegistryError { faults }) }
    }

    /// Gives each item what it declares, now that all are known: it may declare one that comes after it, or itself.
    fn declaring(
        &self,
        mut items: BTreeMap<&'static str, Registered>,
        faults: &mut Vec<String>,
    ) -> BTreeMap<&'static str, Arc<Registered>> {
        let known: Vec<&str> = items.keys().chain(self.toolsets.keys()).copied().collect();
        let specs: HashMap<_, _> = items.values().map(|item| (item.name(), item.spec.clone())).collect();
        for item in items.values_mut() {
            let resolve = |declaration| self.resolve(&item.def, declaration, &known, faults);
            let declared = item.def.declaration.map(resolve);
            item.declared = declared.map(|tools| Arc::new(Declared::new(tools, |tool| specs.get(tool).cloned())));
        }
        items.into_iter().map(|(name, item)| (name, Arc::new(item))).collect()
    }

    /// Lists the tools that a declaration stands for.
    fn resolve(
        &self,
        def: &ToolDef,
        declaration: &Declaration,
        known: &[&str],
        faults: &mut Vec<String>,
    ) -> Vec<DeclaredTool> {
        let mut members: Vec<Member> = declaration.members.concat();
        for &name in declaration.by_name {
            match self.toolsets.get(name) {
                Some(set) => members.extend(set.members),
                None if known.contains(&name) => members.push(Member::new(name)),
                None => faults.push(format!(
                    "`{}` ({}) declares the toolset `{name}`, which is not registered{}",
                    def.name,
                    def.location,
                    did_you_mean(name, known.iter().copied())
                )),
            }
        }
        let mut tools = Vec::new();
        for member in members {
            faults.extend(declare(&mut tools, def, &member));
        }
        tools
    }

    /// Returns the item of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        self.tools.get(name)
    }

    /// Returns all tools, workers and entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.values()
    }

    /// Returns all toolsets, by name: the name, what it is for, its members.
    pub fn toolsets(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static [Member])> {
        self.toolsets.values().map(|set| (set.name, set.description, set.members))
    }

    /// Says what to do about a name that is not here, or not among those that the caller may call.
    pub(crate) fn hint(&self, name: &str, declared: Option<&Declared>) -> String {
        if self.tools.is_empty() {
            return "nothing is registered; if your tools are in a library, name it: `use my_tools as _;`".to_owned();
        }
        if let Some(shown) = declared.and_then(|declared| declared.shown(name)) {
            return format!("here it is named `{shown}`");
        }
        let known: Vec<&str> = match declared {
            Some(declared) => declared.iter().map(|tool| &*tool.shown).collect(),
            None => self.tools.keys().copied().collect(),
        };
        let near = did_you_mean(name, known.iter().copied());
        if !near.is_empty() {
            return near.trim_start_matches("; ").to_owned();
        }
        let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
        match (names.is_empty(), declared) {
            (true, _) => "there is none to call".to_owned(),
            (_, Some(_)) => format!("there are {}", names.join(", ")),
            (_, None) => {
                let names = names.join(", ");
                format!("there are {names}; a library's tools are only linked if the program names it (`use it as _;`)")
            }
        }
    }

    /// Lists the state that registered items take and `has` does not find, with who takes it.
    pub(crate) fn missing_state(&self, has: impl Fn(StateKey) -> bool) -> Vec<String> {
        let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for tool in self.iter() {
            for key in tool.def.state.iter().map(|key| key()).filter(|key| !has(*key)) {
                missing.entry(key.name).or_default().push(format!("`{}`", tool.def.name));
            }
        }
        let describe = |(name, tools): (&str, Vec<String>)| format!("`{name}` for {}", tools.join(", "));
        missing.into_iter().map(describe).collect()
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

/// Says what makes the arguments of an item none that a model could give.
fn unfit_arguments(def: &ToolDef) -> Vec<String> {
    (def.faults)().into_iter().map(|fault| format!("`{}` ({}): {fault}", def.name, def.location)).collect()
}

/// Says of each name that stands for more than one item, or may not be used, where they all are.
fn collisions(tools: &[ToolDef], toolsets: &[ToolsetDef]) -> Vec<String> {
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

/// Returns "; did you mean `x`?" if a name is near, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = known.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
    let best = near.filter(|(score, _)| *score >= 0.6).max_by(|left, right| left.0.total_cmp(&right.0));
    best.map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"))
}

/// Why the registry refuses to begin: every fault, not only the first.
#[derive(Debug)]
pub struct RegistryError {
    faults: Vec<String>,
}

impl RegistryError {
    /// Returns the faults, one sentence each.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the registry has {} fault(s)", self.faults.len())?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for RegistryError {}
