//! The link-time registry: every tool, worker, entry and toolset of the program, under one name each.

mod names;
mod plan;
mod prepared;
mod registered;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use llm_do_providers::provider_collisions;

use self::names::{Names, Written, collisions};
pub(crate) use self::plan::WorkerPlan;
pub(crate) use self::prepared::{Briefing, Prepared, Shown};
pub use self::registered::Registered;
pub(crate) use self::registered::{Code, Origin};
use crate::base::error::CallError;
use crate::declare::toolset::Member;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::StateKey;
use crate::plane::declared::Declared;
use crate::plane::definition::{ToolDef, ToolsetDef};

/// The tools, workers, entries and toolsets that are linked into the program.
///
/// A library's items are only linked if the program names the library somewhere: `use my_tools as _;` suffices.
#[derive(Debug)]
pub struct Registry {
    tools: BTreeMap<Arc<str>, Arc<Registered>>,
    /// The same once more, since every call looks its callee up.
    found: HashMap<Arc<str>, Arc<Registered>, RandomState>,
    toolsets: BTreeMap<&'static str, ToolsetDef>,
}

impl Registry {
    /// Collects what is linked.
    ///
    /// # Errors
    ///
    /// Returns an error that names **every** collision of names, and of prefixes of model providers, with the places of
    /// both, every name in a `toolsets = ["name"]` that stands for nothing, and every worker whose `output` or
    /// `output_schema` does not go with its return type.
    pub fn collect() -> Result<Self, RegistryError> {
        Self::with_workers(Vec::new())
    }

    /// Collects what is linked, and adds workers that are written elsewhere.
    pub(crate) fn with_workers(workers: Vec<(WorkerSpec, Origin)>) -> Result<Self, RegistryError> {
        let mut defs: Vec<&ToolDef> = inventory::iter::<ToolDef>.into_iter().collect();
        defs.sort_by_key(|def| (def.name, def.location.to_string()));
        let mut faults: Vec<_> = defs.iter().flat_map(|def| plan::faults(def)).collect();
        faults.extend(defs.iter().flat_map(|def| unfit_arguments(def)));
        faults.extend(workers.iter().flat_map(|(spec, origin)| unfit(spec, origin)));
        let linked = defs.iter().map(|def| (Registered::linked(def), def.declaration.map(Written::from)));
        let written = workers.into_iter().map(|(spec, origin)| {
            let by_name = spec.toolsets.iter().map(|name| name.as_str().into()).collect();
            (Registered::written(&spec, origin), Some(Written { members: Vec::new(), by_name }))
        });
        let (items, declarations) = linked.chain(written).unzip();
        Self::build(items, declarations, faults)
    }

    fn build(
        items: Vec<Registered>,
        declarations: Vec<Option<Written>>,
        mut faults: Vec<String>,
    ) -> Result<Self, RegistryError> {
        let mut toolsets: Vec<_> = inventory::iter::<ToolsetDef>.into_iter().copied().collect();
        toolsets.sort_by_key(|def| (def.name, def.location.to_string()));
        faults.splice(0..0, collisions(&items, &toolsets).into_iter().chain(provider_collisions()));
        let toolsets = toolsets.iter().map(|def| (def.name, *def)).collect();
        let declarations: HashMap<_, _> =
            items.iter().map(|item| Arc::clone(&item.spec.name)).zip(declarations).collect();
        let shared = items.into_iter().map(|item| (Arc::clone(&item.spec.name), Arc::new(item)));
        let mut items: BTreeMap<_, _> = shared.collect();
        // Two rounds, since an item may declare one that comes after it, or itself.
        let names = Names { items: &items, toolsets: &toolsets };
        let resolved: Vec<_> = items.values().map(|item| names.open(item, &declarations, &mut faults)).collect();
        for (place, (item, (declared, instances))) in items.values_mut().zip(resolved).enumerate() {
            let Some(item) = Arc::get_mut(item) else { unreachable!("nobody else has seen it yet") };
            item.place = Some(place);
            item.declared = declared;
            item.instances = instances;
        }
        let tools = items;
        let found = tools.iter().map(|(name, item)| (Arc::clone(name), Arc::clone(item))).collect();
        if faults.is_empty() { Ok(Self { tools, found, toolsets }) } else { Err(RegistryError { faults }) }
    }

    /// Puts a worker together that is called on the spot; it may call what its caller may.
    pub(crate) fn inline(
        &self,
        spec: &WorkerSpec,
        declared: Option<&Declared>,
        caller: &str,
    ) -> Result<Registered, CallError> {
        let worker =
            self.worker(spec, Origin::Session).map_err(|faults| CallError::invalid(spec.name(), faults.join("; ")))?;
        let tools = worker.declared.iter().flat_map(|own| own.iter());
        match declared.and_then(|declared| tools.map(|own| &own.tool).find(|tool| declared.shown(tool).is_none())) {
            Some(tool) => Err(CallError::NotDeclared { tool: tool.to_string(), caller: caller.to_owned() }),
            None => Ok(worker),
        }
    }

    /// Puts a worker together that is not registered; returns every fault of it.
    pub(crate) fn worker(&self, spec: &WorkerSpec, origin: Origin) -> Result<Registered, Vec<String>> {
        let is_taken = self.tools.contains_key(spec.name()) || self.toolsets.contains_key(spec.name());
        let taken = || format!("`{}` is registered already; choose another name", spec.name());
        self.assemble(spec, origin, is_taken.then(taken))
    }

    /// Puts a worker together whose name was judged before, in this process or another.
    pub(crate) fn worker_again(&self, spec: &WorkerSpec) -> Result<Registered, Vec<String>> {
        self.assemble(spec, Origin::Session, None)
    }

    /// Returns whether the item of a worker's name was read from a file that describes the same worker.
    pub(crate) fn has_file_of(&self, spec: &WorkerSpec) -> bool {
        self.get(spec.name()).is_some_and(|item| item.is_read_from(&spec.to_worker_file()))
    }

    fn assemble(&self, spec: &WorkerSpec, origin: Origin, taken: Option<String>) -> Result<Registered, Vec<String>> {
        let mut faults = spec.faults();
        let mut worker = Registered::written(spec, origin);
        faults.extend(taken);
        let by_name = spec.toolsets.iter().map(|name| name.as_str().into()).collect();
        let names = Names { items: &self.tools, toolsets: &self.toolsets };
        let tools = names.resolve(&worker, &Written { members: Vec::new(), by_name }, &mut faults);
        worker.instances = names.instances(&tools);
        worker.declared = Some(Arc::new(names.declared(tools)));
        if faults.is_empty() { Ok(worker) } else { Err(faults) }
    }

    /// Puts the registered names of what `maker` may call in the place of the names that it sees; returns what it may not
    /// give away.
    pub(crate) fn grant(&self, spec: &mut WorkerSpec, maker: &Declared) -> Vec<String> {
        let mut faults = Vec::new();
        let given = std::mem::take(&mut spec.toolsets);
        for name in given {
            let is_whole = |set: &ToolsetDef| set.members.iter().all(|member| maker.shown(member.tool()).is_some());
            let granted = match maker.tool(&name) {
                Some(tool) => Some(tool.to_owned()),
                None => self.toolsets.get(&*name).filter(|set| is_whole(set)).map(|_| name.clone()),
            };
            match granted {
                Some(tool) if spec.toolsets.contains(&tool) => {}
                Some(tool) => spec.toolsets.push(tool),
                None => faults.push(format!("`{name}` cannot be given to it; {}", self.hint(&name, Some(maker)))),
            }
        }
        faults
    }

    /// Returns the item of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        self.found.get(name)
    }

    /// Returns all tools, workers and entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.values()
    }

    /// Returns `root` and all that it may come to call, by what it and they declare; the nearest first.
    ///
    /// An item that declares nothing may call whatever is registered, of which nothing is known here.
    pub(crate) fn reachable<'a>(&'a self, root: &'a Registered) -> Vec<&'a Registered> {
        let (mut seen, mut found) = (HashSet::from([root.name()]), vec![root]);
        let mut next = 0;
        while let Some(item) = found.get(next) {
            let declared = item.declared.iter().flat_map(|declared| declared.iter());
            let items = declared.filter_map(|tool| self.get(&tool.tool));
            let new: Vec<&Registered> = items.map(|item| &**item).filter(|item| seen.insert(item.name())).collect();
            found.extend(new);
            next += 1;
        }
        found
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
            None => self.tools.keys().map(AsRef::as_ref).collect(),
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
            for key in tool.state().into_iter().filter(|key| !has(*key)) {
                missing.entry(key.name).or_default().push(format!("`{}`", tool.name()));
            }
        }
        let describe = |(name, tools): (&str, Vec<String>)| format!("`{name}` for {}", tools.join(", "));
        missing.into_iter().map(describe).collect()
    }
}

/// Says what makes a worker none that is written elsewhere.
fn unfit(spec: &WorkerSpec, origin: &Origin) -> Vec<String> {
    spec.faults().into_iter().map(|fault| format!("the worker `{}` ({origin}): {fault}", spec.name())).collect()
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
