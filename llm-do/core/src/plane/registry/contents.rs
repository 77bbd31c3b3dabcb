//! The contents of a registry: all or some of the linked items, and the items that the program adds.

mod reach;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use llm_do_worker_file::did_you_mean;

use super::names::DeclarationSource;
use super::{EffectLayer, Group, LeftOut, Origin, Registered, plan};
use crate::declare::toolset::Member;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::definition::{Declaration, ToolDef, ToolsetDef, linked_items};
use crate::plane::function_tool::{Alias, FunctionTool};

/// The items that a program adds, and the linked items to include.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) workers: Vec<(WorkerSpec, Origin)>,
    pub(crate) tools: Vec<(FunctionTool, Origin)>,
    pub(crate) aliases: Vec<(Alias, Origin)>,
    pub(crate) groups: Vec<Group>,
    /// The effects that policies declare; the first policy that declares one decides.
    pub(crate) effects: Vec<EffectLayer>,
    /// Whether the settings of the session add tools of the provider to the requests of each worker.
    pub(crate) adds_tools: bool,
    /// Workers, each with a tool that it calls without declaring it: the one that answers first, or its evaluator.
    pub(crate) implied: Vec<(String, String)>,
    /// The items in files of other programs that cannot be used.
    pub(crate) left_out: Vec<LeftOut>,
    /// The linked items and toolsets to include, with their declarations; `None` for all.
    pub(crate) only: Option<Vec<String>>,
}

/// An item, with its declaration before the names are resolved.
pub(super) type Item = (Arc<Registered>, Option<DeclarationSource>);

impl Contents {
    /// Returns the linked items and toolsets to include; adds a fault for each unknown name.
    pub(super) fn linked(&self, faults: &mut Vec<String>) -> (Vec<&'static ToolDef>, Vec<ToolsetDef>) {
        let mut defs: Vec<&ToolDef> = linked_items().collect();
        defs.sort_by_key(|def| (def.name, def.location));
        let mut toolsets: Vec<_> = inventory::iter::<ToolsetDef>.into_iter().copied().collect();
        toolsets.sort_by_key(|def| (def.name, def.location));
        if let Some(only) = &self.only {
            let mut selection = Selection::new(&defs, &toolsets);
            for name in only {
                faults.extend(selection.include(name, || self.is_added(name)).err());
            }
            let added = self.workers.iter().flat_map(|(spec, _)| spec.toolsets.iter().chain(spec.further_tools()));
            // An unknown name is reported where it is declared.
            let added = added.chain(self.tools.iter().flat_map(|(tool, _)| tool.toolsets.iter().flatten()));
            let added = added.chain(self.aliases.iter().map(|(alias, _)| &alias.target));
            added.for_each(|name| drop(selection.include(name, || true)));
            let Selection { included, .. } = selection;
            defs.retain(|def| included.contains(def.name));
            // Toolsets that an included item declares as a whole are included, so that the workers that it creates can
            // name them.
            toolsets.retain(|set| included.contains(set.name) || defs.iter().any(|def| declares_whole(def, set)));
        }
        (defs, toolsets)
    }

    fn is_added(&self, name: &str) -> bool {
        let names =
            self.workers.iter().map(|(spec, _)| &spec.name).chain(self.tools.iter().map(|(tool, _)| &tool.name));
        let names = names.chain(self.aliases.iter().map(|(alias, _)| &alias.name)).map(String::as_str);
        names.chain(self.groups.iter().map(|group| &*group.name)).any(|added| added == name)
    }

    /// Drops workers of other programs whose name is used by another item or toolset; returns a warning for each.
    pub(super) fn drop_foreign(
        &mut self,
        defs: &[&ToolDef],
        toolsets: &[ToolsetDef],
        mut taken: HashSet<Arc<str>>,
    ) -> Vec<String> {
        if !self.workers.iter().any(|(_, origin)| origin.is_external()) {
            return Vec::new();
        }
        let own = self.workers.iter().filter(|(_, origin)| !origin.is_external()).map(|(spec, _)| spec.name.as_str());
        let added = own.chain(self.tools.iter().map(|(tool, _)| tool.name.as_str()));
        let linked = defs.iter().map(|def| def.name).chain(toolsets.iter().map(|def| def.name));
        taken.extend(added.chain(linked).chain(self.groups.iter().map(|group| &*group.name)).map(Arc::from));
        let mut warnings = Vec::new();
        self.workers.retain(|(spec, origin)| {
            let is_free = !origin.is_external() || taken.insert(spec.name.as_str().into());
            if !is_free {
                let name = &spec.name;
                warnings
                    .push(format!("{origin}: left out: the name `{name}` is already registered; choose another name"));
            }
            is_free
        });
        warnings
    }

    /// Returns the faults of the items that the program adds.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let fault = |kind, name: &str, origin: &Origin, fault| format!("the {kind} `{name}` ({origin}): {fault}");
        let of_worker = move |(spec, origin): &(WorkerSpec, Origin)| -> Vec<_> {
            spec.faults().into_iter().map(|text| fault("worker", spec.name(), origin, text)).collect()
        };
        let of_tool = move |(tool, origin): &(FunctionTool, Origin)| -> Vec<_> {
            tool.faults().into_iter().map(|text| fault("tool", tool.name(), origin, text)).collect()
        };
        self.workers.iter().flat_map(of_worker).chain(self.tools.iter().flat_map(of_tool))
    }

    /// Returns the linked tools that files define again under the same names, with other descriptions, defaults or
    /// rules.
    pub(super) fn own_names(&self) -> HashSet<String> {
        let own = self.aliases.iter().filter(|(alias, _)| alias.name == alias.target);
        own.map(|(alias, _)| alias.name.clone()).collect()
    }

    /// Removes the aliases of linked tools, and returns them as items; adds a fault for each invalid alias.
    pub(super) fn take_aliases(&mut self, defs: &[&'static ToolDef], faults: &mut Vec<String>) -> Vec<Item> {
        let aliases = std::mem::take(&mut self.aliases).into_iter();
        aliases.filter_map(|(alias, origin)| alias_item(alias, origin, defs, faults)).collect()
    }

    /// Returns the items that the program adds.
    pub(super) fn into_items(self) -> impl Iterator<Item = Item> {
        let worker = |(spec, origin): (WorkerSpec, Origin)| {
            (Arc::new(Registered::from_spec(&spec, origin)), Some(by_name(&spec.toolsets)))
        };
        let tool = |(tool, origin): (FunctionTool, Origin)| {
            let declared = tool.toolsets.as_deref().map(by_name);
            (Arc::new(Registered::from_tool(tool, origin)), declared)
        };
        self.workers.into_iter().map(worker).chain(self.tools.into_iter().map(tool))
    }
}

/// Returns whether an item may call all members of a toolset, which must not be empty.
fn declares_whole(def: &ToolDef, set: &ToolsetDef) -> bool {
    let declared = || def.declaration.into_iter().flat_map(|declared| declared.members.iter().copied().flatten());
    !set.members.is_empty()
        && set.members.iter().all(|member| declared().any(|declared| declared.tool() == member.tool()))
}

/// Returns the tool for an alias, with the name of the alias.
fn alias_item(alias: Alias, origin: Origin, defs: &[&'static ToolDef], faults: &mut Vec<String>) -> Option<Item> {
    let place = |key: &str| match &origin {
        Origin::File(file) => file.place_of(key),
        Origin::Source(_) | Origin::Session => origin.to_string(),
    };
    let Some(def) = defs.iter().find(|def| def.name == alias.target) else {
        let known = defs.iter().filter(|def| Alias::can_name(def)).map(|def| def.name);
        let hint = did_you_mean(&alias.target, known);
        faults.push(format!("{}: `function`: unknown tool `{}`{hint}", place("function"), alias.target));
        return None;
    };
    let found = alias.faults(def);
    if found.is_empty() {
        return Some((
            Arc::new(Registered::from_alias(alias, def, origin)),
            def.declaration.map(DeclarationSource::from),
        ));
    }
    faults.extend(found.into_iter().map(|(key, fault)| format!("{}: `{key}`: {fault}", place(key))));
    None
}

/// Returns the faults of linked items.
pub(super) fn linked_faults(defs: &[&ToolDef]) -> Vec<String> {
    // With faults in its arguments, models cannot call the item.
    let of_arguments = |def: &&ToolDef| -> Vec<_> {
        let (name, location) = (def.name, def.location);
        (def.faults)().into_iter().map(move |fault| format!("`{name}` ({location}): {fault}")).collect()
    };
    defs.iter().flat_map(|def| plan::faults(def)).chain(defs.iter().flat_map(of_arguments)).collect()
}

/// Returns a declaration of these names.
pub(super) fn by_name(names: &[String]) -> DeclarationSource {
    DeclarationSource { members: Vec::new(), by_name: names.iter().map(|name| Arc::from(name.as_str())).collect() }
}

/// Some of the linked items and toolsets, with all direct and indirect declarations.
struct Selection<'a> {
    declarations: BTreeMap<&'static str, Vec<&'static Declaration>>,
    toolsets: BTreeMap<&'static str, &'a ToolsetDef>,
    /// The tools of named instances, each with the toolset of its type, whose rules hold for it too.
    types: BTreeMap<&'static str, &'static str>,
    included: HashSet<&'static str>,
}

impl<'a> Selection<'a> {
    /// Starts with nothing included.
    fn new(defs: &[&'static ToolDef], toolsets: &'a [ToolsetDef]) -> Self {
        let mut declarations: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for def in defs {
            declarations.entry(def.name).or_default().extend(def.declaration);
        }
        let toolsets = toolsets.iter().map(|set| (set.name, set)).collect();
        let of_instances = defs.iter().filter_map(|def| Some((def.name, def.instance.filter(|of| of.name.is_some())?)));
        let types = of_instances.map(|(name, of)| (name, of.toolset)).collect();
        Self { declarations, toolsets, types, included: HashSet::new() }
    }

    /// Includes an item or a toolset, or returns that its name is unknown.
    fn include(&mut self, name: &str, is_added: impl Fn() -> bool) -> Result<(), String> {
        let own = self.declarations.get_key_value(name).map(|(name, _)| *name);
        let own = own.or_else(|| self.toolsets.get_key_value(name).map(|(name, _)| *name));
        if own.is_none() && !is_added() {
            return Err(self.unknown(name));
        }
        let mut open: Vec<&'static str> = own.into_iter().collect();
        while let Some(name) = open.pop() {
            if self.included.insert(name) {
                open.extend(self.declared_by(name));
            }
        }
        Ok(())
    }

    /// Returns the members of a toolset, or the declared names of an item; for a tool of a named instance, also its type.
    fn declared_by(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let set = self.toolsets.get(name).into_iter().flat_map(|set| set.members);
        let declared = self.declarations.get(name).into_iter().flatten();
        let members = declared.clone().flat_map(|declared| declared.members.iter().copied().flatten());
        let by_name = declared.flat_map(|declared| declared.by_name).copied();
        set.chain(members).map(Member::tool).chain(by_name).chain(self.types.get(name).copied())
    }

    fn unknown(&self, name: &str) -> String {
        let known = self.declarations.keys().chain(self.toolsets.keys()).copied();
        let hint = match did_you_mean(name, known) {
            near if near.is_empty() => "; link its library".to_owned(),
            near => near,
        };
        format!("`only`: unknown tool, worker, entry or toolset `{name}`{hint}")
    }
}
