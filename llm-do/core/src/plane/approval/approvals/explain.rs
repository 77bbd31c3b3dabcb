//! Decides about a call outside of a run: which rule decides, and which further rules match.

use std::sync::Arc;

use serde_json::Value;

use super::super::FlowOverview;
use super::super::rules::MatchingRule;
use super::{ApprovalRequest, Approvals, LazyRequest, Rule};
use crate::base::error::Fault;
use crate::observe::event::Caller;
use crate::plane::registry::{Prepared, Registered, Registry};

impl Approvals {
    /// Returns the rule that decides about a call that a model makes, and the other rules that match it in the order of precedence.
    ///
    /// `caller` is the name of the calling item, if rules depend on it.
    ///
    /// # Errors
    ///
    /// Returns the faults of the arguments.
    pub fn explain(
        &self,
        tool: &Registered,
        caller: &str,
        arguments: Value,
    ) -> Result<(MatchingRule, Vec<MatchingRule>), Fault> {
        self.explain_request(tool, Caller::Model, &Self::request_of(tool, caller, arguments)?)
    }

    /// Returns the request for a call outside of a run: where its values came from is not known.
    pub(crate) fn request_of(tool: &Registered, caller: &str, arguments: Value) -> Result<ApprovalRequest, Fault> {
        let prepared = Prepared::decode(tool, arguments)?;
        let mut request = ApprovalRequest::new(Arc::clone(&tool.name), Value::Null);
        request.set_arguments(prepared.shown()?);
        request.effect = tool.effect();
        request.caller = caller.into();
        Ok(request)
    }

    /// Returns the rule that decides about a call, and the other rules that match it.
    pub(crate) fn explain_request(
        &self,
        tool: &Registered,
        by: Caller,
        request: &ApprovalRequest,
    ) -> Result<(MatchingRule, Vec<MatchingRule>), Fault> {
        self.rules.explain(tool, by, request)
    }

    /// Returns the rule for a call outside of a run.
    pub(crate) fn rule_for(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> Result<Rule, Fault> {
        let build = || Ok(request.clone());
        Ok(self.rules.rule(tool, by, &mut LazyRequest::new(&build))?.rule.clone())
    }

    /// Lists what the workers of the registry may read and send.
    #[must_use]
    pub fn flow_overview(&self, registry: &Registry) -> FlowOverview {
        self.rules.flow_overview(registry)
    }
}
