//! The labels of what tools return, and the rule for calls that an untrusted or a private value is in.

use std::sync::Arc;

use super::Rules;
use crate::base::error::Fault;
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Label, Labels, RuleSource};
use crate::plane::approval::{AppliedRule, FlowMode, LazyRequest, Policy, Reach, Rule};
use crate::plane::origin::{KnownIds, SinkRule};
use crate::plane::registry::Registered;

/// The included toolsets whose results are answers of the user, or of workers, which have labels of their own.
const INSIDE: [&str; 2] = ["user_input", "workers"];
/// The included toolset that sends what it gets to servers.
const SENDING: &str = "http";

impl Rules {
    /// Returns whether values are labelled: a policy declares a source, and the mode is not off.
    pub(in super::super) fn has_flow(&self) -> bool {
        self.policy.layers().any(|layer| layer.flow.has_sources()) && self.policy.flow_mode() != FlowMode::Off
    }

    /// Returns whether untrusted text may not leave.
    pub(in super::super) fn is_strict(&self) -> bool {
        self.has_flow() && self.policy.flow_mode() == FlowMode::Strict
    }

    /// Returns the labels of what a tool returns, besides those of what it has read itself.
    pub(in super::super) fn source_labels(&self, tool: &Registered) -> Labels {
        if !self.has_flow() {
            return Labels::default();
        }
        let of_layer = |layer: &Policy| {
            let sources = &layer.flow.sources;
            let own = names_of(tool).find_map(|name| sources.get(name).copied());
            // Of several toolsets, the worst.
            own.or_else(|| self.toolset_names(tool).filter_map(|set| sources.get(set)).max().copied())
        };
        let integrity = self.policy.layers().find_map(of_layer).unwrap_or_else(|| self.default_label(tool));
        let is_private =
            self.policy.layers().any(|layer| self.is_named(tool, |name| layer.flow.private.contains(name)));
        Labels { integrity, is_private }
    }

    /// Returns whether a source is private.
    pub(in super::super) fn has_private(&self) -> bool {
        self.has_flow() && self.policy.layers().any(|layer| !layer.flow.private.is_empty())
    }

    /// Returns the label of what clients send that may be models.
    pub(in super::super) fn client_label(&self) -> Label {
        if !self.has_flow() {
            return Label::Trusted;
        }
        self.policy.layers().find_map(|layer| layer.flow.clients).unwrap_or(Label::Untrusted)
    }

    /// Returns where the results of a tool have ids, if they have any.
    pub(in super::super) fn ids_of(&self, tool: &Registered) -> Option<KnownIds> {
        let declared = self.policy.layers().flat_map(|layer| &layer.flow.ids);
        let own = declared.filter(|(name, _)| self.is_named(tool, |known| *known == ***name));
        let places: Vec<_> = own.flat_map(|(_, places)| places.iter().cloned()).collect();
        (!places.is_empty()).then(|| KnownIds { places, toolsets: self.id_toolsets(tool) })
    }

    /// Returns the toolsets of a tool, to which ids belong, or its own name if it is in none.
    pub(in super::super) fn id_toolsets(&self, tool: &Registered) -> Vec<Arc<str>> {
        let toolsets: Vec<Arc<str>> = self.toolset_names(tool).map(Arc::clone).collect();
        if toolsets.is_empty() { vec![Arc::clone(&tool.name)] } else { toolsets }
    }

    /// Returns whether the model of a worker sees all that its code returns.
    #[cfg(feature = "script")]
    pub(in super::super) fn shows_code_results(&self, worker: &str) -> bool {
        !self.is_strict() || self.policy.layers().any(|layer| layer.flow.code_reads.contains(worker))
    }

    /// Returns whether calls of a tool may need approval because of where their values came from.
    pub(super) fn is_sink(&self, tool: &Registered) -> bool {
        if !self.has_flow() || tool.kind() != ItemKind::Tool {
            return false;
        }
        let is_declared =
            || self.policy.layers().any(|layer| names_of(tool).any(|name| layer.flow.sinks.contains_key(name)));
        let acts = || tool.effect() != Effect::ReadOnly && !tool.changes_by_steps_only();
        let sends = || tool.is_included() && self.is_in(tool, SENDING);
        is_declared() || acts() || sends()
    }

    /// Returns the rule for a call that an untrusted or a private value is in; `None` for any other call.
    pub(super) fn hold(&self, tool: &Registered, request: &mut LazyRequest<'_>) -> Result<Option<AppliedRule>, Fault> {
        if !self.is_sink(tool) {
            return Ok(None);
        }
        let declared = |layer: &Policy| names_of(tool).find_map(|name| layer.flow.sinks.get(name).cloned());
        let data = self.policy.layers().find_map(declared).map(|sink| sink.data).unwrap_or_default();
        let reach = self.policy.layers().find_map(|layer| declared(layer)?.reach).unwrap_or_default();
        let rule = SinkRule { data: &data, is_outside: reach == Reach::Outside, is_strict: self.is_strict() };
        let reason = request.get()?.origins.held(rule);
        Ok(reason.map(|reason| AppliedRule::new(Rule::Ask, RuleSource::Flow(reason))))
    }

    /// Returns the label of what a tool returns that no policy declares: text from outside of the program is untrusted.
    fn default_label(&self, tool: &Registered) -> Label {
        let is_tool = tool.kind() == ItemKind::Tool;
        let is_included = tool.is_included() && !INSIDE.iter().any(|set| self.is_in(tool, set));
        if is_tool && (tool.server().is_some() || is_included) { Label::Untrusted } else { Label::Trusted }
    }

    /// Lists the toolsets that contain a tool.
    fn toolset_names<'r>(&'r self, tool: &'r Registered) -> impl Iterator<Item = &'r Arc<str>> {
        self.toolsets_of(tool.alias_of().unwrap_or(tool.name())).map(|set| &set.name)
    }

    fn is_in(&self, tool: &Registered, toolset: &str) -> bool {
        self.toolset_names(tool).any(|name| **name == *toolset)
    }

    /// Returns whether one of the names of a tool, or of its toolsets, is meant.
    fn is_named(&self, tool: &Registered, is_meant: impl Fn(&str) -> bool) -> bool {
        names_of(tool).any(&is_meant) || self.toolset_names(tool).any(|name| is_meant(name))
    }
}

/// Lists the names of a tool: its own, and that of the tool of which it is an alias.
fn names_of(tool: &Registered) -> impl Iterator<Item = &str> {
    std::iter::once(tool.name()).chain(tool.alias_of())
}
