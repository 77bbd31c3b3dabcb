//! What the user of the tools says of approval.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use llm_do_providers::ServerSideTool;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Rule;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::registry::{Registry, did_you_mean};

type Decide = dyn Fn(&ProposedCall<'_>) -> Option<Rule> + Send + Sync;

#[doc = include_str!("../../../docs/policy.md")]
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tools: BTreeMap<Arc<str>, Rule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) toolsets: BTreeMap<Arc<str>, Rule>,
    pub(super) workers: WorkerRule,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) worker_overrides: BTreeMap<Arc<str>, WorkerRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_side_tools: Option<Rule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) server_side_overrides: BTreeMap<Arc<str>, Rule>,
    #[serde(skip)]
    pub(super) decide: Option<Arc<Decide>>,
}

impl Policy {
    /// Returns a policy without a rule.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rule for a tool, worker or entry, by its registered name. Default: none, so that its toolset decides.
    #[must_use]
    pub fn tool(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.tools.insert(name.into(), rule);
        self
    }

    /// Sets the rule for all members of a toolset, by its registered name. Default: none, so that each tool decides.
    ///
    /// It holds for a member wherever it is called from. Of the rules of several toolsets that hold one tool, the
    /// strictest holds.
    #[must_use]
    pub fn toolset(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.toolsets.insert(name.into(), rule);
        self
    }

    /// Sets whether calls of workers are asked about. Default: they are not, since what a worker calls is.
    #[must_use]
    pub fn workers(mut self, rule: WorkerRule) -> Self {
        self.workers = rule;
        self
    }

    /// Sets the same for one worker; what it does not say, [`workers`](Self::workers) says. Default: nothing.
    #[must_use]
    pub fn worker(mut self, name: impl Into<Arc<str>>, rule: WorkerRule) -> Self {
        self.worker_overrides.insert(name.into(), rule);
        self
    }

    /// Sets the rule for all server-side tools. Default: pre-approved, since the author of a worker names them for it.
    ///
    /// A server-side tool that is blocked or denied is left out of the worker's requests, and a
    /// [`CallRefused`](crate::event::EventKind::CallRefused) of its name says so; the worker runs without it. With
    /// [`Rule::Ask`], the approver is asked once for each call of a worker, before its first request.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Policy, Rule};
    ///
    /// let policy = Policy::new()
    ///     .server_side_tools(Rule::blocked("nothing of ours leaves for a search"))
    ///     .server_side_tool("code_execution", Rule::Ask);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn server_side_tools(mut self, rule: Rule) -> Self {
        self.server_side_tools = Some(rule);
        self
    }

    /// Sets the rule for one server-side tool, such as `web_search`, in the place of the rule for all. Default: none.
    #[must_use]
    pub fn server_side_tool(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.server_side_overrides.insert(name.into(), rule);
        self
    }

    /// Asks `decide` first about each call that is not the user's own. Default: nobody.
    ///
    /// It is asked about a worker's server-side tools too, once for each call of the worker: then
    /// [`is_server_side`](ProposedCall::is_server_side) is set. `None` leaves the call to the other rules. It cannot free what another rule blocks, and is not asked about that.
    /// It is called for every call, so it must be quick; if it panics, the call is blocked.
    #[must_use]
    pub fn decide_with(mut self, decide: impl Fn(&ProposedCall<'_>) -> Option<Rule> + Send + Sync + 'static) -> Self {
        self.decide = Some(Arc::new(decide));
        self
    }

    /// Says which of its names are registered nowhere, or as something else.
    pub(super) fn faults(&self, registry: &Registry) -> Vec<String> {
        let items: Vec<_> = registry.iter().map(|item| item.name()).collect();
        let toolsets: Vec<_> = registry.toolset_defs().keys().copied().collect();
        let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
        let workers: Vec<_> = workers.map(|item| item.name()).collect();
        let (tool, toolset) = (("tool", &*items), ("toolset", &*toolsets));
        let server_side: Vec<_> = ServerSideTool::ALL.iter().map(ServerSideTool::name).collect();
        let server_side = ("server-side tool", &*server_side);
        let rules = unknown(self.tools.keys(), tool, toolset)
            .chain(unknown(self.toolsets.keys(), toolset, tool))
            .chain(unknown(self.worker_overrides.keys(), ("worker", &workers), tool))
            .chain(unknown(self.server_side_overrides.keys(), server_side, tool));
        rules.collect()
    }
}

/// Says which names are not among those of their kind, and whether they are of another.
fn unknown<'a>(
    names: impl Iterator<Item = &'a Arc<str>>,
    (kind, known): (&'a str, &'a [&'a str]),
    (other, others): (&'a str, &'a [&'a str]),
) -> impl Iterator<Item = String> {
    names.filter(|name| !known.contains(&&***name)).map(move |name| {
        if others.contains(&&**name) {
            return format!("there is no {kind} `{name}`, but a {other}: give its rule by `{other}`");
        }
        format!("there is no {kind} `{name}`{}", did_you_mean(name, known.iter().copied()))
    })
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("tools", &self.tools)
            .field("toolsets", &self.toolsets)
            .field("workers", &self.workers)
            .field("worker_overrides", &self.worker_overrides)
            .field("server_side_tools", &self.server_side_tools)
            .field("server_side_overrides", &self.server_side_overrides)
            .field("decide", &self.decide.as_ref().map(|_| ".."))
            .finish()
    }
}

/// Whether calls of workers need approval; what it does not say is left to the next rule.
///
/// As JSON: `{"calls": true, "attachments": null}`, where both may be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
pub struct WorkerRule {
    pub(super) calls: Option<bool>,
    pub(super) attachments: Option<bool>,
}

impl WorkerRule {
    /// Returns the rule that says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether every call is asked about. Default: unsaid.
    pub fn calls(mut self, ask: bool) -> Self {
        self.calls = Some(ask);
        self
    }

    /// Sets whether a call is asked about that is given files. Default: unsaid.
    ///
    /// Files are those of each [`Prompt`](crate::Prompt), each [`Attached`](crate::prompt::Attached) and each
    /// [`Attachment`](crate::Attachment) that is decoded, at any depth of the arguments and under any name. A worker whose
    /// input is a JSON schema is given none: it has no argument of these types.
    ///
    /// What the body of a worker attaches by itself is code, and not asked about.
    pub fn attachments(mut self, ask: bool) -> Self {
        self.attachments = Some(ask);
        self
    }

    /// Returns the same, with what it does not say from `general`.
    pub(super) fn or(self, general: Self) -> Self {
        Self { calls: self.calls.or(general.calls), attachments: self.attachments.or(general.attachments) }
    }

    pub(super) fn is_unsaid(self) -> bool {
        self == Self::default()
    }

    /// Returns what it says of a call, given whether files go with it.
    pub(super) fn rule(self, has_files: bool) -> Option<Rule> {
        let said = [self.calls, self.attachments.filter(|_| has_files)];
        said.into_iter().flatten().reduce(|one, other| one || other).map(Rule::asking)
    }
}

/// A call, as a policy's function sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProposedCall<'a> {
    /// The registered name of what is called.
    pub tool: &'a str,
    /// What it is.
    pub kind: ItemKind,
    /// What a call may change.
    pub effect: Effect,
    /// The arguments, decoded already: they follow the schema, and defaults are filled in.
    pub arguments: &'a Value,
    /// The arguments as they were given, if `arguments` does not tell all of them: see
    /// [`ApprovalRequest::given`](crate::approval::ApprovalRequest::given). A rule about values has to look at both.
    pub given: Option<&'a Value>,
    /// The name of the calling tool, worker or entry.
    pub caller: &'a str,
    /// Whether code or a model calls.
    pub by: Caller,
    /// Whether it is a server-side tool, which the model's provider runs: then `arguments` are its options, and `caller`
    /// is the worker that names it.
    pub is_server_side: bool,
}

impl<'a> ProposedCall<'a> {
    /// Returns a call as a function may get it, for its tests: a model's, of a tool that says nothing of its effect.
    #[must_use]
    pub fn new(tool: &'a str, arguments: &'a Value) -> Self {
        let effect = Effect::Undeclared;
        let by = Caller::Model;
        Self { tool, kind: ItemKind::Tool, effect, arguments, given: None, caller: "", by, is_server_side: false }
    }
}
