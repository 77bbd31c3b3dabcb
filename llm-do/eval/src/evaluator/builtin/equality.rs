//! Evaluators that compare the output with a value.

use llm_do_core::base::agreement::Agreement;
use llm_do_core::base::error::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Arguable, Check, EvaluatorContext, Findings};
use crate::evaluator::Finding;

/// Whether the output equals this value; numbers are compared by value.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Equals {
    /// The value.
    value: Value,
}

impl Check for Equals {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        Ok(Agreement::new().holds(context.output, &self.value).into())
    }
}

/// Whether the output equals the expected output, if the case has one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EqualsExpected {}

impl Check for EqualsExpected {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let Some(expected) = &context.case.expected_output else { return Ok(Findings::none()) };
        Ok(Agreement::new().holds(context.output, expected).into())
    }
}

/// Whether the output equals the expected output without some fields, if the case has one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgreesArguments {
    /// JSON pointers of fields that may differ, such as `/note` or `/people/*/note`.
    #[serde(default)]
    ignore: Vec<String>,
}

pub(super) struct Agrees(Agreement);

impl Arguable for Agrees {
    type Arguments = AgreesArguments;

    fn new(arguments: AgreesArguments) -> std::result::Result<Self, String> {
        let ignore = |agreement: Agreement, pointer: &String| agreement.ignore(pointer);
        Ok(Self(arguments.ignore.iter().fold(Agreement::new(), ignore)))
    }
}

impl Check for Agrees {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let Some(expected) = &context.case.expected_output else { return Ok(Findings::none()) };
        Ok(self.0.holds(context.output, expected).into())
    }
}

/// Whether the output equals the expected output, with a tolerance for numbers at any depth.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IsClose {
    /// The maximum difference of two numbers. Default: 0.
    #[serde(default)]
    absolute: f64,
    /// The maximum difference of two numbers, relative to the larger one. Default: 1e-9.
    #[serde(default = "relative")]
    relative: f64,
    /// The value to compare with. Default: the expected output.
    #[serde(default)]
    value: Option<Value>,
}

fn relative() -> f64 {
    1e-9
}

impl Arguable for IsClose {
    type Arguments = Self;

    fn new(arguments: Self) -> std::result::Result<Self, String> {
        if arguments.absolute < 0.0 || arguments.relative < 0.0 {
            return Err("a tolerance cannot be negative".to_owned());
        }
        Ok(arguments)
    }
}

impl Check for IsClose {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let Some(expected) = self.value.as_ref().or(context.case.expected_output.as_ref()) else {
            return Ok(Findings::none());
        };
        Ok(Finding::asserted(self.fault(context.output, expected, "")).into())
    }
}

impl IsClose {
    /// Returns the first difference, with its JSON pointer.
    fn fault(&self, output: &Value, expected: &Value, at: &str) -> Option<String> {
        let place = if at.is_empty() { "the output" } else { at };
        match (output, expected) {
            (Value::Number(one), Value::Number(other)) => {
                let (one, other) = (one.as_f64()?, other.as_f64()?);
                let tolerance = self.absolute.max(self.relative * one.abs().max(other.abs()));
                let difference = (one - other).abs();
                (difference > tolerance).then(|| format!("{place}: {one} differs from {other} by {difference}"))
            }
            (Value::Array(ones), Value::Array(others)) if ones.len() == others.len() => ones
                .iter()
                .zip(others)
                .enumerate()
                .find_map(|(index, (one, other))| self.fault(one, other, &format!("{at}/{index}"))),
            (Value::Object(ones), Value::Object(others)) if ones.len() == others.len() => {
                ones.iter().find_map(|(key, one)| {
                    let other = others.get(key).unwrap_or(&Value::Null);
                    self.fault(one, other, &format!("{at}/{key}"))
                })
            }
            _ => (output != expected).then(|| format!("{place}: the values differ")),
        }
    }
}
