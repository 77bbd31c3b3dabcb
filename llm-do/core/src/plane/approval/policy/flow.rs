//! Where untrusted text comes from, and which arguments it may be in without an approval.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Policy;
use super::effects::unknown;
use super::faults::placed;
use crate::observe::event::{ItemKind, Label};
use crate::plane::registry::{Registered, Registry};

/// The declarations of a policy about where data comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct FlowPolicy {
    /// The labels of results, by tool or toolset.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) sources: BTreeMap<Arc<str>, Label>,
    /// The tools whose calls untrusted text may not steer, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) sinks: BTreeMap<Arc<str>, Sink>,
}

/// A tool whose calls untrusted text may not steer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct Sink {
    /// The arguments that are only passed on, and do not decide what the call does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in super::super) data: Vec<String>,
}

impl Sink {
    /// Returns why calls of a tool cannot be those of the sink.
    fn faults(&self, name: &str, tool: &Registered) -> Vec<String> {
        if tool.kind() != ItemKind::Tool {
            return vec![format!("`{name}` is not a tool: the calls that it makes are labelled themselves")];
        }
        let properties = &tool.parameters()["properties"];
        let missing = self.data.iter().filter(|argument| properties.get(argument.as_str()).is_none());
        missing.map(|argument| format!("`{name}` has no argument `{argument}`")).collect()
    }
}

impl FlowPolicy {
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.sinks.is_empty()
    }

    /// Keeps what makes calls need approval that would run without.
    pub(super) fn without_advance(&mut self) {
        self.sources.retain(|_, label| *label == Label::Untrusted);
        self.sinks.values_mut().for_each(|sink| sink.data.clear());
    }

    /// Lists what lets calls run without approval.
    pub(super) fn eased(&self) -> impl Iterator<Item = String> {
        let trusted = self.sources.iter().filter(|(_, label)| **label != Label::Untrusted);
        let trusted = trusted.map(|(name, _)| format!("what `{name}` returns steers calls, by `flow`"));
        let data = self.sinks.iter().filter(|(_, sink)| !sink.data.is_empty());
        trusted.chain(
            data.map(|(name, sink)| format!("untrusted text in `{}` of `{name}`, by `flow`", sink.data.join("`, `"))),
        )
    }
}

impl Policy {
    /// Sets whose text the results of a tool may carry, or of all tools of a toolset. Default: no sources, and nothing is labelled.
    ///
    /// With a source, results are labelled: those of tools of MCP servers and of the included toolsets are untrusted, those of other tools are
    /// trusted, and sources replace both. A call of a tool that may change something then needs approval if an untrusted
    /// value would steer it, also if the tool is pre-approved. [Untrusted text](Policy#untrusted-text) has the details.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Label, Policy};
    ///
    /// let policy = Policy::new().source("mcp__mail", Label::Untrusted).data_arguments("mcp__mail__send", ["subject", "body"]);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn source(mut self, name: impl Into<Arc<str>>, label: Label) -> Self {
        self.flow.sources.insert(name.into(), label);
        self
    }

    /// Sets the arguments of a tool that are only passed on, such as the text of a mail: untrusted text in them does not steer the call.
    /// Default: all arguments steer.
    ///
    /// Untrusted text in the other arguments then steers its calls, also if its effect is `read_only`, such as of a tool that sends its arguments to
    /// a server.
    #[must_use]
    pub fn data_arguments<A: Into<String>>(
        mut self,
        tool: impl Into<Arc<str>>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.flow.sinks.entry(tool.into()).or_default().data.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets where the source or the sink of a name stands, for errors.
    #[doc(hidden)]
    pub fn place_flow(&mut self, name: &str, place: String) {
        self.flow_places.insert(name.into(), place);
    }

    /// Lists the sources and sinks of unknown names, and the arguments that a tool does not have.
    pub(super) fn flow_faults(&self, registry: &Registry) -> Vec<String> {
        let unknown_name = |(count, name): (usize, &Arc<str>)| {
            let is_known = registry.get(name).is_some() || registry.lacks(name);
            if is_known { None } else { unknown(name, registry, count) }
        };
        let sources = self.flow.sources.keys().enumerate();
        let sources = sources.filter_map(|(count, name)| Some((name, unknown_name((count, name))?)));
        let sinks = self.flow.sinks.iter().enumerate().flat_map(|(count, (name, sink))| {
            let of_tool = registry.get(name).map(|tool| sink.faults(name, tool)).unwrap_or_default();
            of_tool.into_iter().chain(unknown_name((count, name))).map(move |fault| (name, fault))
        });
        sources.chain(sinks).map(|(name, fault)| self.flow_fault(name, &fault)).collect()
    }

    /// Returns a fault of the source or the sink of a name, with its place, if it is known.
    fn flow_fault(&self, name: &str, fault: &str) -> String {
        placed(self.flow_places.get(name).map(String::as_str), format!("`flow`: {fault}"))
    }
}
