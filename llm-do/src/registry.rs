//! The link-time registry: every tool, worker, entry and toolset of the program, under one name each.

mod names;
mod registered;
mod worker;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use self::names::{Names, collisions, instances};
pub use self::registered::Registered;
use crate::context::StateKey;
use crate::declared::Declared;
use crate::definition::{ToolDef, ToolsetDef};
use crate::toolset::Member;

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
        let names = Names { tools: &tools, toolsets: &toolsets };
        let mut items: BTreeMap<_, _> = tools.iter().map(|def| (def.name, Registered::new(def))).collect();
        // Two rounds, since an item may declare one that comes after it, or itself.
        let specs: HashMap<_, _> = items.values().map(|item| (item.name(), item.spec.clone())).collect();
        for item in items.values_mut() {
            let declaration = item.def.declaration;
            let declared = declaration.map(|declaration| names.resolve(&item.def, declaration, &mut faults));
            item.instances = instances(&tools, declared.as_deref().unwrap_or_default());
            item.declared = declared.map(|tools| Arc::new(Declared::new(tools, |tool| specs.get(tool).cloned())));
        }
        let tools = items.into_iter().map(|(name, item)| (name, Arc::new(item))).collect();
        if faults.is_empty() { Ok(Self { tools, toolsets }) } else { Err(RegistryError { faults }) }
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

    /// Returns what registered the toolsets, by name.
    pub(crate) fn toolset_defs(&self) -> &BTreeMap<&'static str, ToolsetDef> {
        &self.toolsets
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
            let opening = tool.def.instance.map(|instance| instance.state).unwrap_or_default();
            for key in tool.def.state.iter().chain(opening).map(|key| key()).filter(|key| !has(*key)) {
                missing.entry(key.name).or_default().push(format!("`{}`", tool.def.name));
            }
        }
        let describe = |(name, tools): (&str, Vec<String>)| format!("`{name}` for {}", tools.join(", "));
        missing.into_iter().map(describe).collect()
    }
}

/// Says what makes the arguments of an item none that a model could give.
fn unfit_arguments(def: &ToolDef) -> Vec<String> {
    let faults = (def.faults)().into_iter();
    faults.map(|fault| format!("`{}` ({}): {fault}", def.name, def.location)).collect()
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
