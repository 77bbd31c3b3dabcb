//! Checks the arguments with which an approver replaces those of a call.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::ready;
use serde::Serialize;
use serde_json::Value;

use super::review::ValidateEdit;
use super::rule_set::RuleSet;
use super::{ApprovalRequest, LazyRequest, Rule};
use crate::base::error::Fault;
use crate::observe::event::{Caller, RuleSource};
use crate::plane::registry::{Prepared, Registered};

/// Arguments of the approver that cannot run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RefusedEdit {
    /// The arguments: with defaults if they are valid, without values that their types hide. `null` if they are nested
    /// too deep.
    pub arguments: Value,
    /// Where the rule came from that blocks a call with them; `None` if they are invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleSource>,
    /// Why they cannot run.
    pub reason: String,
}

/// Arguments of the approver that may run.
pub(super) struct ValidEdit {
    /// The arguments with which the call runs.
    pub(super) arguments: Value,
    /// The arguments without the values that their types hide.
    pub(super) shown: Value,
}

impl RefusedEdit {
    /// Returns arguments that cannot run, from the fields of an event.
    #[doc(hidden)]
    #[must_use]
    pub fn new(arguments: Value, rule: Option<RuleSource>, reason: String) -> Self {
        Self { arguments, rule, reason }
    }

    pub(super) fn invalid(arguments: Value, reason: impl Into<String>) -> Self {
        Self { arguments, rule: None, reason: reason.into() }
    }

    /// Returns the [problem](ApprovalRequest::problem) of the request that follows.
    pub(super) fn problem(&self) -> String {
        match &self.rule {
            Some(_) => format!("a rule blocks these arguments: {}", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// Returns the function that validates the approver's options of a server-side tool: only the requested ones may run.
pub(super) fn validate_options(request: &ApprovalRequest) -> ValidateEdit {
    let arguments = request.arguments.clone();
    let fixed = "the options of a server-side tool cannot be edited; approve or deny the tool as it is";
    Box::new(move |edited| {
        let validated = if edited == arguments {
            Ok(ValidEdit { arguments: edited.clone(), shown: edited })
        } else {
            Err(RefusedEdit::invalid(edited, fixed))
        };
        ready(validated).boxed()
    })
}

impl RuleSet {
    /// Returns the function that validates the approver's arguments against the schema and the blocking rules.
    pub(super) fn validate_edit(&self, tool: &Arc<Registered>, by: Caller, request: &ApprovalRequest) -> ValidateEdit {
        let (rules, tool, request) = (self.clone(), Arc::clone(tool), request.clone());
        Box::new(move |edited| {
            let (rules, tool, request) = (rules.clone(), Arc::clone(&tool), request.clone());
            let validated = async move {
                let mut refused = None;
                match Prepared::decode_apart(&tool, edited, &mut refused).await {
                    Ok(decoded) => rules.permitted_edit(&tool, by, &request, &decoded),
                    // The approver wrote the arguments, so it gets the full problem.
                    Err(fault) => {
                        let arguments = refused.map(|refused| tool.shown(refused)).unwrap_or_default();
                        Err(RefusedEdit::invalid(arguments, fault.model_message()))
                    }
                }
            };
            validated.boxed()
        })
    }

    /// Returns the approver's arguments in the form in which the call runs with them.
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
    ) -> Result<ValidEdit, RefusedEdit> {
        let build = || -> Result<ApprovalRequest, Fault> {
            let mut request = request.clone();
            request.set_arguments(edited.shown()?);
            request.origins = request.origins.of_edit(&request.arguments);
            Ok(request)
        };
        let ApprovalRequest { arguments: shown, given, .. } =
            build().map_err(|fault| RefusedEdit::invalid(Value::Null, fault.model_message()))?;
        let mut lazy = LazyRequest::new(&build);
        let found = match self.rule(tool, by, &mut lazy) {
            Ok(found) => found,
            Err(fault) => return Err(RefusedEdit::invalid(shown, fault.model_message())),
        };
        match &found.rule {
            Rule::Blocked { reason } => {
                Err(RefusedEdit { arguments: shown, rule: Some(found.source.clone()), reason: reason.clone() })
            }
            // `given` is present if a type serializes its value differently; the approver's own form runs.
            Rule::PreApproved | Rule::Ask => Ok(ValidEdit { arguments: given.unwrap_or_else(|| shown.clone()), shown }),
        }
    }
}
