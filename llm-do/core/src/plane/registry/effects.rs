//! Effects: those that policies declare, which replace those of the tools; those that are derived; and the check that
//! declared and derived effects agree. Policies and toolsets also set what happens to calls with an unknown outcome.

mod claims;
mod derived;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) use self::claims::fault;
pub(crate) use self::derived::adds_tools;
pub(super) use self::derived::{callees, derive, of_item};
use super::{Group, Registered};
use crate::declare::tool::{Effect, OnUnknown};
use crate::observe::event::ItemKind;
use crate::plane::definition::ToolsetDef;

/// The effects that one policy declares, by the names of tools and toolsets, and its settings for unknown outcomes.
#[derive(Debug)]
pub(crate) struct EffectLayer {
    pub(crate) effects: BTreeMap<Arc<str>, Effect>,
    pub(crate) on_unknown: BTreeMap<Arc<str>, OnUnknown>,
    /// Whether the policy is from the files of a project, which may be untrusted.
    pub(crate) is_of_project: bool,
}

/// One of the names of a tool, with the toolsets that contain it.
struct Named<'a> {
    name: &'a str,
    toolsets: &'a [&'a str],
}

/// Returns whether an effect would weaken that of a tool that declares itself destructive.
pub(crate) fn weakens(tool: &Registered, effect: Effect) -> bool {
    tool.declared_effect() == Effect::Destructive && effect != Effect::Destructive
}

/// Sets the declarations of policies and toolsets on tools; the first policy that declares a tool decides.
pub(super) fn declare(
    layers: &[EffectLayer],
    items: &mut BTreeMap<Arc<str>, Arc<Registered>>,
    toolsets: &BTreeMap<&'static str, ToolsetDef>,
    groups: &BTreeMap<Arc<str>, Group>,
) {
    if layers.is_empty() && toolsets.values().all(|set| set.on_unknown.is_none()) {
        return;
    }
    let sets = toolsets_by_tool(toolsets, groups);
    for item in items.values_mut().filter(|item| item.kind() == ItemKind::Tool) {
        let of_name = |name| Named { name, toolsets: sets.get(name).map(Vec::as_slice).unwrap_or_default() };
        let tool: &Registered = item;
        let named: Vec<_> = tool.names().map(of_name).collect();
        let effect = layers.iter().find_map(|layer| layer.effect_of(tool, &named));
        let on_unknown = layers.iter().find_map(|layer| layer.on_unknown_of(&named));
        let of_toolsets = named.iter().flat_map(|named| named.toolsets);
        let of_toolsets = of_toolsets.filter_map(|name| toolsets.get(*name)?.on_unknown);
        let declared = tool.on_unknown.or_else(|| of_toolsets.max_by_key(|setting| setting.caution()));
        let Some(item) = Arc::get_mut(item) else { continue };
        if let Some(effect) = effect {
            item.set_effect(effect);
        }
        item.on_unknown = on_unknown.or(declared);
    }
}

/// Returns the toolsets that contain each tool.
fn toolsets_by_tool<'a>(
    toolsets: &'a BTreeMap<&'static str, ToolsetDef>,
    groups: &'a BTreeMap<Arc<str>, Group>,
) -> HashMap<&'a str, Vec<&'a str>> {
    let mut sets: HashMap<&str, Vec<&str>> = HashMap::new();
    for set in toolsets.values() {
        set.members.iter().for_each(|member| sets.entry(member.tool()).or_default().push(set.name));
    }
    for group in groups.values() {
        group.tools.iter().for_each(|tool| sets.entry(tool).or_default().push(&group.name));
    }
    sets
}

impl EffectLayer {
    /// Returns the effect that the policy declares for a tool: for the first of its names that has one, by that name or
    /// else the strictest effect of its toolsets.
    fn effect_of(&self, tool: &Registered, names: &[Named<'_>]) -> Option<Effect> {
        let of_name = |named: &Named<'_>| {
            let effect = self.effects.get(named.name).copied();
            effect
                .filter(|effect| !(self.is_of_project && weakens(tool, *effect)))
                .or_else(|| self.effect_of_toolsets(tool, named.toolsets))
        };
        names.iter().find_map(of_name)
    }

    fn effect_of_toolsets(&self, tool: &Registered, toolsets: &[&str]) -> Option<Effect> {
        let effects = toolsets.iter().filter_map(|name| self.effects.get(*name)).copied();
        effects.max_by_key(|effect| effect.severity()).filter(|effect| !weakens(tool, *effect))
    }

    /// Returns the setting of the policy for an unknown outcome of a tool: for the first of its names that has one, by that
    /// name, otherwise the most cautious of its toolsets.
    fn on_unknown_of(&self, names: &[Named<'_>]) -> Option<OnUnknown> {
        let of_name = |named: &Named<'_>| {
            let of_toolsets = || named.toolsets.iter().filter_map(|name| self.on_unknown.get(*name));
            let own = self.on_unknown.get(named.name);
            own.or_else(|| of_toolsets().max_by_key(|setting| setting.caution())).copied()
        };
        names.iter().find_map(of_name)
    }
}
