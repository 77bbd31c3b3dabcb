//! One process has a run at a time.

use std::time::Duration;

use llm_do::journal::{Journal, JournalError, JournalOutcome, LocalOutcome, SqliteJournal, SqliteRun};
use llm_do::json;

use super::super::journal::{never, returns, tool};
use super::{Hands, folder, open, record};

const MINUTE: Duration = Duration::from_secs(60);

/// Two processes with the same file and the same time.
fn processes() -> (tempfile::TempDir, Hands, [SqliteJournal; 2]) {
    let ((folder, path), clock) = (folder(), Hands::default());
    let processes = [open(&path, &clock), open(&path, &clock)];
    (folder, clock, processes)
}

/// Tries to record a step.
async fn write(run: &SqliteRun, name: &str) -> Result<JournalOutcome, JournalError> {
    // In a parent of its own, so that nothing else is expected there.
    run.step(tool(name, 0, "write", json!(name)), returns(json!("done"))).await
}

fn is_taken_over<T: std::fmt::Debug>(result: Result<T, JournalError>) -> bool {
    matches!(&result.unwrap_err(), JournalError::TakenOver { run } if run == "1")
}

#[tokio::test]
async fn a_claimed_run_is_refused_to_another_process_until_the_claim_lapses() {
    let (_folder, clock, [first, second]) = processes();
    let _run = first.claim("1", "a", MINUTE).await.unwrap();
    clock.forward(59);
    for refused in [second.claim("1", "b", MINUTE).await, second.run("1").await] {
        let error = refused.unwrap_err();
        assert!(matches!(error, JournalError::Claimed { .. }), "{error}");
        assert!(error.to_string().contains("the run `1` is in use by another process until 1970-01-01T00:01:00Z"));
    }
    second.claim("2", "b", MINUTE).await.unwrap();
    clock.forward(1);
    second.claim("1", "b", MINUTE).await.unwrap();
}

#[tokio::test]
async fn a_process_that_stalled_records_nothing_after_another_took_over() {
    let (_folder, clock, [first, second]) = processes();
    let stalled = first.claim("1", "a", MINUTE).await.unwrap();
    record(&stalled, &["a"]).await;
    let late = stalled.step(
        tool("main", 1, "late", json!(1)),
        Box::pin({
            let (clock, second) = (clock.clone(), second.clone());
            async move {
                clock.forward(61);
                let run = second.claim("1", "b", MINUTE).await.unwrap();
                assert_eq!(run.recorded(), 1);
                write(&run, "of the second").await.unwrap();
                LocalOutcome::Record(json!("late"))
            }
        }),
    );
    assert!(is_taken_over(late.await));
    let names: Vec<_> = first.records("1").await.unwrap().iter().map(|record| record.name.to_string()).collect();
    assert_eq!(names, ["a", "write"]);
    let refused = stalled.step(tool("main", 2, "b", json!(1)), never()).await;
    assert!(is_taken_over(refused), "it is refused before it runs");
    assert!(is_taken_over(stalled.renew(MINUTE).await) && is_taken_over(stalled.forget(vec!["x".into()]).await));
}

#[tokio::test]
async fn a_lapsed_claim_that_another_took_is_noticed_before_an_effect_runs() {
    let (_folder, clock, [first, second]) = processes();
    let stalled = first.claim("1", "a", MINUTE).await.unwrap();
    clock.forward(61);
    let _run = second.claim("1", "b", MINUTE).await.unwrap();
    assert!(is_taken_over(stalled.step(tool("main", 0, "a", json!(1)), never()).await));
}

#[tokio::test]
async fn a_lapsed_claim_that_no_one_took_is_renewed_by_the_next_effect() {
    let (_folder, clock, [first, second]) = processes();
    let run = first.claim("1", "a", MINUTE).await.unwrap();
    clock.forward(61);
    write(&run, "a").await.unwrap();
    assert!(matches!(second.claim("1", "b", MINUTE).await, Err(JournalError::Claimed { .. })));
}

#[tokio::test]
async fn a_claim_is_renewed_alone_or_with_all_of_its_owner() {
    let (_folder, clock, [first, second]) = processes();
    let runs = [first.claim("1", "a", MINUTE).await.unwrap(), first.claim("2", "a", MINUTE).await.unwrap()];
    let _other = second.claim("3", "b", MINUTE).await.unwrap();
    clock.forward(50);
    runs[0].renew(MINUTE).await.unwrap();
    clock.forward(50);
    assert!(second.claim("1", "b", MINUTE).await.is_err(), "until 1:50");
    assert_eq!(first.renew("a", MINUTE).await.unwrap(), 2);
    clock.forward(50);
    for id in ["1", "2"] {
        assert!(matches!(second.claim(id, "b", MINUTE).await, Err(JournalError::Claimed { .. })), "{id}");
    }
    first.claim("3", "a", MINUTE).await.unwrap();
}

#[tokio::test]
async fn a_released_run_is_free_immediately_and_closed_to_the_process_that_had_it() {
    let (_folder, _, [first, second]) = processes();
    let run = first.claim("1", "a", MINUTE).await.unwrap();
    run.release().await.unwrap();
    assert!(is_taken_over(write(&run, "a").await));
    second.claim("1", "b", MINUTE).await.unwrap();
}

#[tokio::test]
async fn the_last_that_opens_a_run_has_it() {
    let (_folder, _, [first, second]) = processes();
    let runs = [first.run("1").await.unwrap(), second.run("1").await.unwrap()];
    assert!(is_taken_over(write(&runs[0], "a").await));
    write(&runs[1], "a").await.unwrap();
    let again = first.claim("1", "a", MINUTE).await.unwrap();
    let last = first.claim("1", "a", MINUTE).await.unwrap();
    assert!(is_taken_over(write(&again, "b").await), "the owner claimed it again");
    write(&last, "b").await.unwrap();
}

#[tokio::test]
async fn a_deleted_run_is_closed_even_if_another_of_its_name_begins() {
    let (_folder, _, [first, second]) = processes();
    let old = first.run("1").await.unwrap();
    record(&old, &["a"]).await;
    assert!(second.delete("1").await.unwrap());
    let new = second.run("1").await.unwrap();
    assert!(is_taken_over(write(&old, "b").await));
    assert_eq!(new.recorded(), 0);
    write(&new, "b").await.unwrap();
}
