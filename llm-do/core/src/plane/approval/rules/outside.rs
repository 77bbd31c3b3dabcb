//! The rules of a policy for calls of other runtimes, in runs that start under its own runs.

use super::super::rule::first_or_block;
use super::super::{AppliedRule, ApprovalRequest, LazyRequest, Rule};
use super::Rules;
use crate::base::error::Fault;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::registry::Registered;

impl Rules {
    /// Returns the rule of this policy for a call in another runtime, whose own rules are `own`.
    ///
    /// Names apply to the items with these names in the other runtime, and the name of a toolset to its members in
    /// either runtime. The declarations of tools and toolsets are left to the other runtime.
    pub(in super::super) fn of_policy_for(
        &self,
        own: &Self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Option<AppliedRule>, Fault> {
        if !self.concerns(own, tool) {
            return Ok(None);
        }
        let has_files = tool.kind() == ItemKind::Worker && request.get()?.has_files;
        let fixed = first_or_block(self.of_policies(Some(own), tool, has_files), AppliedRule::is_blocked);
        if fixed.as_ref().is_some_and(AppliedRule::is_blocked) {
            return Ok(fixed);
        }
        let layer = fixed.as_ref().map_or(usize::MAX, |fixed| fixed.layer);
        let of_arguments = |request: &ApprovalRequest| self.for_arguments_outside(tool, request, layer);
        let found = self.for_one_call(tool, by, request, of_arguments)?.or(fixed);
        if found.as_ref().is_some_and(AppliedRule::is_blocked) {
            return Ok(found);
        }
        Ok(self.hold(tool, request)?.or(found))
    }

    /// Returns the rule for a call with these arguments in another runtime.
    ///
    /// There, the name may belong to a different item: rules that ask or block hold, approvals do not.
    fn for_arguments_outside(&self, tool: &Registered, request: &ApprovalRequest, layer: usize) -> Option<AppliedRule> {
        if request.variant.is_none() {
            return self.for_arguments(tool, request, layer);
        }
        let holds = |found: &AppliedRule| found.rule != Rule::PreApproved;
        let namesake = ApprovalRequest { variant: None, ..request.clone() };
        let found = self.for_arguments(tool, &namesake, layer).filter(holds);
        // An approval by name may come before a condition, which still holds.
        found.or_else(|| self.for_arguments(tool, request, layer).filter(holds))
    }

    /// Returns whether this policy may have a rule for a call of a tool in another runtime, whose own rules are `own`.
    pub(in super::super) fn concerns(&self, own: &Self, tool: &Registered) -> bool {
        self.policy.decide.is_some()
            || self.has_calls_of(tool)
            || self.is_sink(tool)
            || self.of_policies(Some(own), tool, true).next().is_some()
    }
}
