//! The link-time registry: every tool, worker, entry and toolset of the program, by its unique name.

mod application;
mod background;
#[cfg(feature = "script")]
mod code_workers;
mod contents;
mod effects;
mod error;
mod for_code;
mod group;
mod inputs;
mod left_out;
mod names;
mod origin;
mod plan;
mod prepared;
mod reconcile;
mod registered;
#[cfg(feature = "script")]
mod scripts;
#[cfg(feature = "mcp-snapshots")]
mod snapshots;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;
use llm_do_providers::provider_collisions;
use llm_do_worker_file::did_you_mean;

pub use self::application::Application;
pub(crate) use self::contents::Contents;
use self::contents::by_name;
pub(crate) use self::effects::{EffectLayer, adds_tools, weakens};
pub use self::error::RegistryError;
pub use self::group::Group;
#[doc(hidden)]
pub use self::group::is_of;
#[doc(hidden)]
pub use self::left_out::foreign_tool_name;
pub use self::left_out::{LeftOut, why_left_out};
use self::names::{DeclarationSource, Names, collisions};
pub use self::origin::Origin;
pub(crate) use self::plan::WorkerPlan;
pub(crate) use self::prepared::{DisplayedArguments, NormalForm, Prepared, PreparedWorker};
pub(crate) use self::registered::Code;
pub use self::registered::Registered;
use crate::base::error::CallError;
use crate::declare::toolset::Member;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::context::StateKey;
use crate::plane::declared::Declared;
use crate::plane::definition::{InstanceDef, ToolsetDef};

/// The tools, workers, entries and toolsets that are linked into the program.
///
/// A library's items are linked only if the program refers to the library: `use my_tools as _;` is enough.
#[derive(Clone, Debug)]
pub struct Registry {
    tools: BTreeMap<Arc<str>, Arc<Registered>>,
    /// The same items in a hash map, since every call looks up its callee.
    by_name: HashMap<Arc<str>, Arc<Registered>, RandomState>,
    toolsets: BTreeMap<&'static str, ToolsetDef>,
    /// The toolsets that are known only at run time, by name.
    groups: BTreeMap<Arc<str>, Group>,
    /// Workers, each with a tool that it calls without declaring it.
    implied: Vec<(String, String)>,
    /// Whether the settings of the session add tools of the provider to the requests of each worker.
    adds_tools: bool,
    /// The items in files of other programs that the registry leaves out.
    left_out: Vec<LeftOut>,
    /// Warnings about parts of files of other programs without an effect here.
    pub(crate) warnings: Vec<String>,
}

impl Registry {
    /// Collects the linked items.
    ///
    /// # Errors
    ///
    /// Returns **all** errors: each duplicate name and each duplicate prefix of model providers, with the locations
    /// of both, each unknown name in `toolsets = ["name"]`, and each worker whose `output` or `output_schema` does
    /// not match its return type.
    pub fn collect() -> Result<Self, RegistryError> {
        Self::with(Contents::default())
    }

    /// Collects the linked items, or some of them, and adds those from other sources.
    pub(crate) fn with(mut contents: Contents) -> Result<Self, RegistryError> {
        let mut unknown = Vec::new();
        let (mut defs, toolsets) = contents.linked(&mut unknown);
        let mut faults = contents::linked_faults(&defs);
        faults.extend(contents.resolve_inputs());
        faults.extend(contents.faults().chain(unknown));
        let own_names = contents.own_names();
        let aliases = contents.take_aliases(&defs, &mut faults);
        defs.retain(|def| !own_names.contains(def.name));
        let taken: HashSet<_> = aliases.iter().map(|(item, _)| Arc::clone(&item.name)).collect();
        let warnings = contents.drop_foreign(&defs, &toolsets, taken);
        let groups = std::mem::take(&mut contents.groups);
        let left_out = std::mem::take(&mut contents.left_out);
        let effects = std::mem::take(&mut contents.effects);
        let implied = std::mem::take(&mut contents.implied);
        let adds_tools = contents.adds_tools;
        let linked = defs
            .iter()
            .map(|def| (Arc::new(Registered::from_definition(def)), def.declaration.map(DeclarationSource::from)));
        let (items, declarations) = linked.chain(aliases).chain(contents.into_items()).unzip();
        let mut registry = Self::build(
            items,
            declarations,
            &toolsets,
            groups,
            (effects.as_slice(), implied.as_slice(), adds_tools),
            (left_out, faults),
        )?;
        registry.warnings.splice(0..0, warnings);
        Ok(registry)
    }

    fn build(
        items: Vec<Arc<Registered>>,
        declarations: Vec<Option<DeclarationSource>>,
        toolsets: &[ToolsetDef],
        groups: Vec<Group>,
        (effects, implied, adds_tools): (&[EffectLayer], &[(String, String)], bool),
        (left_out, mut faults): (Vec<LeftOut>, Vec<String>),
    ) -> Result<Self, RegistryError> {
        let mut warnings = Vec::new();
        faults.splice(0..0, collisions(&items, toolsets, &groups).into_iter().chain(provider_collisions()));
        let toolsets = toolsets.iter().map(|def| (def.name, *def)).collect();
        let groups = groups.into_iter().map(|group| (Arc::clone(&group.name), group)).collect();
        let declarations = items.iter().zip(declarations).filter_map(|(item, declared)| {
            let declared = declared?;
            Some((Arc::clone(&item.name), declared))
        });
        let declarations: HashMap<_, _> = declarations.collect();
        let mut items: BTreeMap<_, _> = items.into_iter().map(|item| (Arc::clone(&item.name), item)).collect();
        // Resolved after all items are collected, since an item may declare a later one or itself.
        let names = Names::new(&items, &toolsets, &groups, &left_out);
        let resolved = items.values().map(|item| names.open(item, &declarations, &mut faults, &mut warnings));
        let resolved: Vec<_> = resolved.collect();
        for (place, (item, (declared, instances))) in items.values_mut().zip(resolved).enumerate() {
            let Some(item) = Arc::get_mut(item) else { unreachable!("the registry holds the only reference") };
            item.place = Some(place);
            item.declared = declared;
            item.instances = instances;
        }
        effects::declare(effects, &mut items, &toolsets, &groups);
        effects::derive(&mut items, implied, adds_tools);
        faults.extend(items.values().filter_map(|item| effects::fault(item, &items, implied, adds_tools)));
        #[cfg(feature = "script")]
        scripts::link(&mut items, &mut faults);
        #[cfg(feature = "script")]
        code_workers::link(&mut items, &mut faults);
        #[cfg(not(feature = "script"))]
        faults.extend(items.values().filter(|item| item.plan().is_some_and(|plan| plan.code)).map(|item| {
            format!("`{}` ({}): `code` needs the feature `script` of `llm-do`", item.name(), item.location())
        }));
        faults.extend(reconcile::faults(&items));
        faults.extend(items.values().filter_map(|item| background::fault(item)));
        let tools = items;
        #[cfg(feature = "mcp-snapshots")]
        faults.extend(snapshots::faults(&tools));
        let by_name = tools.iter().map(|(name, item)| (Arc::clone(name), Arc::clone(item))).collect();
        #[cfg(not(feature = "json-schema"))]
        faults.extend(tools.values().filter_map(|item| item.schema_fault()));
        if !faults.is_empty() {
            return Err(RegistryError { faults });
        }
        Ok(Self { tools, by_name, toolsets, groups, implied: implied.to_vec(), adds_tools, left_out, warnings })
    }

    /// Builds a worker for one call; it may call only what its caller may call.
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

    /// Builds an unregistered worker; returns all of its faults.
    pub(crate) fn worker(&self, spec: &WorkerSpec, origin: Origin) -> Result<Registered, Vec<String>> {
        let name = spec.name();
        let is_taken =
            self.tools.contains_key(name) || self.toolsets.contains_key(name) || self.groups.contains_key(name);
        let taken = || format!("`{}` is already registered; choose another name", spec.name());
        self.assemble(spec, origin, is_taken.then(taken))
    }

    /// Builds a worker whose name was checked before, in this process or another.
    pub(crate) fn rebuild_worker(&self, spec: &WorkerSpec) -> Result<Registered, Vec<String>> {
        self.assemble(spec, Origin::Session, None)
    }

    /// Returns whether the item of this name was loaded from a worker file that describes the same worker.
    #[doc(hidden)]
    #[must_use]
    pub fn is_loaded_from_file(&self, spec: &WorkerSpec) -> bool {
        self.get(spec.name()).is_some_and(|item| item.is_read_from(&spec.to_worker_file()))
    }

    fn assemble(&self, spec: &WorkerSpec, origin: Origin, taken: Option<String>) -> Result<Registered, Vec<String>> {
        let mut faults = spec.faults();
        let resolved = self.with_input(spec, &mut faults);
        let spec = resolved.as_ref().unwrap_or(spec);
        if spec.code {
            faults.push("`code` works only for workers that are added to a runtime; remove it".to_owned());
        }
        let mut worker = Registered::from_spec(spec, origin);
        faults.extend(taken);
        #[cfg(not(feature = "json-schema"))]
        faults.extend(worker.schema_fault());
        let names = Names::new(&self.tools, &self.toolsets, &self.groups, &self.left_out);
        let tools = names.resolve(&worker, &by_name(&spec.toolsets), &mut faults);
        worker.instances = names.instances(&tools);
        worker.declared = Some(Arc::new(names.declared(tools)));
        worker.effect = effects::of_item(&worker, &self.tools, self.adds_tools);
        faults.extend(effects::fault(&worker, &self.tools, &[], self.adds_tools));
        faults.extend(background::fault(&worker));
        if faults.is_empty() { Ok(worker) } else { Err(faults) }
    }

    /// Replaces the toolset names that `maker` sees with registered names; returns the faults of names that it may not
    /// pass on.
    #[doc(hidden)]
    pub fn grant(&self, spec: &mut WorkerSpec, maker: &Declared) -> Vec<String> {
        let mut faults = Vec::new();
        let given = std::mem::take(&mut spec.toolsets);
        for name in given {
            let is_whole = |set: &ToolsetDef| set.members.iter().all(|member| maker.shown(member.tool()).is_some());
            let is_whole_group = |group: &Group| group.tools.iter().all(|tool| maker.shown(tool).is_some());
            let granted = match maker.tool(&name) {
                Some(tool) => Some(tool.to_owned()),
                None if self.toolsets.get(&*name).is_some_and(is_whole) => Some(name.clone()),
                None => self.groups.get(&*name).filter(|group| is_whole_group(group)).map(|_| name.clone()),
            };
            match granted {
                Some(tool) if spec.toolsets.contains(&tool) => {}
                Some(tool) => spec.toolsets.push(tool),
                None => faults.push(format!("unavailable toolset `{name}`: {}", self.hint(&name, Some(maker)))),
            }
        }
        faults
    }

    /// Returns the item of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Registered>> {
        self.by_name.get(name)
    }

    /// Returns all tools, workers and entries, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registered>> {
        self.tools.values()
    }

    /// Returns `root` and all items that it may call directly or indirectly according to declarations, the nearest
    /// first.
    ///
    /// What an item without a declaration may call is unknown, so nothing is added for it.
    pub(crate) fn reachable<'a>(&'a self, root: &'a Registered) -> Vec<&'a Registered> {
        let (mut seen, mut found) = (HashSet::from([root.name()]), vec![root]);
        let mut next = 0;
        while let Some(item) = found.get(next) {
            let items = effects::callees(item, &self.implied).filter_map(|tool| self.get(tool));
            let new: Vec<&Registered> = items.map(|item| &**item).filter(|item| seen.insert(item.name())).collect();
            found.extend(new);
            next += 1;
        }
        found
    }

    /// Returns all toolsets, sorted by name: the name, the description and the members.
    pub fn toolsets(&self) -> impl Iterator<Item = (&'static str, &'static str, &'static [Member])> {
        self.toolsets.values().map(|set| (set.name, set.description, set.members))
    }

    /// Returns the definitions of the toolsets, by name.
    pub(crate) fn toolset_defs(&self) -> &BTreeMap<&'static str, ToolsetDef> {
        &self.toolsets
    }

    /// Returns the toolsets that are known only at run time, sorted by name.
    #[doc(hidden)]
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// Returns a hint for an unknown name, or for one that the caller may not call.
    #[doc(hidden)]
    pub fn hint(&self, name: &str, declared: Option<&Declared>) -> String {
        if self.tools.is_empty() {
            return "nothing is registered; link a library of tools with `use my_tools as _;`".to_owned();
        }
        if let Some(shown) = declared.and_then(|declared| declared.shown(name)) {
            return format!("its name in these toolsets is `{shown}`");
        }
        if let Some(why) = self.why_left_out(name).filter(|_| declared.is_none()) {
            return why;
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
            (true, _) => "no tools are available".to_owned(),
            (_, Some(_)) => format!("available: {}", names.join(", ")),
            (_, None) => {
                let names = names.join(", ");
                format!("available: {names}; link a library of tools with `use my_tools as _;`")
            }
        }
    }

    /// Lists the state that registered items take and that `has` does not find, with the items.
    pub(crate) fn missing_state(&self, has: impl Fn(StateKey) -> bool) -> Vec<String> {
        let mut missing: Vec<(StateKey, Vec<String>)> = Vec::new();
        for tool in self.iter().filter(|tool| !self.serves_as_pattern(tool)) {
            for key in tool.state().into_iter().filter(|key| !has(*key)) {
                let name = format!("`{}`", tool.name());
                match missing.iter_mut().find(|(known, _)| known.id == key.id) {
                    Some((_, tools)) => tools.push(name),
                    None => missing.push((key, vec![name])),
                }
            }
        }
        missing.sort_by_key(|(key, _)| (key.written, key.full_name, key.id.instance));
        let is_namesake =
            |key: &StateKey, other: &StateKey| other.written == key.written && other.full_name != key.full_name;
        let describe = |(key, tools): &(StateKey, Vec<String>)| {
            // Types in different modules may have the same name.
            let is_shared = missing.iter().any(|(other, _)| is_namesake(key, other));
            let full_name = if is_shared { format!(" (`{}`)", key.full_name) } else { String::new() };
            let of_instance = |name| format!(" of the instance `{name}`, with `state_for::<{name}>(..)`,");
            let instance = key.id.instance.map(of_instance).unwrap_or_default();
            format!("`{}`{full_name}{instance} for {}", key.written, tools.join(", "))
        };
        missing.iter().map(describe).collect()
    }

    /// Returns whether a tool only serves as the pattern for those of named instances: it has its own state only if
    /// something declares it.
    fn serves_as_pattern(&self, tool: &Registered) -> bool {
        let Some(own) = tool.receiver.filter(|own| own.name.is_none()) else { return false };
        let is_of_instance = |of: InstanceDef| of.name.is_some() && of.type_key() == own.type_key();
        let has_instance = |item: &Arc<Registered>| item.receiver.is_some_and(is_of_instance);
        let declares = |item: &Arc<Registered>| {
            item.declared.iter().flat_map(|declared| declared.iter()).any(|declared| declared.tool == tool.name)
        };
        self.iter().any(has_instance) && !self.iter().any(declares)
    }
}
