//! Journals of many runs in one file.

mod agreement;
mod claims;
mod parked;
mod promises;
mod retention;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::event::{Clock, Timestamp};
use llm_do::journal::{
    Journal, JournalError, JournalOutcome, PromiseSpec, SqliteJournal, SqliteRun, StepKind, StepSpec,
};
use llm_do::json;

use super::journal::{interrupted, never, returns, tool};

/// A clock that a test moves.
#[derive(Clone, Debug, Default)]
struct Hands(Arc<Mutex<Timestamp>>);

impl Hands {
    fn forward(&self, seconds: u64) {
        let mut now = self.0.lock().unwrap();
        *now += Duration::from_secs(seconds);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    (folder, path)
}

fn open(path: &PathBuf, clock: &Hands) -> SqliteJournal {
    SqliteJournal::open(path).unwrap().with_clock(clock.clone())
}

/// Records `names` in `main`, sequentially.
async fn record(run: &SqliteRun, names: &[&str]) {
    for (place, name) in (0..).zip(names) {
        run.step(tool("main", place, name, json!(name)), returns(json!(place))).await.unwrap();
    }
}

#[tokio::test]
async fn runs_in_one_file_share_no_records() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    let (first, second) = (runs.run("1").await.unwrap(), runs.run("2").await.unwrap());
    record(&first, &["a", "b"]).await;
    record(&second, &["c"]).await;
    for (id, names) in [("1", vec!["a", "b"]), ("2", vec!["c"]), ("3", vec![])] {
        let records = runs.records(id).await.unwrap();
        assert_eq!(records.iter().map(|record| &*record.name).collect::<Vec<_>>(), names);
    }
    assert_eq!(runs.run("1").await.unwrap().recorded(), 2);
}

#[tokio::test]
async fn a_record_that_is_read_is_the_one_that_was_written() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    let run = runs.run("1").await.unwrap();
    let main = StepSpec::new("", 0, StepKind::Run, "main", json!({ "b": [1.5, null], "a": "é\0" }));
    let inner = tool(&main.key, 3, "a/b", json!(null));
    inner.overlap();
    run.step(main.clone(), returns(json!("id"))).await.unwrap();
    run.step(inner.clone(), returns(json!({ "z": 1, "y": 2 }))).await.unwrap();
    let records = runs.records("1").await.unwrap();
    assert_eq!((&records[0].key, &records[0].input, records[0].kind), (&main.key, &main.input, StepKind::Run));
    assert_eq!((&*records[1].parent, records[1].place, records[1].overlapped), (&*main.key, 3, true));
    assert_eq!(records[1].value.to_string(), r#"{"z":1,"y":2}"#, "in the order of the fields");
    assert!(records[0].time <= records[1].time);
}

#[tokio::test]
async fn concurrent_records_of_many_runs_are_all_kept() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    for id in 0..50 {
        let run = runs.run(&id.to_string()).await.unwrap();
        tasks.spawn(async move { record(&run, &["a", "b", "c", "d"]).await });
    }
    tasks.join_all().await;
    drop(runs);
    let runs = SqliteJournal::open(&path).unwrap();
    for id in 0..50 {
        let records = runs.records(&id.to_string()).await.unwrap();
        assert_eq!(records.iter().map(|record| record.place).collect::<Vec<_>>(), [0, 1, 2, 3]);
    }
}

#[tokio::test]
async fn a_record_whose_step_is_dropped_while_it_is_written_is_not_repeated() {
    let (_folder, path) = folder();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    {
        let mut step = Box::pin(run.step(tool("main", 0, "a", json!(1)), returns(json!("written"))));
        assert!(futures_util::poll!(&mut step).is_pending(), "it is queued");
    }
    run.step(tool("main", 1, "b", json!(1)), returns(json!(2))).await.unwrap();
    assert_eq!(run.step(tool("main", 0, "a", json!(1)), never()).await.unwrap(), "written");
}

#[tokio::test]
async fn an_interrupted_effect_runs_again() {
    let (_folder, path) = folder();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    let step = tool("main", 0, "ask", json!(1));
    let outcome = run.step(step.clone(), interrupted()).await.unwrap();
    assert!(matches!(outcome, JournalOutcome::Unrecorded(_)), "{outcome:?}");
    assert_eq!(run.step(step, returns(json!("answer"))).await.unwrap(), "answer");
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_wait_goes_on_instead_of_starting_again() {
    let ((_folder, path), clock) = (folder(), Hands::default());
    let sleep = StepSpec::new("main", 0, StepKind::Sleep, "sleep", json!(3_600_000));
    let run = open(&path, &clock).run("1").await.unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(1), run.sleep(sleep.clone(), Duration::from_secs(3600)));
    waited.await.unwrap_err();
    drop(run);

    clock.forward(3000);
    let run = open(&path, &clock).run("1").await.unwrap();
    let begin = tokio::time::Instant::now();
    run.sleep(sleep.clone(), Duration::from_secs(3600)).await.unwrap();
    assert_eq!(begin.elapsed().as_secs(), 600);
    drop(run);

    let run = open(&path, &clock).run("1").await.unwrap();
    let begin = tokio::time::Instant::now();
    run.sleep(sleep, Duration::from_secs(3600)).await.unwrap();
    assert!(begin.elapsed().is_zero() && !run.is_replaying(), "a finished wait returns immediately");
}

#[tokio::test(start_paused = true)]
async fn a_wait_whose_end_is_beyond_the_calendar_waits() {
    let (_folder, path) = folder();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    let sleep = StepSpec::new("main", 0, StepKind::Sleep, "sleep", json!(null));
    let waited = tokio::time::timeout(Duration::from_secs(1 << 30), run.sleep(sleep, Duration::MAX));
    waited.await.unwrap_err();
}

#[tokio::test]
async fn a_file_of_another_kind_is_refused() {
    let (folder, path) = folder();
    std::fs::write(&path, "x".repeat(4096)).unwrap();
    for path in [&path, &folder.path().to_owned()] {
        let error = SqliteJournal::open(path).unwrap_err();
        assert!(matches!(&error, JournalError::Refused { path: refused, .. } if refused == path), "{error}");
    }
    let missing = SqliteJournal::open(folder.path().join("missing").join("runs.db")).unwrap_err();
    assert!(matches!(missing, JournalError::Io { .. }), "{missing}");
}

#[tokio::test]
async fn each_run_can_be_deleted() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    for id in ["1", "2"] {
        record(&runs.run(id).await.unwrap(), &["a"]).await;
    }
    assert!(runs.delete("1").await.unwrap() && !runs.delete("1").await.unwrap());
    let left: BTreeSet<_> = [runs.records("1").await.unwrap().len(), runs.records("2").await.unwrap().len()].into();
    assert_eq!(left, BTreeSet::from([0, 1]));
}

#[tokio::test]
async fn a_replay_does_not_read_the_record_of_a_run_that_replaced_its_own() {
    let (_folder, path) = folder();
    let (runs, other) = (SqliteJournal::open(&path).unwrap(), SqliteJournal::open(&path).unwrap());
    record(&runs.run("1").await.unwrap(), &["a"]).await;
    let run = runs.run("1").await.unwrap();
    assert!(other.delete("1").await.unwrap());
    // The number of its record is used again.
    let secret = tool("main", 0, "secret", json!(1));
    other.run("2").await.unwrap().step(secret, returns(json!("secret"))).await.unwrap();
    assert_eq!(Journal::recorded(&run, &tool("main", 0, "a", json!("a")).key).await, None);
    let replayed = run.step(tool("main", 0, "a", json!("a")), never()).await;
    assert!(matches!(replayed, Err(JournalError::TakenOver { .. })), "{replayed:?}");
}

#[tokio::test]
async fn a_deleted_run_no_longer_waits_for_an_answer() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    let run = runs.run("1").await.unwrap();
    let question = PromiseSpec::new("main/ask", StepKind::Input, json!({ "prompt": "Who?" }));
    let promise = run.promise(question).await.unwrap().unwrap();
    assert!(runs.delete("1").await.unwrap());
    let answer = promise.answer.await;
    assert!(matches!(answer, Err(JournalError::TakenOver { .. })), "{answer:?}");
}
