//! The approval rule for each call, from policy, tools, toolsets and effects; resolved once for each tool.

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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

/// The rules of a session.
#[derive(Debug)]
pub(super) struct Rules {
    policy: Policy,
    /// By tool name: the toolsets that contain the tool.
    toolsets: HashMap<&'static str, Vec<ContainingToolset>>,
    /// By the tool's index in the registry.
    resolved: Vec<Resolved>,
}

#[derive(Clone, Copy, Debug)]
struct ContainingToolset {
    name: &'static str,
    approval: Option<DeclaredRule>,
}

/// The rules for a tool before its arguments are known.
#[derive(Debug)]
struct Resolved {
    /// For a call without files.
    plain: SourcedRule,
    /// For a call with files, if it differs.
    with_files: Option<SourcedRule>,
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
    /// Resolves the rules; the error lists the unknown names in the policy.
    pub(super) fn new(policy: Policy, registry: &Registry) -> Result<Self, Vec<String>> {
        let faults = policy.faults(registry);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut toolsets: HashMap<_, Vec<_>> = HashMap::new();
        for set in registry.toolset_defs().values() {
            for member in set.members {
                let containing = ContainingToolset { name: set.name, approval: set.approval };
                toolsets.entry(member.tool()).or_default().push(containing);
            }
        }
        let mut rules = Self { policy, toolsets, resolved: Vec::new() };
        rules.resolved = registry.iter().map(|tool| rules.resolve(tool)).collect();
        Ok(rules)
    }

    /// Returns the rule for all calls of a tool, if it does not depend on their arguments.
    pub(super) fn fixed(&self, tool: &Registered) -> Option<&SourcedRule> {
        let resolved = self.resolved.get(tool.place?)?;
        let is_fixed = self.policy.decide.is_none() && resolved.with_files.is_none() && !self.policy.has_calls_of(tool);
        is_fixed.then_some(&resolved.plain)
    }

    /// Returns the rule for a call; the request is built only if the rule depends on the arguments.
    pub(super) fn rule<'r>(
        &'r self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Cow<'r, SourcedRule>, Fault> {
        let fixed = match tool.place.and_then(|place| self.resolved.get(place)) {
            Some(resolved) => Cow::Borrowed(resolved.for_call(request)?),
            // Not in the registry: a run-time worker.
            None => Cow::Owned(self.resolve(tool).for_call(request)?.clone()),
        };
        if fixed.rule.is_blocked() {
            return Ok(fixed);
        }
        let decided = match &self.policy.decide {
            Some(_) => self.decide_call(tool, by, request.get()?),
            None => None,
        };
        match decided {
            None if self.policy.has_calls_of(tool) => Ok(self.exact(tool, request.get()?).map_or(fixed, Cow::Owned)),
            None => Ok(fixed),
            Some(decided) => Ok(Cow::Owned(decided)),
        }
    }

    /// Returns the policy's rule for a call with exactly these arguments.
    fn exact(&self, tool: &Registered, request: &ApprovalRequest) -> Option<SourcedRule> {
        let rule = self.policy.exact(tool, request)?.clone();
        Some(SourcedRule { rule, source: RuleSource::PolicyCall })
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
        let for_tool = self.policy.server_side_overrides.get(tool).map(|rule| (rule, RuleSource::PolicyServerSideTool));
        let for_all = || Some((self.policy.server_side_tools.as_ref()?, RuleSource::PolicyServerSideTools));
        let found = for_tool.or_else(for_all).map(|(rule, source)| SourcedRule { rule: rule.clone(), source });
        found.unwrap_or(SourcedRule { rule: Rule::PreApproved, source: RuleSource::DeclaredWorker })
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

    fn resolve(&self, tool: &Registered) -> Resolved {
        let plain = self.sourced(tool, false);
        let with_files = Some(self.sourced(tool, true)).filter(|with_files| with_files.rule != plain.rule);
        Resolved { plain, with_files }
    }

    /// Returns the rule with the highest precedence, unless another rule blocks the tool.
    fn sourced(&self, tool: &Registered, has_files: bool) -> SourcedRule {
        let mut candidates = self.candidates(tool, has_files);
        let blocking = candidates.iter().position(|candidate| candidate.rule.is_blocked());
        candidates.swap_remove(blocking.unwrap_or(0))
    }

    /// Lists the rules for a tool, highest precedence first; never empty, since the effect always gives a rule.
    fn candidates(&self, tool: &Registered, has_files: bool) -> Vec<SourcedRule> {
        let (name, policy) = (tool.name(), &self.policy);
        // A rule for a tool holds under each of its names.
        let target = tool.alias_of().unwrap_or(name);
        let is_worker = tool.kind() == ItemKind::Worker;
        let for_worker = policy.worker_overrides.get(name).filter(|rule| is_worker && !rule.is_empty());
        let for_worker = for_worker.and_then(|rule| rule.or(policy.workers).rule(has_files));
        let for_workers = Some(policy.workers).filter(|_| is_worker).and_then(|rule| rule.rule(has_files));
        let candidates = [
            policy
                .tools
                .get(name)
                .or_else(|| policy.tools.get(target))
                .cloned()
                .map(|rule| (rule, RuleSource::PolicyTool)),
            for_worker.map(|rule| (rule, RuleSource::PolicyWorker)),
            self.strictest_of_toolsets(target, RuleSource::PolicyToolset, |set| policy.toolsets.get(set.name).cloned()),
            for_workers.map(|rule| (rule, RuleSource::PolicyWorkers)),
            tool.approval().map(|rule| (rule.into(), RuleSource::DeclaredTool)),
            self.strictest_of_toolsets(target, RuleSource::DeclaredToolset, |set| set.approval.map(Rule::from)),
            Some((Rule::asking(!is_worker && tool.effect() != Effect::ReadOnly), RuleSource::Effect)),
        ];
        candidates.into_iter().flatten().map(|(rule, source)| SourcedRule { rule, source }).collect()
    }

    /// Returns the strictest rule of the toolsets that contain a tool.
    fn strictest_of_toolsets(
        &self,
        tool: &str,
        source: fn(Arc<str>) -> RuleSource,
        rule: impl Fn(&ContainingToolset) -> Option<Rule>,
    ) -> Option<(Rule, RuleSource)> {
        let toolsets = self.toolsets.get(tool)?.iter();
        let rules = toolsets.filter_map(|set| Some((rule(set)?, set.name)));
        let (rule, toolset) = rules.max_by_key(|(rule, _)| rule.strictness())?;
        Some((rule, source(toolset.into())))
    }
}

impl Resolved {
    fn for_call(&self, request: &mut LazyRequest<'_>) -> Result<&SourcedRule, Fault> {
        match &self.with_files {
            Some(with_files) if request.get()?.has_files => Ok(with_files),
            _ => Ok(&self.plain),
        }
    }
}
