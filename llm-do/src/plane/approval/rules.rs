//! The rule for each call: what policy, tools, toolsets and effects say, resolved once for each tool.

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

/// A rule and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct SourcedRule {
    pub(super) rule: Rule,
    pub(super) source: RuleSource,
}

/// The rules of a session.
#[derive(Debug)]
pub(super) struct Rules {
    policy: Policy,
    /// The toolsets that hold a tool.
    holders: HashMap<&'static str, Vec<Holder>>,
    /// By the place in the registry.
    resolved: Vec<Resolved>,
}

#[derive(Clone, Copy, Debug)]
struct Holder {
    toolset: &'static str,
    approval: Option<DeclaredRule>,
}

/// What is said of a tool before its arguments are known.
#[derive(Debug)]
struct Resolved {
    /// For a call without files.
    plain: SourcedRule,
    /// For a call with files, if that makes a difference.
    with_files: Option<SourcedRule>,
}

/// What makes a request, unless the arguments cannot be written as JSON.
pub(crate) type Make<'a> = &'a dyn Fn() -> Result<ApprovalRequest, Fault>;

/// A request that is made once somebody needs it.
pub(super) struct Lazy<'a> {
    make: Make<'a>,
    made: Option<ApprovalRequest>,
}

impl<'a> Lazy<'a> {
    pub(super) fn new(make: Make<'a>) -> Self {
        Self { make, made: None }
    }

    fn get(&mut self) -> Result<&ApprovalRequest, Fault> {
        let made = match self.made.take() {
            Some(made) => made,
            None => (self.make)()?,
        };
        Ok(self.made.insert(made))
    }

    pub(super) fn into_request(self) -> Result<ApprovalRequest, Fault> {
        self.made.map_or_else(self.make, Ok)
    }
}

impl Rules {
    /// Resolves the rules, or says which names of the policy stand for nothing.
    pub(super) fn new(policy: Policy, registry: &Registry) -> Result<Self, Vec<String>> {
        let faults = policy.faults(registry);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut holders: HashMap<_, Vec<_>> = HashMap::new();
        for set in registry.toolset_defs().values() {
            for member in set.members {
                holders.entry(member.tool()).or_default().push(Holder { toolset: set.name, approval: set.approval });
            }
        }
        let mut rules = Self { policy, holders, resolved: Vec::new() };
        rules.resolved = registry.iter().map(|tool| rules.resolve(tool)).collect();
        Ok(rules)
    }

    /// Returns the rule for all calls of a tool, if it is the same for them whatever their arguments.
    pub(super) fn fixed(&self, tool: &Registered) -> Option<&SourcedRule> {
        let resolved = self.resolved.get(tool.place?)?;
        (self.policy.decide.is_none() && resolved.with_files.is_none()).then_some(&resolved.plain)
    }

    /// Returns the rule for a call; nothing is made of its arguments unless the rule depends on them.
    pub(super) fn rule<'r>(
        &'r self,
        tool: &Registered,
        by: Caller,
        request: &mut Lazy<'_>,
    ) -> Result<Cow<'r, SourcedRule>, Fault> {
        let fixed = match tool.place.and_then(|place| self.resolved.get(place)) {
            Some(resolved) => Cow::Borrowed(resolved.for_call(request)?),
            // Not of the registry: made while the program ran.
            None => Cow::Owned(self.resolve(tool).for_call(request)?.clone()),
        };
        if self.policy.decide.is_none() || fixed.rule.is_blocked() {
            return Ok(fixed);
        }
        Ok(self.decided(tool, by, request.get()?).map_or(fixed, Cow::Owned))
    }

    /// Returns what the policy's function says, if there is one.
    fn decided(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> Option<SourcedRule> {
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
        self.judged(&call)
    }

    /// Returns what the policy says of a server-side tool, whoever wants to use it: by its name, or else of all.
    pub(super) fn server_side(&self, tool: &str) -> SourcedRule {
        let of_tool = self.policy.server_side_overrides.get(tool).map(|rule| (rule, RuleSource::PolicyServerSideTool));
        let of_all = || Some((self.policy.server_side_tools.as_ref()?, RuleSource::PolicyServerSideTools));
        let said = of_tool.or_else(of_all).map(|(rule, source)| SourcedRule { rule: rule.clone(), source });
        said.unwrap_or(SourcedRule { rule: Rule::PreApproved, source: RuleSource::DeclaredWorker })
    }

    /// Returns the rule for a server-side tool that a worker names.
    pub(super) fn server_side_call(&self, request: &ApprovalRequest) -> SourcedRule {
        let said = self.server_side(&request.tool);
        if said.rule.is_blocked() {
            return said;
        }
        let call = ProposedCall {
            effect: request.effect,
            caller: &request.caller,
            given: None,
            is_server_side: true,
            ..ProposedCall::new(&request.tool, &request.arguments)
        };
        self.judged(&call).unwrap_or(said)
    }

    /// Returns what the policy's function says of a call, if there is one.
    fn judged(&self, call: &ProposedCall<'_>) -> Option<SourcedRule> {
        let decide = self.policy.decide.as_deref()?;
        let rule = catch_unwind(AssertUnwindSafe(|| decide(call)))
            .unwrap_or_else(|_| Some(Rule::blocked("the function of the approval policy panicked")));
        rule.map(|rule| SourcedRule { rule, source: RuleSource::Function })
    }

    fn resolve(&self, tool: &Registered) -> Resolved {
        let plain = self.sourced(tool, false);
        let with_files = Some(self.sourced(tool, true)).filter(|with_files| with_files.rule != plain.rule);
        Resolved { plain, with_files }
    }

    /// Returns the rule of the most telling source, unless another blocks the tool.
    fn sourced(&self, tool: &Registered, has_files: bool) -> SourcedRule {
        let mut said = self.said(tool, has_files);
        let blocking = said.iter().position(|said| said.rule.is_blocked());
        said.swap_remove(blocking.unwrap_or(0))
    }

    /// Lists what is said of a tool, the most telling first; the last always is there.
    fn said(&self, tool: &Registered, has_files: bool) -> Vec<SourcedRule> {
        let (name, policy) = (tool.name(), &self.policy);
        let is_worker = tool.kind() == ItemKind::Worker;
        let of_worker = policy.worker_overrides.get(name).filter(|rule| is_worker && !rule.is_unsaid());
        let of_worker = of_worker.and_then(|rule| rule.or(policy.workers).rule(has_files));
        let of_workers = Some(policy.workers).filter(|_| is_worker).and_then(|rule| rule.rule(has_files));
        let said = [
            policy.tools.get(name).cloned().map(|rule| (rule, RuleSource::PolicyTool)),
            of_worker.map(|rule| (rule, RuleSource::PolicyWorker)),
            self.of_holders(name, RuleSource::PolicyToolset, |holder| policy.toolsets.get(holder.toolset).cloned()),
            of_workers.map(|rule| (rule, RuleSource::PolicyWorkers)),
            tool.approval().map(|rule| (rule.into(), RuleSource::DeclaredTool)),
            self.of_holders(name, RuleSource::DeclaredToolset, |holder| holder.approval.map(Rule::from)),
            Some((Rule::asking(!is_worker && tool.effect() != Effect::ReadOnly), RuleSource::Effect)),
        ];
        said.into_iter().flatten().map(|(rule, source)| SourcedRule { rule, source }).collect()
    }

    /// Returns the strictest rule of the toolsets that hold a tool.
    fn of_holders(
        &self,
        tool: &str,
        source: fn(Arc<str>) -> RuleSource,
        rule: impl Fn(&Holder) -> Option<Rule>,
    ) -> Option<(Rule, RuleSource)> {
        let holders = self.holders.get(tool)?.iter();
        let rules = holders.filter_map(|holder| Some((rule(holder)?, holder.toolset)));
        let (rule, toolset) = rules.max_by_key(|(rule, _)| rule.strictness())?;
        Some((rule, source(toolset.into())))
    }
}

impl Resolved {
    fn for_call(&self, request: &mut Lazy<'_>) -> Result<&SourcedRule, Fault> {
        match &self.with_files {
            Some(with_files) if request.get()?.has_files => Ok(with_files),
            _ => Ok(&self.plain),
        }
    }
}
