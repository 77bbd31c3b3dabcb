//! Evaluators of texts.

use llm_do_core::base::agreement::Agreement;
use llm_do_core::base::error::Result;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Arguable, Check, EvaluatorContext, Findings};
use crate::evaluator::Finding;
use crate::evaluator::context::text;

/// The maximum size of a compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 20;
/// The maximum product of the lengths of two texts whose similarity is computed.
const MAX_PRODUCT: usize = 100_000_000;

/// Whether the output contains a value: a text in a text, an item in a list, a key or fields in an object.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Contains {
    /// The value.
    value: Value,
    /// Whether upper and lower case differ, in texts. Default: true.
    #[serde(default = "super::yes")]
    case_sensitive: bool,
    /// Whether both are compared as texts, values other than strings as JSON. Default: false.
    #[serde(default)]
    as_strings: bool,
}

impl Check for Contains {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        Ok(Finding::asserted(self.fault(context.output)).into())
    }
}

impl Contains {
    fn fault(&self, output: &Value) -> Option<String> {
        let equal = |one: &Value, other: &Value| Agreement::new().holds(one, other);
        let missing = || Some(format!("the output does not contain {}", self.value));
        match (output, &self.value) {
            (output, value) if self.as_strings || (output.is_string() && value.is_string()) => {
                let fold = |text: String| if self.case_sensitive { text } else { text.to_lowercase() };
                if fold(text(output)).contains(&fold(text(value))) { None } else { missing() }
            }
            (Value::Array(items), value) => {
                if items.iter().any(|item| equal(item, value)) {
                    None
                } else {
                    missing()
                }
            }
            (Value::Object(fields), Value::Object(wanted)) => {
                wanted.iter().find_map(|(key, wanted)| match fields.get(key) {
                    None => Some(format!("the output has no key `{key}`")),
                    Some(value) if !equal(value, wanted) => Some(format!("`{key}` is {value}, not {wanted}")),
                    Some(_) => None,
                })
            }
            (Value::Object(fields), Value::String(key)) if fields.contains_key(key) => None,
            (Value::Object(_), _) => missing(),
            _ => Some(
                "only a text, a list or an object can contain a value; set `as_strings` to compare texts".to_owned(),
            ),
        }
    }
}

/// Whether a regular expression matches a part of the output; of all of it with `^` and `$`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchesArguments {
    /// The pattern, in the syntax of the crate regex.
    pattern: String,
}

pub(super) struct Matches(Regex);

impl Arguable for Matches {
    type Arguments = MatchesArguments;

    fn new(arguments: MatchesArguments) -> std::result::Result<Self, String> {
        let built = RegexBuilder::new(&arguments.pattern).size_limit(MAX_PATTERN).build();
        built.map(Self).map_err(|error| format!("`pattern`: {error}"))
    }
}

impl Check for Matches {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let matches = self.0.is_match(&context.output_text());
        Ok(Finding::asserted((!matches).then(|| format!("the output does not match `{}`", self.0))).into())
    }
}

/// How similar the output is to the expected output as text: 1 minus the edit distance, relative to the longer text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Similarity {
    /// The text to compare with. Default: the expected output.
    #[serde(default)]
    expected: Option<String>,
}

impl Check for Similarity {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings> {
        let Some(expected) = self.expected.clone().or_else(|| context.case.expected_output.as_ref().map(text)) else {
            return Ok(Findings::none());
        };
        let output = context.output_text();
        if output.len().saturating_mul(expected.len()) > MAX_PRODUCT {
            return Err("the texts are too long to compute their similarity".into());
        }
        Ok(strsim::normalized_levenshtein(&output, &expected).into())
    }
}
