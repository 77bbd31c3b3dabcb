//! The rules for the calls of a run: those of its runtime, and those of the runtimes under whose calls it was started.

use std::borrow::Cow;
use std::sync::Arc;

use super::rules::MatchingRule;
use super::rules::Rules;
use super::{AppliedRule, ApprovalRequest, FlowOverview, LazyRequest, Rule};
use crate::base::error::Fault;
use crate::observe::event::{Caller, Label, Labels};
use crate::plane::origin::KnownIds;
use crate::plane::registry::{Registered, Registry};

/// The rules for the calls of a run. The strictest rule holds: no runtime can allow calls that the policy of an outer
/// one blocks.
#[derive(Clone, Debug)]
pub(super) struct RuleSet {
    own: Arc<Rules>,
    /// The rules of the runtimes under whose calls the run was started; only their policies apply.
    outer: Arc<[Arc<Rules>]>,
}

impl RuleSet {
    pub(super) fn new(own: Rules) -> Self {
        Self { own: Arc::new(own), outer: Arc::default() }
    }

    /// Returns these rules for a run that starts under a run with the rules `outer`.
    pub(super) fn under(&self, outer: &Self) -> Self {
        let outer = outer.outer.iter().chain([&outer.own]);
        let outer = outer.filter(|rules| !Arc::ptr_eq(rules, &self.own)).map(Arc::clone).collect();
        Self { own: Arc::clone(&self.own), outer }
    }

    /// Returns whether values are labelled.
    pub(super) fn has_flow(&self) -> bool {
        self.all().any(Rules::has_flow)
    }

    /// Returns the labels of what a tool returns: the worst of all runtimes.
    pub(super) fn source_labels(&self, tool: &Registered) -> Labels {
        self.all().map(|rules| rules.source_labels(tool)).fold(Labels::default(), Labels::join)
    }

    /// Lists what workers may read and send, by the rules of their runtime.
    pub(super) fn flow_overview(&self, registry: &Registry) -> FlowOverview {
        self.own.flow_overview(registry)
    }

    /// Returns whether a source is private.
    pub(super) fn has_private(&self) -> bool {
        self.all().any(Rules::has_private)
    }

    /// Returns the label of what clients send that may be models: the worst of all runtimes.
    pub(super) fn client_label(&self) -> Label {
        self.all().map(Rules::client_label).max().unwrap_or_default()
    }

    /// Returns where the results of a tool have ids, by the rules of its runtime.
    pub(super) fn ids_of(&self, tool: &Registered) -> Option<KnownIds> {
        self.own.ids_of(tool)
    }

    /// Returns the toolsets of a tool, to which ids belong.
    pub(super) fn id_toolsets(&self, tool: &Registered) -> Vec<Arc<str>> {
        self.own.id_toolsets(tool)
    }

    /// Returns whether the model of a worker sees all that its code returns, by the rules of all runtimes.
    #[cfg(feature = "script")]
    pub(super) fn shows_code_results(&self, worker: &str) -> bool {
        !self.all().any(|rules| rules.withholds(worker))
    }

    fn all(&self) -> impl Iterator<Item = &Rules> {
        std::iter::once(&self.own).chain(&*self.outer).map(AsRef::as_ref)
    }

    /// Returns whether a policy has a function that decides about calls.
    pub(super) fn has_function(&self) -> bool {
        self.own.has_function() || self.outer.iter().any(|outer| outer.has_function())
    }

    /// Returns the rule for all calls of a tool, if it does not depend on their arguments.
    pub(super) fn fixed(&self, tool: &Registered) -> Option<&AppliedRule> {
        let own = self.own.fixed(tool)?;
        let is_concerned = self.outer.iter().any(|outer| outer.concerns(&self.own, tool));
        (!is_concerned).then_some(own)
    }

    /// Returns the rule of its runtime that decides about a call, and the other rules that match it.
    pub(super) fn explain(
        &self,
        tool: &Registered,
        by: Caller,
        request: &ApprovalRequest,
    ) -> Result<(MatchingRule, Vec<MatchingRule>), Fault> {
        self.own.explain(tool, by, request)
    }

    /// Returns the rule for a call; the request is built only if a rule depends on the arguments.
    pub(super) fn rule<'r>(
        &'r self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Cow<'r, AppliedRule>, Fault> {
        let own = self.own.rule(tool, by, request)?;
        Ok(match self.outer_rule(tool, by, request)? {
            Some(outer) if outer.rule.strictness() > own.rule.strictness() => Cow::Owned(outer),
            // Such an approval is for one call, by a person.
            Some(outer) if outer.is_held() && own.rule == Rule::Ask => Cow::Owned(outer),
            _ => own,
        })
    }

    /// Returns the strictest rule of the outer policies for a call.
    pub(super) fn outer_rule(
        &self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Option<AppliedRule>, Fault> {
        let rules = self.outer.iter().map(|outer| outer.of_policy_for(&self.own, tool, by, request));
        let rules = rules.collect::<Result<Vec<_>, _>>()?;
        Ok(rules.into_iter().flatten().max_by_key(|found| (found.rule.strictness(), found.is_held())))
    }

    /// Returns the rule for a server-side tool, for all workers.
    pub(super) fn server_side(&self, tool: &str) -> AppliedRule {
        self.strictest(|rules| rules.server_side(tool))
    }

    /// Returns the rule for a server-side tool that a worker names.
    pub(super) fn server_side_call(&self, request: &ApprovalRequest) -> AppliedRule {
        self.strictest(|rules| rules.server_side_call(request))
    }

    /// Returns whether an outer policy asks about a server-side tool.
    pub(super) fn is_asked_outside(&self, request: &ApprovalRequest) -> bool {
        self.outer.iter().any(|outer| outer.server_side_call(request).rule == Rule::Ask)
    }

    /// Returns the strictest rule; of equal rules, the run's own.
    fn strictest(&self, rule: impl Fn(&Rules) -> AppliedRule) -> AppliedRule {
        let stricter = |found: AppliedRule, other: AppliedRule| {
            if other.rule.strictness() > found.rule.strictness() { other } else { found }
        };
        self.outer.iter().map(|outer| rule(outer)).fold(rule(&self.own), stricter)
    }
}
