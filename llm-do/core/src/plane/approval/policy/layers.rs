//! The order of policies: that of the user, that of the program, that of a project.
//!
//! A rule of an earlier policy comes before every rule of a later policy, even a more specific one: a rule of the
//! program for a toolset comes before a rule of a project for a tool, or for one call. Only blocks hold in every
//! policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Policy;

impl Policy {
    /// Adds a policy whose rules apply where this one and its other fallbacks have no rule.
    #[doc(hidden)]
    #[must_use]
    pub fn or(mut self, mut other: Self) -> Self {
        other.drop_rules_of(&self);
        self.decide = self.decide.or(other.decide.take());
        if !self.workers.is_empty() {
            self.workers = self.workers.or(other.workers);
        }
        self.fallback = Some(Box::new(match self.fallback.take() {
            Some(fallback) => fallback.or(other),
            None => other,
        }));
        self
    }

    /// Returns this policy and its fallbacks.
    pub(in super::super) fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| layer.fallback.as_deref())
    }

    /// Drops the rules for names for which `earlier` has a rule of the same kind, which replaces them, including
    /// blocks.
    fn drop_rules_of(&mut self, earlier: &Self) {
        drop_names(&mut self.tools, &earlier.tools);
        drop_names(&mut self.toolsets, &earlier.toolsets);
        drop_names(&mut self.effects, &earlier.effects);
        drop_names(&mut self.on_unknown, &earlier.on_unknown);
        drop_names(&mut self.worker_overrides, &earlier.worker_overrides);
        drop_names(&mut self.server_side_overrides, &earlier.server_side_overrides);
    }
}

fn drop_names<T>(rules: &mut BTreeMap<Arc<str>, T>, earlier: &BTreeMap<Arc<str>, T>) {
    rules.retain(|name, _| !earlier.contains_key(name));
}
