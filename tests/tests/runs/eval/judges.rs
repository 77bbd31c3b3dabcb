//! A judging model.

use std::sync::{Arc, Mutex};

use llm_do::eval::{Case, Dataset, EvalError, Evaluation, Report, Scalar, Variant};
use llm_do::json;
use llm_do::model::Request;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Answer, FunctionModel};

/// The seeds and prompts of a judge's requests.
type Asked = Arc<Mutex<Vec<(Option<u64>, String)>>>;

/// Judges by the seed: those below `passing` pass.
fn judge(passing: u64, asked: &Asked) -> RuntimeBuilder {
    let asked = Arc::clone(asked);
    Runtime::builder().force_model(FunctionModel::answering(move |request: Request<'_>| {
        let seed = request.settings.seed;
        asked.lock().unwrap().push((seed, request.prompt()));
        let pass = seed.unwrap_or_default() < passing;
        Answer::output(
            json!({ "reason": format!("seed {seed:?}"), "score": if pass { 1.0 } else { 0.25 }, "pass": pass }),
        )
    }))
}

async fn judged(evaluator: &str, judge: RuntimeBuilder) -> std::result::Result<Report, EvalError> {
    let mut dataset: Dataset =
        format!("cases: [{{inputs: 1}}]\nevaluators: [{{LLMJudge: {evaluator}}}]").parse().unwrap();
    dataset.cases = vec![Case::new("the input").expects("the expected")];
    let runtime = Runtime::builder().build().unwrap();
    Evaluation::new(dataset).variant(Variant::new("same", "same", &runtime)).judge(judge).seed(7).run().await
}

#[tokio::test]
async fn a_judge_sees_the_rubric_and_what_it_is_shown() {
    let asked = Asked::default();
    judged("is polite", judge(9, &asked)).await.unwrap();
    judged("{rubric: is polite, include_input: true, include_expected_output: true}", judge(9, &asked)).await.unwrap();
    let seen: Vec<llm_do::Value> =
        asked.lock().unwrap().iter().map(|(_, prompt)| serde_json::from_str(prompt).unwrap()).collect();
    let all = json!({ "rubric": "is polite", "input": "the input", "expected_output": "the expected", "output": "the input" });
    assert_eq!(seen, [json!({ "rubric": "is polite", "output": "the input" }), all]);
}

#[tokio::test]
async fn the_majority_of_votes_with_fixed_seeds_decides() {
    for (passing, pass, score) in [(7, false, 0.25), (8, false, 0.5), (9, true, 0.75), (10, true, 1.0)] {
        let asked = Asked::default();
        let report = judged("{rubric: r, votes: 3, score: {}}", judge(passing, &asked)).await.unwrap();
        let mut seeds: Vec<_> = asked.lock().unwrap().iter().map(|(seed, _)| *seed).collect();
        seeds.sort_unstable();
        assert_eq!(seeds, [Some(7), Some(8), Some(9)]);
        let findings = &report.runs[0].findings;
        assert_eq!((&*findings[0].name, &findings[0].value), ("LLMJudge_score", &Scalar::Score(score)), "{passing}");
        assert_eq!((&*findings[1].name, &findings[1].value), ("LLMJudge_pass", &Scalar::Assertion(pass)), "{passing}");
        let votes = format!("{} of 3 votes pass: seed", passing - 7);
        assert!(findings[1].reason.as_ref().unwrap().starts_with(&votes), "{findings:?}");
    }
}

#[tokio::test]
async fn what_judges_use_is_counted_apart_from_the_runs() {
    let report = judged("{rubric: r, votes: 3}", judge(9, &Asked::default())).await.unwrap();
    let variant = &report.variants[0];
    assert_eq!((variant.usage.model.requests, variant.judge_usage.model.requests), (0, 3));
}

#[tokio::test]
async fn a_score_outside_of_its_range_is_a_failure() {
    let model = FunctionModel::answering(|_| Answer::output(json!({ "reason": "", "score": 7, "pass": true })));
    let report = judged("r", Runtime::builder().force_model(model)).await.unwrap();
    assert!(report.runs[0].failures[0].error.contains("the score 7, which is not from 0 to 1"), "{report:?}");
    assert!(!report.runs[0].passes());
}

#[tokio::test]
async fn a_judge_on_an_unknown_model_is_an_error_before_anything_runs() {
    let builder = Runtime::builder();
    let error = judged("{rubric: r, model: 'nowhere:model'}", builder).await.unwrap_err();
    assert!(matches!(error, EvalError::Judge(_)), "{error:?}");
}
