//! The approval rule for each call, from policy, tools, toolsets and effects; resolved once for each tool that is called.

#[cfg(feature = "cli")]
mod explain;
mod outside;

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "cli")]
pub(crate) use self::explain::Explanation;
use super::rule::first_or_block;
use super::{ApprovalRequest, Policy, ProposedCall, Rule};
use crate::base::error::Fault;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind, RuleSource};
use crate::plane::definition::DeclaredRule;
use crate::plane::registry::{Registered, Registry};

/// A rule and its source.
#[derive(Clone, Debug)]
pub(crate) struct SourcedRule {
    pub(super) rule: Rule,
    pub(super) source: RuleSource,
}

impl SourcedRule {
    fn is_blocked(&self) -> bool {
        self.rule.is_blocked()
    }
}

/// The rules of a session.
#[derive(Debug)]
pub(super) struct Rules {
    policy: Policy,
    /// By tool name: the toolsets that contain the tool.
    toolsets: HashMap<Arc<str>, Vec<ContainingToolset>>,
    /// By the tool's index in the registry; resolved when the tool is first called.
    resolved: Vec<OnceLock<Box<Resolved>>>,
}

#[derive(Clone, Debug)]
struct ContainingToolset {
    name: Arc<str>,
    approval: Option<DeclaredRule>,
}

/// The rules for a tool before its arguments are known.
#[derive(Debug)]
struct Resolved {
    /// For a call without files.
    plain: Layered,
    /// For a call with files, if it differs.
    with_files: Option<Layered>,
    /// Whether the rule of every call is the plain one.
    is_fixed: bool,
}

/// A rule, and how many policies come before the one that has it.
#[derive(Clone, Debug)]
struct Layered {
    found: SourcedRule,
    layer: usize,
}

impl Layered {
    /// A rule that no policy has.
    const DECLARED: usize = usize::MAX;

    fn is_blocked(&self) -> bool {
        self.found.is_blocked()
    }
}

/// Builds a request; fails if the arguments cannot be written as JSON.
pub(crate) type BuildRequest<'a> = &'a dyn Fn() -> Result<ApprovalRequest, Fault>;

/// A request that is built on first use.
pub(super) struct LazyRequest<'a> {
    build: BuildRequest<'a>,
    built: Option<ApprovalRequest>,
}

impl<'a> LazyRequest<'a> {
    pub(super) fn new(build: BuildRequest<'a>) -> Self {
        Self { build, built: None }
    }

    fn get(&mut self) -> Result<&ApprovalRequest, Fault> {
        let request = match self.built.take() {
            Some(request) => request,
            None => (self.build)()?,
        };
        Ok(self.built.insert(request))
    }

    pub(super) fn into_request(self) -> Result<ApprovalRequest, Fault> {
        self.built.map_or_else(self.build, Ok)
    }
}

impl Rules {
    /// Resolves the rules; the error lists the unknown names in the policy, or else the rules that no call can match.
    pub(super) fn new(mut policy: Policy, registry: &Registry) -> Result<Self, Vec<String>> {
        let mut faults: Vec<_> = policy.layers().flat_map(|layer| layer.faults(registry)).collect();
        if faults.is_empty() {
            faults = policy.decode_calls(registry);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut toolsets: HashMap<_, Vec<_>> = HashMap::new();
        for set in registry.toolset_defs().values() {
            for member in set.members {
                let containing = ContainingToolset { name: set.name.into(), approval: set.approval };
                toolsets.entry(member.tool().into()).or_default().push(containing);
            }
        }
        for group in registry.groups() {
            for tool in &group.tools {
                let containing = ContainingToolset { name: Arc::clone(&group.name), approval: None };
                toolsets.entry(Arc::clone(tool)).or_default().push(containing);
            }
        }
        let resolved = registry.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { policy, toolsets, resolved })
    }

    /// Returns the rule for all calls of a tool, if it does not depend on their arguments.
    pub(super) fn fixed(&self, tool: &Registered) -> Option<&SourcedRule> {
        let resolved = self.resolved(tool)?;
        resolved.is_fixed.then_some(&resolved.plain.found)
    }

    /// Returns the rule for a call; the request is built only if the rule depends on the arguments.
    pub(super) fn rule<'r>(
        &'r self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Cow<'r, SourcedRule>, Fault> {
        let fixed = match self.resolved(tool) {
            Some(resolved) => Cow::Borrowed(resolved.for_call(request)?),
            // Not in the registry: a run-time worker.
            None => Cow::Owned(self.resolve(tool).for_call(request)?.clone()),
        };
        let layer = fixed.layer;
        let fixed = match fixed {
            Cow::Borrowed(fixed) => Cow::Borrowed(&fixed.found),
            Cow::Owned(fixed) => Cow::Owned(fixed.found),
        };
        if fixed.rule.is_blocked() {
            return Ok(fixed);
        }
        let of_arguments = if self.has_calls_of(tool) { self.for_arguments(tool, request.get()?, layer) } else { None };
        let decided = match &self.policy.decide {
            Some(_) if !of_arguments.as_ref().is_some_and(SourcedRule::is_blocked) => {
                self.decide_call(tool, by, request.get()?)
            }
            _ => None,
        };
        Ok(decided.or(of_arguments).map_or(fixed, Cow::Owned))
    }

    fn has_calls_of(&self, tool: &Registered) -> bool {
        self.policy.layers().any(|layer| layer.has_calls_of(tool))
    }

    /// Returns the rule for a call with these arguments, of a policy not behind that of the tool's rule; a block is of any policy.
    fn for_arguments(&self, tool: &Registered, request: &ApprovalRequest, layer: usize) -> Option<SourcedRule> {
        let found = self.policy.layers().map(|policy| policy.for_arguments(tool, request)).enumerate();
        let found = found.filter_map(|(at, call)| call.filter(|call| at <= layer || call.rule.is_blocked()));
        let call = first_or_block(found, |call| call.rule.is_blocked())?;
        Some(SourcedRule { rule: call.rule.clone(), source: call.source() })
    }

    /// Returns the decision of the policy's function about a call, if there is one.
    fn decide_call(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> Option<SourcedRule> {
        let call = ProposedCall {
            tool: tool.name(),
            kind: tool.kind(),
            effect: tool.effect(),
            arguments: &request.arguments,
            given: request.given.as_ref(),
            caller: &request.caller,
            by,
            is_server_side: false,
        };
        self.decide(&call)
    }

    /// Returns the rule for a server-side tool, for all workers: by its name, or else the rule for all of them.
    pub(super) fn server_side(&self, tool: &str) -> SourcedRule {
        let of_layer = |policy: &Policy| {
            let for_tool = policy.server_side_overrides.get(tool).map(|rule| (rule, RuleSource::PolicyServerSideTool));
            let for_all = || Some((policy.server_side_tools.as_ref()?, RuleSource::PolicyServerSideTools));
            for_tool.or_else(for_all).map(|(rule, source)| SourcedRule { rule: rule.clone(), source })
        };
        let default = SourcedRule { rule: Rule::PreApproved, source: RuleSource::DeclaredWorker };
        first_or_block(self.policy.layers().filter_map(of_layer), |found| found.rule.is_blocked()).unwrap_or(default)
    }

    /// Returns the rule for a server-side tool that a worker names.
    pub(super) fn server_side_call(&self, request: &ApprovalRequest) -> SourcedRule {
        let fixed = self.server_side(&request.tool);
        if fixed.rule.is_blocked() {
            return fixed;
        }
        let call = ProposedCall {
            effect: request.effect,
            caller: &request.caller,
            given: None,
            is_server_side: true,
            ..ProposedCall::new(&request.tool, &request.arguments)
        };
        self.decide(&call).unwrap_or(fixed)
    }

    /// Calls the policy's function; a panic blocks the call.
    fn decide(&self, call: &ProposedCall<'_>) -> Option<SourcedRule> {
        let decide = self.policy.decide.as_deref()?;
        let rule = catch_unwind(AssertUnwindSafe(|| decide(call)))
            .unwrap_or_else(|_| Some(Rule::blocked("the approval policy's `decide_with` function panicked")));
        rule.map(|rule| SourcedRule { rule, source: RuleSource::Function })
    }

    /// Returns the rules for a tool in the registry.
    #[inline]
    fn resolved(&self, tool: &Registered) -> Option<&Resolved> {
        let resolved = self.resolved.get(tool.place?)?;
        Some(resolved.get_or_init(|| Box::new(self.resolve(tool))))
    }

    fn resolve(&self, tool: &Registered) -> Resolved {
        let plain = self.layered(tool, false);
        let with_files = Some(self.layered(tool, true)).filter(|with_files| with_files.found.rule != plain.found.rule);
        let is_fixed = self.policy.decide.is_none() && with_files.is_none() && !self.has_calls_of(tool);
        Resolved { plain, with_files, is_fixed }
    }

    /// Returns the rule with the highest precedence, unless another rule blocks the tool.
    fn layered(&self, tool: &Registered, has_files: bool) -> Layered {
        let declared = self.declared(tool).into_iter().flatten();
        let declared =
            declared.map(|(rule, source)| Layered { found: SourcedRule { rule, source }, layer: Layered::DECLARED });
        let mut candidates: Vec<_> = self.of_policies(None, tool, has_files).chain(declared).collect();
        let blocking = candidates.iter().position(Layered::is_blocked);
        candidates.swap_remove(blocking.unwrap_or(0))
    }

    /// Lists the rules of all policies for a tool, highest precedence first.
    ///
    /// `own` are the rules of the tool's runtime, if that is another one.
    fn of_policies<'r>(
        &'r self,
        own: Option<&'r Self>,
        tool: &'r Registered,
        has_files: bool,
    ) -> impl Iterator<Item = Layered> + 'r {
        self.policy.layers().enumerate().flat_map(move |(layer, policy)| {
            let found = self.of_policy(own, policy, tool, has_files).into_iter().flatten();
            found.map(move |(rule, source)| Layered { found: SourcedRule { rule, source }, layer })
        })
    }

    /// Lists the rules of one policy for a tool, highest precedence first.
    fn of_policy(
        &self,
        own: Option<&Self>,
        policy: &Policy,
        tool: &Registered,
        has_files: bool,
    ) -> [Option<(Rule, RuleSource)>; 5] {
        let name = tool.name();
        let is_worker = tool.kind() == ItemKind::Worker;
        let for_worker = policy.worker_overrides.get(name).filter(|rule| is_worker && !rule.is_empty());
        let for_worker = for_worker.and_then(|rule| rule.or(policy.workers).rule(has_files));
        let for_workers = Some(policy.workers).filter(|_| is_worker).and_then(|rule| rule.rule(has_files));
        let for_tool = |name: &str| policy.tools.get(name).cloned().map(|rule| (rule, RuleSource::PolicyTool));
        let target = tool.alias_of();
        let of_toolsets = |set: &ContainingToolset| policy.toolsets.get(&set.name).cloned();
        [
            for_tool(name),
            // A rule for a tool holds under each of its names.
            target.and_then(for_tool),
            for_worker.map(|rule| (rule, RuleSource::PolicyWorker)),
            strictest_of_toolsets(
                self.toolsets_of(target.unwrap_or(name))
                    .chain(own.into_iter().flat_map(|own| own.toolsets_of(target.unwrap_or(name)))),
                RuleSource::PolicyToolset,
                of_toolsets,
            ),
            for_workers.map(|rule| (rule, RuleSource::PolicyWorkers)),
        ]
    }

    /// Lists the rules of code and tool files for a tool, highest precedence first; the effect always gives a rule.
    fn declared(&self, tool: &Registered) -> [Option<(Rule, RuleSource)>; 3] {
        let target = tool.alias_of().unwrap_or(tool.name());
        let asks = tool.kind() != ItemKind::Worker && tool.effect() != Effect::ReadOnly;
        [
            tool.approval().map(|rule| (rule.into(), RuleSource::DeclaredTool)),
            strictest_of_toolsets(self.toolsets_of(target), RuleSource::DeclaredToolset, |set| {
                set.approval.map(Rule::from)
            }),
            Some((Rule::asking(asks), RuleSource::Effect)),
        ]
    }

    /// Lists the toolsets that contain a tool.
    fn toolsets_of(&self, tool: &str) -> impl Iterator<Item = &ContainingToolset> {
        self.toolsets.get(tool).into_iter().flatten()
    }
}

/// Returns the strictest rule of the toolsets that contain a tool.
fn strictest_of_toolsets<'s>(
    toolsets: impl Iterator<Item = &'s ContainingToolset>,
    source: fn(Arc<str>) -> RuleSource,
    rule: impl Fn(&ContainingToolset) -> Option<Rule>,
) -> Option<(Rule, RuleSource)> {
    let rules = toolsets.filter_map(|set| Some((rule(set)?, &set.name)));
    let (rule, toolset) = rules.max_by_key(|(rule, _)| rule.strictness())?;
    Some((rule, source(Arc::clone(toolset))))
}

impl Resolved {
    fn for_call(&self, request: &mut LazyRequest<'_>) -> Result<&Layered, Fault> {
        match &self.with_files {
            Some(with_files) if request.get()?.has_files => Ok(with_files),
            _ => Ok(&self.plain),
        }
    }
}
