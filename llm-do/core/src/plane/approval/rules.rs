//! The approval rule for each call, from policy, tools, toolsets and effects; resolved once for each tool that is called.

mod explain;
mod flow;
mod outside;

use std::borrow::Cow;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

pub(crate) use self::explain::MatchingRule;
use self::flow::TypedSources;
use super::rule::first_or_block;
use super::{AppliedRule, ApprovalRequest, LazyRequest, Policy, ProposedCall, Rule};
use crate::base::error::Fault;
use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind, RuleSource};
use crate::plane::definition::DeclaredRule;
use crate::plane::registry::{Registered, Registry};

/// The rules of a session.
#[derive(Debug)]
pub(super) struct Rules {
    policy: Policy,
    /// By tool name: the toolsets that contain the tool.
    toolsets: HashMap<Arc<str>, Vec<ContainingToolset>>,
    /// By the tool's index in the registry; resolved when the tool is first called.
    tools: Vec<OnceLock<Box<ToolRules>>>,
    /// The sources that types declare.
    typed: TypedSources,
}

#[derive(Clone, Debug)]
struct ContainingToolset {
    name: Arc<str>,
    approval: Option<DeclaredRule>,
}

/// The rules for a tool before its arguments are known.
#[derive(Debug)]
struct ToolRules {
    /// For a call without files.
    plain: AppliedRule,
    /// For a call with files, if it differs.
    with_files: Option<AppliedRule>,
    /// Whether `plain` is the rule of every call.
    is_fixed: bool,
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
        let tools = registry.iter().map(|_| OnceLock::new()).collect();
        let typed = TypedSources::of(registry);
        Ok(Self { policy, toolsets, tools, typed })
    }

    /// Returns whether the policy has a function that decides about calls.
    pub(super) fn has_function(&self) -> bool {
        self.policy.decide.is_some()
    }

    /// Returns the rule for all calls of a tool, if it does not depend on their arguments.
    pub(super) fn fixed(&self, tool: &Registered) -> Option<&AppliedRule> {
        let rules = self.tool_rules(tool)?;
        rules.is_fixed.then_some(&rules.plain)
    }

    /// Returns the rule for a call; the request is built only if the rule depends on the arguments.
    pub(super) fn rule<'r>(
        &'r self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Cow<'r, AppliedRule>, Fault> {
        let fixed = match self.tool_rules(tool) {
            Some(rules) => Cow::Borrowed(rules.for_call(request)?),
            // The tool is a run-time worker, which is not in the registry.
            None => Cow::Owned(self.resolve(tool).for_call(request)?.clone()),
        };
        if fixed.is_blocked() {
            return Ok(fixed);
        }
        let layer = fixed.layer;
        let of_arguments = |request: &ApprovalRequest| self.for_arguments(tool, request, layer);
        let found = self.for_one_call(tool, by, request, of_arguments)?.map_or(fixed, Cow::Owned);
        if found.is_blocked() {
            return Ok(found);
        }
        Ok(self.hold(tool, request)?.map_or(found, Cow::Owned))
    }

    /// Returns the rule for one call that no rule for its tool blocks: that of the policy's function, or else the rule
    /// for its arguments. A rule for its arguments that blocks comes first.
    fn for_one_call(
        &self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
        of_arguments: impl FnOnce(&ApprovalRequest) -> Option<AppliedRule>,
    ) -> Result<Option<AppliedRule>, Fault> {
        let of_arguments = if self.has_calls_of(tool) { of_arguments(request.get()?) } else { None };
        if self.policy.decide.is_none() || of_arguments.as_ref().is_some_and(AppliedRule::is_blocked) {
            return Ok(of_arguments);
        }
        Ok(self.decide_call(tool, by, request.get()?).or(of_arguments))
    }

    fn has_calls_of(&self, tool: &Registered) -> bool {
        self.policy.layers().any(|layer| layer.has_calls_of(tool))
    }

    /// Returns the rule for a call with these arguments, of a policy at or before `layer`; blocks hold in any policy.
    fn for_arguments(&self, tool: &Registered, request: &ApprovalRequest, layer: usize) -> Option<AppliedRule> {
        let found = self.policy.layers().map(|policy| policy.for_arguments(tool, request)).enumerate();
        let found = found.filter_map(|(at, call)| call.filter(|call| at <= layer || call.rule.is_blocked()));
        let call = first_or_block(found, |call| call.rule.is_blocked())?;
        Some(AppliedRule::new(call.rule.clone(), call.source()))
    }

    /// Returns the decision of the policy's function about a call, if any.
    fn decide_call(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> Option<AppliedRule> {
        let call = ProposedCall {
            tool: tool.name(),
            kind: tool.kind(),
            effect: tool.effect(),
            arguments: &request.arguments,
            given: request.given.as_ref(),
            caller: &request.caller,
            by,
            is_server_side: false,
            origins: &request.origins,
        };
        self.decide(&call)
    }

    /// Returns the rule for a server-side tool, for all workers: by its name, or else the rule for all of them.
    pub(super) fn server_side(&self, tool: &str) -> AppliedRule {
        let of_layer = |policy: &Policy| {
            let for_tool = policy.server_side_overrides.get(tool).map(|rule| (rule, RuleSource::PolicyServerSideTool));
            let for_all = || Some((policy.server_side_tools.as_ref()?, RuleSource::PolicyServerSideTools));
            for_tool.or_else(for_all).map(|(rule, source)| AppliedRule::new(rule.clone(), source))
        };
        let default = || AppliedRule::new(Rule::PreApproved, RuleSource::DeclaredWorker);
        first_or_block(self.policy.layers().filter_map(of_layer), AppliedRule::is_blocked).unwrap_or_else(default)
    }

    /// Returns the rule for a server-side tool that a worker names.
    pub(super) fn server_side_call(&self, request: &ApprovalRequest) -> AppliedRule {
        let fixed = self.server_side(&request.tool);
        if fixed.is_blocked() {
            return fixed;
        }
        let call = ProposedCall {
            effect: request.effect,
            caller: &request.caller,
            given: None,
            is_server_side: true,
            origins: &request.origins,
            ..ProposedCall::new(&request.tool, &request.arguments)
        };
        self.decide(&call).unwrap_or(fixed)
    }

    /// Calls the policy's function; a panic blocks the call.
    fn decide(&self, call: &ProposedCall<'_>) -> Option<AppliedRule> {
        let decide = self.policy.decide.as_deref()?;
        let rule = catch_unwind(AssertUnwindSafe(|| decide(call)))
            .unwrap_or_else(|_| Some(Rule::blocked("the approval policy's `decide_with` function panicked")));
        rule.map(|rule| AppliedRule::new(rule, RuleSource::Function))
    }

    /// Returns the rules for a tool in the registry.
    #[inline]
    fn tool_rules(&self, tool: &Registered) -> Option<&ToolRules> {
        let rules = self.tools.get(tool.place?)?;
        Some(rules.get_or_init(|| Box::new(self.resolve(tool))))
    }

    fn resolve(&self, tool: &Registered) -> ToolRules {
        let plain = self.for_tool(tool, false);
        let with_files = Some(self.for_tool(tool, true)).filter(|with_files| with_files.rule != plain.rule);
        let depends = self.policy.decide.is_some() || self.has_calls_of(tool) || self.is_sink(tool);
        let is_fixed = with_files.is_none() && !depends;
        ToolRules { plain, with_files, is_fixed }
    }

    /// Returns the rule with the highest precedence, unless another rule blocks the tool.
    fn for_tool(&self, tool: &Registered, has_files: bool) -> AppliedRule {
        let declared = self.declared(tool).into_iter().flatten();
        let candidates = self.of_policies(None, tool, has_files).chain(declared);
        first_or_block(candidates, AppliedRule::is_blocked).unwrap_or_else(|| by_effect(tool))
    }

    /// Lists the rules of all policies for a tool, highest precedence first.
    ///
    /// `own` are the rules of the tool's runtime, if it is another runtime.
    fn of_policies<'r>(
        &'r self,
        own: Option<&'r Self>,
        tool: &'r Registered,
        has_files: bool,
    ) -> impl Iterator<Item = AppliedRule> + 'r {
        self.policy.layers().enumerate().flat_map(move |(layer, policy)| {
            let found = self.of_policy(own, policy, tool, has_files).into_iter();
            found.map(move |found| AppliedRule { layer, ..found })
        })
    }

    /// Lists the rules of one policy for a tool, highest precedence first.
    fn of_policy(&self, own: Option<&Self>, policy: &Policy, tool: &Registered, has_files: bool) -> Vec<AppliedRule> {
        let is_worker = tool.kind() == ItemKind::Worker;
        let for_worker = policy.worker_overrides.get(tool.name()).filter(|rule| is_worker && !rule.is_empty());
        let for_worker = for_worker.and_then(|rule| rule.or(policy.workers).rule(has_files));
        let for_workers = Some(policy.workers).filter(|_| is_worker).and_then(|rule| rule.rule(has_files));
        let for_tool = |name: &str| Some(AppliedRule::new(policy.tools.get(name)?.clone(), RuleSource::PolicyTool));
        let of_set = |set: &ContainingToolset| policy.toolsets.get(&set.name).cloned();
        let for_toolset = |name: &str| {
            let sets = self.toolsets_named(name).chain(own.into_iter().flat_map(|own| own.toolsets_named(name)));
            strictest_of_toolsets(sets, RuleSource::PolicyToolset, of_set)
        };
        let for_worker = for_worker.map(|rule| AppliedRule::new(rule, RuleSource::PolicyWorker));
        let for_workers = for_workers.map(|rule| AppliedRule::new(rule, RuleSource::PolicyWorkers));
        // A rule for a tool or its toolset holds under each of its names, of which a worker has one.
        let named = tool.names().flat_map(|name| [for_tool(name), for_worker.clone(), for_toolset(name)]);
        named.flatten().chain(for_workers).collect()
    }

    /// Lists the rules of code and tool files for a tool, highest precedence first.
    fn declared(&self, tool: &Registered) -> [Option<AppliedRule>; 2] {
        let of_toolsets = |set: &ContainingToolset| set.approval.map(Rule::from);
        [
            tool.approval().map(|rule| AppliedRule::new(rule.into(), RuleSource::DeclaredTool)),
            strictest_of_toolsets(self.toolsets_of(tool), RuleSource::DeclaredToolset, of_toolsets),
        ]
    }

    /// Lists the toolsets that contain a tool under any of its names.
    fn toolsets_of(&self, tool: &Registered) -> impl Iterator<Item = &ContainingToolset> {
        tool.names().flat_map(move |name| self.toolsets_named(name))
    }

    /// Lists the toolsets that contain the name of a tool.
    fn toolsets_named(&self, tool: &str) -> impl Iterator<Item = &ContainingToolset> {
        self.toolsets.get(tool).into_iter().flatten()
    }
}

/// Returns the rule for a tool without any other rule.
fn by_effect(tool: &Registered) -> AppliedRule {
    let asks = tool.kind() != ItemKind::Worker && tool.effect() != Effect::ReadOnly;
    AppliedRule::new(Rule::asking(asks), RuleSource::Effect)
}

/// Returns the strictest rule of the toolsets that contain a tool.
fn strictest_of_toolsets<'s>(
    toolsets: impl Iterator<Item = &'s ContainingToolset>,
    source: fn(Arc<str>) -> RuleSource,
    rule: impl Fn(&ContainingToolset) -> Option<Rule>,
) -> Option<AppliedRule> {
    let rules = toolsets.filter_map(|set| Some((rule(set)?, &set.name)));
    let (rule, toolset) = rules.max_by_key(|(rule, _)| rule.strictness())?;
    Some(AppliedRule::new(rule, source(Arc::clone(toolset))))
}

impl ToolRules {
    fn for_call(&self, request: &mut LazyRequest<'_>) -> Result<&AppliedRule, Fault> {
        match &self.with_files {
            Some(with_files) if request.get()?.has_files => Ok(with_files),
            _ => Ok(&self.plain),
        }
    }
}
