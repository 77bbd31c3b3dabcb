//! Effects that are derived from the callees of an item: those of workers, and of scripts that declare none.

use std::collections::BTreeMap;
use std::sync::Arc;

use llm_do_providers::{ServerSideTool, Settings};

use super::super::{Code, Registered, WorkerPlan};
use crate::declare::tool::Effect;

/// The items of a registry, by name.
type Items = BTreeMap<Arc<str>, Arc<Registered>>;

/// The fields of a request with which settings add tools of the provider.
const FIELDS_OF_TOOLS: [&str; 2] = ["tools", "mcp_servers"];

/// Computes the effects of items that may call each other.
struct Effects<'a> {
    items: &'a Items,
    /// Workers, each with a tool that it calls without declaring it.
    implied: &'a [(String, String)],
    /// The derived effects so far.
    derived: BTreeMap<Arc<str>, Effect>,
}

/// Sets the effect of each worker, and of each script without its own effect, to the combined effects of its tools;
/// `implied` are workers, each with a tool that it calls without declaring it. With `adds_tools`, the settings of the session add tools of the
/// provider to the requests of each worker.
pub(in crate::plane::registry) fn derive(items: &mut Items, implied: &[(String, String)], adds_tools: bool) {
    let least = items.values().filter_map(|item| Some((Arc::clone(&item.name), item.least_effect(adds_tools)?)));
    let mut effects = Effects { items, implied, derived: least.collect() };
    effects.add_callees();
    for (name, effect) in effects.derived {
        if let Some(item) = items.get_mut(&name).and_then(Arc::get_mut) {
            item.effect = effect;
        }
    }
}

/// Returns the effect of an item that is not among `items`, whose effects are known.
pub(in crate::plane::registry) fn of_item(item: &Registered, items: &Items, adds_tools: bool) -> Effect {
    let effects = Effects { items, implied: &[], derived: BTreeMap::new() };
    item.least_effect(adds_tools).map_or(item.effect, |least| effects.with_callees(item, least))
}

impl Effects<'_> {
    /// Adds the effects of callees to those of their callers, which may be callees too, until no effect changes.
    fn add_callees(&mut self) {
        let names: Vec<_> = self.derived.keys().cloned().collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for name in &names {
                let known = self.derived[name];
                let effect = self.with_callees(&self.items[name], known);
                has_changed |= effect != known;
                self.derived.insert(Arc::clone(name), effect);
            }
        }
    }

    /// Returns the combined effect of an item and its callees.
    fn with_callees(&self, item: &Registered, own: Effect) -> Effect {
        // The callees of an item without a declaration are unknown.
        let unknown = item.declared.is_none().then_some(Effect::Undeclared);
        let effects = callees(item, self.implied).filter_map(|tool| self.effect_of(tool));
        effects.chain(unknown).fold(own, Effect::union)
    }

    fn effect_of(&self, name: &str) -> Option<Effect> {
        self.derived.get(name).copied().or_else(|| self.items.get(name).map(|item| item.effect))
    }
}

/// Returns the callees of an item: its declared tools, the tool that answers first, and its evaluator.
pub(in crate::plane::registry) fn callees<'a>(
    item: &'a Registered,
    implied: &'a [(String, String)],
) -> impl Iterator<Item = &'a str> {
    let declared = item.declared.iter().flat_map(|declared| declared.iter()).map(|tool| &*tool.tool);
    declared.chain(implied.iter().filter(move |(worker, _)| *worker == *item.name).map(|(_, tool)| tool.as_str()))
}

impl Registered {
    /// Returns the effect to which the effects of its tools are added; `None` if its effect is not derived from them.
    fn least_effect(&self, adds_tools: bool) -> Option<Effect> {
        match &self.code {
            Code::Worker(plan) => (plan.stated_effect == Effect::Undeclared).then(|| least_of_worker(plan, adds_tools)),
            #[cfg(feature = "script")]
            Code::Value(tool) if tool.script.is_some() && !tool.has_effect && !self.has_effect_of_policy() => {
                Some(Effect::ReadOnly)
            }
            Code::Function(_) | Code::Value(_) => None,
        }
    }
}

/// Returns whether settings add tools of the provider to requests.
pub(crate) fn adds_tools(settings: &Settings) -> bool {
    FIELDS_OF_TOOLS.iter().any(|field| settings.extra_body.contains_key(*field))
}

/// Returns the effect of the provider's tools of a worker; with `has_added`, the settings of the session add some.
pub(super) fn least_of_worker(plan: &WorkerPlan, has_added: bool) -> Effect {
    let has_further_tools = has_added || adds_tools(&plan.settings);
    let further = if has_further_tools { Effect::Undeclared } else { Effect::ReadOnly };
    plan.server_side_tools.iter().map(of_server_side).fold(further, Effect::union)
}

/// Returns the effect of a server-side tool, with the same assumptions as the attributes.
///
/// Searches and fetches read, and an image is a part of the answer. The access of code that a model wrote depends on
/// the provider, whose container may have a network. If it does not, the worker declares its effect with a reason.
fn of_server_side(tool: &ServerSideTool) -> Effect {
    match tool {
        ServerSideTool::WebSearch(_) | ServerSideTool::WebFetch | ServerSideTool::ImageGeneration => Effect::ReadOnly,
        _ => Effect::Undeclared,
    }
}
