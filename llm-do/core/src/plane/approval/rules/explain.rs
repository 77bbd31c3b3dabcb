//! Explains which rule decides about a call, and which rules would decide without it.

use std::fmt;

use super::{Rules, by_effect};
use crate::base::error::Fault;
use crate::observe::event::{Caller, RuleSource};
use crate::plane::approval::{AppliedRule, ApprovalRequest, LazyRequest, Policy, Rule};
use crate::plane::registry::Registered;

/// A rule that matches a call, with the reason.
#[derive(Debug)]
#[doc(hidden)]
pub struct MatchingRule {
    found: AppliedRule,
    /// The file and the line, if they are known.
    place: Option<String>,
    text: String,
}

impl MatchingRule {
    fn new(found: AppliedRule, place: Option<&str>, text: String) -> Self {
        Self { found, place: place.map(str::to_owned), text }
    }

    pub fn rule(&self) -> &Rule {
        &self.found.rule
    }

    fn is_of(&self, found: &AppliedRule) -> bool {
        self.found.rule == found.rule && self.found.source == found.source
    }
}

impl fmt::Display for MatchingRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl Rules {
    /// Returns the rule that decides about a call, and the other rules that match it in the order of precedence.
    pub(in super::super) fn explain(
        &self,
        tool: &Registered,
        by: Caller,
        request: &ApprovalRequest,
    ) -> Result<(MatchingRule, Vec<MatchingRule>), Fault> {
        let build = || Ok(request.clone());
        let decided = self.rule(tool, by, &mut LazyRequest::new(&build))?.into_owned();
        let mut others = self.matching(tool, by, request);
        let deciding = match others.iter().position(|other| other.is_of(&decided)) {
            Some(index) => others.remove(index),
            // The kind of the rule is not listed.
            None => described(decided, tool, None),
        };
        Ok((deciding, others))
    }

    /// Lists the rules that match a call, in the order of precedence.
    fn matching(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> Vec<MatchingRule> {
        let function = self.decide_call(tool, by, request);
        let mut matching: Vec<_> = function.map(|found| described(found, tool, None)).into_iter().collect();
        for policy in self.policy.layers() {
            matching.extend(policy.all_for_arguments(tool, request).into_iter().map(|call| {
                let found = AppliedRule::new(call.rule.clone(), call.source());
                MatchingRule::new(found, call.place(), call.to_string())
            }));
            let named = self.of_policy(None, policy, tool, request.has_files).into_iter();
            matching.extend(named.map(|found| described(found, tool, Some(policy))));
        }
        let declared = self.declared(tool).into_iter().flatten().chain([by_effect(tool)]);
        matching.extend(declared.map(|found| described(found, tool, None)));
        matching
    }
}

/// Describes a rule for a tool by its source; its place is the one in `policy`.
fn described(found: AppliedRule, tool: &Registered, policy: Option<&Policy>) -> MatchingRule {
    let place = policy.and_then(|policy| place_of(policy, &found.source, tool));
    let text = text_of(&found.source, tool);
    MatchingRule::new(found, place, text)
}

/// Returns the place of a policy's rule for a name.
fn place_of<'p>(policy: &'p Policy, source: &RuleSource, tool: &Registered) -> Option<&'p str> {
    match source {
        RuleSource::PolicyToolset(name) => policy.place_of(name),
        RuleSource::PolicyTool | RuleSource::PolicyWorker => tool.names().find_map(|name| policy.place_of(name)),
        _ => None,
    }
}

/// Describes the source of a rule for a tool.
fn text_of(source: &RuleSource, tool: &Registered) -> String {
    let name = tool.name();
    match source {
        RuleSource::Function => "the function of the policy".to_owned(),
        RuleSource::Flow(reason) => format!("{}, by `flow` of the policy", reason.text()),
        RuleSource::PolicyTool => format!("the policy, for `{name}`"),
        RuleSource::PolicyWorker => format!("the policy, for the worker `{name}`"),
        RuleSource::PolicyToolset(toolset) => format!("the policy, for the toolset `{toolset}`"),
        RuleSource::PolicyWorkers => "the policy, for all workers".to_owned(),
        RuleSource::DeclaredTool => format!("`approval` of `{name}` ({})", tool.location()),
        RuleSource::DeclaredToolset(toolset) => format!("`approval` of the toolset `{toolset}`"),
        RuleSource::Effect => effect_text(tool),
        other => format!("{other:?}"),
    }
}

/// Describes the effect of a tool, which decides if no rule does.
fn effect_text(tool: &Registered) -> String {
    if tool.plan().is_some() {
        return "it is a worker: the calls that it makes need approval, and not itself".to_owned();
    }
    let by = if tool.has_effect_of_policy() { "`effects` of the policy" } else { "its declaration" };
    format!("its effect is {}, by {by}", tool.effect().word())
}
