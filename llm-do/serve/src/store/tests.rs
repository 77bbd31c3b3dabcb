use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::base::usage::{Cost, RunUsage};
use llm_do_core::observe::database::Database;
use llm_do_core::observe::journal::{Fence, Journal, PromiseSpec, SqliteJournal, StepKind};
use llm_do_providers::{Money, Usage};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::events::EVENT_BATCH_BYTES;
use super::page::MAX_BYTES;
use super::{AnswerOutcome, NewRun, Outcome, Source, Store, WaitKind};

/// The tables of a process that has the file of a folder open.
fn process(folder: &TempDir) -> (SqliteJournal, Store) {
    let database = Database::open(&folder.path().join("runs.db")).unwrap();
    (SqliteJournal::on(database.clone()).unwrap(), Store::new(database).unwrap())
}

/// Adds a run that this process drives.
async fn running(journal: &SqliteJournal, store: &Store) -> (String, Fence) {
    let tenant = (&"t".into(), &"c".into());
    let new = NewRun::automatic(Source::Client, tenant, "work", json!({}), "key".into(), Timestamp::now());
    let id = new.id.clone();
    store.insert_run(new).await.unwrap();
    let claims = journal.claim_all(vec![id.clone()], "a", Duration::from_secs(60)).await.unwrap();
    (id, claims[0].1)
}

#[tokio::test]
async fn long_events_are_read_a_few_at_a_time_until_all_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, store) = process(&folder);
    let (id, fence) = running(&journal, &store).await;
    let sizes = [100_000, 100_000, 100_000, 1_000_000, 1];
    store.add_events(&id, fence, sizes.map(|size| "x".repeat(size)).into(), None).await.unwrap();
    let (mut read, mut last) = (Vec::new(), 0);
    loop {
        let batch = store.events(&id, last).await.unwrap();
        let Some(end) = batch.last() else { break };
        last = end.number;
        let batch: Vec<_> = batch.iter().map(|event| event.event.len()).collect();
        assert!(batch.len() == 1 || batch.iter().sum::<usize>() as u64 <= EVENT_BATCH_BYTES, "{batch:?}");
        read.extend(batch);
    }
    assert_eq!(read, sizes);
}

/// Asks several questions, and answers all but the last.
async fn ask(questions: &[Value], (journal, store): (&SqliteJournal, &Store)) -> String {
    let (id, fence) = running(journal, store).await;
    let run = journal.open_run(&id, fence, None).await.unwrap().unwrap();
    for (number, question) in questions.iter().enumerate() {
        let asked = PromiseSpec::new(format!("key {number}"), StepKind::Input, question.clone());
        let promise = run.promise(asked).await.unwrap().unwrap();
        if number + 1 < questions.len() {
            let digest = store.wait(&promise.id).await.unwrap().unwrap().digest;
            let (asked, by) = ((WaitKind::Question, digest), ("ann".into(), Timestamp::now()));
            let answered = store.answer(&promise.id, None, asked, json!("yes"), by).await.unwrap();
            assert!(matches!(answered, AnswerOutcome::Done), "{answered:?}");
        }
    }
    id
}

#[tokio::test]
async fn what_still_waits_is_shown_although_the_run_has_asked_more_than_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, store) = process(&folder);
    let id = ask(&[json!(1), json!(2), json!(3), json!(4)], (&journal, &store)).await;
    let shown = store.waits_of(&id, 2).await.unwrap();
    let open: Vec<_> = shown.iter().filter(|wait| wait.answer.is_none()).map(|wait| &wait.request).collect();
    assert_eq!((shown.len(), open), (2, vec![&json!(4)]));
    assert!(shown.is_sorted_by_key(|wait| (wait.created, wait.id.clone())), "{shown:?}");
}

#[tokio::test]
async fn what_a_run_asked_is_shown_up_to_the_bytes_of_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, store) = process(&folder);
    let long = json!("x".repeat(1_500_000));
    let id = ask(&[long.clone(), long.clone(), long.clone(), long], (&journal, &store)).await;
    let shown = store.waits_of(&id, 500).await.unwrap();
    let bytes: usize = shown.iter().map(|wait| wait.request.to_string().len()).sum();
    assert_eq!(shown.len(), 2);
    assert!(bytes as u64 <= MAX_BYTES && shown.iter().any(|wait| wait.answer.is_none()));
}

#[tokio::test]
async fn of_two_processes_with_different_rules_neither_lets_the_times_of_the_other_pass() {
    let folder = tempfile::tempdir().unwrap();
    let ((_, first), (_, second)) = (process(&folder), process(&folder));
    let time = |minute: u64| Timestamp::UNIX_EPOCH + Duration::from_secs(60 * minute);
    let last = async |process: &Store, rule: &str, minute| {
        process.last_start("daily", rule.into(), time(minute)).await.unwrap()
    };
    for minute in 0..3 {
        assert_eq!(last(&first, "at 9", 2 * minute).await, time(0));
        assert_eq!(last(&second, "at 8", 2 * minute + 1).await, time(1));
    }
    assert_eq!(last(&process(&folder).1, "at 8", 6).await, time(1), "the rule of the process that began last");
    assert_eq!(last(&process(&folder).1, "at 9", 7).await, time(7), "the rule was another one meanwhile");
}

#[tokio::test]
async fn an_attempt_that_ends_while_it_replays_does_not_lower_what_its_run_used() {
    let folder = tempfile::tempdir().unwrap();
    let (journal, store) = process(&folder);
    let (id, fence) = running(&journal, &store).await;
    let used = |cents, tokens| {
        let (model, cost) = (Usage::of_request(tokens, tokens), Cost::of_request(Some(Money::from_cents(cents))));
        let mut used = RunUsage::default();
        (used.model, used.cost) = (model, cost);
        used
    };
    let now = Timestamp::now();
    store.begin(&id, fence, now).await.unwrap().unwrap();
    store.requeue(&id, fence, Some(used(5, 2))).await.unwrap();
    store.begin(&id, fence, now).await.unwrap().unwrap();
    store.add_events(&id, fence, Vec::new(), Some(used(1, 1))).await.unwrap();
    assert_eq!(store.run(&id).await.unwrap().unwrap().usage, used(5, 2));
    assert!(store.finish(&id, fence, Outcome::Cancelled, used(1, 1), None, now).await.unwrap());
    let run = store.run(&id).await.unwrap().unwrap();
    assert_eq!((run.usage, run.counted), (used(5, 2), used(1, 1)), "the figures have what was reported");
}
