use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::observe::database::Database;
use llm_do_core::observe::journal::SqliteJournal;
use serde_json::json;
use tempfile::TempDir;

use super::{LAPSED, OWN, RUNNABLE};
use crate::store::{NewRun, Source, Store};

/// Returns the tables of a service, in a folder of their own.
fn file() -> (TempDir, SqliteJournal, Store) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(&folder.path().join("runs.db")).unwrap();
    let (journal, store) = (SqliteJournal::on(database.clone()).unwrap(), Store::new(database).unwrap());
    (folder, journal, store)
}

/// Adds runs that `owner` drives, whose claims lapse immediately.
async fn add_running(count: usize, owner: &str, (journal, store): (&SqliteJournal, &Store)) {
    for run in 0..count {
        let (tenant, key) = ((&"t".into(), &"c".into()), run.to_string());
        let new = NewRun::automatic(Source::Client, tenant, "work", json!({}), key, Timestamp::now());
        let id = new.id.clone();
        store.insert_run(new).await.unwrap();
        let claims = journal.claim_all(vec![id.clone()], owner, Duration::ZERO).await.unwrap();
        store.begin(&id, claims[0].1, Timestamp::now()).await.unwrap().unwrap();
    }
}

#[test]
fn a_look_into_the_queue_reads_indexes_and_not_all_runs_of_the_file() {
    let (folder, _journal, _store) = file();
    let file = rusqlite::Connection::open(folder.path().join("runs.db")).unwrap();
    for sql in [LAPSED, OWN, RUNNABLE] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = plan.raw_query().mapped(|row| row.get::<_, String>("detail"));
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        let scans_runs = |step: &String| step.starts_with("SCAN") && step.contains("runs");
        assert!(!steps.iter().any(scans_runs), "{sql}: {steps:?}");
    }
}

#[tokio::test]
async fn processes_that_look_at_one_time_take_over_different_runs() {
    let (_folder, journal, store) = file();
    add_running(6, "dead", (&journal, &store)).await;
    let now = Timestamp::now() + Duration::from_secs(1);
    let time = Duration::from_secs(30);
    let (first, second) = tokio::join!(store.take_over("a", now, time, 3), store.take_over("b", now, time, 3));
    let taken = [first.unwrap(), second.unwrap()].concat();
    let ids: std::collections::BTreeSet<_> = taken.iter().map(|(id, _)| id).collect();
    assert_eq!((taken.len(), ids.len()), (6, 6));
}

#[tokio::test]
async fn a_process_takes_over_no_run_of_its_own() {
    let (_folder, journal, store) = file();
    add_running(1, "a", (&journal, &store)).await;
    let now = Timestamp::now() + Duration::from_secs(1);
    assert_eq!(store.take_over("a", now, Duration::ZERO, 3).await.unwrap(), []);
    assert_eq!(store.claimed("a").await.unwrap().len(), 1);
}
