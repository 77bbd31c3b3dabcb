//! What a policy approves in advance.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Policy;
use super::calls::CallRule;
use crate::plane::approval::Rule;

impl Policy {
    /// Lists what it approves in advance, each with the place of the rule, if it is known.
    pub(crate) fn approved_in_advance(&self) -> Vec<(Option<&str>, String)> {
        self.layers().flat_map(Self::own_approvals).collect()
    }

    fn own_approvals(&self) -> Vec<(Option<&str>, String)> {
        let place = |name: &str| self.places.get(name).map(String::as_str);
        let tools = approved(&self.tools).map(|name| (place(name), format!("every call of `{name}`")));
        let sets = approved(&self.toolsets).map(|name| (place(name), format!("every call of the toolset `{name}`")));
        let calls = self.calls.iter().filter(|call| call.rule == Rule::PreApproved);
        let calls = calls.map(|call| (place(&call.tool), call.to_string()));
        tools.chain(sets).chain(calls).collect()
    }

    /// Drops the rules that approve calls in advance.
    pub(crate) fn without_advance(mut self) -> Self {
        let is_kept = |rule: &Rule| *rule != Rule::PreApproved;
        self.tools.retain(|_, rule| is_kept(rule));
        self.toolsets.retain(|_, rule| is_kept(rule));
        self.calls.retain(|call| is_kept(&call.rule));
        self.fallback = self.fallback.map(|fallback| Box::new(fallback.without_advance()));
        self
    }
}

/// Returns the names whose rule approves.
fn approved(rules: &BTreeMap<Arc<str>, Rule>) -> impl Iterator<Item = &Arc<str>> {
    rules.iter().filter(|(_, rule)| **rule == Rule::PreApproved).map(|(name, _)| name)
}

impl fmt::Display for CallRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls of `{}` with {}", self.tool, self.arguments)
    }
}
