//! Recorded decisions of people about calls.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::app::replay::DecidedCall;
use crate::declare::tool::Effect;
use crate::observe::event::DecidedBy;
use crate::observe::journal::digest;
use crate::plane::approval::{Approvals, with_defaults};
use crate::plane::registry::Registry;

/// The decision of a person about a call.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub(super) tool: Arc<str>,
    /// The name of the calling item.
    pub(super) caller: String,
    /// The arguments that the person saw, with the defaults of the tool.
    pub(super) arguments: Value,
    pub(super) is_approved: bool,
    /// Whether no rule is made from it: it only measures rules.
    pub(super) is_held_back: bool,
    /// The id of the run, if it is known.
    pub(super) run: Option<String>,
}

/// How often each call was decided about, by its digest.
pub(super) type Times = HashMap<String, u32>;

impl Decision {
    /// Reads the decision about a call.
    ///
    /// # Errors
    ///
    /// Returns why no rule may follow from it.
    pub(super) fn read(
        registry: &Registry,
        call: &DecidedCall<'_>,
        run: Option<&str>,
        allows_destructive: bool,
        times: &mut Times,
    ) -> Result<Self, String> {
        let tool = registry.get(call.name).ok_or_else(|| "the program does not have the tool".to_owned())?;
        if tool.effect() == Effect::Destructive && !allows_destructive {
            return Err("the tool is destructive".to_owned());
        }
        let approval = call.approval.as_ref().filter(|approval| approval.by == DecidedBy::Approver);
        let approval = approval.ok_or_else(|| "no person decided".to_owned())?;
        if approval.result().is_some() {
            return Err("the answer was what had happened".to_owned());
        }
        let read = |arguments: &Value| Approvals::request_of(tool, &call.caller, arguments.clone());
        let request = read(call.input).map_err(|fault| format!("invalid arguments: {fault}"))?;
        // Rules never hold for a call that is not shown in full, so only a denial counts.
        if approval.is_approved() && !request.is_shown_in_full() {
            return Err("the arguments do not show all of the call".to_owned());
        }
        let is_edited = |edited: &Value| !read(edited).is_ok_and(|edited| edited.arguments == request.arguments);
        let is_edited = approval.edited_arguments().is_some_and(is_edited);
        let arguments = with_defaults(&request.arguments, tool.parameters()).into_owned();
        let identity = json!([call.name, call.caller, arguments]);
        let nth = times.entry(digest(&identity)).or_default();
        *nth += 1;
        Ok(Self {
            tool: Arc::clone(call.name),
            caller: call.caller.clone(),
            // An edit refuses the arguments as they were.
            is_approved: approval.is_approved() && !is_edited,
            is_held_back: is_held_back(&identity, *nth),
            arguments,
            run: run.map(str::to_owned),
        })
    }

    /// Returns the names of the arguments.
    pub(super) fn names(&self) -> Vec<&str> {
        self.arguments.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
    }

    pub(super) fn argument(&self, name: &str) -> &Value {
        &self.arguments[name]
    }
}

/// Returns whether a decision is held back: 6 of 16, by a digest, so that it does not depend on the order of the journals.
fn is_held_back(identity: &Value, nth: u32) -> bool {
    digest(&json!([identity, nth])).ends_with(|digit: char| digit.is_ascii_alphabetic())
}
