//! The settings of a policy for calls with unknown outcomes, which replace the settings of the tools.

use std::sync::Arc;

use super::Policy;
use super::effects::unknown;
use super::faults::placed;
use crate::declare::tool::OnUnknown;
use crate::observe::event::ItemKind;
use crate::plane::registry::Registry;

impl Policy {
    /// Sets what happens to a call of a tool, by its registered name, or of all tools of a toolset, if the call began
    /// and has an unknown outcome. Default: the setting of each tool, otherwise of the
    /// [runtime](crate::session::runtime::RuntimeBuilder::on_unknown).
    ///
    /// If several toolsets contain a tool, `ask` takes precedence over `report`, and `report` over `rerun`.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::OnUnknown;
    /// use llm_do::approval::Policy;
    ///
    /// let policy = Policy::new()
    ///     .on_unknown("mcp__shop", OnUnknown::Report)
    ///     .on_unknown("mcp__shop__pay", OnUnknown::Ask);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn on_unknown(mut self, name: impl Into<Arc<str>>, setting: OnUnknown) -> Self {
        self.on_unknown.insert(name.into(), setting);
        self
    }

    /// Sets the place of the setting of a name, for errors.
    #[doc(hidden)]
    pub fn place_on_unknown(&mut self, name: &str, place: String) {
        self.on_unknown_places.insert(name.into(), place);
    }

    /// Lists the settings of unknown names, and of items that are not tools.
    pub(super) fn on_unknown_faults(&self, registry: &Registry) -> Vec<String> {
        let faults = self.on_unknown.keys().enumerate().filter_map(|(count, name)| {
            let fault = match registry.get(name) {
                Some(item) if item.kind() == ItemKind::Tool => return None,
                Some(item) => {
                    format!("`{name}` is not a tool, but a {}: its calls run again, step by step", item.kind().as_str())
                }
                None => unknown(name, registry, count)?,
            };
            Some(placed(self.on_unknown_places.get(name).map(String::as_str), format!("`on_unknown`: {fault}")))
        });
        faults.collect()
    }

    /// Lists the settings that repeat calls without a question, each with its place, if known.
    pub(super) fn reruns(&self) -> impl Iterator<Item = (Option<&str>, String)> {
        let reruns = self.on_unknown.iter().filter(|(_, setting)| **setting == OnUnknown::Rerun);
        reruns.map(|(name, _)| {
            let text = format!("calls of `{name}` that may have had their effect are made again by `on_unknown`");
            (self.on_unknown_places.get(name).map(String::as_str), text)
        })
    }
}
