//! The runs of an evaluation: each case, repeated, for each variant, with its evaluators.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use llm_do_core::observe::journal::digest;
use llm_do_core::plane::registry::Registered;
use serde_json::{Value, json};

use super::dataset::{Arguments, Case, Dataset, EvaluatorSpec};
use super::evaluation::Variant;
use super::evaluator::Evaluator;
use super::evaluator::builtin::{self, Prepared};
use super::judge::JudgeArguments;
use super::report::PASSES;

/// The evaluators that a program adds, by name.
pub(super) type OwnEvaluators = BTreeMap<String, Arc<dyn Evaluator>>;

/// An evaluator of a case.
pub(super) struct PlannedEvaluator {
    /// The name of its findings.
    pub(super) name: String,
    pub(super) action: Action,
}

pub(super) enum Action {
    BuiltIn(Prepared),
    Own(Arc<dyn Evaluator>, Arguments),
}

/// A case with its evaluators.
pub(super) struct PlannedCase<'a> {
    pub(super) name: String,
    pub(super) case: &'a Case,
    pub(super) evaluators: Vec<PlannedEvaluator>,
    /// The part of the run's key that determines the result, besides the variant.
    identity: Value,
}

/// One run.
pub(super) struct PlannedRun<'a> {
    pub(super) variant: &'a Variant,
    pub(super) case: &'a PlannedCase<'a>,
    /// The 1-based number of the repetition.
    pub(super) repetition: u32,
    pub(super) arguments: Value,
    /// The key of the run in a file.
    pub(super) key: String,
}

/// Prepares the cases, or returns all faults of their evaluators.
pub(super) fn cases<'a>(dataset: &'a Dataset, own: &OwnEvaluators) -> Result<Vec<PlannedCase<'a>>, Vec<String>> {
    let (mut cases, mut faults, mut names) = (Vec::new(), Vec::new(), HashSet::new());
    for (index, case) in dataset.cases.iter().enumerate() {
        let name = case.name.clone().unwrap_or_else(|| format!("Case {}", index + 1));
        if !names.insert(name.clone()) {
            faults.push(format!("two cases are named `{name}`: rename one of the two"));
        }
        let specs = || dataset.evaluators.iter().chain(&case.evaluators);
        let mut evaluators = Vec::new();
        for spec in specs() {
            match action(spec, own) {
                Ok(action) => {
                    evaluators.push(PlannedEvaluator { name: builtin::evaluation_name(spec).to_owned(), action });
                }
                // A fault of an evaluator of all cases is reported once.
                Err(fault) if faults.contains(&fault) => {}
                Err(fault) => faults.push(fault),
            }
        }
        let specs: Vec<_> = specs().map(|spec| json!([spec.name, spec.arguments.to_json()])).collect();
        let identity = json!([name, case.inputs, case.metadata, case.expected_output, specs]);
        cases.push(PlannedCase { name, case, evaluators, identity });
    }
    if cases.is_empty() {
        faults.push("the dataset has no cases".to_owned());
    }
    if faults.is_empty() { Ok(cases) } else { Err(faults) }
}

fn action(spec: &EvaluatorSpec, own: &OwnEvaluators) -> Result<Action, String> {
    if builtin::evaluation_name(spec) == PASSES {
        return Err(
            spec.fault(format!("the name `{PASSES}` is that of a metric which each report has; choose another"))
        );
    }
    if let Some(evaluator) = own.get(&spec.name) {
        return Ok(Action::Own(Arc::clone(evaluator), spec.arguments.clone()));
    }
    if let Some(fault) = builtin::fault(spec) {
        return Err(spec.fault(fault));
    }
    match builtin::prepared(spec) {
        Some(prepared) => prepared.map(Action::BuiltIn).map_err(|fault| spec.fault(fault)),
        None => Err(spec.fault(builtin::unknown(spec, own.keys().map(String::as_str)))),
    }
}

/// Returns the arguments of all judges.
pub(super) fn judges<'a>(cases: &'a [PlannedCase<'_>]) -> Vec<&'a JudgeArguments> {
    let evaluators = cases.iter().flat_map(|case| &case.evaluators);
    let judge = |evaluator: &'a PlannedEvaluator| match &evaluator.action {
        Action::BuiltIn(Prepared::Judge(arguments)) => Some(arguments),
        _ => None,
    };
    evaluators.filter_map(judge).collect()
}

/// Returns the runs in order, or all faults. The repetitions of a case are consecutive, and so are the cases of a
/// variant.
pub(super) fn runs<'a>(
    variants: &'a [Variant],
    cases: &'a [PlannedCase<'a>],
    repetitions: u32,
    seed: u64,
) -> Result<Vec<PlannedRun<'a>>, Vec<String>> {
    let (mut runs, mut faults) = (Vec::new(), Vec::new());
    for variant in variants {
        let Some(item) = variant.runtime.registry().get(&variant.tool) else {
            faults.push(format!(
                "unknown tool `{}`: {}",
                variant.tool,
                variant.runtime.registry().hint(&variant.tool, None)
            ));
            continue;
        };
        for case in cases {
            let arguments = match arguments(item, &case.case.inputs) {
                Ok(arguments) => arguments,
                Err(fault) => {
                    faults.push(format!("case `{}`: {fault}", case.name));
                    continue;
                }
            };
            for repetition in 1..=repetitions.max(1) {
                let identity = json!([variant.name, variant.tool, case.identity, repetition, seed]);
                let (arguments, key) = (arguments.clone(), digest(&identity));
                runs.push(PlannedRun { variant, case, repetition, arguments, key });
            }
        }
    }
    if faults.is_empty() { Ok(runs) } else { Err(faults) }
}

/// Returns the inputs of a case as arguments: a value that is not an object is the value of the only argument.
pub(super) fn arguments(item: &Registered, inputs: &Value) -> Result<Value, String> {
    if inputs.is_object() {
        return Ok(inputs.clone());
    }
    if item.takes_prompt() {
        return Ok(json!({ "input": inputs }));
    }
    let required: Vec<_> =
        item.parameters()["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all: Vec<_> = item.parameters()["properties"].as_object().into_iter().flat_map(|all| all.keys()).collect();
    match (required.as_slice(), all.as_slice()) {
        ([name], _) => Ok(json!({ *name: inputs })),
        (_, [name]) => Ok(json!({ name.as_str(): inputs })),
        _ => {
            let names: Vec<_> = all.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(", ");
            Err(format!("`inputs` must be a map of arguments of `{}`: {names}", item.name()))
        }
    }
}
