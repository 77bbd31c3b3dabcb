//! What is kept of runs that have ended.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use llm_do::event::Timestamp;
use llm_do::journal::{Expired, Journal, JournalError, Retention, SqliteJournal, SqliteRun, StepKind, StepSpec};
use llm_do::{Value, json};

use super::super::journal::{never, returns, tool};
use super::{Hands, folder, open};

const DAY: u64 = 24 * 60 * 60;

/// Opens the file at the present time, since records have the time of the system.
fn now(path: &PathBuf) -> (SqliteJournal, Hands) {
    let clock = Hands::default();
    *clock.0.lock().unwrap() = Timestamp::now();
    (open(path, &clock), clock)
}

fn main() -> StepSpec {
    StepSpec::new("", 0, StepKind::Run, "main", json!({}))
}

fn result() -> StepSpec {
    main().within(StepKind::Result, "result")
}

/// Records a run of a few large steps; its result too if it ends.
async fn record(run: &SqliteRun, ends: bool) {
    run.step(main(), returns(json!("id"))).await.unwrap();
    for place in 0..5 {
        run.step(tool(&main().key, place, "a", json!(place)), returns(json!("x".repeat(50_000)))).await.unwrap();
    }
    if ends {
        run.step(result(), returns(json!("result"))).await.unwrap();
    }
}

async fn names(runs: &SqliteJournal, id: &str) -> Vec<StepKind> {
    runs.records(id).await.unwrap().iter().map(|record| record.kind).collect()
}

async fn expire(runs: &SqliteJournal, retention: Retention) -> (usize, usize) {
    let Expired { reduced, deleted, .. } = runs.expire(retention).await.unwrap();
    (reduced, deleted)
}

#[tokio::test]
async fn a_run_that_ended_long_ago_keeps_its_result_only_and_the_file_shrinks() {
    let (_folder, path) = folder();
    let (runs, clock) = now(&path);
    for (id, ends) in [("ended", true), ("waits", false)] {
        record(&runs.run(id).await.unwrap(), ends).await;
    }
    assert_eq!(expire(&runs, Retention::new(Duration::from_secs(DAY))).await, (0, 0));
    clock.forward(2 * DAY);
    assert_eq!(expire(&runs, Retention::new(Duration::from_secs(DAY))).await, (1, 0));
    assert_eq!(names(&runs, "ended").await, [StepKind::Run, StepKind::Result]);
    assert_eq!(names(&runs, "waits").await.len(), 6);
    let size = fs::metadata(&path).unwrap().len();
    assert!((250_000..400_000).contains(&size), "the file has {size} bytes");

    let run = runs.run("ended").await.unwrap();
    run.step(main(), never()).await.unwrap();
    assert_eq!(run.step(result(), never()).await.unwrap(), "result");
    let error = run.step(tool(&main().key, 0, "a", json!(0)), never()).await.unwrap_err();
    assert!(matches!(error, JournalError::InvalidValue { .. }), "{error}");
    assert!(error.to_string().contains("the run `ended` ended, and only its result is kept"), "{error}");
    assert_eq!(Journal::recorded(&run, &result().key).await, None, "a failure could not be retried");
}

#[tokio::test]
async fn a_result_is_deleted_after_its_own_time() {
    let (_folder, path) = folder();
    let (runs, clock) = now(&path);
    for id in 0..250 {
        let run = runs.run(&id.to_string()).await.unwrap();
        run.step(result(), returns(Value::Null)).await.unwrap();
    }
    let retention = Retention::new(Duration::from_secs(DAY)).results(Duration::from_secs(3 * DAY));
    clock.forward(2 * DAY);
    assert_eq!(expire(&runs, retention).await, (250, 0));
    clock.forward(2 * DAY);
    assert_eq!(expire(&runs, retention).await, (0, 250));
    assert!(names(&runs, "7").await.is_empty());
}

#[tokio::test]
async fn a_run_that_is_claimed_or_that_was_resumed_has_not_ended() {
    let (_folder, path) = folder();
    let (runs, clock) = now(&path);
    let claimed = runs.claim("claimed", "a", Duration::from_secs(9 * DAY)).await.unwrap();
    record(&claimed, true).await;
    let resumed = runs.run("resumed").await.unwrap();
    record(&resumed, true).await;
    resumed.forget(vec![Arc::clone(&result().key)]).await.unwrap();
    clock.forward(2 * DAY);
    assert_eq!(expire(&runs, Retention::new(Duration::from_secs(DAY))).await, (0, 0));
}

/// Records a run that fails, is resumed and succeeds, and that is then reduced; returns it.
async fn reduced_after_a_failure(path: &PathBuf) -> SqliteRun {
    let (runs, clock) = now(path);
    let run = runs.run("1").await.unwrap();
    run.step(main(), returns(json!("id"))).await.unwrap();
    run.step(result(), returns(json!("failure"))).await.unwrap();
    run.forget(vec![result().key]).await.unwrap();
    run.step(result(), returns(json!("success"))).await.unwrap();
    clock.forward(2 * DAY);
    assert_eq!(expire(&runs, Retention::new(Duration::from_secs(DAY))).await, (1, 0));
    runs.run("1").await.unwrap()
}

#[tokio::test]
async fn a_reduced_run_keeps_its_last_result_and_not_the_failure_before() {
    let (_folder, path) = folder();
    let run = reduced_after_a_failure(&path).await;
    assert_eq!(run.step(result(), never()).await.unwrap(), "success");
    let records = rusqlite::Connection::open(&path).unwrap();
    let count: u32 = records.query_row("SELECT count(*) FROM journal_records", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2);
}

#[tokio::test]
async fn a_forgotten_failure_that_an_earlier_version_kept_is_not_the_result() {
    let (_folder, path) = folder();
    drop(reduced_after_a_failure(&path).await);
    let forgotten = "INSERT INTO journal_records SELECT 2, previous, key, 1, kind, name, parent, place, overlapped, begun, \
                     callers, digest, time, 'null', 'null' FROM journal_records WHERE kind = 'result'; \
                     UPDATE journal_records SET previous = 2 WHERE kind = 'result' AND forgotten = 0";
    rusqlite::Connection::open(&path).unwrap().execute_batch(forgotten).unwrap();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    assert_eq!(run.step(result(), never()).await.unwrap(), "success");
}
