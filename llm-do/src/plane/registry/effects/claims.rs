//! Effects that items state, compared with those of what they may call.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Registered;
use crate::declare::tool::Effect;
use crate::observe::event::ItemKind;

/// Returns the fault of an item that states a weaker effect than one of its tools has.
pub(in crate::plane::registry) fn fault(
    item: &Registered,
    items: &BTreeMap<Arc<str>, Arc<Registered>>,
) -> Option<String> {
    let stated = item.checked_effect()?;
    let declared = item.declared.iter().flat_map(|declared| declared.iter());
    let tools = declared.filter_map(|tool| items.get(&tool.tool));
    let stronger = tools.filter(|tool| tool.effect().severity() > stated.severity());
    // Of several, the first by name.
    let tool = stronger.min_by_key(|tool| (-i16::from(tool.effect().severity()), Arc::clone(&tool.name)))?;
    let location = item.location_of(tool.name());
    let its = tool.effect().word();
    let otherwise = match item.kind() {
        ItemKind::Worker => "give an `effect_reason`, remove `effect`",
        ItemKind::Tool | ItemKind::Entry => "state that effect or none",
    };
    let (name, stated, tool) = (item.name(), stated.word(), tool.name());
    Some(format!(
        "`{name}` ({location}) has the effect {stated}, but may call `{tool}`, whose effect is {its}: {otherwise}, or remove `{tool}`"
    ))
}

impl Registered {
    /// Returns the effect that it states and that holds for its tools too: not one of a policy, or one with a reason.
    fn checked_effect(&self) -> Option<Effect> {
        if self.has_effect_of_policy() || !self.states_effect() {
            return None;
        }
        Some(self.effect()).filter(|effect| matches!(effect, Effect::ReadOnly | Effect::Idempotent))
    }

    /// Returns whether its source states its effect, without a reason why it is weaker than those of its tools.
    fn states_effect(&self) -> bool {
        self.plan().is_none_or(|plan| plan.stated_effect != Effect::Undeclared && plan.effect_reason.is_none())
    }
}
