//! Journals: recorded steps are replayed, unrecorded steps run once, and divergence is reported.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::event::Timestamp;
use llm_do::journal::{
    FileJournal, Journal, JournalError, JournalOutcome, LocalOutcome, MemoryJournal, Record, SqliteJournal, StepFuture,
    StepKind, StepSpec, Unrecorded,
};
use llm_do::{Value, async_trait, json};
use proptest::prelude::*;

const HEADER: &str = "{\"format\":\"llm-do journal\",\"version\":2}\n";

pub(super) fn tool(parent: &str, place: u32, name: &str, input: Value) -> StepSpec {
    StepSpec::new(parent, place, StepKind::Tool, name, input)
}

pub(super) fn returns(value: Value) -> StepFuture {
    Box::pin(async { LocalOutcome::Record(value) })
}

pub(super) fn never() -> StepFuture {
    Box::pin(async { panic!("a recorded effect ran again") })
}

pub(super) fn interrupted() -> StepFuture {
    Box::pin(async { LocalOutcome::Skip(Unrecorded::interrupted()) })
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    (folder, path)
}

/// Records `a`, `b` and `c` in `main`, sequentially.
async fn record_three(journal: &impl Journal) {
    for (place, name) in (0..).zip(["a", "b", "c"]) {
        journal.step(tool("main", place, name, json!(name)), returns(json!(place))).await.unwrap();
    }
}

fn names(path: &Path) -> Vec<String> {
    FileJournal::read(path).unwrap().map(|record| record.unwrap().name.to_string()).collect()
}

#[tokio::test]
async fn a_recorded_effect_is_returned_and_never_polled_again() {
    let journal = MemoryJournal::new();
    let step = tool("main", 0, "roll", json!({ "sides": 6 }));
    assert_eq!(journal.step(step.clone(), returns(json!(4))).await.unwrap(), 4);
    assert_eq!(journal.step(step.clone(), never()).await.unwrap(), 4, "in the process that recorded it");
    assert_eq!(journal.replayed().step(step, never()).await.unwrap(), 4, "in another process");
}

#[tokio::test]
async fn a_journal_distinguishes_what_it_replays_from_what_it_records() {
    let (folder, path) = folder();
    let runs = SqliteJournal::open(folder.path().join("runs.db")).unwrap();
    let (memory, file, sqlite) =
        (MemoryJournal::new(), FileJournal::open(&path).unwrap(), runs.run("1").await.unwrap());
    for journal in [&memory as &dyn Journal, &file, &sqlite] {
        let step = tool("main", 0, "a", json!(1));
        let first = journal.step(step.clone(), returns(json!("once"))).await.unwrap();
        assert!(matches!(&first, JournalOutcome::Recorded(value) if value == "once"), "{first:?}");
        let again = journal.step(step, never()).await.unwrap();
        assert!(matches!(&again, JournalOutcome::Replayed(value) if value == "once"), "{again:?}");
    }
}

#[tokio::test]
async fn an_interrupted_effect_is_not_recorded_and_runs_again() {
    let (_folder, path) = folder();
    let (memory, file) = (MemoryJournal::new(), FileJournal::open(&path).unwrap());
    for journal in [&memory as &dyn Journal, &file] {
        let step = tool("main", 0, "ask", json!(1));
        let outcome = journal.step(step.clone(), interrupted()).await.unwrap();
        assert!(matches!(outcome, JournalOutcome::Unrecorded(_)), "{outcome:?}");
        assert_eq!(journal.step(step, returns(json!("answer"))).await.unwrap(), "answer");
    }
    assert_eq!(memory.records().len(), 1);
    drop(file);
    assert_eq!(names(&path), ["ask"]);
}

#[tokio::test]
async fn an_effect_that_is_dropped_is_not_recorded() {
    let journal = MemoryJournal::new();
    let step = tool("main", 0, "wait", json!(1));
    let pending: StepFuture = Box::pin(std::future::pending());
    tokio::time::timeout(Duration::from_millis(1), journal.step(step.clone(), pending)).await.unwrap_err();
    assert_eq!(journal.records(), []);
    assert_eq!(journal.step(step, returns(json!(1))).await.unwrap(), 1);
}

#[tokio::test]
async fn the_order_of_object_fields_in_the_input_does_not_matter() {
    let journal = MemoryJournal::new();
    journal.step(tool("main", 0, "a", json!({ "x": 1, "y": 2 })), returns(json!("done"))).await.unwrap();
    let again = journal.replayed();
    assert_eq!(again.step(tool("main", 0, "a", json!({ "y": 2, "x": 1 })), never()).await.unwrap(), "done");
}

#[tokio::test]
async fn calls_and_promises_are_steps_by_default() {
    let journal = MemoryJournal::new();
    let call = StepSpec::new("main", 0, StepKind::Call, "sum", json!([1, 2]));
    let approval = call.within(StepKind::Approval, "approval");
    journal.decision(approval.clone(), returns(json!(true))).await.unwrap();
    journal.call(call.clone(), returns(json!(3))).await.unwrap();
    let again = journal.replayed();
    assert_eq!(again.decision(approval, never()).await.unwrap(), true);
    assert_eq!(again.call(call, never()).await.unwrap(), 3);
}

#[tokio::test]
async fn a_recorded_sleep_returns_immediately() {
    let journal = MemoryJournal::new();
    let sleep = StepSpec::new("main", 0, StepKind::Sleep, "sleep", Value::Null);
    let start = tokio::time::Instant::now();
    journal.sleep(sleep.clone(), Duration::from_millis(20)).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(20));
    let again = journal.replayed();
    let waited = tokio::time::timeout(Duration::from_secs(60), again.sleep(sleep, Duration::from_secs(3600))).await;
    waited.unwrap().unwrap();
}

#[tokio::test]
async fn a_recorded_time_is_replayed_with_full_precision() {
    let (_folder, path) = folder();
    let now = StepSpec::new("main", 0, StepKind::Now, "now", Value::Null);
    let first = FileJournal::open(&path).unwrap().now(now.clone(), Timestamp::now()).await.unwrap();
    assert_eq!(FileJournal::open(&path).unwrap().now(now.clone(), Timestamp::now()).await.unwrap(), first);

    let journal = MemoryJournal::new();
    journal.step(now.clone(), returns(json!("noon"))).await.unwrap();
    let error = journal.now(now, Timestamp::now()).await.unwrap_err();
    assert!(error.to_string().contains("now `now`") && error.to_string().contains("not a timestamp"), "{error}");
}

#[tokio::test]
async fn a_journal_is_replaying_until_each_record_is_replayed() {
    let journal = MemoryJournal::new();
    record_three(&journal).await;
    assert!(!journal.is_replaying(), "nothing was recorded by another process");
    let again = journal.replayed();
    for (place, name) in (0..).zip(["a", "b", "c"]) {
        assert!(again.is_replaying());
        again.step(tool("main", place, name, json!(name)), never()).await.unwrap();
    }
    assert!(!again.is_replaying());
}

#[tokio::test]
async fn steps_inside_a_replayed_call_count_as_replayed() {
    let journal = MemoryJournal::new();
    let call = StepSpec::new("main", 0, StepKind::Call, "outer", Value::Null);
    let inner = tool(&call.key, 0, "inner", Value::Null);
    journal.step(call.within(StepKind::Approval, "approval"), returns(json!(true))).await.unwrap();
    journal.step(inner, returns(json!(1))).await.unwrap();
    journal.call(call.clone(), returns(json!(2))).await.unwrap();
    let again = journal.replayed();
    again.call(call.clone(), never()).await.unwrap();
    assert!(!again.is_replaying());
    assert!(again.unused("main").is_none() && again.unused(&call.key).is_none());
}

fn diverged(error: &JournalError) -> (&str, &str, &str) {
    match error {
        JournalError::Diverged { place, recorded, found } => (place, recorded, found),
        _ => panic!("{error}"),
    }
}

#[tokio::test]
async fn another_call_at_a_recorded_place_is_reported_with_the_place_and_both_calls() {
    let journal = MemoryJournal::new();
    let main = tool("", 0, "main", json!({})).key;
    for (place, name) in (0..).zip(["a", "b", "c"]) {
        journal.step(tool(&main, place, name, json!("secret")), returns(Value::Null)).await.unwrap();
    }
    let again = journal.replayed();
    again.step(tool(&main, 0, "a", json!("secret")), never()).await.unwrap();
    let step = StepSpec::new(main, 1, StepKind::Model, "test:model", json!("password"));
    let error = again.step(step, never()).await.unwrap_err();
    let (place, recorded, found) = diverged(&error);
    assert_eq!(place, "`main` → 2nd call");
    assert!(recorded.starts_with("tool `b` (input "), "{recorded}");
    assert!(found.starts_with("model `test:model` (input "), "{found}");
    let text = error.to_string();
    assert!([place, recorded, found].iter().all(|part| text.contains(part)) && text.contains("start a new journal"));
    assert!(!text.contains("secret") && !text.contains("password"), "{text}");
}

#[tokio::test]
async fn the_same_tool_with_another_input_is_another_call() {
    let journal = MemoryJournal::new();
    record_three(&journal).await;
    let error = journal.replayed().step(tool("main", 0, "a", json!("other")), never()).await.unwrap_err();
    let (_, recorded, found) = diverged(&error);
    assert_ne!(recorded, found, "the digests differ");
}

#[tokio::test]
async fn a_recorded_key_with_another_input_diverges() {
    let journal = MemoryJournal::new();
    let mut step = tool("main", 0, "a", json!(1));
    journal.step(step.clone(), returns(json!(1))).await.unwrap();
    step.input = json!(2).into();
    diverged(&journal.step(step, never()).await.unwrap_err());
}

#[tokio::test]
async fn a_call_may_run_after_its_approval_is_recorded() {
    let journal = MemoryJournal::new();
    let step = tool("main", 0, "a", json!(1)).nth(3);
    journal.decision(step.within(StepKind::Approval, "approval"), returns(json!(true))).await.unwrap();
    let again = journal.replayed();
    again.decision(step.within(StepKind::Approval, "approval"), never()).await.unwrap();
    assert_eq!(again.step(step, returns(json!(2))).await.unwrap(), 2);
    let other = tool("main", 0, "a", json!(1)).nth(2);
    diverged(&journal.replayed().step(other, never()).await.unwrap_err());
}

#[tokio::test]
async fn a_recorded_call_that_is_not_made_is_reported_at_the_end_of_its_caller() {
    let journal = MemoryJournal::new();
    let main = tool("", 0, "main", json!({})).key;
    for (place, name) in (0..).zip(["a", "b"]) {
        journal.step(tool(&main, place, name, json!(name)), returns(Value::Null)).await.unwrap();
    }
    let again = journal.replayed();
    again.step(tool(&main, 0, "a", json!("a")), never()).await.unwrap();
    let error = again.unused(&main).unwrap();
    let (place, recorded, found) = diverged(&error);
    assert_eq!((place, found), ("`main` → 2nd call", "the end of `main`"));
    assert!(recorded.starts_with("tool `b` "), "{recorded}");
    again.step(tool(&main, 1, "b", json!("b")), never()).await.unwrap();
    assert!(again.unused(&main).is_none());
}

/// Records `a` and `b` in `main`, in flight at the same time; `b` ends first.
async fn record_two_concurrent() -> MemoryJournal {
    let journal = MemoryJournal::new();
    let (first, second) = (tool("main", 0, "a", json!(1)), tool("main", 1, "b", json!(2)));
    [&first, &second].into_iter().for_each(StepSpec::overlap);
    journal.step(second, returns(json!("b"))).await.unwrap();
    journal.step(first, returns(json!("a"))).await.unwrap();
    journal
}

fn overlapped(step: StepSpec) -> StepSpec {
    step.overlap();
    step
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_may_begin_in_any_order() {
    let again = record_two_concurrent().await.replayed();
    assert_eq!(again.step(overlapped(tool("main", 0, "b", json!(2))), never()).await.unwrap(), "b");
    assert_eq!(again.step(overlapped(tool("main", 1, "a", json!(1))), never()).await.unwrap(), "a");
    assert!(again.unused("main").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_unknown_call_does_not_start_while_recorded_concurrent_calls_are_missing() {
    for (name, input) in [("a", json!(3)), ("c", json!(1))] {
        let again = record_two_concurrent().await.replayed();
        // Not yet overlapped when it begins: the second call, which is unknown too, begins later.
        let first = tool("main", 0, name, input.clone());
        let second = async {
            first.overlap();
            again.step(overlapped(tool("main", 1, "b", json!(4))), never()).await
        };
        let (first, second) = tokio::join!(again.step(first.clone(), never()), second);
        for error in [first.unwrap_err(), second.unwrap_err()] {
            let (place, recorded, _) = diverged(&error);
            assert_eq!(place, "`main` → 1st call");
            assert!(recorded.starts_with("tool `a` "), "{error}");
        }
        assert_eq!(again.records().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_call_runs_once_the_recorded_concurrent_calls_have_begun() {
    let again = record_two_concurrent().await.replayed();
    let later = async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        again.step(overlapped(tool("main", 1, "b", json!(2))), never()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(900)).await;
        again.step(overlapped(tool("main", 2, "a", json!(1))), never()).await.unwrap();
    };
    let unknown = overlapped(tool("main", 0, "c", json!(3)));
    let (ran, ()) = tokio::join!(again.step(unknown, returns(json!("c"))), later);
    assert_eq!(ran.unwrap(), "c");
    assert!(again.unused("main").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_unrecorded_call_does_not_wait_for_calls_that_began_later() {
    let journal = MemoryJournal::new();
    // As if the call at place 0 had ended without a record, such as a denied one.
    for place in 1..3 {
        journal.step(tool("main", place, "a", json!(place)), returns(json!(place))).await.unwrap();
    }
    let begun = tokio::time::Instant::now();
    let again = journal.replayed();
    assert_eq!(again.step(tool("main", 0, "denied", json!(0)), returns(json!(0))).await.unwrap(), 0);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // If the later calls overlapped, they could begin now, so the call waits until the timeout.
    let journal = MemoryJournal::new();
    for place in 1..3 {
        journal.step(overlapped(tool("main", place, "a", json!(place))), returns(json!(place))).await.unwrap();
    }
    let again = journal.replayed();
    assert_eq!(again.step(tool("main", 0, "denied", json!(0)), returns(json!(0))).await.unwrap(), 0);
    for place in 1..3 {
        again.step(overlapped(tool("main", place, "a", json!(place))), never()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn recorded_concurrent_calls_end_in_the_recorded_order() {
    let again = record_two_concurrent().await.replayed();
    let (a, b) = (overlapped(tool("main", 0, "a", json!(1))), overlapped(tool("main", 1, "b", json!(2))));
    let first = tokio::select! {
        biased;
        first = again.step(a, never()) => first,
        first = again.step(b, never()) => first,
    };
    assert_eq!(first.unwrap(), "b");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_wait_for_recorded_calls_has_no_effect() {
    let again = record_two_concurrent().await.replayed();
    let unknown = overlapped(tool("main", 0, "c", json!(3)));
    let waiting = again.step(unknown.clone(), never());
    tokio::time::timeout(Duration::from_millis(10), waiting).await.unwrap_err();
    assert_eq!(again.records().len(), 2);
    for (place, (name, input)) in (1..).zip([("b", 2), ("a", 1)]) {
        again.step(overlapped(tool("main", place, name, json!(input))), never()).await.unwrap();
    }
    assert_eq!(again.step(unknown, returns(json!("c"))).await.unwrap(), "c");
}

#[tokio::test]
async fn a_call_is_recorded_as_concurrent_if_another_began_while_it_ran() {
    let journal = MemoryJournal::new();
    let step = tool("main", 0, "a", json!(1));
    let begins_another = step.clone();
    let local: StepFuture = Box::pin(async move {
        begins_another.overlap();
        LocalOutcome::Record(Value::Null)
    });
    journal.step(step, local).await.unwrap();
    assert!(journal.records()[0].overlapped);
}

#[tokio::test]
async fn a_record_survives_json_in_both_directions() {
    let journal = MemoryJournal::new();
    record_three(&journal).await;
    let records = journal.records();
    let text = serde_json::to_string(&records).unwrap();
    assert!(text.contains(r#""kind":"tool","name":"a","input":"a","value":0"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<Record>>(&text).unwrap(), records);
}

#[tokio::test]
async fn a_reopened_file_contains_the_finished_steps_in_order() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    record_three(&journal).await;
    journal.step(tool("main", 3, "d", Value::Null), interrupted()).await.unwrap();
    assert_eq!(names(&path), ["a", "b", "c"], "readable while it is open");
    drop(journal);
    let journal = FileJournal::open(&path).unwrap();
    for (place, name) in (0..).zip(["a", "b", "c"]) {
        assert_eq!(journal.step(tool("main", place, name, json!(name)), never()).await.unwrap(), place);
    }
    assert!(!journal.is_replaying());
    journal.step(tool("main", 3, "d", Value::Null), returns(Value::Null)).await.unwrap();
    drop(journal);
    assert_eq!(names(&path), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_line_is_in_the_file_before_its_value_is_returned() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    for place in 0..5 {
        journal.step(tool("main", place, "a", json!(place)), returns(json!(place))).await.unwrap();
        assert_eq!(FileJournal::read(&path).unwrap().count(), place as usize + 1);
    }
}

#[tokio::test]
async fn each_line_is_json_with_all_fields_of_a_record() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    record_three(&journal).await;
    let text = fs::read_to_string(&path).unwrap();
    let line: Value = serde_json::from_str(text.lines().nth(2).unwrap()).unwrap();
    let keys: Vec<_> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["key", "parent", "place", "overlapped", "kind", "name", "input", "value", "time"]);
    assert!(text.starts_with(HEADER));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_effects_are_written_as_complete_lines() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..200 {
        let journal = journal.clone();
        let step = tool("main", n, "a", json!(n));
        step.overlap();
        tasks.spawn(async move { journal.step(step, returns(json!("x".repeat(n as usize * 50)))).await.unwrap() });
    }
    tasks.join_all().await;
    drop(journal);
    let records: Vec<_> = FileJournal::read(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(records.iter().map(|record| record.place).collect::<BTreeSet<_>>(), (0..200).collect());
    assert!(records.iter().all(|record| record.value.as_str().unwrap().len() == record.place as usize * 50));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_concurrent_effects_with_the_same_key_return_the_recorded_value() {
    let (folder, path) = folder();
    let (memory, file) = (MemoryJournal::new(), FileJournal::open(&path).unwrap());
    let runs = SqliteJournal::open(folder.path().join("runs.db")).unwrap();
    let sqlite = runs.run("1").await.unwrap();
    for journal in [&memory as &dyn Journal, &file, &sqlite] {
        let both = Arc::new(tokio::sync::Barrier::new(2));
        let local = |value: i32| -> StepFuture {
            let both = Arc::clone(&both);
            Box::pin(async move {
                both.wait().await;
                LocalOutcome::Record(json!(value))
            })
        };
        let step = tool("main", 0, "a", json!(1));
        let (one, two) = tokio::join!(journal.step(step.clone(), local(1)), journal.step(step, local(2)));
        assert_eq!(one.unwrap().into_value(), two.unwrap().into_value());
    }
    assert_eq!((memory.records().len(), runs.records("1").await.unwrap().len()), (1, 1));
    assert_eq!(names(&path), ["a"]);
}

#[tokio::test]
async fn an_incomplete_last_line_is_truncated() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let whole = fs::read(&path).unwrap();
    for tail in ["{", "{\"key\":\"ma", "{\"key\":\"ma\n", "\0\0\0", "\n", "\u{e9}\n"] {
        fs::write(&path, [&whole, tail.as_bytes()].concat()).unwrap();
        assert_eq!(names(&path), ["a", "b", "c"], "{tail:?}");
        let journal = FileJournal::open(&path).unwrap();
        record_three(&journal).await;
        journal.step(tool("main", 3, "d", Value::Null), returns(Value::Null)).await.unwrap();
        drop(journal);
        assert_eq!(names(&path), ["a", "b", "c", "d"], "{tail:?}");
        assert!(fs::read(&path).unwrap().starts_with(&whole));
    }
}

#[tokio::test]
async fn a_record_without_a_line_ending_is_dropped() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    drop(FileJournal::open(&path).unwrap());
    assert_eq!(names(&path), ["a", "b"]);
}

#[tokio::test]
async fn an_invalid_line_before_the_end_is_reported_with_its_number_and_the_file_is_unchanged() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    let cases = [
        vec![lines[0], lines[1], "{\"key\":\"secret", lines[3]],
        vec![lines[0], lines[1], "", lines[3]],
        vec![lines[0], lines[1], "{\"key\":\"secret\"}", lines[3]],
        vec![lines[0], lines[1], "{\"key\":\"secret\"}"],
        vec![lines[0], lines[1], lines[1], lines[3]],
    ];
    for case in cases {
        let text = case.join("\n") + "\n";
        fs::write(&path, &text).unwrap();
        let error = FileJournal::open(&path).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { line: 3, .. }), "{error}");
        assert!(error.to_string().contains("run.jsonl") && !error.to_string().contains("secret"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[tokio::test]
async fn reading_ends_after_the_first_invalid_line() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let text = fs::read_to_string(&path).unwrap().replacen("\"b\"", "b", 1);
    fs::write(&path, text).unwrap();
    let results: Vec<_> = FileJournal::read(&path).unwrap().map(|record| record.is_ok()).collect();
    assert_eq!(results, [true, false]);
}

#[test]
fn a_file_that_is_not_a_journal_is_rejected_and_unchanged() {
    let (_folder, path) = folder();
    let long = "x".repeat(100_000);
    for text in ["my notes", "\n", "[1]\n", "{}\n", "{\"format\":\"other\",\"version\":1}\n", "{\"formal\":\n", &long] {
        fs::write(&path, text).unwrap();
        for error in [FileJournal::open(&path).unwrap_err(), FileJournal::read(&path).unwrap_err()] {
            assert!(matches!(error, JournalError::Refused { .. }), "{error}");
            assert!(error.to_string().contains("not an llm-do journal"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn an_unknown_format_version_is_rejected_with_its_number() {
    let (_folder, path) = folder();
    let text = "{\"format\":\"llm-do journal\",\"version\":7,\"with\":\"more\"}\nand anything\n";
    fs::write(&path, text).unwrap();
    let error = FileJournal::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Refused { .. }) && error.to_string().contains("version 7"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn a_file_of_version_1_is_read_and_upgraded_when_resumed() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let text = fs::read_to_string(&path).unwrap().replacen("\"version\":2", "\"version\":1", 1);
    fs::write(&path, &text).unwrap();
    assert_eq!(names(&path), ["a", "b", "c"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "reading changes nothing");
    let journal = FileJournal::open(&path).unwrap();
    record_three(&journal).await;
    journal.forget(vec![tool("main", 2, "c", json!("c")).key]).await.unwrap();
    drop(journal);
    assert_eq!(names(&path), ["a", "b"]);
    assert!(fs::read_to_string(&path).unwrap().starts_with(HEADER));
}

#[tokio::test]
async fn a_forgotten_step_runs_again_and_its_new_value_is_recorded() {
    let (_folder, path) = folder();
    let (memory, file) = (MemoryJournal::new(), FileJournal::open(&path).unwrap());
    for journal in [&memory as &dyn Journal, &file] {
        let step = tool("main", 0, "a", json!(1));
        journal.step(step.clone(), returns(json!("first"))).await.unwrap();
        assert_eq!(journal.recorded(&step.key).await, Some(json!("first")));
        journal.forget(vec![step.key.clone(), "unknown".into()]).await.unwrap();
        assert!(!journal.is_recorded(&step.key) && !journal.is_replaying());
        assert_eq!(journal.step(step, returns(json!("second"))).await.unwrap(), "second");
    }
    assert_eq!(memory.records().len(), 1);
    drop(file);
    let values: Vec<_> = FileJournal::read(&path).unwrap().map(|record| record.unwrap().value).collect();
    assert_eq!(values, ["second"]);
    let step = tool("main", 0, "a", json!(1));
    assert_eq!(FileJournal::open(&path).unwrap().step(step, never()).await.unwrap(), "second");
}

#[tokio::test]
async fn lines_written_together_are_truncated_from_the_first_incomplete_one_on() {
    let (_folder, path) = folder();
    record_three(&FileJournal::open(&path).unwrap()).await;
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    // The second line was lost and the third was not: they were synced together.
    let zeros = "\0".repeat(lines[2].len());
    fs::write(&path, [lines[0], lines[1], &zeros, &format!(" {}", lines[3]), ""].join("\n")).unwrap();
    assert_eq!(names(&path), ["a"]);
    drop(FileJournal::open(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), lines[..2].join("\n") + "\n");
}

#[tokio::test]
async fn a_file_with_an_incomplete_header_is_an_empty_journal() {
    let (_folder, path) = folder();
    for length in 0..HEADER.len() {
        let zeros = vec![0; HEADER.len() - length];
        for rest in [&[], &zeros[..]] {
            fs::write(&path, [&HEADER.as_bytes()[..length], rest].concat()).unwrap();
            assert_eq!(FileJournal::read(&path).unwrap().count(), 0);
            record_three(&FileJournal::open(&path).unwrap()).await;
            assert_eq!(names(&path), ["a", "b", "c"]);
        }
    }
}

#[test]
fn a_file_can_be_open_in_only_one_journal() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    let shared = journal.clone();
    drop(journal);
    let error = FileJournal::open(&path).unwrap_err();
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), HEADER);
    drop(shared);
    FileJournal::open(&path).unwrap();
}

#[test]
fn the_error_of_a_file_that_cannot_be_opened_contains_its_path() {
    let (folder, _) = folder();
    let path = folder.path().join("missing").join("run.jsonl");
    for error in [FileJournal::open(&path).unwrap_err(), FileJournal::read(&path).unwrap_err()] {
        assert!(matches!(&error, JournalError::Io { path: named, .. } if *named == path), "{error}");
    }
    assert!(FileJournal::open(folder.path()).is_err(), "a folder");
}

#[cfg(unix)]
#[test]
fn a_new_journal_is_accessible_only_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (_folder, path) = folder();
    drop(FileJournal::open(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_rejected() {
    let error = FileJournal::open("/dev/null").unwrap_err();
    assert!(matches!(error, JournalError::Refused { .. }), "{error}");
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(Value::Null, |inner, _| json!([inner]))
}

#[tokio::test]
async fn a_value_that_is_nested_too_deep_to_be_read_back_is_not_recorded() {
    let (_folder, path) = folder();
    let journal = FileJournal::open(&path).unwrap();
    journal.step(tool("main", 0, "flat", nested(120)), returns(nested(120))).await.unwrap();
    // An input that is nested too deep is rejected before the effect runs.
    for (input, local) in [(json!(1), returns(nested(121))), (nested(121), never())] {
        let error = journal.step(tool("main", 1, "deep", input), local).await.unwrap_err();
        assert!(
            matches!(error, JournalError::InvalidValue { .. }) && error.to_string().contains("tool `deep`"),
            "{error}"
        );
    }
    drop(journal);
    let journal = FileJournal::open(&path).unwrap();
    assert_eq!(journal.step(tool("main", 0, "flat", nested(120)), never()).await.unwrap(), nested(120));
}

#[tokio::test]
async fn names_with_special_characters_are_reported_unescaped() {
    let journal = MemoryJournal::new();
    let main = tool("", 0, "a/b:c%2F#1", json!({})).key;
    journal.step(tool(&main, 0, "x/y", json!(1)), returns(Value::Null)).await.unwrap();
    let error = journal.replayed().step(tool(&main, 0, "x", json!(1)), never()).await.unwrap_err();
    assert_eq!(diverged(&error).0, "`a/b:c%2F#1` → 1st call");
    assert!(diverged(&error).1.starts_with("tool `x/y` "));
}

// Random trees of calls, run as the plane runs them: keys are paths, and calls are sequential or concurrent.

#[derive(Clone, Debug)]
pub(super) struct Node {
    name: &'static str,
    input: u8,
    /// The body of a nested call; `None` for a single effect.
    inside: Option<Inside>,
}

#[derive(Clone, Debug)]
struct Inside {
    calls: Vec<Node>,
    concurrent: bool,
}

pub(super) fn trees() -> impl Strategy<Value = Node> {
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let leaf = (name(), 0..2_u8).prop_map(|(name, input)| Node { name, input, inside: None });
    leaf.prop_recursive(4, 24, 4, move |node| {
        (name(), 0..2_u8, prop::collection::vec(node, 0..4), any::<bool>()).prop_map(
            |(name, input, calls, concurrent)| Node { name, input, inside: Some(Inside { calls, concurrent }) },
        )
    })
}

type BoxFuture<T> = std::pin::Pin<Box<dyn Future<Output = Result<T, JournalError>> + Send>>;

/// One process: a journal, and the number of runs of each effect in it.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) journal: Arc<dyn Journal>,
    ran: Arc<Mutex<BTreeMap<Arc<str>, usize>>>,
    /// The value of an effect is the time of its first run, so that a repetition is detected.
    clock: Arc<AtomicUsize>,
    /// Whether concurrent calls begin in reverse order.
    reversed: bool,
}

impl Process {
    pub(super) fn new(journal: impl Journal, clock: &Arc<AtomicUsize>, reversed: bool) -> Self {
        Self { journal: Arc::new(journal), ran: Arc::default(), clock: Arc::clone(clock), reversed }
    }

    pub(super) async fn run(&self, root: Node) -> Value {
        let root = Inside { calls: vec![root], concurrent: false };
        self.clone().calls("".into(), root).await.unwrap()
    }

    /// Makes the calls in `parent`, and returns their values in the order of the source.
    fn calls(self, parent: Arc<str>, inside: Inside) -> BoxFuture<Value> {
        Box::pin(async move { self.make(&parent, inside).await })
    }

    async fn make(self, parent: &Arc<str>, inside: Inside) -> Result<Value, JournalError> {
        let steps = steps(parent, &inside, self.reversed);
        let mut values = vec![Value::Null; steps.len()];
        if inside.concurrent {
            let mut tasks = tokio::task::JoinSet::new();
            for (n, step, node) in steps {
                let process = self.clone();
                tasks.spawn(async move { (n, process.call(step, node).await) });
            }
            for (n, value) in tasks.join_all().await {
                values[n] = value?;
            }
        } else {
            for (n, step, node) in steps {
                values[n] = self.clone().call(step, node).await?;
            }
        }
        assert!(self.journal.unused(parent).is_none());
        Ok(values.into())
    }

    async fn call(self, step: StepSpec, node: Node) -> Result<Value, JournalError> {
        let (journal, key) = (Arc::clone(&self.journal), Arc::clone(&step.key));
        let local: StepFuture = Box::pin(async move {
            *self.ran.lock().unwrap().entry(Arc::clone(&key)).or_default() += 1;
            LocalOutcome::Record(match node.inside {
                Some(inside) => self.calls(key, inside).await.unwrap(),
                None => json!(self.clock.fetch_add(1, Ordering::Relaxed)),
            })
        });
        Ok(journal.step(step, local).await?.into_value().unwrap())
    }

    pub(super) fn ran(&self) -> BTreeMap<Arc<str>, usize> {
        self.ran.lock().unwrap().clone()
    }
}

/// Returns the calls in the order in which they begin, each with its 0-based index in the source.
fn steps(parent: &Arc<str>, inside: &Inside, reversed: bool) -> Vec<(usize, StepSpec, Node)> {
    let mut equal: HashMap<Arc<str>, u32> = HashMap::new();
    let nodes = inside.calls.iter().cloned().enumerate().map(|(n, node)| {
        let kind = if node.inside.is_some() { StepKind::Call } else { StepKind::Tool };
        // The body is a part of the input: equal calls do the same, like the same code with the same arguments.
        let step =
            StepSpec::new(Arc::clone(parent), 0, kind, node.name, json!([node.input, format!("{:?}", node.inside)]));
        let count = equal.entry(Arc::clone(&step.key)).or_default();
        *count += 1;
        (n, step.nth(*count - 1), node)
    });
    let mut steps: Vec<_> = nodes.collect();
    if inside.concurrent && reversed {
        steps.reverse();
    }
    for (place, (_, step, _)) in (0..).zip(&mut steps) {
        step.place = place;
        if inside.concurrent && inside.calls.len() > 1 {
            step.overlap();
        }
    }
    steps
}

pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Returns the values of the records by key.
pub(super) fn values(records: impl IntoIterator<Item = Record>) -> BTreeMap<Arc<str>, Value> {
    records.into_iter().map(|record| (record.key, record.value)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_run_interrupted_anywhere_resumes_to_its_end_and_runs_only_unrecorded_effects(
        tree in trees(),
        at in any::<prop::sample::Index>(),
        reversed in any::<bool>(),
    ) {
        let (_folder, path) = folder();
        let clock = Arc::default();
        let first = Process::new(FileJournal::open(&path).unwrap(), &clock, false);
        block_on(first.run(tree.clone()));
        drop(first);
        let whole = fs::read(&path).unwrap();
        // Anywhere after the header, also within a line.
        let cut = HEADER.len() + at.index(whole.len() - HEADER.len() + 1);
        fs::write(&path, &whole[..cut]).unwrap();
        let kept = values(FileJournal::read(&path).unwrap().map(Result::unwrap));
        prop_assert_eq!(kept.len(), whole[HEADER.len()..cut].split(|byte| *byte == b'\n').count() - 1);

        let second = Process::new(FileJournal::open(&path).unwrap(), &clock, reversed);
        let value = block_on(second.run(tree.clone()));
        let ran = second.ran();
        prop_assert!(!second.journal.is_replaying());
        drop(second);
        let all = values(FileJournal::read(&path).unwrap().map(Result::unwrap));
        prop_assert!(ran.values().all(|count| *count == 1), "each once");
        let run_and_kept: BTreeSet<_> = ran.keys().chain(kept.keys()).cloned().collect();
        prop_assert_eq!(ran.len() + kept.len(), run_and_kept.len(), "no recorded effect ran");
        prop_assert_eq!(&run_and_kept, &all.keys().cloned().collect::<BTreeSet<_>>());
        prop_assert!(kept.iter().all(|(key, value)| all[key] == *value));

        let third = Process::new(FileJournal::open(&path).unwrap(), &clock, !reversed);
        prop_assert_eq!(block_on(third.run(tree)), value);
        prop_assert!(third.ran().is_empty() && !third.journal.is_replaying());
    }

    #[test]
    fn the_order_in_which_concurrent_calls_begin_does_not_matter(tree in trees(), left_out in any::<prop::sample::Index>()) {
        let clock = Arc::default();
        let journal = MemoryJournal::new();
        let value = block_on(Process::new(journal.clone(), &clock, false).run(tree.clone()));
        let reversed = Process::new(journal.replayed(), &clock, true);
        prop_assert_eq!(block_on(reversed.run(tree.clone())), value.clone());
        prop_assert!(reversed.ran().is_empty());

        // Without the results of nested calls, so that their bodies run again; then also without one random effect.
        let effects: Vec<_> = journal.records().into_iter().filter(|record| record.kind == StepKind::Tool).collect();
        let inside = Process::new(MemoryJournal::from_records(effects.clone()), &clock, true);
        prop_assert_eq!(block_on(inside.run(tree.clone())), value);
        prop_assert!(effects.iter().all(|record| !inside.ran().contains_key(&record.key)));
        if !effects.is_empty() {
            let mut rest = effects;
            let missing = rest.swap_remove(left_out.index(rest.len()));
            let resumed = Process::new(MemoryJournal::from_records(rest.clone()), &clock, true);
            block_on(resumed.run(tree));
            prop_assert_eq!(resumed.ran().get(&missing.key).copied(), Some(1));
            prop_assert!(rest.iter().all(|record| !resumed.ran().contains_key(&record.key)));
        }
    }

    #[test]
    fn numbers_survive_a_file_exactly(bits in any::<u64>(), integer in any::<i64>()) {
        let (_folder, path) = folder();
        let value = json!([f64::from_bits(bits), integer, bits]);
        let step = tool("main", 0, "a", value.clone());
        block_on(FileJournal::open(&path).unwrap().step(step.clone(), returns(value.clone()))).unwrap();
        let found = block_on(FileJournal::open(&path).unwrap().step(step, never())).unwrap().into_value().unwrap();
        prop_assert_eq!(found[0].as_f64().map(f64::to_bits), value[0].as_f64().map(f64::to_bits));
        prop_assert_eq!(found, value);
    }
}

#[derive(Debug)]
struct Counting(AtomicUsize);

#[async_trait]
impl Journal for Counting {
    async fn step(&self, _: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(match local.await {
            LocalOutcome::Record(value) => JournalOutcome::Recorded(value),
            LocalOutcome::Skip(unrecorded) => JournalOutcome::Unrecorded(unrecorded),
        })
    }

    fn is_replaying(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn a_custom_journal_needs_two_methods() {
    let journal = Counting(AtomicUsize::new(0));
    let step = || tool("main", 0, "a", Value::Null);
    journal.call(step(), returns(json!(1))).await.unwrap();
    journal.decision(step(), returns(json!(1))).await.unwrap();
    journal.sleep(step(), Duration::ZERO).await.unwrap();
    journal.now(step(), Timestamp::now()).await.unwrap();
    assert_eq!(journal.0.load(Ordering::Relaxed), 4);
    assert!(journal.unused("main").is_none());
}
