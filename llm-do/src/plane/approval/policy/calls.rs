//! Rules for calls with exactly these arguments, as calls have them: decoded, with defaults filled in.

use std::sync::Arc;

use llm_do_worker_file::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{MAX_SUGGESTIONS, Policy, placed};
use crate::plane::approval::rule::first_or_block;
use crate::plane::approval::{ApprovalRequest, Rule};
use crate::plane::registry::{Prepared, Registered, Registry};

/// A rule for calls with exactly these arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallRule {
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Value,
    pub(crate) rule: Rule,
    /// The file and the line, if it is of a file.
    #[serde(skip)]
    pub(super) place: Option<String>,
}

impl CallRule {
    /// Returns whether it is a rule for a tool, under each of its names.
    pub(super) fn is_of(&self, tool: &Registered) -> bool {
        *self.tool == *tool.name() || tool.alias_of() == Some(&*self.tool)
    }

    /// Returns whether it approves calls.
    pub(super) fn is_approval(&self) -> bool {
        self.rule == Rule::PreApproved
    }

    /// Returns whether it is a rule for a call of its tool with these arguments.
    ///
    /// An approval is for equal arguments only: to a tool with a schema of its own, `null` may mean something else than an absent
    /// argument. The decoder of a Rust function has made them equal before.
    fn matches(&self, arguments: &Value, tool: &Registered) -> bool {
        if self.is_approval() {
            return self.arguments == *arguments;
        }
        are_equal_but_nulls(&self.arguments, arguments, tool)
    }

    /// Returns its arguments decoded as those of a call; fails if no call can have them.
    fn decoded(&self, registry: &Registry) -> Result<Value, String> {
        let name = &self.tool;
        let Some(tool) = registry.get(name) else { return Err(format!("unknown tool `{name}`")) };
        let decoded = decode(tool, &self.arguments);
        decoded.map_err(|fault| format!("no call of `{name}` can have the arguments {}: {fault}", self.arguments))
    }
}

impl Policy {
    /// Returns its rule for a call with exactly these arguments: of several, one that blocks, or else the first.
    pub(in super::super) fn exact(&self, tool: &Registered, request: &ApprovalRequest) -> Option<&Rule> {
        if !request.is_shown_in_full() {
            return None;
        }
        let of_call = self.calls.iter().filter(|call| call.is_of(tool) && call.matches(&request.arguments, tool));
        first_or_block(of_call.map(|call| &call.rule), |rule| rule.is_blocked())
    }

    /// Decodes the arguments of its rules for calls, and of those behind it; returns the rules that no call can match.
    ///
    /// Approvals that no call can match are dropped: see [`ignored`](Self::ignored).
    pub(in super::super) fn decode_calls(&mut self, registry: &Registry) -> Vec<String> {
        let mut faults = Vec::new();
        self.calls.retain_mut(|call| match call.decoded(registry) {
            Ok(arguments) => {
                call.arguments = arguments;
                true
            }
            Err(fault) => {
                if !call.is_approval() {
                    faults.push(placed(call.place.as_deref(), fault));
                }
                false
            }
        });
        let behind = self.fallback.as_mut().map(|fallback| fallback.decode_calls(registry));
        faults.extend(behind.into_iter().flatten());
        faults
    }

    /// Lists the approvals for calls that no call can match, of this policy and of those behind it, each with the reason.
    ///
    /// They have no effect, such as after an update of a server whose tool has other arguments.
    pub(crate) fn ignored(&self, registry: &Registry) -> Vec<String> {
        let approvals = self.layers().flat_map(|layer| &layer.calls).filter(|call| call.is_approval());
        let ignored = approvals.enumerate().filter_map(|(count, call)| {
            let fault = call.decoded(registry).err()?;
            let is_unknown = registry.get(&call.tool).is_none();
            let known = registry.iter().map(|item| item.name());
            let hint =
                if is_unknown && count < MAX_SUGGESTIONS { did_you_mean(&call.tool, known) } else { String::new() };
            let text = format!("a rule approves nothing, and is ignored: {fault}{hint}");
            Some(placed(call.place.as_deref(), text))
        });
        ignored.collect()
    }
}

/// Decodes arguments as those of a call; fails if no call can have them.
fn decode(tool: &Registered, arguments: &Value) -> Result<Value, String> {
    let decoded = Prepared::decode(tool, arguments.clone(), true).and_then(|call| call.shown());
    let decoded = decoded.map_err(|fault| fault.to_string())?;
    if let Some(given) = decoded.given {
        return Err(format!("the tool does not read all of {given}"));
    }
    if decoded.has_files {
        return Err("calls with files have no rule for exactly their arguments".to_owned());
    }
    Ok(decoded.arguments)
}

/// Returns whether arguments are equal, where an optional one that is `null` equals an absent one, unless it has a default.
fn are_equal_but_nulls(one: &Value, other: &Value, tool: &Registered) -> bool {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return one == other };
    let given = |fields, name| given(fields, name, tool);
    one.keys().chain(other.keys()).all(|name| given(one, name) == given(other, name))
}

/// Returns an argument; `None` also if it is an optional one that is `null` and has no default.
fn given<'a>(fields: &'a Map<String, Value>, name: &str, tool: &Registered) -> Option<&'a Value> {
    let schema = tool.parameters();
    let is_required = || schema["required"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
    let has_default = || schema["properties"][name].get("default").is_some_and(|default| !default.is_null());
    fields.get(name).filter(|value| !value.is_null() || is_required() || has_default())
}
