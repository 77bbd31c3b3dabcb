//! Whether a run only waits, so that it may be dropped.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::super::{
    Journal, JournalError, JournalOutcome, LocalOutcome, PromiseSpec, StepFuture, StepKind, StepSpec, Unrecorded,
};
use super::{JournalFile, SqliteJournal, SqliteRun};

const QUIET: Duration = Duration::from_millis(30);

type Made = JoinHandle<Result<JournalOutcome, JournalError>>;

async fn run() -> (tempfile::TempDir, SqliteRun) {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path().join("runs.db")).unwrap().with_clock(Timestamp::UNIX_EPOCH);
    (folder, journal.run("r").await.unwrap())
}

fn step(parent: &str, kind: StepKind, name: &str) -> StepSpec {
    StepSpec::new(parent, 0, kind, name, json!(name))
}

fn pending() -> StepFuture {
    Box::pin(std::future::pending())
}

/// Asks a person, in another task.
fn ask(run: &SqliteRun, parent: &str) -> Made {
    let (run, question) = (run.clone(), step(parent, StepKind::Input, "ask"));
    let (asking, asked) = (run.clone(), PromiseSpec::new(Arc::clone(&question.key), StepKind::Input, json!("Who?")));
    let local = async move {
        let promise = asking.promise(asked).await.unwrap().unwrap();
        let answer = promise.answer.await;
        answer.map_or_else(|_| LocalOutcome::Skip(Unrecorded::interrupted()), LocalOutcome::Record)
    };
    tokio::spawn(async move { run.decision(question, Box::pin(local)).await })
}

async fn stop(made: Made) {
    made.abort();
    assert!(made.await.is_err());
}

async fn only_waits(run: &SqliteRun) -> bool {
    timeout(QUIET * 4, run.only_waits(QUIET)).await.is_ok()
}

#[tokio::test]
async fn a_run_that_asks_a_person_only_waits_unless_it_also_works() {
    let (_folder, run) = run().await;
    assert!(!only_waits(&run).await, "nothing is in flight, so code runs");
    let asked = ask(&run, "main");
    assert!(only_waits(&run).await);
    let working = run.clone();
    let work = tokio::spawn(async move { working.step(step("main", StepKind::Model, "model"), pending()).await });
    tokio::task::yield_now().await;
    assert!(!only_waits(&run).await);
    stop(work).await;
    assert!(only_waits(&run).await);
    stop(asked).await;
    assert!(!only_waits(&run).await);
}

#[tokio::test]
async fn a_run_that_does_not_yet_or_no_longer_wait_for_what_it_asks_does_not_only_wait() {
    let (_folder, run) = run().await;
    let (deciding, question) = (run.clone(), step("main", StepKind::Input, "ask"));
    let deciding = tokio::spawn(async move { deciding.decision(question, pending()).await });
    tokio::task::yield_now().await;
    assert!(!only_waits(&run).await, "what it asks is not stored");
    let asked = PromiseSpec::new(step("main", StepKind::Input, "ask").key, StepKind::Input, json!("Who?"));
    let promise = run.promise(asked).await.unwrap().unwrap();
    assert!(only_waits(&run).await);
    let runs = run.0.journal.clone();
    runs.resolve(&runs.promises().await.unwrap()[0], json!("Ann")).await.unwrap();
    assert_eq!(promise.answer.await.unwrap(), "Ann");
    assert!(!only_waits(&run).await, "the answer is not recorded");
    stop(deciding).await;
}

#[tokio::test]
async fn a_call_without_a_step_in_flight_runs_code_of_its_own() {
    let (_folder, run) = run().await;
    let _asked = ask(&run, "main");
    let (calling, call) = (run.clone(), step("main", StepKind::Call, "deploy"));
    let inside = call.key.clone();
    let _call = tokio::spawn(async move { calling.call(call, pending()).await });
    tokio::task::yield_now().await;
    assert!(!only_waits(&run).await);
    let _inner = ask(&run, &inside);
    assert!(only_waits(&run).await);
}

#[tokio::test]
async fn the_step_of_the_result_contains_the_run() {
    let (_folder, run) = run().await;
    let main = step("", StepKind::Run, "main");
    let (recording, result) = (run.clone(), main.within(StepKind::Result, "result"));
    let _result = tokio::spawn(async move { recording.step(result, pending()).await });
    tokio::task::yield_now().await;
    assert!(!only_waits(&run).await);
    let _asked = ask(&run, &main.key);
    assert!(only_waits(&run).await);
}

#[tokio::test]
async fn the_time_of_the_first_timer_is_known_to_those_who_drop_the_run() {
    let (_folder, run) = run().await;
    let sleep = |name, seconds| {
        let step = step("main", StepKind::Sleep, name);
        step.overlap();
        run.sleep(step, Duration::from_secs(seconds))
    };
    let wake = tokio::select! {
        _ = sleep("far", 60) => panic!("a sleep ended"),
        _ = sleep("near", 20) => panic!("a sleep ended"),
        wake = run.only_waits(QUIET) => wake,
    };
    assert_eq!(wake, Some(Timestamp::from_second(20).unwrap()));
}

#[tokio::test]
async fn a_run_that_is_about_to_make_a_step_does_not_only_wait() {
    let (_folder, run) = run().await;
    let _asked = ask(&run, "main");
    let working = run.clone();
    let work = async move {
        for place in 0..20 {
            tokio::time::sleep(QUIET / 3).await;
            let step = StepSpec::new("main", place, StepKind::Tool, "work", json!(place));
            step.overlap();
            working.step(step, Box::pin(async { LocalOutcome::Record(Value::Null) })).await.unwrap();
        }
    };
    tokio::select! {
        biased;
        () = work => {}
        _ = run.only_waits(QUIET) => panic!("the run is between two steps"),
    }
}

/// Limits the size of the file, or returns its present size, in pages.
async fn set_max_pages(run: &SqliteRun, pages: u32) -> u32 {
    let limit = move |transaction: &rusqlite::Transaction<'_>| {
        transaction.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0))
    };
    run.0.journal.database.write(limit).await.unwrap()
}

#[tokio::test]
async fn on_a_full_disk_steps_fail_and_are_made_again_once_there_is_space() {
    let (_folder, run) = run().await;
    let small = step("main", StepKind::Tool, "small");
    run.step(small.clone(), Box::pin(async { LocalOutcome::Record(json!(1)) })).await.unwrap();
    let used = set_max_pages(&run, 1).await;
    let large = StepSpec::new("main", 1, StepKind::Tool, "large", json!(2));
    let make = || run.step(large.clone(), Box::pin(async { LocalOutcome::Record(json!("x".repeat(100_000))) }));
    let error = make().await.unwrap_err();
    let is_full = |source: &std::io::Error| source.kind() == std::io::ErrorKind::StorageFull;
    assert!(matches!(&error, JournalError::Io { source, .. } if is_full(source)), "{error:?}");
    assert!(!run.is_recorded(&large.key));

    set_max_pages(&run, used + 100).await;
    make().await.unwrap();
    let again = run.0.journal.run("r").await.unwrap();
    for recorded in [small, large] {
        again.step(recorded, pending()).await.unwrap();
    }
}

#[tokio::test]
async fn a_recorded_value_is_read_off_the_async_threads() {
    let (_folder, run) = run().await;
    let small = step("main", StepKind::Tool, "small");
    run.step(small.clone(), Box::pin(async { LocalOutcome::Record(json!(1)) })).await.unwrap();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    for _ in 0..2 {
        let (database, released) = (run.0.journal.database.clone(), Arc::clone(&released));
        let busy = move |_: &rusqlite::Connection| {
            // Ends once the sender is dropped.
            let _ = released.lock().unwrap().recv();
            Ok(())
        };
        tokio::spawn(async move { database.read(busy).await });
    }
    tokio::task::yield_now().await;
    let (reading, key) = (run.clone(), Arc::clone(&small.key));
    let (sender, waits) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(Journal::recorded(&reading, &key).now_or_never().is_none()));
    assert_eq!(waits.recv_timeout(Duration::from_secs(10)), Ok(true), "the thread that asks does not wait");
    drop(release);
    assert_eq!(Journal::recorded(&run, &small.key).await, Some(json!(1)));
}

/// Records this number of steps.
async fn record(run: &SqliteRun, steps: usize) {
    for number in 0..steps {
        let place = u32::try_from(number).unwrap();
        let step = StepSpec::new("main", place, StepKind::Tool, "add", json!(number));
        run.step(step, Box::pin(async move { LocalOutcome::Record(json!(number)) })).await.unwrap();
    }
}

#[tokio::test]
async fn a_long_run_is_read_part_by_part_in_the_order_of_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let journal = SqliteJournal::open(&path).unwrap();
    let (long, short) = (journal.run("long").await.unwrap(), journal.run("short").await.unwrap());
    record(&long, 1_000).await;
    record(&short, 1).await;
    record(&long, 1_001).await;
    let file = JournalFile::open(&path).unwrap();
    let read: Vec<_> = file.records("long").unwrap().unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(read.len(), 1_001, "a step is recorded once");
    assert_eq!(read, journal.records("long").await.unwrap());
    assert!(file.records("unknown").unwrap().is_none());
    let (ids, last) = file.runs(0).unwrap();
    assert_eq!((ids, file.runs(last).unwrap()), (vec!["long".to_owned(), "short".to_owned()], (vec![], last)));
}

#[tokio::test]
async fn a_run_that_is_deleted_while_it_is_read_is_an_error_and_no_other_run_is_read_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let journal = SqliteJournal::open(&path).unwrap();
    record(&journal.run("deleted").await.unwrap(), 1_500).await;
    let file = JournalFile::open(&path).unwrap();
    let mut records = file.records("deleted").unwrap().unwrap();
    assert!(records.next().unwrap().is_ok());
    journal.delete("deleted").await.unwrap();
    record(&journal.run("other").await.unwrap(), 1_500).await;
    let errors: Vec<_> = records.filter_map(Result::err).collect();
    let [JournalError::InvalidValue { message, .. }] = errors.as_slice() else { panic!("{errors:?}") };
    assert!(message.contains("deleted while they were read"), "{message}");
}
