//! Where untrusted and private values come from, and which calls they may be in without an approval.

mod faults;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Policy;
use crate::observe::event::Label;
use crate::plane::approval::{FlowMode, Reach};
use crate::plane::origin::IdPlace;

/// The declarations of a policy about where data comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct FlowPolicy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) mode: Option<FlowMode>,
    /// The labels of results, by tool or toolset.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) sources: BTreeMap<Arc<str>, Label>,
    /// The tools and toolsets whose results are private.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(in super::super) private: BTreeSet<Arc<str>>,
    /// The tools whose calls untrusted text may not steer, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) sinks: BTreeMap<Arc<str>, Sink>,
    /// Where results have ids, by tool or toolset.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in super::super) ids: BTreeMap<Arc<str>, Vec<IdPlace>>,
    /// The label of what clients send that may be models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) clients: Option<Label>,
    /// The code-mode workers whose models see all that their code returns.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(in super::super) code_reads: BTreeSet<Arc<str>>,
}

/// A tool whose calls untrusted text may not steer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct Sink {
    /// The arguments that are only passed on, and do not decide what the call does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in super::super) data: Vec<String>,
    /// Where what it gets may arrive, if that is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) reach: Option<Reach>,
}

impl FlowPolicy {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether it declares a source, so that values have labels.
    pub(in super::super) fn has_sources(&self) -> bool {
        !(self.sources.is_empty() && self.private.is_empty())
    }

    /// Keeps what makes calls need approval that would run without.
    pub(super) fn without_advance(&mut self) {
        self.mode = self.mode.filter(|mode| *mode == FlowMode::Strict);
        self.sources.retain(|_, label| *label == Label::Untrusted);
        self.clients = self.clients.filter(|label| *label == Label::Untrusted);
        self.ids.clear();
        self.code_reads.clear();
        for sink in self.sinks.values_mut() {
            sink.data.clear();
            sink.reach = sink.reach.filter(|reach| *reach == Reach::Outside);
        }
    }

    /// Lists what lets calls run without approval.
    pub(super) fn eased(&self) -> impl Iterator<Item = String> {
        let mode = self.mode.filter(|mode| *mode != FlowMode::Strict);
        let mode = mode.map(|mode| {
            format!("calls that untrusted or private values are in, by the mode `{}` of `flow`", mode.word())
        });
        let trusted = self.sources.iter().filter(|(_, label)| **label != Label::Untrusted);
        let trusted = trusted.map(|(name, _)| format!("what `{name}` returns steers calls, by `flow`"));
        let clients = self.clients.filter(|label| *label != Label::Untrusted);
        let clients = clients.map(|_| "what clients send steers calls, by `flow`".to_owned());
        let data = self.sinks.iter().filter(|(_, sink)| !sink.data.is_empty());
        let data =
            data.map(|(name, sink)| format!("untrusted text in `{}` of `{name}`, by `flow`", sink.data.join("`, `")));
        let own = self.sinks.iter().filter(|(_, sink)| sink.reach == Some(Reach::Own));
        let own = own.map(|(name, _)| format!("private and untrusted values that `{name}` keeps, by `flow`"));
        let ids = self.ids.keys().map(|name| format!("ids that `{name}` returns steer its calls, by `flow`"));
        let reads =
            self.code_reads.iter().map(|name| format!("the model of `{name}` sees what its code returns, by `flow`"));
        mode.into_iter().chain(trusted).chain(clients).chain(data).chain(own).chain(ids).chain(reads)
    }
}

impl Policy {
    /// Sets how strict the rule about where values came from is. Default: strict.
    ///
    /// Without a [source](Self::source), no mode changes anything. [`RuntimeBuilder::flow`](crate::session::runtime::RuntimeBuilder::flow)
    /// replaces the mode of all policies.
    #[must_use]
    pub fn flow(mut self, mode: FlowMode) -> Self {
        self.flow.mode = Some(mode);
        self
    }

    /// Sets whose text the results of a tool may carry, or of all tools of a toolset. Default: no sources, and nothing is labelled.
    ///
    /// With a source, results are labelled: those of tools of MCP servers and of the included toolsets are untrusted, those of other tools are
    /// trusted, and sources replace both. A call of a tool that may change something then needs approval if an untrusted
    /// value would steer it, also if the tool is pre-approved. [Untrusted text](Policy#untrusted-text) has the details.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Label, Policy, Reach};
    ///
    /// let policy = Policy::new()
    ///     .source("mcp__mail", Label::Untrusted)
    ///     .private("mcp__bank")
    ///     .data_arguments("mcp__mail__send", ["subject", "body"])
    ///     .data_arguments("mcp__notes__write", ["text"])
    ///     .reach("mcp__notes__write", Reach::Own)
    ///     .ids("mcp__mail", ["/*/id"]);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn source(mut self, name: impl Into<Arc<str>>, label: Label) -> Self {
        self.flow.sources.insert(name.into(), label);
        self
    }

    /// Declares that the results of a tool are private, or of all tools of a toolset: what is made from them may not leave to other people without
    /// an approval. Default: results are public.
    ///
    /// It is a [source](Self::source), whose results are trusted or not as before.
    #[must_use]
    pub fn private(mut self, name: impl Into<Arc<str>>) -> Self {
        self.flow.private.insert(name.into());
        self
    }

    /// Sets the arguments of a tool that are only passed on, such as the text of a mail: untrusted text in them does not steer the call.
    /// Default: all arguments steer.
    ///
    /// Untrusted text in the other arguments then steers its calls, also if its effect is `read_only`, such as of a tool that sends its arguments to
    /// a server. Text that would leave to other people is asked about in the mode [strict](FlowMode::Strict), unless the [reach](Self::reach) is
    /// the user's own.
    #[must_use]
    pub fn data_arguments<A: Into<String>>(
        mut self,
        tool: impl Into<Arc<str>>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.flow.sinks.entry(tool.into()).or_default().data.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets where what a tool gets may arrive. Default: outside, at other people.
    #[must_use]
    pub fn reach(mut self, tool: impl Into<Arc<str>>, reach: Reach) -> Self {
        self.flow.sinks.entry(tool.into()).or_default().reach = Some(reach);
        self
    }

    /// Sets where the results of a tool have ids, or of all tools of a toolset: a JSON pointer such as `/*/id`, where `*` stands for each
    /// item or field. Default: nowhere.
    ///
    /// An id is bounded for calls of the toolset that returned it in this run: anyone may have chosen which. A place that is not a JSON pointer
    /// has no ids.
    #[must_use]
    pub fn ids<P: Into<String>>(mut self, name: impl Into<Arc<str>>, places: impl IntoIterator<Item = P>) -> Self {
        let places = places.into_iter().filter_map(|place| IdPlace::try_from(place.into()).ok());
        self.flow.ids.entry(name.into()).or_default().extend(places);
        self
    }

    /// Sets whose text clients send that may be models: the arguments of [gated](crate::session::runtime::Start::gated) calls, and
    /// messages to their runs. Default: untrusted.
    #[must_use]
    pub fn clients(mut self, label: Label) -> Self {
        self.flow.clients = Some(label);
        self
    }

    /// Lets the model of a code-mode worker see all that its code returns. Default: in the mode [strict](FlowMode::Strict), untrusted text
    /// stays in the variables of the code.
    #[must_use]
    pub fn code_reads(mut self, worker: impl Into<Arc<str>>) -> Self {
        self.flow.code_reads.insert(worker.into());
        self
    }

    /// Sets the mode for this policy and its fallbacks, if there is one.
    pub(crate) fn with_flow_mode(mut self, mode: Option<FlowMode>) -> Self {
        self.flow.mode = mode.or(self.flow.mode);
        self
    }

    /// Returns the mode of the first policy that has one.
    pub(in super::super) fn flow_mode(&self) -> FlowMode {
        self.layers().find_map(|layer| layer.flow.mode).unwrap_or_default()
    }

    /// Sets where a declaration about a name stands, for errors.
    #[doc(hidden)]
    pub fn place_flow(&mut self, name: &str, place: String) {
        self.flow_places.insert(name.into(), place);
    }
}
