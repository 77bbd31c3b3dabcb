//! Rules for calls with exactly these arguments, as calls have them: decoded, with defaults filled in.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Policy;
use crate::plane::approval::{ApprovalRequest, Rule};
use crate::plane::registry::{Prepared, Registered, Registry};

/// A rule for calls with exactly these arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallRule {
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Value,
    pub(crate) rule: Rule,
}

impl CallRule {
    /// Returns whether it is a rule for a tool, under each of its names.
    pub(super) fn is_of(&self, tool: &Registered) -> bool {
        *self.tool == *tool.name() || tool.alias_of() == Some(&*self.tool)
    }

    /// Decodes the arguments as those of a call; fails if no call can have them.
    fn decode(&mut self, tool: &Registered) -> Result<(), String> {
        let decoded = Prepared::decode(tool, self.arguments.clone(), true).and_then(|call| call.shown());
        let decoded = decoded.map_err(|fault| fault.to_string())?;
        if let Some(given) = decoded.given {
            return Err(format!("the tool does not read all of {given}"));
        }
        if decoded.has_files {
            return Err("calls with files have no rule for exactly their arguments".to_owned());
        }
        self.arguments = decoded.arguments;
        Ok(())
    }
}

impl Policy {
    /// Returns its rule for a call with exactly these arguments.
    pub(in super::super) fn exact(&self, tool: &Registered, request: &ApprovalRequest) -> Option<&Rule> {
        let mut of_tool = self.calls.iter().filter(|call| call.is_of(tool)).peekable();
        of_tool.peek().filter(|_| request.is_shown_in_full())?;
        let arguments = without_nulls(&request.arguments, tool);
        of_tool.find(|call| without_nulls(&call.arguments, tool) == arguments).map(|call| &call.rule)
    }

    /// Decodes the arguments of its rules for calls, and of those behind it; returns the rules that no call can match.
    pub(in super::super) fn decode_calls(&mut self, registry: &Registry) -> Vec<String> {
        let mut faults = Vec::new();
        for call in &mut self.calls {
            let Some(tool) = registry.get(&call.tool) else { continue };
            if let Err(fault) = call.decode(tool) {
                let place = self.places.get(&call.tool).map(|place| format!("{place}: ")).unwrap_or_default();
                let (name, arguments) = (&call.tool, &call.arguments);
                faults.push(format!("{place}no call of `{name}` can have the arguments {arguments}: {fault}"));
            }
        }
        let behind = self.fallback.as_mut().map(|fallback| fallback.decode_calls(registry));
        faults.extend(behind.into_iter().flatten());
        faults
    }
}

/// Returns arguments without the optional ones that are `null`, which an absent one equals unless it has a default.
fn without_nulls(arguments: &Value, tool: &Registered) -> Value {
    let schema = tool.parameters();
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
    let has_default = |name: &str| schema["properties"][name].get("default").is_some_and(|default| !default.is_null());
    let mut arguments = arguments.clone();
    if let Value::Object(fields) = &mut arguments {
        fields.retain(|name, value| !value.is_null() || is_required(name) || has_default(name));
    }
    arguments
}
