//! The built-in evaluators, and those of a program.

use llm_do::eval::{
    Arguments, Case, Dataset, EvalError, Evaluation, Evaluator, EvaluatorContext, EvaluatorSpec, Finding, Findings,
    Scalar, Variant,
};
use llm_do::prelude::*;
use llm_do::{async_trait, json};

use super::{evaluated, evaluated_by, holds};

/// Asserts which outputs an evaluator passes.
macro_rules! passes {
    ($($output:tt with $evaluator:literal expecting $expected:expr => $passes:literal;)*) => {
        $(
            let report = evaluated(json!($output), $expected, concat!("[", $evaluator, "]")).await;
            assert_eq!(holds(&report), $passes, "{} of {}: {:?}", $evaluator, json!($output), report.runs[0]);
        )*
    };
}

#[tokio::test]
async fn equality_is_that_of_values() {
    passes! {
        1 with "{Equals: 1.0}" expecting None => true;
        "1" with "{Equals: 1}" expecting None => false;
        { "a": 1 } with "EqualsExpected" expecting Some(json!({ "a": 1 })) => true;
        { "a": 1, "b": 2 } with "{Agrees: [/b]}" expecting Some(json!({ "a": 1, "b": 3 })) => true;
        { "a": 1, "b": 2 } with "{Agrees: [/a]}" expecting Some(json!({ "a": 1, "b": 3 })) => false;
    }
}

#[tokio::test]
async fn numbers_are_compared_with_a_tolerance_at_any_depth() {
    passes! {
        { "a": [1.001, "x"] } with "{IsClose: 0.01}" expecting Some(json!({ "a": [1, "x"] })) => true;
        { "a": [1.1, "x"] } with "{IsClose: 0.01}" expecting Some(json!({ "a": [1, "x"] })) => false;
        100 with "{IsClose: {relative: 0.1, value: 109}}" expecting None => true;
        100 with "{IsClose: {relative: 0.1, value: 120}}" expecting None => false;
        [1] with "{IsClose: 1}" expecting Some(json!([1, 1])) => false;
    }
}

#[tokio::test]
async fn texts_lists_and_objects_contain_values() {
    passes! {
        "The capital is Paris." with "{Contains: Paris}" expecting None => true;
        "The capital is Paris." with "{Contains: paris}" expecting None => false;
        "The capital is Paris." with "{Contains: {value: paris, case_sensitive: false}}" expecting None => true;
        ["a", 1] with "{Contains: 1.0}" expecting None => true;
        ["a", 1] with "{Contains: b}" expecting None => false;
        { "a": 1, "b": 2 } with "{Contains: {value: {a: 1}}}" expecting None => true;
        { "a": 1, "b": 2 } with "{Contains: {value: {a: 2}}}" expecting None => false;
        { "a": 1 } with "{Contains: a}" expecting None => true;
        123 with "{Contains: {value: 2, as_strings: true}}" expecting None => true;
        123 with "{Contains: 2}" expecting None => false;
        "an id-42 here" with "{Matches: 'id-\\d+'}" expecting None => true;
        "an id-42 here" with "{Matches: '^id-\\d+$'}" expecting None => false;
    }
}

#[tokio::test]
async fn types_have_names_of_python_and_json() {
    passes! {
        "x" with "{IsInstance: str}" expecting None => true;
        true with "{IsInstance: int}" expecting None => true;
        true with "{IsInstance: integer}" expecting None => false;
        1.5 with "{IsInstance: float}" expecting None => true;
        [] with "{IsInstance: dict}" expecting None => false;
        { "age": 3 } with "{MatchesSchema: {schema: {type: object, required: [age]}}}" expecting None => true;
        { "age": 3 } with "{MatchesSchema: {schema: {required: [name]}}}" expecting None => false;
    }
}

#[tokio::test]
async fn similarity_is_a_score_relative_to_the_longer_text() {
    let report = evaluated(json!("kitten"), Some(json!("kittens!")), "[Similarity]").await;
    assert_eq!(report.runs[0].findings[0].value, Scalar::Score(0.75));
}

#[tokio::test]
async fn what_a_run_called_is_judged() {
    let tools = "[{ToolCorrectness: [same]}, {ToolCorrectness: {expected_tools: [same, failing], include_failed: true}}, \
                 {ToolCorrectness: {expected_tools: [], allow_extra: true}}, {ToolCorrectness: [same, same]}, {MaxToolCalls: 2}, \
                 {MaxToolCalls: 1}, {MaxToolCalls: {max_calls: 1, include_failed: false}}, {MaxModelRequests: 0}, {MaxCost: 0}, \
                 {MaxDuration: 60}]";
    let report = evaluated_by("calling", json!(1), None, tools).await;
    let values: Vec<_> = report.runs[0].findings.iter().map(|finding| finding.value.number().unwrap() > 0.5).collect();
    assert_eq!(values, [true, true, true, false, true, false, true, true, true, true], "{:?}", report.runs[0]);
    let names: Vec<_> = report.runs[0].findings.iter().map(|finding| finding.name.as_str()).collect();
    assert_eq!(
        names[..5],
        ["ToolCorrectness", "ToolCorrectness_2", "ToolCorrectness_3", "ToolCorrectness_4", "MaxToolCalls"]
    );
}

#[tokio::test]
async fn an_evaluator_that_needs_an_expected_output_finds_nothing_without_one() {
    let report = evaluated(json!(1), None, "[EqualsExpected, Agrees, IsClose, Similarity]").await;
    assert_eq!(report.runs[0].findings, []);
    assert!(report.runs[0].passes());
}

#[tokio::test]
async fn a_finding_has_the_name_that_its_evaluation_is_given() {
    let report = evaluated(json!("x"), None, "[{Contains: {value: x, evaluation_name: has x}}]").await;
    assert_eq!(report.runs[0].findings[0].name, "has x");
}

/// Finds a score and a label, or fails.
struct Tone;

#[async_trait]
impl Evaluator for Tone {
    async fn evaluate(&self, context: &EvaluatorContext<'_>, arguments: &Arguments) -> Result<Findings> {
        if *arguments == Arguments::One(json!("broken")) {
            return Err("it is broken".into());
        }
        let text = context.output_text();
        Ok(vec![Finding::new(0.25).named("warmth"), Finding::new(if text.ends_with('!') { "loud" } else { "calm" })]
            .into())
    }
}

async fn by_tone(spec: EvaluatorSpec) -> std::result::Result<llm_do::eval::Report, EvalError> {
    let dataset = Dataset::new("tones").case(Case::new("Hello!")).case(Case::new("Hello.")).evaluator(spec);
    let runtime = Runtime::builder().build().unwrap();
    Evaluation::new(dataset).variant(Variant::new("same", "same", &runtime)).evaluator("Tone", Tone).run().await
}

#[tokio::test]
async fn an_evaluator_of_the_program_finds_several_values() {
    let report = by_tone(EvaluatorSpec::new("Tone")).await.unwrap();
    assert_eq!(report.metric("same", "warmth").unwrap().estimate.unwrap().mean, 0.25);
    let labels = &report.metric("same", "Tone").unwrap().labels;
    assert_eq!((labels["loud"], labels["calm"]), (1, 1));
    assert!(report.runs.iter().all(llm_do::eval::RunRecord::passes));
}

#[tokio::test]
async fn a_run_that_an_evaluator_cannot_judge_does_not_pass() {
    let report = by_tone(EvaluatorSpec::new("Tone").with("broken")).await.unwrap();
    assert_eq!(report.variants[0].not_judged, 2);
    assert_eq!(report.metric("same", "passes").unwrap().estimate.unwrap().mean, 0.0);
    assert!(report.to_string().contains("Tone could not judge: it is broken"), "{report}");
}

#[tokio::test]
async fn an_unknown_evaluator_is_reported_before_anything_runs() {
    let error = by_tone(EvaluatorSpec::new("Tome")).await.unwrap_err().to_string();
    assert!(error.contains("`Tome`: unknown evaluator; did you mean `Tone`?"), "{error}");
}

#[tokio::test]
async fn a_score_that_is_not_finite_is_a_failure_of_its_evaluator() {
    let dataset = Dataset::new("one").case(Case::new("x")).evaluator(EvaluatorSpec::new("NaN"));
    let runtime = Runtime::builder().build().unwrap();
    let evaluation = Evaluation::new(dataset).variant(Variant::new("same", "same", &runtime));
    let report = evaluation.evaluate_with("NaN", |_, _| Ok(f64::NAN.into())).run().await.unwrap();
    assert!(report.runs[0].failures[0].error.contains("not a finite number"), "{report:?}");
}
