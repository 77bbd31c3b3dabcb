//! Evaluation: datasets, evaluators, judges, interrupted evaluations, reports, and the command line.
#![allow(clippy::float_cmp, reason = "exact values")]

mod datasets;
mod evaluators;
mod events;
mod judges;
mod program;
mod reports;
mod resumed;

use llm_do::eval::{Case, Dataset, Evaluation, EvaluatorSpec, Report, Scalar, Variant};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel};
use llm_do::{Value, json};

/// Name the capital of a country.
#[worker]
async fn capital(country: String) -> String;

/// Return a value as it is.
#[tool(effect = read_only)]
fn same(value: Value) -> Value {
    value
}

/// Return a value after calls of two tools, of which one fails.
#[tool(effect = read_only)]
async fn calling(ctx: &CallContext, value: Value) -> Result<Value> {
    ctx.call(same { value: json!(1) }).await?;
    let _ = ctx.call(failing { value: json!(1) }).await;
    Ok(value)
}

/// Return a number, unless it is a multiple of four.
#[tool(effect = read_only)]
fn unsure_of_fours(value: u64) -> Result<u64> {
    if value.is_multiple_of(4) { Err(llm_do::error::Unsure::new("it is a multiple").into()) } else { Ok(value) }
}

/// Fail.
#[tool(effect = read_only)]
fn failing(value: Value) -> Result<Value> {
    Err(format!("cannot take {value}").into())
}

/// Returns a runtime with a model that answers by its name: `good` knows all, `fair` half, `poor` one.
fn runtime_of(name: &'static str) -> Runtime {
    model_of(name).build().unwrap()
}

fn model_of(name: &'static str) -> RuntimeBuilder {
    let known = match name {
        "good" => 8,
        "fair" => 4,
        _ => 1,
    };
    let model = FunctionModel::answering(move |request| {
        let prompt = request.prompt();
        let index = COUNTRIES.iter().position(|(country, _)| prompt.contains(country)).unwrap();
        Answer::text(if index < known { COUNTRIES[index].1 } else { "nowhere" })
    });
    Runtime::builder().force_model(model.named(name))
}

const COUNTRIES: [(&str, &str); 8] = [
    ("France", "Paris"),
    ("Italy", "Rome"),
    ("Spain", "Madrid"),
    ("Japan", "Tokyo"),
    ("Peru", "Lima"),
    ("Cuba", "Havana"),
    ("Egypt", "Cairo"),
    ("Norway", "Oslo"),
];

/// Eight cases with one evaluator.
fn capitals() -> Dataset {
    let case = |(country, city): &(&str, &str)| Case::new(*country).named(*country).expects(*city);
    let dataset = Dataset::new("capitals").evaluator(EvaluatorSpec::new("EqualsExpected"));
    COUNTRIES.iter().map(case).fold(dataset, Dataset::case)
}

/// Evaluates `same` in one case whose input is the output, by the evaluators in this YAML.
async fn evaluated(output: Value, expected: Option<Value>, evaluators: &str) -> Report {
    evaluated_by("same", output, expected, evaluators).await
}

async fn evaluated_by(tool: &str, output: Value, expected: Option<Value>, evaluators: &str) -> Report {
    let mut dataset: Dataset = format!("cases: [{{inputs: 1}}]\nevaluators: {evaluators}").parse().unwrap();
    dataset.cases[0].inputs = json!({ "value": output });
    dataset.cases[0].expected_output = expected;
    let approve = llm_do::approval::ApprovalMode::ApproveAll;
    let runtime = Runtime::builder().approval_mode(approve).build().unwrap();
    Evaluation::new(dataset).variant(Variant::new("only", tool, &runtime)).run().await.unwrap()
}

/// Returns whether the first assertion holds.
fn holds(report: &Report) -> bool {
    match &report.runs[0].findings[0].value {
        Scalar::Assertion(holds) => *holds,
        other => panic!("{other:?}"),
    }
}

fn mean(report: &Report, variant: &str, metric: &str) -> f64 {
    report.metric(variant, metric).unwrap().estimate.unwrap().mean
}
