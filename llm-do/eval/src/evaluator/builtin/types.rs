//! Evaluators of the type of the output.

use llm_do_core::base::error::Result;
use llm_do_core::declare::schema::{CheckedSchema, untrusted_schema_fault};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Arguable, Check, EvaluatorContext, Findings};
use crate::evaluator::Finding;

/// Whether the output has a type, by its name in Python or in JSON.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IsInstance {
    /// `str`, `int`, `float`, `bool`, `list`, `dict`, `NoneType` or `object` (any value), or `string`, `integer`, `number`,
    /// `boolean`, `array` or `null`.
    type_name: String,
}

impl Arguable for IsInstance {
    type Arguments = Self;

    fn new(arguments: Self) -> std::result::Result<Self, String> {
        match is_instance(&Value::Null, &arguments.type_name) {
            Some(_) => Ok(arguments),
            None => Err(format!(
                "unknown type `{}`: expected `str`, `int`, `float`, `bool`, `list`, `dict`, `NoneType`, `object`, or a type \
                 of JSON; use `MatchesSchema` for others",
                arguments.type_name
            )),
        }
    }
}

impl Check for IsInstance {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let holds = is_instance(context.output, &self.type_name).unwrap_or_default();
        let fault = (!holds).then(|| format!("the output is of type {}", type_of(context.output)));
        Ok(Finding::asserted(fault).into())
    }
}

/// Returns whether a value has a type, as in Python, where `bool` is a subclass of `int`; `None` for an unknown type.
fn is_instance(value: &Value, type_name: &str) -> Option<bool> {
    let is_whole = value.is_i64() || value.is_u64();
    Some(match type_name {
        "str" | "string" => value.is_string(),
        "int" => is_whole || value.is_boolean(),
        "integer" => is_whole,
        "float" => value.is_f64(),
        "number" => value.is_number(),
        "bool" | "boolean" => value.is_boolean(),
        "list" | "array" => value.is_array(),
        "dict" => value.is_object(),
        "NoneType" | "null" => value.is_null(),
        "object" => true,
        _ => return None,
    })
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// Whether the output follows a JSON schema.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SchemaArguments {
    /// The schema.
    schema: Value,
}

pub(super) struct MatchesSchema(CheckedSchema);

impl Arguable for MatchesSchema {
    type Arguments = SchemaArguments;

    fn new(arguments: SchemaArguments) -> std::result::Result<Self, String> {
        match untrusted_schema_fault(&arguments.schema) {
            Some(fault) => Err(format!("`schema` {fault}")),
            None => Ok(Self(CheckedSchema::new(&arguments.schema).untrusted())),
        }
    }
}

impl Check for MatchesSchema {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        Ok(Finding::asserted(self.0.check(context.output).err()).into())
    }
}
