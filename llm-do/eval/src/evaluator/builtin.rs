//! The built-in evaluators, by name.

mod equality;
mod limits;
mod text;
mod types;

use llm_do_core::base::error::Result;
use llm_do_core::declare::schema;
use llm_do_worker_file::did_you_mean;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{EvaluatorContext, Findings};
use crate::dataset::{Arguments, EvaluatorSpec};
use crate::judge::JudgeArguments;

/// The argument of every evaluator that sets its name in reports.
const EVALUATION_NAME: &str = "evaluation_name";
/// Evaluators of pydantic-evals that this version does not support, with their alternatives.
const UNSUPPORTED: [(&str, &str); 4] = [
    ("HasMatchingSpan", "`ToolCorrectness`, since spans are not recorded"),
    ("TrajectoryMatch", "`ToolCorrectness`"),
    ("ArgumentCorrectness", "an evaluator of your own"),
    ("GEval", "`LLMJudge` with a `score`"),
];

/// A built-in evaluator with its arguments.
pub(crate) trait Check: Send + Sync {
    fn check(&self, context: &EvaluatorContext<'_>) -> Result<Findings>;
}

/// An evaluator of a dataset, ready to run.
pub(crate) enum Prepared {
    Check(Box<dyn Check>),
    Judge(JudgeArguments),
}

/// A built-in evaluator.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    /// The argument that `NAME: VALUE` sets; empty if all arguments have names.
    first: &'static str,
    schema: fn() -> Value,
    prepare: fn(Value) -> std::result::Result<Prepared, String>,
}

pub(crate) static BUILTINS: [Builtin; 15] = [
    Builtin::plain::<equality::Equals>("Equals", "value"),
    Builtin::plain::<equality::EqualsExpected>("EqualsExpected", ""),
    Builtin::check::<equality::Agrees>("Agrees", "ignore"),
    Builtin::check::<equality::IsClose>("IsClose", "absolute"),
    Builtin::plain::<text::Contains>("Contains", "value"),
    Builtin::check::<text::Matches>("Matches", "pattern"),
    Builtin::plain::<text::Similarity>("Similarity", "expected"),
    Builtin::check::<types::IsInstance>("IsInstance", "type_name"),
    Builtin::check::<types::MatchesSchema>("MatchesSchema", "schema"),
    Builtin::check::<limits::MaxDuration>("MaxDuration", "seconds"),
    Builtin::check::<limits::MaxCost>("MaxCost", "dollars"),
    Builtin::plain::<limits::MaxToolCalls>("MaxToolCalls", "max_calls"),
    Builtin::plain::<limits::MaxModelRequests>("MaxModelRequests", "max_requests"),
    Builtin::plain::<limits::ToolCorrectness>("ToolCorrectness", "expected_tools"),
    Builtin {
        name: "LLMJudge",
        first: "rubric",
        schema: inlined::<JudgeArguments>,
        prepare: |arguments| {
            let arguments: JudgeArguments = read(arguments)?;
            arguments.fault().map_or(Ok(Prepared::Judge(arguments)), Err)
        },
    },
];

impl Builtin {
    /// A check that is built from its arguments.
    const fn check<T: Arguable>(name: &'static str, first: &'static str) -> Self {
        Self { name, first, schema: inlined::<T::Arguments>, prepare: |arguments| boxed(T::new(read(arguments)?)?) }
    }

    /// A check whose fields are its arguments.
    const fn plain<T: Check + DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        first: &'static str,
    ) -> Self {
        Self { name, first, schema: inlined::<T>, prepare: |arguments| boxed(read::<T>(arguments)?) }
    }

    /// Returns the JSON schema of the value after the name.
    pub(crate) fn schema(&self) -> Value {
        let mut named = (self.schema)();
        named["properties"][EVALUATION_NAME] =
            json!({ "type": "string", "description": "The name in reports. Default: that of the evaluator." });
        if self.first.is_empty() {
            return named;
        }
        // A map has named arguments.
        let first = json!({ "allOf": [named["properties"][self.first], { "not": { "type": "object" } }] });
        json!({ "anyOf": [first, named] })
    }

    /// Returns whether the evaluator needs arguments.
    pub(crate) fn needs_arguments(&self) -> bool {
        (self.schema)()["required"].as_array().is_some_and(|required| !required.is_empty())
    }

    fn prepare(&self, arguments: &Arguments) -> std::result::Result<Prepared, String> {
        let named = match arguments {
            Arguments::None => Map::new(),
            Arguments::One(_) if self.first.is_empty() => return Err("it takes no value".to_owned()),
            Arguments::One(value) => Map::from_iter([(self.first.to_owned(), value.clone())]),
            Arguments::Named(values) => {
                let mut values = values.clone();
                values.remove(EVALUATION_NAME);
                values
            }
        };
        (self.prepare)(Value::Object(named))
    }
}

/// Returns a schema without references, so that it can be a part of another.
fn inlined<T: JsonSchema>() -> Value {
    let settings = schema::settings().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>().into()
}

/// A check whose arguments have another type and may be invalid.
pub(super) trait Arguable: Check + Sized + 'static {
    type Arguments: DeserializeOwned + JsonSchema;

    fn new(arguments: Self::Arguments) -> std::result::Result<Self, String>;
}

#[expect(clippy::unnecessary_wraps, reason = "the result of `Builtin::prepare`")]
fn boxed(check: impl Check + 'static) -> std::result::Result<Prepared, String> {
    Ok(Prepared::Check(Box::new(check)))
}

/// The default of flags that are true unless an argument denies them.
fn yes() -> bool {
    true
}

fn read<T: DeserializeOwned>(arguments: Value) -> std::result::Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| error.to_string())
}

/// Prepares the built-in evaluator of a spec; `None` if its name is not built in.
pub(crate) fn prepared(spec: &EvaluatorSpec) -> Option<std::result::Result<Prepared, String>> {
    let builtin = BUILTINS.iter().find(|builtin| builtin.name == spec.name)?;
    Some(builtin.prepare(&spec.arguments))
}

/// Returns the fault of an evaluator that is built-in, or has the name of an unsupported one.
pub(crate) fn fault(spec: &EvaluatorSpec) -> Option<String> {
    if let Some((_, instead)) = UNSUPPORTED.iter().find(|(name, _)| *name == spec.name) {
        return Some(format!("this evaluator is not supported; use {instead}"));
    }
    prepared(spec)?.err()
}

/// Returns the fault of a name that is neither built-in nor added by the program.
pub(crate) fn unknown<'a>(spec: &EvaluatorSpec, own: impl Iterator<Item = &'a str>) -> String {
    let own: Vec<_> = own.collect();
    let names = || BUILTINS.iter().map(|builtin| builtin.name).chain(own.iter().copied());
    let all: Vec<_> = names().map(|name| format!("`{name}`")).collect();
    format!("unknown evaluator{}\nevaluators: {}", did_you_mean(&spec.name, names()), all.join(", "))
}

/// Returns the name of the evaluator's findings in reports.
pub(crate) fn evaluation_name(spec: &EvaluatorSpec) -> &str {
    let Arguments::Named(values) = &spec.arguments else { return &spec.name };
    values.get(EVALUATION_NAME).and_then(Value::as_str).unwrap_or(&spec.name)
}
