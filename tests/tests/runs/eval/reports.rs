//! Reports: figures, comparisons, and their forms.

use llm_do::eval::{Case, Dataset, EvalError, Evaluation, EvaluatorSpec, Kept, Report, Variant};
use llm_do::event::Timestamp;
use llm_do::harden::Gate;
use llm_do::prelude::*;
use llm_do::{Value, json};

use super::{capitals, mean, runtime_of};

async fn three_models() -> Report {
    let variants = ["good", "fair", "poor"].map(|name| Variant::new(name, "capital", &runtime_of(name)));
    variants.into_iter().fold(Evaluation::new(capitals()), Evaluation::variant).run().await.unwrap()
}

#[tokio::test]
async fn a_report_has_the_share_of_runs_that_pass_with_an_interval() {
    let report = three_models().await;
    assert_eq!(["good", "fair", "poor"].map(|name| mean(&report, name, "passes")), [1.0, 0.5, 0.125]);
    let fair = report.metric("fair", "EqualsExpected").unwrap().estimate.unwrap();
    assert!(fair.low < 0.4 && fair.high > 0.6 && fair.low >= 0.0 && fair.high <= 1.0, "{fair:?}");
    assert_eq!(report.variants[0].usage.model.requests, 8);
}

#[tokio::test]
async fn a_share_of_all_or_none_has_the_exact_interval() {
    let variants = ["good", "again"].map(|name| Variant::new(name, "capital", &runtime_of("good")));
    let evaluation = variants.into_iter().fold(Evaluation::new(capitals()), Evaluation::variant);
    let report = evaluation.run().await.unwrap();
    let passes = report.metric("good", "passes").unwrap().estimate.unwrap();
    // By Clopper and Pearson for 8 of 8.
    assert_eq!(format!("{:.4} {:.4}", passes.low, passes.high), "0.6306 1.0000");
    let same = report.comparisons[0].difference;
    assert_eq!(format!("{:.4} {:.4} {:.4}", same.mean, same.low, same.high), "0.0000 -0.3694 0.3694");
    assert!(report.to_string().contains("1.000 [0.631, 1.000]"), "{report}");
}

#[tokio::test]
async fn later_variants_are_compared_with_the_first_case_by_case() {
    let report = three_models().await;
    let found: Vec<_> = report
        .comparisons
        .iter()
        .filter(|comparison| comparison.metric == "passes")
        .map(|found| (found.variant.as_str(), found.difference.mean, found.higher, found.lower, found.cases, found.p))
        .collect();
    // Of the signs of 4 and of 7 differences, 2 are as extreme.
    assert_eq!(found, [("fair", -0.5, 0, 4, 8, 2.0 / 16.0), ("poor", -0.875, 0, 7, 8, 2.0 / 128.0)]);
}

#[tokio::test]
async fn a_worker_and_a_tool_are_compared() {
    let runtime = runtime_of("good");
    let dataset = Dataset::new("mixed")
        .case(Case::new("France").expects("Paris"))
        .evaluator(EvaluatorSpec::new("EqualsExpected"));
    let evaluation = Evaluation::new(dataset).variant(Variant::new("worker", "capital", &runtime));
    let report = evaluation.variant(Variant::new("tool", "same", &runtime)).run().await.unwrap();
    assert_eq!((mean(&report, "worker", "passes"), mean(&report, "tool", "passes")), (1.0, 0.0));
}

#[tokio::test]
async fn a_failed_run_does_not_pass_and_has_no_other_value() {
    let dataset = Dataset::new("failing").case(Case::new("x")).evaluator(EvaluatorSpec::new("Contains").with("x"));
    let runtime = Runtime::builder().build().unwrap();
    let report = Evaluation::new(dataset).variant(Variant::new("failing", "failing", &runtime)).run().await.unwrap();
    assert_eq!((report.variants[0].failed, mean(&report, "failing", "passes")), (1, 0.0));
    assert_eq!(report.metric("failing", "Contains"), None);
    assert!(report.to_string().contains("failing · Case 1: `failing` failed: cannot take \"x\""), "{report}");
}

#[tokio::test]
async fn abstentions_are_counted_apart_and_a_gate_judges_the_rest() {
    let dataset = Dataset::new("fours").evaluator(EvaluatorSpec::new("EqualsExpected"));
    let dataset = (0..80_u64).fold(dataset, |all, number| all.case(Case::new(number).expects(number)));
    let runtime = Runtime::builder().build().unwrap();
    let evaluation = Evaluation::new(dataset).variant(Variant::new("tool", "unsure_of_fours", &runtime));
    let report = evaluation.run().await.unwrap();
    let variant = &report.variants[0];
    assert_eq!((variant.runs, variant.failed, variant.unsure), (80, 0, 20));
    assert_eq!((mean(&report, "tool", "passes"), report.metric("tool", "passes").unwrap().runs), (1.0, 60));
    assert!(report.to_string().contains("unsure runs") && !report.to_string().contains("do not pass"), "{report}");
    let (_, judgment) = &report.judge(&Gate::new())[0];
    assert!(judgment.is_accepted() && judgment.coverage == 0.75, "{judgment}");
    let (_, judgment) = &report.judge(&Gate::new().coverage(0.8))[0];
    assert_eq!(judgment.faults, ["it answers 60 of 80 cases (75 %), less than 80 %"]);
}

#[tokio::test]
async fn variants_must_have_distinct_names_and_known_tools() {
    let runtime = Runtime::builder().build().unwrap();
    let evaluation = || Evaluation::new(capitals()).variant(Variant::new("one", "same", &runtime));
    let error = evaluation().variant(Variant::new("one", "calling", &runtime)).run().await.unwrap_err();
    assert_eq!(error.to_string(), "two variants are named `one`");
    let error = evaluation().variant(Variant::new("two", "samee", &runtime)).run().await.unwrap_err().to_string();
    assert!(error.starts_with("unknown tool `samee`"), "{error}");
    assert!(matches!(Evaluation::new(capitals()).run().await, Err(EvalError::Variants(_))));
}

#[tokio::test]
async fn a_report_survives_json() {
    let report = three_models().await;
    let read: Report = serde_json::from_str(&json!(report).to_string()).unwrap();
    assert_eq!(read, report);
}

#[tokio::test]
async fn a_page_has_the_figures_and_no_markup_of_the_data() {
    let hostile = "</pre><script>alert(1)</script><img src=x onerror='alert(2)'>\"&";
    let case = Case::new(hostile).named(hostile);
    let dataset = Dataset::new(hostile).case(case).evaluator(EvaluatorSpec::new("Contains").with("none of it <b>"));
    let runtime = Runtime::builder().build().unwrap();
    let report = Evaluation::new(dataset).variant(Variant::new(hostile, "same", &runtime)).run().await.unwrap();
    let page = report.to_html();
    for part in ["<script", "<img", "<b>", "onerror='"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("&lt;script&gt;") && page.contains("<svg") && page.contains("default-src 'none'"), "{page}");
}

#[tokio::test]
async fn a_log_of_inspect_has_a_sample_for_each_run() {
    let report = three_models().await;
    let time: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let log = report.to_inspect_log("fair", time).unwrap();
    assert_eq!((&log["version"], &log["status"]), (&json!(2), &json!("success")));
    let samples = log["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 8);
    let sample = &samples[0];
    let expected = (&json!("France"), &json!("Paris"), &json!(1));
    assert_eq!((&sample["input"], &sample["target"], &sample["scores"]["EqualsExpected"]["value"]), expected);
    assert_eq!(log["results"]["scores"][1]["metrics"]["mean"]["value"], 0.5);
    assert_eq!(report.to_inspect_log("none", time), None::<Value>);
}

#[tokio::test]
async fn kept_reports_are_compared_by_variant_and_metric() {
    let folder = tempfile::tempdir().unwrap();
    let kept = Kept::in_folder(folder.path().join("evals"));
    assert!(kept.latest(Some("capitals")).unwrap().is_none());
    let variant =
        |name, runtime| Evaluation::new(capitals()).variant(Variant::new(name, "capital", &runtime_of(runtime)));
    let before = variant("model", "good").run().await.unwrap();
    let now = variant("model", "fair").run().await.unwrap();
    kept.keep(&before, "2026-01-02T03:04:05Z".parse().unwrap()).unwrap();
    let mut other = before.clone();
    other.dataset = Some("capitals-of-asia".into());
    kept.keep(&other, "2026-01-09T03:04:05Z".parse().unwrap()).unwrap();
    let latest = kept.latest(Some("capitals")).unwrap().unwrap();
    assert_eq!(latest, before);
    let changes = now.changes_since(&latest);
    let found: Vec<_> = changes.iter().map(|change| (&*change.metric, change.difference.mean)).collect();
    assert_eq!(found, [("passes", -0.5), ("EqualsExpected", -0.5)]);
    assert!(changes[0].is_worse(0.4) && !changes[0].is_worse(0.5));
    kept.keep(&now, "2026-01-02T03:04:06Z".parse().unwrap()).unwrap();
    assert_eq!(kept.latest(Some("capitals")).unwrap().unwrap(), now);
    kept.keep(&now, "2026-01-02T03:04:06Z".parse().unwrap()).unwrap_err();
}
