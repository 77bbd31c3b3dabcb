//! Compares the effects that items declare with the effects of their callees.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Registered;
use super::derived::{callees, least_of_worker};
use crate::declare::tool::Effect;
use crate::observe::event::ItemKind;

/// Returns the fault of an item that declares a weaker effect than one of its tools has; `implied` are workers, each
/// with a tool that it calls without declaring it. With `adds_tools`, the settings of the session add tools of the provider.
pub(in crate::plane::registry) fn fault(
    item: &Registered,
    items: &BTreeMap<Arc<str>, Arc<Registered>>,
    implied: &[(String, String)],
    adds_tools: bool,
) -> Option<String> {
    let stated = item.checked_effect()?;
    let tools = callees(item, implied).filter_map(|tool| items.get(tool));
    let stronger = tools.filter(|tool| tool.effect().severity() > stated.severity());
    // Of several with the strongest effect, the first by name.
    let strongest = stronger.min_by(|one, other| {
        let by_effect = other.effect().severity().cmp(&one.effect().severity());
        by_effect.then_with(|| one.name.cmp(&other.name))
    });
    let (name, word) = (item.name(), stated.word());
    let Some(tool) = strongest else { return provider_fault(item, stated, adds_tools) };
    let (location, tool, effect) = (item.location_of(tool.name()), tool.name(), tool.effect().word());
    let instead = match item.kind() {
        ItemKind::Worker => "state why in `effect_reason`, remove `effect`",
        ItemKind::Tool | ItemKind::Entry => "state the stronger effect or none",
    };
    Some(format!(
        "`{name}` ({location}) states the effect {word}, but may call `{tool}`, whose effect is {effect}; {instead}, or remove `{tool}`"
    ))
}

/// Returns the fault of a worker that declares a weaker effect than the tools of its provider have.
fn provider_fault(item: &Registered, stated: Effect, adds_tools: bool) -> Option<String> {
    let effect = least_of_worker(item.plan()?, adds_tools);
    let (name, location, word) = (item.name(), item.location(), stated.word());
    (effect.severity() > stated.severity()).then(|| {
        format!(
            "`{name}` ({location}) states the effect {word}, but the effect of the tools that its provider runs is {}; state why in \
             `effect_reason`, or remove `effect`",
            effect.word()
        )
    })
}

impl Registered {
    /// Returns the declared effect that must cover the tools: not one from a policy, or one with a reason.
    fn checked_effect(&self) -> Option<Effect> {
        let states =
            self.plan().is_none_or(|plan| plan.stated_effect != Effect::Undeclared && plan.effect_reason.is_none());
        let is_weak = matches!(self.effect(), Effect::ReadOnly | Effect::Idempotent);
        (states && is_weak && !self.has_effect_of_policy()).then_some(self.effect())
    }
}
