//! The approval policy of the program that uses the tools.

mod advance;
mod calls;
mod condition;
mod effects;
mod faults;
mod flow;
mod layers;
mod on_unknown;
mod proposed_call;
mod worker_rule;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::calls::CallRule;
pub(crate) use self::condition::with_defaults;
use self::flow::FlowPolicy;
pub(super) use self::flow::Sink;
pub use self::proposed_call::ProposedCall;
pub use self::worker_rule::WorkerRule;
use super::Rule;
use crate::declare::tool::{Effect, OnUnknown};
use crate::plane::registry::Registered;

type Decide = dyn Fn(&ProposedCall<'_>) -> Option<Rule> + Send + Sync;

#[doc = include_str!("../../../docs/policy.md")]
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) tools: BTreeMap<Arc<str>, Rule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) toolsets: BTreeMap<Arc<str>, Rule>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallRule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    effects: BTreeMap<Arc<str>, Effect>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    on_unknown: BTreeMap<Arc<str>, OnUnknown>,
    pub(super) workers: WorkerRule,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) worker_overrides: BTreeMap<Arc<str>, WorkerRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_side_tools: Option<Rule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) server_side_overrides: BTreeMap<Arc<str>, Rule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reviewer: Option<Arc<str>>,
    #[serde(skip_serializing_if = "FlowPolicy::is_empty")]
    pub(super) flow: FlowPolicy,
    #[serde(skip)]
    pub(super) decide: Option<Arc<Decide>>,
    /// The places of the rules of a file, by name.
    #[serde(skip)]
    places: BTreeMap<Arc<str>, String>,
    /// The places of the effects of a file, by name.
    #[serde(skip)]
    effect_places: BTreeMap<Arc<str>, String>,
    /// The places of the settings of a file for unknown outcomes, by name.
    #[serde(skip)]
    on_unknown_places: BTreeMap<Arc<str>, String>,
    /// Where the sources and sinks of a file stand, by name.
    #[serde(skip)]
    flow_places: BTreeMap<Arc<str>, String>,
    /// Whether the policy is from the files of a project, which may be untrusted.
    #[serde(skip)]
    is_of_project: bool,
    /// The rules that apply where this policy has no rule.
    #[serde(skip)]
    fallback: Option<Box<Policy>>,
}

impl Policy {
    /// Creates a policy without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the rule for a tool, worker or entry, by its registered name. Default: the rule of its toolset.
    #[must_use]
    pub fn tool(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.tools.insert(name.into(), rule);
        self
    }

    /// Sets the rule for all members of a toolset, by its registered name. Default: the rule of each tool.
    ///
    /// It applies to a member regardless of where it is called from. If several toolsets contain a tool, their strictest
    /// rule applies.
    #[must_use]
    pub fn toolset(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.toolsets.insert(name.into(), rule);
        self
    }

    /// Sets whether calls of workers need approval. Default: they do not, since the calls that a worker makes do.
    #[must_use]
    pub fn workers(mut self, rule: WorkerRule) -> Self {
        self.workers = rule;
        self
    }

    /// Sets whether calls of one worker need approval; unset fields follow [`workers`](Self::workers). Default: all unset.
    #[must_use]
    pub fn worker(mut self, name: impl Into<Arc<str>>, rule: WorkerRule) -> Self {
        self.worker_overrides.insert(name.into(), rule);
        self
    }

    /// Sets the rule for all server-side tools. Default: pre-approved, since the author of the worker lists them.
    ///
    /// A server-side tool that is blocked or denied is left out of the worker's requests, and a
    /// [`CallRefused`](crate::observe::event::EventKind::CallRefused) event with its name is emitted; the worker runs without it.
    /// With [`Rule::Ask`], the approver is asked once for each call of a worker, before its first request.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::{Policy, Rule};
    ///
    /// let policy = Policy::new()
    ///     .server_side_tools(Rule::blocked("searches would send private data"))
    ///     .server_side_tool("code_execution", Rule::Ask);
    /// # _ = policy;
    /// ```
    #[must_use]
    pub fn server_side_tools(mut self, rule: Rule) -> Self {
        self.server_side_tools = Some(rule);
        self
    }

    /// Sets the rule for one server-side tool, such as `web_search`. Default: the rule for all server-side tools.
    #[must_use]
    pub fn server_side_tool(mut self, name: impl Into<Arc<str>>, rule: Rule) -> Self {
        self.server_side_overrides.insert(name.into(), rule);
        self
    }

    /// Sets the worker that reviews each call which needs approval, before the approver is asked. Default: none.
    ///
    /// The worker gets the call as the text `input`, and returns a [`CallReview`](super::CallReview): the call runs, or the caller
    /// gets a denial, or the approver decides and sees the reason. If the review fails, the approver decides. A call that
    /// [began](super::ApprovalRequest::began) before, and a server-side tool, are not reviewed. [Reviews](Policy#reviews-by-a-model)
    /// has the details.
    #[must_use]
    pub fn reviewer(mut self, worker: impl Into<Arc<str>>) -> Self {
        self.reviewer = Some(worker.into());
        self
    }

    /// Returns the reviewer of the first policy that has one.
    pub(super) fn first_reviewer(&self) -> Option<&Arc<str>> {
        self.layers().find_map(|layer| layer.reviewer.as_ref())
    }

    /// Sets a function that decides about each call, except the user's own. Default: no function.
    ///
    /// `None` leaves the call to the other rules. The function is not called for a call that another rule blocks, so it
    /// cannot unblock one. It is also called for the server-side tools of a worker, once for each call of the worker, with
    /// [`is_server_side`](ProposedCall::is_server_side) set. It runs on every call, so it must be quick; if it panics, the
    /// call is blocked.
    #[must_use]
    pub fn decide_with(mut self, decide: impl Fn(&ProposedCall<'_>) -> Option<Rule> + Send + Sync + 'static) -> Self {
        self.decide = Some(Arc::new(decide));
        self
    }

    /// Returns whether there is a rule for a tool that depends on the arguments of the call.
    pub(super) fn has_calls_of(&self, tool: &Registered) -> bool {
        self.calls.iter().any(|call| call.is_of(tool))
    }

    /// Returns the place of the rule for a name, if it is from a file.
    pub(super) fn place_of(&self, name: &str) -> Option<&str> {
        self.places.get(name).map(String::as_str)
    }

    /// Sets the place of the rule for a name, for errors.
    #[doc(hidden)]
    pub fn place(&mut self, name: &str, place: String) {
        self.places.insert(name.into(), place);
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("tools", &self.tools)
            .field("toolsets", &self.toolsets)
            .field("calls", &self.calls)
            .field("effects", &self.effects)
            .field("on_unknown", &self.on_unknown)
            .field("workers", &self.workers)
            .field("worker_overrides", &self.worker_overrides)
            .field("server_side_tools", &self.server_side_tools)
            .field("server_side_overrides", &self.server_side_overrides)
            .field("reviewer", &self.reviewer)
            .field("flow", &self.flow)
            .field("decide", &self.decide.as_ref().map(|_| ".."))
            .field("fallback", &self.fallback)
            .finish_non_exhaustive()
    }
}
