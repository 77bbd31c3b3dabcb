//! The labels of what tools return, and the rule for calls that an untrusted or a private value is in.

use std::sync::{Arc, OnceLock};

use super::Rules;
use crate::base::error::Fault;
use crate::declare::tool::Effect;
use crate::observe::event::{ItemKind, Label, Labels, RuleSource};
use crate::plane::approval::policy::Sink;
use crate::plane::approval::{AppliedRule, FlowMode, LazyRequest, Policy, Reach, Rule};
use crate::plane::origin::{KnownIds, SinkRule};
use crate::plane::registry::{Registered, Registry};

/// The sources that types and attributes in code declare.
#[derive(Debug)]
pub(super) struct TypedSources {
    /// For each item with a result type: whether that has untrusted parts.
    checks: Vec<fn() -> bool>,
    has_private: bool,
    /// Whether there is any source; found out when it is first asked.
    has_any: OnceLock<bool>,
}

impl TypedSources {
    pub(super) fn of(registry: &Registry) -> Self {
        let checks = registry.iter().filter_map(|item| item.untrusted_check()).collect();
        let has_private = registry.iter().any(|item| item.is_private());
        Self { checks, has_private, has_any: OnceLock::new() }
    }

    fn has_any(&self) -> bool {
        *self.has_any.get_or_init(|| self.has_private || self.checks.iter().any(|is_untrusted| is_untrusted()))
    }
}

/// The included toolsets whose results are answers of the user, or of workers, which have labels of their own.
const INSIDE: [&str; 2] = ["user_input", "workers"];
/// The included toolset that sends what it gets to servers.
const SENDING: &str = "http";

impl Rules {
    /// Returns whether values are labelled: a policy or a type declares a source, and the mode is not off.
    pub(in super::super) fn has_flow(&self) -> bool {
        let has_sources = || self.policy.layers().any(|layer| layer.flow.has_sources()) || self.typed.has_any();
        self.policy.flow_mode() != FlowMode::Off && has_sources()
    }

    /// Returns the mode of the first policy that has one.
    pub(in super::super) fn flow_mode(&self) -> FlowMode {
        self.policy.flow_mode()
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
            let own = tool.names().find_map(|name| sources.get(name).copied());
            // Of several toolsets, the worst.
            own.or_else(|| self.toolset_names(tool).filter_map(|set| sources.get(set)).max().copied())
        };
        let integrity = self.policy.layers().find_map(of_layer).unwrap_or_else(|| self.default_label(tool));
        let is_private = |layer: &Policy| self.is_named(tool, |name| layer.flow.private.contains(name));
        Labels { integrity, is_private: tool.is_private() || self.policy.layers().any(is_private) }
    }

    /// Returns whether a source is private.
    pub(in super::super) fn has_private(&self) -> bool {
        self.has_flow() && (self.typed.has_private || self.policy.layers().any(|layer| !layer.flow.private.is_empty()))
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

    /// Returns whether the model of a code-mode worker does not see untrusted text that its code returns.
    pub(in super::super) fn withholds(&self, worker: &str) -> bool {
        self.is_strict() && !self.policy.layers().any(|layer| layer.flow.code_reads.contains(worker))
    }

    /// Returns whether calls of a tool may need approval because of where their values came from.
    pub(in super::super) fn is_sink(&self, tool: &Registered) -> bool {
        if !self.has_flow() || tool.kind() != ItemKind::Tool {
            return false;
        }
        let is_declared = || self.policy.layers().any(|layer| sink_in(layer, tool).is_some());
        let acts = || tool.effect() != Effect::ReadOnly && !tool.changes_by_steps_only();
        let sends = || tool.is_included() && self.is_in(tool, SENDING);
        is_declared() || tool.reach().is_some() || acts() || sends()
    }

    /// Returns the rule for a call that an untrusted or a private value is in; `None` for any other call.
    pub(super) fn hold(&self, tool: &Registered, request: &mut LazyRequest<'_>) -> Result<Option<AppliedRule>, Fault> {
        if !self.is_sink(tool) {
            return Ok(None);
        }
        let (data, reach) = (self.data_arguments(tool), self.reach(tool));
        let rule = SinkRule { data, is_outside: reach == Reach::Outside, is_strict: self.is_strict() };
        let reason = request.get()?.origins.held(rule);
        Ok(reason.map(|reason| AppliedRule::new(Rule::Ask, RuleSource::Flow(reason))))
    }

    /// Returns the arguments that a tool only passes on: those of the first policy that declares any, or else those of its types.
    pub(in super::super) fn data_arguments<'r>(&'r self, tool: &'r Registered) -> &'r [String] {
        let declared = self.policy.layers().find_map(|layer| sink_in(layer, tool)).map(|sink| sink.data.as_slice());
        declared.filter(|data| !data.is_empty()).unwrap_or_else(|| tool.data_arguments())
    }

    /// Returns where what a tool gets may arrive.
    pub(in super::super) fn reach(&self, tool: &Registered) -> Reach {
        let declared = self.policy.layers().find_map(|layer| sink_in(layer, tool)?.reach);
        declared.or_else(|| tool.reach()).unwrap_or_default()
    }

    /// Returns the label of what a tool returns that no policy declares: its type decides, and text from outside of the program is untrusted.
    fn default_label(&self, tool: &Registered) -> Label {
        if tool.is_untrusted() {
            return Label::Untrusted;
        }
        let is_tool = tool.kind() == ItemKind::Tool;
        let is_included = tool.is_included() && !INSIDE.iter().any(|set| self.is_in(tool, set));
        if is_tool && (tool.server().is_some() || is_included) { Label::Untrusted } else { Label::Trusted }
    }

    /// Lists the toolsets that contain a tool.
    fn toolset_names<'r>(&'r self, tool: &'r Registered) -> impl Iterator<Item = &'r Arc<str>> {
        self.toolsets_of(tool).map(|set| &set.name)
    }

    fn is_in(&self, tool: &Registered, toolset: &str) -> bool {
        self.toolset_names(tool).any(|name| **name == *toolset)
    }

    /// Returns whether one of the names of a tool, or of its toolsets, is meant.
    fn is_named(&self, tool: &Registered, is_meant: impl Fn(&str) -> bool) -> bool {
        tool.names().any(&is_meant) || self.toolset_names(tool).any(|name| is_meant(name))
    }
}

/// Returns what a policy declares about the calls of a tool, if it does.
fn sink_in<'p>(policy: &'p Policy, tool: &Registered) -> Option<&'p Sink> {
    tool.names().find_map(|name| policy.flow.sinks.get(name))
}
