//! Policies behind one another: that of the user, that of the program, that of a project.
//!
//! A rule of an earlier policy comes before every rule of a later one, also before a more specific one: a rule of the program
//! for a toolset before one of a project for a tool, or for one call. Only a block holds from every policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Policy;

impl Policy {
    /// Adds a policy whose rules apply where this one and those behind it have none.
    pub(crate) fn or(mut self, mut other: Self) -> Self {
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

    /// Returns this policy and those behind it.
    pub(in super::super) fn layers(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| layer.fallback.as_deref())
    }

    /// Drops the rules for names for which `earlier` has one of the same kind: it replaces them, also a block.
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
