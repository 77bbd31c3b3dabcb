//! The approval policy of the program that uses the tools.

#[cfg(feature = "project")]
mod advance;
mod calls;
mod condition;
mod effects;
mod layers;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use llm_do_providers::ServerSideTool;
use llm_do_worker_file::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::calls::CallRule;
use super::Rule;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::registry::{Registered, Registry};

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
    pub(super) workers: WorkerRule,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) worker_overrides: BTreeMap<Arc<str>, WorkerRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_side_tools: Option<Rule>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) server_side_overrides: BTreeMap<Arc<str>, Rule>,
    #[serde(skip)]
    pub(super) decide: Option<Arc<Decide>>,
    /// Where the rules of a file stand, by name.
    #[serde(skip)]
    places: BTreeMap<Arc<str>, String>,
    /// Where the effects of a file stand, by name.
    #[serde(skip)]
    effect_places: BTreeMap<Arc<str>, String>,
    /// Whether it is of the files of a project, which may come from someone else.
    #[serde(skip)]
    is_of_project: bool,
    /// Rules that apply where this policy has none.
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
    /// [`CallRefused`](crate::event::EventKind::CallRefused) event with its name is emitted; the worker runs without it.
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

    /// Returns whether it has a rule for a tool that depends on the arguments of the call.
    pub(super) fn has_calls_of(&self, tool: &Registered) -> bool {
        self.calls.iter().any(|call| call.is_of(tool))
    }

    /// Returns where the rule for a name stands, if it is of a file.
    #[cfg(feature = "cli")]
    pub(super) fn place_of(&self, name: &str) -> Option<&str> {
        self.places.get(name).map(String::as_str)
    }

    /// Sets where the rule for a name stands, for errors.
    #[cfg(feature = "project")]
    pub(crate) fn place(&mut self, name: &str, place: String) {
        self.places.insert(name.into(), place);
    }

    /// Lists its names that are not registered, or that name an item of another kind.
    ///
    /// Names in approvals for calls are [`ignored`](Self::ignored). A tool whose server is not needed is not known, and not a fault.
    pub(super) fn faults(&self, registry: &Registry) -> Vec<String> {
        let items: Vec<_> = registry.iter().map(|item| item.name()).collect();
        let groups = registry.groups().map(|group| &*group.name);
        let toolsets: Vec<_> = registry.toolset_defs().keys().copied().chain(groups).collect();
        let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker);
        let workers: Vec<_> = workers.map(|item| item.name()).collect();
        let (tool, toolset) = (("tool", &*items), ("toolset", &*toolsets));
        let server_side: Vec<_> = ServerSideTool::ALL.iter().map(ServerSideTool::name).collect();
        let server_side = ("server-side tool", &*server_side);
        let at = |name| (name, self.places.get(name).map(String::as_str));
        let is_checked = |name: &&Arc<str>| !registry.lacks(name);
        let calls = self.calls.iter().filter(|call| !call.is_approval() && is_checked(&&call.tool));
        let calls = calls.map(|call| (&call.tool, call.place.as_deref()));
        unknown(self.tools.keys().filter(is_checked).map(at), tool, toolset)
            .chain(unknown(calls, tool, toolset))
            .chain(unknown(self.toolsets.keys().map(at), toolset, tool))
            .chain(unknown(self.worker_overrides.keys().map(at), ("worker", &workers), tool))
            .chain(unknown(self.server_side_overrides.keys().map(at), server_side, tool))
            .chain(self.effect_faults(registry))
            .collect()
    }
}

/// Returns an error text for each name that is not `known`, with the place of its rule.
fn unknown<'a>(
    names: impl Iterator<Item = (&'a Arc<str>, Option<&'a str>)>,
    (kind, known): (&'a str, &'a [&'a str]),
    (other, others): (&'a str, &'a [&'a str]),
) -> impl Iterator<Item = String> {
    let unknown = names.filter(|(name, _)| !known.contains(&&***name)).enumerate();
    unknown.map(move |(count, (name, place))| {
        if others.contains(&&**name) {
            return placed(place, format!("unknown {kind} `{name}`: it is a {other}; set its rule with `{other}`"));
        }
        let hint = match count {
            ..MAX_SUGGESTIONS => did_you_mean(name, known.iter().copied()),
            _ => String::new(),
        };
        placed(place, format!("unknown {kind} `{name}`{hint}"))
    })
}

/// Returns a text about a rule with its place, if that is known.
fn placed(place: Option<&str>, text: String) -> String {
    match place {
        Some(place) => format!("{place}: {text}"),
        None => text,
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("tools", &self.tools)
            .field("toolsets", &self.toolsets)
            .field("calls", &self.calls)
            .field("effects", &self.effects)
            .field("workers", &self.workers)
            .field("worker_overrides", &self.worker_overrides)
            .field("server_side_tools", &self.server_side_tools)
            .field("server_side_overrides", &self.server_side_overrides)
            .field("decide", &self.decide.as_ref().map(|_| ".."))
            .field("fallback", &self.fallback)
            .finish_non_exhaustive()
    }
}

/// The maximum number of unknown names with a suggestion: for each, all names are compared.
const MAX_SUGGESTIONS: usize = 100;

/// Whether calls of workers need approval; unset fields leave it to the next rule.
///
/// As JSON: `{"calls": true, "attachments": null}`; both fields are optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use]
pub struct WorkerRule {
    pub(super) calls: Option<bool>,
    pub(super) attachments: Option<bool>,
}

impl WorkerRule {
    /// Creates a rule with all fields unset.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether every call needs approval. Default: unset.
    pub fn calls(mut self, ask: bool) -> Self {
        self.calls = Some(ask);
        self
    }

    /// Sets whether a call with files needs approval. Default: unset.
    ///
    /// Files are those of each decoded [`Prompt`](crate::Prompt), [`Attached`](crate::prompt::Attached) and
    /// [`Attachment`](crate::Attachment), at any depth of the arguments and under any name. A worker with a JSON schema as its
    /// input gets no files, since it has no argument of these types.
    ///
    /// Files that the body of a worker attaches need no approval.
    pub fn attachments(mut self, ask: bool) -> Self {
        self.attachments = Some(ask);
        self
    }

    /// Fills the unset fields from `general`.
    pub(super) fn or(self, general: Self) -> Self {
        Self { calls: self.calls.or(general.calls), attachments: self.attachments.or(general.attachments) }
    }

    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Returns the rule for a call with or without files; `None` if the fields for it are unset.
    pub(super) fn rule(self, has_files: bool) -> Option<Rule> {
        let asks = [self.calls, self.attachments.filter(|_| has_files)];
        asks.into_iter().flatten().reduce(|one, other| one || other).map(Rule::asking)
    }
}

/// A call that the function of [`Policy::decide_with`] decides about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProposedCall<'a> {
    /// The registered name of the callee.
    pub tool: &'a str,
    /// Whether the callee is a tool, a worker or an entry.
    pub kind: ItemKind,
    /// What a call may change.
    pub effect: Effect,
    /// The decoded arguments: valid for the schema, defaults filled in.
    pub arguments: &'a Value,
    /// The arguments as the caller gave them, if they contain more than `arguments`: see
    /// [`ApprovalRequest::given`](crate::approval::ApprovalRequest::given). A rule about values must check both.
    pub given: Option<&'a Value>,
    /// The name of the calling tool, worker or entry.
    pub caller: &'a str,
    /// Whether code or a model calls.
    pub by: Caller,
    /// Whether the callee is a server-side tool, which the model's provider runs: `arguments` are then its options, and
    /// `caller` is the worker that lists it.
    pub is_server_side: bool,
}

impl<'a> ProposedCall<'a> {
    /// Creates a call for tests of a function: made by a model, of a tool that declares no effect.
    #[must_use]
    pub fn new(tool: &'a str, arguments: &'a Value) -> Self {
        let effect = Effect::Undeclared;
        let by = Caller::Model;
        Self { tool, kind: ItemKind::Tool, effect, arguments, given: None, caller: "", by, is_server_side: false }
    }
}
