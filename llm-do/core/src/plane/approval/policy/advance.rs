//! The calls that a policy approves in advance.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Policy;
use super::calls::{CallRule, MatchedCalls};
use crate::declare::tool::Effect;
use crate::declare::tool::OnUnknown;
use crate::plane::approval::Rule;

impl Policy {
    /// Lists the calls that the policy approves in advance, each with the place of the rule, if it is known.
    #[doc(hidden)]
    pub fn approved_in_advance(&self) -> Vec<(Option<&str>, String)> {
        self.layers().flat_map(Self::own_approvals).collect()
    }

    fn own_approvals(&self) -> Vec<(Option<&str>, String)> {
        let place = |name: &str| self.places.get(name).map(String::as_str);
        let tools = approved(&self.tools).map(|name| (place(name), format!("every call of `{name}`")));
        let sets = approved(&self.toolsets).map(|name| (place(name), format!("every call of the toolset `{name}`")));
        let calls = self.calls.iter().filter(|call| call.is_approval());
        let calls = calls.map(|call| (call.place.as_deref(), call.to_string()));
        let reviewer = self.reviewer.iter().map(|worker| (None, format!("calls that the worker `{worker}` passes")));
        let flow = self.flow.eased().map(|text| (None, text));
        tools.chain(sets).chain(calls).chain(reviewer).chain(flow).chain(self.eased()).chain(self.reruns()).collect()
    }

    /// Lists the declared effects with which calls run without approval, or are repeated without a question.
    fn eased(&self) -> impl Iterator<Item = (Option<&str>, String)> {
        self.effects.iter().filter_map(|(name, effect)| {
            let text = match effect {
                Effect::ReadOnly => format!("every call of `{name}`, which only reads by `effects`"),
                Effect::Idempotent => {
                    format!("calls of `{name}` that are repeated on resume, which are idempotent by `effects`")
                }
                Effect::Undeclared | Effect::Destructive => return None,
            };
            Some((self.effect_places.get(name).map(String::as_str), text))
        })
    }

    /// Drops the rules that approve calls in advance.
    #[doc(hidden)]
    #[must_use]
    pub fn without_advance(mut self) -> Self {
        let is_kept = |rule: &Rule| *rule != Rule::PreApproved;
        self.tools.retain(|_, rule| is_kept(rule));
        self.toolsets.retain(|_, rule| is_kept(rule));
        self.calls.retain(|call| is_kept(&call.rule));
        self.effects.retain(|_, effect| matches!(effect, Effect::Undeclared | Effect::Destructive));
        self.on_unknown.retain(|_, setting| *setting != OnUnknown::Rerun);
        self.reviewer = None;
        self.flow.without_advance();
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
        write!(f, "calls of `{}`", self.tool)?;
        if let Some(caller) = &self.caller {
            write!(f, " by `{caller}`")?;
        }
        match &self.calls {
            MatchedCalls::Arguments(arguments) => write!(f, " with {arguments}"),
            MatchedCalls::Condition(condition) => write!(f, " that match {condition}"),
        }
    }
}
