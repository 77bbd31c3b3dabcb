//! The rule for calls that an untrusted value would steer.

use super::Rules;
use crate::base::error::Fault;
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Label, RuleSource};
use crate::plane::approval::{AppliedRule, LazyRequest, Policy, Rule};
use crate::plane::registry::Registered;

/// The included toolsets whose results are answers of the user, or of workers, which have labels of their own.
const INSIDE: [&str; 2] = ["user_input", "workers"];

impl Rules {
    /// Returns whether values are labelled: a policy declares a source.
    pub(in super::super) fn has_flow(&self) -> bool {
        self.policy.layers().any(|layer| !layer.flow.sources.is_empty())
    }

    /// Returns the label of what a tool returns, besides that of what it has read itself.
    pub(in super::super) fn source_label(&self, tool: &Registered) -> Label {
        if !self.has_flow() {
            return Label::Trusted;
        }
        let of_layer = |layer: &Policy| {
            let sources = &layer.flow.sources;
            let own = tool.names().find_map(|name| sources.get(name));
            // Of several toolsets, the worst.
            own.or_else(|| self.toolsets_of(tool).filter_map(|set| sources.get(&set.name)).max()).copied()
        };
        self.policy.layers().find_map(of_layer).unwrap_or_else(|| self.default_label(tool))
    }

    /// Returns whether an untrusted value may not steer the calls of a tool.
    pub(super) fn is_sink(&self, tool: &Registered) -> bool {
        let is_declared =
            || self.policy.layers().any(|layer| tool.names().any(|name| layer.flow.sinks.contains_key(name)));
        let acts = tool.kind() == ItemKind::Tool && tool.effect() != Effect::ReadOnly && !tool.changes_by_steps_only();
        self.has_flow() && (acts || is_declared())
    }

    /// Returns the rule for a call that an untrusted value would steer; `None` for any other call.
    pub(super) fn hold(&self, tool: &Registered, request: &mut LazyRequest<'_>) -> Result<Option<AppliedRule>, Fault> {
        if !self.is_sink(tool) {
            return Ok(None);
        }
        let sink = self.policy.layers().find_map(|layer| tool.names().find_map(|name| layer.flow.sinks.get(name)));
        let data = sink.map(|sink| sink.data.as_slice()).unwrap_or_default();
        let is_steered = request.get()?.origins.steering(data).next().is_some();
        Ok(is_steered.then(|| AppliedRule::new(Rule::Ask, RuleSource::Flow)))
    }

    /// Returns the label of what a tool returns that no policy declares: text from outside of the program is untrusted.
    fn default_label(&self, tool: &Registered) -> Label {
        let is_tool = tool.kind() == ItemKind::Tool;
        let is_included = tool.is_of_this_crate() && !self.toolsets_of(tool).any(|set| INSIDE.contains(&&*set.name));
        if is_tool && (tool.server().is_some() || is_included) { Label::Untrusted } else { Label::Trusted }
    }
}
