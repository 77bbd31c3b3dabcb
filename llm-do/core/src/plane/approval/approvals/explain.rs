//! Explains which rule decides about a call, without the call.

use std::sync::Arc;

use serde_json::Value;

use super::super::FlowOverview;
use super::super::rules::MatchingRule;
use super::{ApprovalRequest, Approvals};
use crate::base::error::Fault;
use crate::observe::event::Caller;
use crate::plane::registry::{Prepared, Registered, Registry};

impl Approvals {
    /// Returns the rule that decides about a call that a model makes, and the other rules that match it in the order of precedence.
    ///
    /// # Errors
    ///
    /// Returns the faults of the arguments.
    pub fn explain(&self, tool: &Registered, arguments: Value) -> Result<(MatchingRule, Vec<MatchingRule>), Fault> {
        let prepared = Prepared::decode(tool, arguments)?;
        let mut request = ApprovalRequest::new(Arc::clone(&tool.name), Value::Null);
        request.set_arguments(prepared.shown()?);
        request.effect = tool.effect();
        self.rules.explain(tool, Caller::Model, &request)
    }

    /// Lists what the workers of the registry may read and send.
    #[must_use]
    pub fn flow_overview(&self, registry: &Registry) -> FlowOverview {
        self.rules.flow_overview(registry)
    }
}
