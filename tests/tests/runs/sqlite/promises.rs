//! Approvals and questions that the file could not store.

use std::path::Path;

use llm_do::journal::{
    Journal, JournalError, JournalOutcome, LocalOutcome, PromiseSpec, SqliteJournal, SqliteRun, StepFuture, StepKind,
    StepSpec,
};
use llm_do::json;

use super::super::journal::{returns, tool};
use super::folder;

fn question() -> PromiseSpec {
    PromiseSpec::new("main/ask", StepKind::Input, json!({ "prompt": "Who?" }))
}

/// Asks a question while the file stores none; returns the error.
async fn ask_in_vain(run: &SqliteRun, path: &Path) -> JournalError {
    let file = rusqlite::Connection::open(path).unwrap();
    let sql =
        "CREATE TRIGGER full BEFORE INSERT ON journal_promises BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    file.execute_batch(sql).unwrap();
    let error = run.promise(question()).await.unwrap_err();
    file.execute_batch("DROP TRIGGER full").unwrap();
    error
}

/// An effect during which a question fails.
fn asks_in_vain(run: &SqliteRun, path: &Path) -> StepFuture {
    let (run, path) = (run.clone(), path.to_owned());
    Box::pin(async move {
        ask_in_vain(&run, &path).await;
        LocalOutcome::Record(json!("done"))
    })
}

fn call() -> StepSpec {
    StepSpec::new("main", 0, StepKind::Call, "a", json!(1))
}

fn is_refused(result: Result<JournalOutcome, JournalError>) -> bool {
    let error = result.unwrap_err();
    let text = llm_do::error::chain(&error);
    matches!(error, JournalError::Io { .. })
        && text.contains("could not be stored")
        && text.contains("the disk is full")
}

#[tokio::test]
async fn after_a_question_that_failed_nothing_is_recorded_until_the_run_is_resumed() {
    let (_folder, path) = folder();
    let runs = SqliteJournal::open(&path).unwrap();
    let run = runs.run("1").await.unwrap();
    assert!(matches!(ask_in_vain(&run, &path).await, JournalError::Io { .. }));
    assert!(is_refused(run.step(call(), returns(json!(1))).await));
    assert!(run.promise(question()).await.is_err(), "the person would answer a run that ends");

    let run = runs.run("1").await.unwrap();
    run.step(call(), returns(json!(1))).await.unwrap();
    assert!(run.promise(question()).await.unwrap().is_some());
}

#[tokio::test]
async fn a_call_inside_of_which_a_question_failed_is_not_recorded() {
    let (_folder, path) = folder();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    assert!(is_refused(run.call(call(), asks_in_vain(&run, &path)).await));
    assert!(!run.is_recorded(&call().key));
}

#[tokio::test]
async fn a_tool_that_was_in_flight_when_a_question_failed_is_recorded() {
    let (_folder, path) = folder();
    let run = SqliteJournal::open(&path).unwrap().run("1").await.unwrap();
    let step = tool("main", 0, "a", json!(1));
    assert_eq!(run.step(step.clone(), asks_in_vain(&run, &path)).await.unwrap(), "done");
    assert!(run.is_recorded(&step.key));
}
