//! Interrupted evaluations.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use llm_do::context::CancellationToken;
use llm_do::eval::{EvalError, Evaluation, Report, Variant};
use llm_do::usage::{Money, Price, PriceTable};

use super::{capitals, model_of, runtime_of};

/// Three models over eight cases.
fn evaluation() -> Evaluation {
    let variants = ["good", "fair", "poor"].map(|name| Variant::new(name, "capital", &runtime_of(name)));
    variants.into_iter().fold(Evaluation::new(capitals()), Evaluation::variant)
}

/// Returns a report without times, which no two evaluations share.
fn timeless(mut report: Report) -> Report {
    report.runs.iter_mut().for_each(|run| run.seconds = 0.0);
    report.variants.iter_mut().for_each(|variant| variant.latency = llm_do::eval::Latency::default());
    report
}

fn concurrently(runs: usize) -> NonZeroUsize {
    NonZeroUsize::new(runs).unwrap()
}

/// Runs until that many runs have finished; returns how many it was stopped after.
async fn stopped_after(runs: usize, file: &Path) -> usize {
    let (token, finished) = (CancellationToken::new(), AtomicUsize::new(0));
    let trigger = token.clone();
    let stopping = evaluation().resumable(file).cancellation(token).on_finished(move |_| {
        if finished.fetch_add(1, Ordering::Relaxed) + 1 == runs {
            trigger.cancel();
        }
    });
    match stopping.run().await.unwrap_err() {
        EvalError::Cancelled { done, of: 24 } => done,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_evaluation_that_is_stopped_anywhere_and_resumed_gives_the_same_report() {
    let whole = timeless(evaluation().run().await.unwrap());
    for runs in [1, 7, 23] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("eval.jsonl");
        let done = stopped_after(runs, &file).await;
        assert!((runs..24).contains(&done), "{done}");
        let resumed = evaluation().resumable(&file).run().await.unwrap();
        assert_eq!(timeless(resumed), whole, "stopped after {runs}");
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert_eq!(lines, 25, "a header, and each run once");
    }
}

#[tokio::test]
async fn a_resumed_evaluation_runs_only_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eval.jsonl");
    evaluation().resumable(&file).run().await.unwrap();
    let before = std::fs::read(&file).unwrap();
    // Were a case run again, it would fail: this runtime has no model.
    let offline = llm_do::Runtime::builder().build().unwrap();
    let variants = ["good", "fair", "poor"].map(|name| Variant::new(name, "capital", &offline));
    let again = variants.into_iter().fold(Evaluation::new(capitals()), Evaluation::variant);
    let report = again.resumable(&file).run().await.unwrap();
    assert_eq!(report.variants[0].failed, 0);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn an_incomplete_last_line_is_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eval.jsonl");
    let whole = evaluation().resumable(&file).run().await.unwrap();
    let text = std::fs::read(&file).unwrap();
    for cut in [1, 5, 40] {
        std::fs::write(&file, &text[..text.len() - cut]).unwrap();
        let report = evaluation().resumable(&file).run().await.unwrap();
        assert_eq!(timeless(report), timeless(whole.clone()));
    }
}

#[tokio::test]
async fn a_file_that_is_not_of_an_evaluation_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "my notes\n").unwrap();
    let error = evaluation().resumable(&file).run().await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("line 1 is not of an evaluation"), "{error:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "my notes\n");
}

#[tokio::test]
async fn only_a_changed_case_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eval.jsonl");
    evaluation().resumable(&file).run().await.unwrap();
    let mut dataset = capitals();
    dataset.cases[0].expected_output = Some("Lyon".into());
    let changed = Evaluation::new(dataset).variant(Variant::new("good", "capital", &runtime_of("good")));
    changed.resumable(&file).run().await.unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 26);
}

#[tokio::test]
async fn a_spent_budget_stops_the_evaluation_and_a_higher_one_resumes_it() {
    let prices = || {
        PriceTable::builtin()
            .with("function:good", Price::per_million(Money::from_dollars(1_000_000), Money::ZERO))
            .unwrap()
    };
    let runtime_with_prices = || model_of("good").prices(prices()).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eval.jsonl");
    let begin = |dollars| {
        let evaluation = Evaluation::new(capitals()).variant(Variant::new("good", "capital", &runtime_with_prices()));
        evaluation.concurrency(concurrently(1)).resumable(&file).budget(Money::from_dollars(dollars))
    };
    let error = begin(1).run().await.unwrap_err();
    assert!(matches!(error, EvalError::Budget { done: 1, of: 8 }), "{error:?}");
    assert_eq!(begin(1_000_000).run().await.unwrap().runs.len(), 8);
}

#[tokio::test]
async fn repetitions_of_a_case_are_separate_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("eval.jsonl");
    let report = evaluation().repeat(3).concurrency(concurrently(8)).resumable(&file).run().await.unwrap();
    assert_eq!((report.runs.len(), report.variants[0].runs), (72, 24));
    let order: Vec<_> = report.runs[..4].iter().map(|run| (run.case.as_str(), run.repetition)).collect();
    assert_eq!(order, [("France", 1), ("France", 2), ("France", 3), ("Italy", 1)]);
    assert_eq!(report.metric("good", "passes").unwrap().deviation, Some(0.0));
}
