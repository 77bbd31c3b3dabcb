//! Conditions on the arguments of a call: JSON Schemas.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::calls::names;
use crate::declare::schema::{CheckedSchema, condition_faults, untrusted_schema_fault};
use crate::plane::approval::ApprovalRequest;
use crate::plane::registry::Registered;

/// A condition on the arguments of a call: a JSON Schema that they must follow.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    schema: Value,
    /// Set when a runtime is built.
    compiled: Option<Arc<CheckedSchema>>,
    /// The file and the line, if the condition is from a file.
    pub(super) place: Option<String>,
}

impl Condition {
    pub(super) fn new(schema: Value) -> Self {
        Self { schema, compiled: None, place: None }
    }

    /// Returns the schema as it was written.
    pub(super) fn into_schema(self) -> Value {
        self.schema
    }

    /// Returns the top-level arguments that the schema names.
    pub(super) fn named_arguments(&self) -> Vec<&str> {
        let required = self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let named = names(&self.schema["properties"]);
        let mut all: Vec<_> = named.chain(required).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Compiles the schema for a rule about a tool.
    ///
    /// # Errors
    ///
    /// Returns why the schema is invalid, or why it cannot decide anything about the tool.
    pub(super) fn compile(&mut self, tool: &Registered, is_approval: bool) -> Result<(), Vec<String>> {
        if !self.schema.is_object() {
            let expected = r#"expected a JSON Schema of the arguments, such as `{"properties": {..}}`"#;
            return Err(vec![format!("`when`: {expected}")]);
        }
        if let Some(fault) = untrusted_schema_fault(&self.schema) {
            return Err(vec![format!("`when` {fault}")]);
        }
        let faults = condition_faults(&self.schema, tool.parameters());
        if !faults.is_empty() {
            return Err(faults);
        }
        let schema = if is_approval { with_required(&self.schema) } else { Cow::Borrowed(&self.schema) };
        let compiled = CheckedSchema::new(&schema).untrusted();
        // This compiles the patterns now, and not while a call waits.
        let _ = compiled.holds(&json!({}));
        self.compiled = Some(Arc::new(compiled));
        Ok(())
    }

    /// Returns whether the condition of a rule holds for a call.
    ///
    /// A rule that asks or blocks also holds for arguments that the tool reads and does not show, and for arguments
    /// that take too much work to check. A rule that approves holds for neither.
    pub(super) fn holds(&self, tool: &Registered, request: &ApprovalRequest, is_approval: bool) -> bool {
        let Some(compiled) = &self.compiled else { return !is_approval };
        let follows = |arguments: &Value| compiled.holds(&with_defaults(arguments, tool.parameters()));
        if is_approval {
            return request.is_shown_in_full() && follows(&request.arguments) == Some(true);
        }
        let given = request.given.as_ref();
        [Some(&request.arguments), given].into_iter().flatten().any(|arguments| follows(arguments) != Some(false))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.schema.fmt(f)
    }
}

/// Returns the schema of an approval, which holds only for calls that have each argument it names.
///
/// In JSON Schema, `properties` hold for an absent property too: an approval of some values would approve calls without them.
fn with_required(schema: &Value) -> Cow<'_, Value> {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = names(&schema["properties"]).map(Value::from).filter(|name| !required.contains(name));
    let all: Vec<_> = required.iter().cloned().chain(named).collect();
    if all.len() == required.len() {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    schema["required"] = Value::Array(all);
    Cow::Owned(schema)
}

/// Returns arguments with the defaults of a schema, since tools that decode JSON themselves receive the given
/// arguments.
pub(crate) fn with_defaults<'a>(arguments: &'a Value, schema: &Value) -> Cow<'a, Value> {
    let (Some(given), Some(properties)) = (arguments.as_object(), schema["properties"].as_object()) else {
        return Cow::Borrowed(arguments);
    };
    let absent = properties.iter().filter(|(name, _)| !given.contains_key(*name));
    let defaults = absent.filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())));
    let mut defaults = defaults.peekable();
    if defaults.peek().is_none() {
        return Cow::Borrowed(arguments);
    }
    let mut filled = given.clone();
    filled.extend(defaults);
    Cow::Owned(Value::Object(filled))
}
