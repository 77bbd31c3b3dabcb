//! Effects that a policy declares, in place of those of the tools.

use std::sync::Arc;

use super::Policy;
use super::faults::{placed, suggestion, toolset_names};
use crate::declare::tool::Effect;
use crate::observe::event::ItemKind;
use crate::plane::registry::{EffectLayer, Registered, Registry, weakens};

impl Policy {
    /// Sets the effect of a tool by its registered name, or of all tools of a toolset, which replaces the declared
    /// effect. Default: the effect that each tool declares.
    ///
    /// Like a declared effect, it decides about approval, concurrency and the repetition of calls when a run is
    /// resumed. The effect of a toolset leaves destructive tools destructive: list these one by one. The policy of a
    /// [project](https://docs.rs/llm-do/latest/llm_do/project/index.html) can only declare tools destructive, or change those that are not.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::Effect;
    /// use llm_do::approval::Policy;
    ///
    /// let policy = Policy::new()
    ///     .effect("mcp__mail", Effect::ReadOnly)
    ///     .effect("mcp__mail__send", Effect::Destructive);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn effect(mut self, name: impl Into<Arc<str>>, effect: Effect) -> Self {
        self.effects.insert(name.into(), effect);
        self
    }

    /// Returns the declarations of this policy and its fallbacks about tools.
    pub(crate) fn effect_layers(&self) -> Vec<EffectLayer> {
        let of_layer = |layer: &Self| EffectLayer {
            effects: layer.effects.clone(),
            on_unknown: layer.on_unknown.clone(),
            is_of_project: layer.is_of_project,
        };
        let layers = self.layers().filter(|layer| !(layer.effects.is_empty() && layer.on_unknown.is_empty()));
        layers.map(of_layer).collect()
    }

    /// Marks this policy and its fallbacks as policies of the files of a project.
    #[doc(hidden)]
    #[must_use]
    pub fn of_project(mut self) -> Self {
        self.is_of_project = true;
        self.fallback = self.fallback.map(|fallback| Box::new(fallback.of_project()));
        self
    }

    /// Sets the place of the effect for a name, for errors.
    #[doc(hidden)]
    pub fn place_effect(&mut self, name: &str, place: String) {
        self.effect_places.insert(name.into(), place);
    }

    /// Lists the effects for unknown names and for items that are not tools, and those that a project may not declare.
    pub(super) fn effect_faults(&self, registry: &Registry) -> Vec<String> {
        let faults = self.effects.iter().enumerate().filter_map(|(count, (name, effect))| {
            let fault = match registry.get(name) {
                Some(tool) if tool.kind() == ItemKind::Tool => self.project_fault(tool, *effect)?,
                Some(item) => {
                    format!(
                        "`{name}` is not a tool, but a {}: it has no effect of its own in a policy",
                        item.kind().as_str()
                    )
                }
                None => unknown(name, registry, count)?,
            };
            Some(placed(self.effect_places.get(name).map(String::as_str), format!("`effects`: {fault}")))
        });
        faults.collect()
    }

    /// Returns why a project may not declare this effect of a tool.
    fn project_fault(&self, tool: &Registered, effect: Effect) -> Option<String> {
        let is_refused = self.is_of_project && weakens(tool, effect);
        let name = tool.name();
        is_refused.then(|| {
            format!("`{name}` is destructive: a project cannot change that; declare its effect in a policy of your own")
        })
    }
}

/// Returns the fault of a name that belongs to no tool, unless it is the name of a toolset.
pub(super) fn unknown(name: &str, registry: &Registry, count: usize) -> Option<String> {
    if registry.lacks(name) || toolset_names(registry).any(|toolset| toolset == name) {
        return None;
    }
    let tools = registry.iter().filter(|item| item.kind() == ItemKind::Tool).map(|item| item.name());
    let hint = suggestion(count, name, tools.chain(toolset_names(registry)));
    Some(format!("unknown tool or toolset `{name}`{hint}"))
}
