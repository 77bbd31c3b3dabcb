//! Guarantees: code answers while comparisons show that it disagrees seldom enough.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use llm_do::error::Unsure;
use llm_do::event::{CodeAnswer, EventKind};
use llm_do::harden::{Guarantee, HybridStatus, hybrid_status};
use llm_do::journal::MemoryJournal;
use llm_do::model::{ErrorKind, ProviderError, Request, Response, ResponsePart};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::usage::{Money, Price, PriceTable, Usage};
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Value, json};

fn guarantee() -> Guarantee {
    Guarantee::new(0.1, 0.9).unwrap()
}

/// Code that answers `known`, and abstains from what is odd.
fn code(version: &str, effect: Effect) -> FunctionTool {
    let schema = json!({ "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"] });
    let answer = |_, arguments: Value| async move {
        let is_odd = arguments["input"].as_str().is_some_and(|input| input.contains("odd"));
        let answer: Result<String> = if is_odd { Err(Unsure::new("it is odd").into()) } else { Ok("known".to_owned()) };
        answer
    };
    FunctionTool::new("sort_by_rule", "Sorts.", schema, effect, answer).version(version)
}

/// The worker answers `other` to what is new, and `known` otherwise.
fn model() -> FunctionModel {
    let answer = |request: Request<'_>| Answer::text(if request.prompt().contains("new") { "other" } else { "known" });
    FunctionModel::answering(answer).named("m")
}

fn sorter() -> WorkerSpec {
    WorkerSpec::new("sorter", "Sort the input.").hybrid("sort_by_rule")
}

fn of_version(version: &str) -> RuntimeBuilder {
    let price = Price::per_million(Money::ZERO, Money::from_dollars(1_000_000));
    let prices = PriceTable::builtin().with("function:m", price).unwrap();
    let tool = code(version, Effect::ReadOnly);
    Runtime::builder().worker(sorter().guarantee(guarantee())).tool(tool).force_model(model()).prices(prices)
}

async fn sort(runtime: &Runtime, input: &str) -> String {
    let answer = runtime.run_named("sorter", json!({ "input": input })).await.unwrap();
    answer.as_str().unwrap().to_owned()
}

async fn status(runtime: &Runtime) -> HybridStatus {
    let [status] = runtime.hybrid_status().await.unwrap().try_into().unwrap();
    status
}

/// The events of a guarantee: whether it holds, and after how many comparisons.
fn turns(recorder: &Recorder) -> Vec<(bool, u64)> {
    let turn = |kind| match kind {
        EventKind::Guarantee { holds, comparisons, reason: None, .. } => Some((holds, comparisons)),
        _ => None,
    };
    recorder.kinds().into_iter().filter_map(turn).collect()
}

fn answers(recorder: &Recorder, wanted: CodeAnswer) -> usize {
    let is = |kind: &&EventKind| matches!(kind, EventKind::Hybrid { answer, .. } if *answer == wanted);
    recorder.kinds().iter().filter(is).count()
}

#[tokio::test]
async fn code_answers_once_comparisons_show_that_it_agrees() {
    let recorder = Recorder::new();
    let runtime = of_version("1").sink(recorder.clone()).build().unwrap();
    let needed = guarantee().comparisons_needed();
    for _ in 0..needed {
        assert_eq!(turns(&recorder), []);
        assert_eq!(sort(&runtime, "it").await, "known");
    }
    assert_eq!(turns(&recorder), [(true, needed)]);
    assert_eq!(answers(&recorder, CodeAnswer::Compared) as u64, needed, "the worker has answered, beside code");
    for _ in 0..400 {
        assert_eq!(sort(&runtime, "it").await, "known");
    }
    let status = status(&runtime).await;
    assert!(status.holds && status.bound < 0.1 && status.rate < 0.5, "{status:?}");
    assert!(status.by_code > 100 && status.comparisons > needed, "{status:?}");
    assert_eq!(status.by_code + status.by_worker, needed + 400);
    assert_eq!(answers(&recorder, CodeAnswer::Answered) as u64, status.by_code);
    assert!(!status.saved.is_zero(), "{status:?}");
    assert_eq!((&*status.worker, &*status.tool, status.disagreements), ("sorter", "sort_by_rule", 0));
}

#[tokio::test]
async fn the_worker_takes_over_soon_when_the_inputs_change() {
    let recorder = Recorder::new();
    let runtime = of_version("1").sink(recorder.clone()).build().unwrap();
    for _ in 0..400 {
        sort(&runtime, "it").await;
    }
    let before = status(&runtime).await.all_comparisons;
    let mut calls = 0;
    while status(&runtime).await.holds {
        sort(&runtime, "a new thing").await;
        calls += 1;
        assert!(calls < 2_000, "code is never stopped");
    }
    let compared = status(&runtime).await.all_comparisons - before;
    assert!(compared <= 20, "{compared}");
    assert!(matches!(turns(&recorder).as_slice(), [(true, _), .., (false, _)]), "{:?}", turns(&recorder));
    for _ in 0..20 {
        assert_eq!(sort(&runtime, "a new thing").await, "other", "the worker answers");
    }
}

#[tokio::test]
async fn calls_from_which_code_abstains_are_counted_apart() {
    let runtime = of_version("1").build().unwrap();
    for _ in 0..60 {
        assert_eq!(sort(&runtime, "it is odd").await, "known");
    }
    let status = status(&runtime).await;
    assert_eq!((status.comparisons, status.unsure, status.by_worker, status.holds), (0, 60, 60, false));
}

#[tokio::test]
async fn processes_share_a_file_which_survives_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("evidence.json");
    let [one, other] = [(); 2].map(|()| of_version("1").evidence_file(&path).build().unwrap());
    // Too few for code to answer.
    assert!(guarantee().comparisons_needed() > 22);
    let calls = (0..10).flat_map(|_| [sort(&one, "it"), sort(&other, "it")]);
    futures_util::future::join_all(calls).await;
    drop((one, other));
    let comparisons =
        |path: &Path| -> Vec<u64> { hybrid_status(path).unwrap().iter().map(|status| status.comparisons).collect() };
    assert_eq!(comparisons(&path), [20]);
    let later = of_version("1").evidence_file(&path).build().unwrap();
    sort(&later, "it").await;
    assert_eq!(comparisons(&path), [21]);
    let changed = of_version("2").evidence_file(&path).build().unwrap();
    sort(&changed, "it").await;
    let mut all = comparisons(&path);
    all.sort_unstable();
    assert_eq!(all, [1, 21], "another version of code has no evidence");
}

#[tokio::test]
async fn evidence_that_cannot_be_read_has_the_worker_answer_and_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evidence.json");
    std::fs::write(&path, "{").unwrap();
    let recorder = Recorder::new();
    let runtime = of_version("1").evidence_file(&path).sink(recorder.clone()).build().unwrap();
    assert_eq!(sort(&runtime, "new").await, "other");
    let is_reported = |kind: &EventKind| matches!(kind, EventKind::Guarantee { holds: false, reason: Some(_), .. });
    assert!(recorder.kinds().iter().any(is_reported));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{", "it is kept");
}

#[tokio::test]
async fn a_resumed_run_decides_as_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evidence.json");
    let (journal, is_down) = (MemoryJournal::new(), Arc::new(AtomicBool::new(true)));
    let down = is_down.clone();
    let model = FunctionModel::new(move |_| {
        if down.load(Ordering::Relaxed) {
            return Err(ProviderError::new("m", ErrorKind::InvalidRequest, "it is down"));
        }
        let parts = vec![ResponsePart::Text { text: "by the worker".to_owned() }];
        Ok(Response::new("m", parts, Usage::of_request(1, 1)))
    });
    let model = model.named("m");
    // Each is a process that resumes the run.
    let resumed = |journal: MemoryJournal| {
        let builder = of_version("1").force_model(model.clone()).evidence_file(&path).journal(journal);
        let runtime = builder.build().unwrap();
        async move { runtime.run_named("sorter", json!({ "input": "it" })).await }
    };
    resumed(journal.clone()).await.unwrap_err();
    let others = of_version("1").evidence_file(&path).build().unwrap();
    for _ in 0..400 {
        sort(&others, "it").await;
    }
    assert!(status(&others).await.holds);
    let before = status(&others).await;
    is_down.store(false, Ordering::Relaxed);
    let journal = journal.replayed();
    assert_eq!(resumed(journal.clone()).await.unwrap(), "by the worker");
    let after = status(&others).await;
    assert_eq!((after.all_comparisons, after.by_code), (before.all_comparisons + 1, before.by_code));
    assert_eq!(resumed(journal.replayed()).await.unwrap(), "by the worker", "a replay");
    assert_eq!(status(&others).await, after, "which adds nothing");
}

#[test]
fn faults_of_guarantees_are_reported_when_the_runtime_is_built() {
    let fault = |builder: RuntimeBuilder| builder.build().unwrap_err().to_string();
    let alone = Runtime::builder().worker(WorkerSpec::new("sorter", "Sort.")).guarantee("sorter", guarantee());
    assert!(fault(alone).contains("`sorter` has a guarantee, but no tool that answers first"));
    let changing = Runtime::builder().worker(sorter().guarantee(guarantee())).tool(code("1", Effect::Idempotent));
    let changing = fault(changing);
    assert!(changing.contains("so `sort_by_rule` must be `effect = read_only`"), "{changing}");
    let without = of_version("1").without_hybrid("sorter").build();
    assert!(without.is_ok(), "{without:?}");
}

#[tokio::test]
async fn a_worker_file_has_a_guarantee() {
    let file = "---\nname: sorter\nhybrid: sort_by_rule\nguarantee: { disagreement: 0.02 }\n---\nSort it.\n";
    let spec: WorkerSpec = file.parse().unwrap();
    let builder =
        |spec: WorkerSpec| Runtime::builder().worker(spec).tool(code("1", Effect::ReadOnly)).force_model(model());
    let runtime = builder(spec.clone()).build().unwrap();
    sort(&runtime, "it").await;
    assert_eq!(status(&runtime).await.guarantee, Guarantee::new(0.02, 0.95).unwrap());
    let stricter = builder(spec).guarantee("sorter", Guarantee::new(0.01, 0.99).unwrap()).build().unwrap();
    sort(&stricter, "it").await;
    let own = status(&stricter).await.guarantee;
    assert_eq!(own, Guarantee::new(0.01, 0.99).unwrap(), "code takes precedence");
    let fault =
        |value: &str| file.replace("{ disagreement: 0.02 }", value).parse::<WorkerSpec>().unwrap_err().to_string();
    assert!(fault("{ confidence: 0.9 }").contains("`guarantee` needs `disagreement`"));
    assert!(fault("{ disagreement: 2 }").contains("expected a number between 0 and 1, such as 0.05, found 2"));
}
