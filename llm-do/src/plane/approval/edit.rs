//! Checks the arguments by which an approver replaces those of a call.

use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;

use super::queue::ValidateEdit;
use super::rule_set::RuleSet;
use super::rules::LazyRequest;
use super::{ApprovalRequest, Rule};
use crate::base::error::Fault;
use crate::observe::event::Caller;
use crate::plane::registry::{Prepared, Registered};

impl RuleSet {
    /// Returns the function that validates the approver's arguments against the schema and the blocking rules.
    pub(super) fn validate_edit(&self, tool: &Arc<Registered>, by: Caller, request: &ApprovalRequest) -> ValidateEdit {
        let (rules, tool, request) = (self.clone(), Arc::clone(tool), request.clone());
        Box::new(move |edited| {
            let (rules, tool, request) = (rules.clone(), Arc::clone(&tool), request.clone());
            let validated = async move {
                let decoded = Prepared::decode_apart(&tool, edited, true, &mut None).await?;
                rules.permitted_edit(&tool, by, &request, &decoded)
            };
            // The approver wrote the arguments, so it gets the full problem.
            validated.map(|validated| validated.map_err(|fault| fault.model_message().to_owned())).boxed()
        })
    }

    /// Returns the approver's arguments as they run.
    ///
    /// # Errors
    ///
    /// A rule blocks a call with these arguments, or they cannot be written as JSON.
    fn permitted_edit(
        &self,
        tool: &Registered,
        by: Caller,
        request: &ApprovalRequest,
        edited: &Prepared,
    ) -> Result<Value, Fault> {
        let build = || {
            let mut request = request.clone();
            request.set_arguments(edited.shown()?);
            Ok(request)
        };
        let shown = build()?;
        // `given`, where a type writes its value differently: the approver's own form runs.
        let arguments = shown.given.unwrap_or(shown.arguments);
        match &self.rule(tool, by, &mut LazyRequest::new(&build))?.rule {
            Rule::Blocked { reason } => Err(Fault::new(format!("a rule blocks these arguments: {reason}"))),
            Rule::PreApproved | Rule::Ask => Ok(arguments),
        }
    }
}
