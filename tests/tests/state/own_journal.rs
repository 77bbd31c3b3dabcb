//! Journals of single runs, and what a run waits for: approvals and questions with keys that last.

use std::sync::{Arc, Mutex};

use llm_do::approval::{ApprovalRequest, Approver, Decision};
use llm_do::async_trait;
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::journal::{MemoryJournal, OpenPromise, Record, SqliteJournal, StepKind};
use llm_do::json;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::Recorder;

/// The effects outside of the plane.
type Log = Arc<Mutex<Vec<String>>>;

/// Append a text.
#[tool(effect = destructive)]
async fn append(text: String, log: State<Log>) -> usize {
    log.lock().unwrap().push(text.clone());
    text.len()
}

/// Appends texts sequentially.
#[entry(toolsets = [append])]
async fn append_all(ctx: &CallContext<append_all>, texts: Vec<String>) -> Result<usize> {
    let mut sum = 0;
    for text in texts {
        sum += ctx.call(append { text }).await?;
    }
    Ok(sum)
}

/// Asks the user a question twice.
#[entry]
async fn ask_twice(ctx: &CallContext) -> Result<String> {
    let first = ctx.request_user_input("Who are you?").await?;
    Ok(first + &ctx.request_user_input("Who are you?").await?)
}

/// Starts `append_all` in a runtime of a library.
#[entry]
async fn bridge(ctx: &CallContext, library: State<Runtime>, journal: State<MemoryJournal>) -> Result<usize> {
    let call = append_all { texts: vec!["a".into()] };
    let unused = MemoryJournal::clone(&journal);
    Ok(library.start(call).under(ctx).journal(unused).await?)
}

fn two() -> append_all {
    append_all { texts: vec!["a".into(), "a".into()] }
}

fn builder(log: &Log) -> RuntimeBuilder {
    let other = Runtime::builder().only([] as [&str; 0]).build().unwrap();
    crate::own_builder().state(log.clone()).state(other).state(MemoryJournal::new())
}

/// A runtime that approves everything.
fn approving(log: &Log) -> Runtime {
    builder(log).approve_with(|_| async { Decision::approve() }).build().unwrap()
}

fn written(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock().unwrap())
}

#[tokio::test]
async fn the_journal_of_a_run_replaces_that_of_the_runtime() {
    let (log, shared, own) = (Log::default(), MemoryJournal::new(), MemoryJournal::new());
    let runtime = builder(&log).journal(shared.clone()).approve_with(|_| async { Decision::approve() });
    let runtime = runtime.build().unwrap();
    assert_eq!(runtime.start(two()).journal(own.clone()).await.unwrap(), 2);
    assert!(shared.records().is_empty());
    assert!(own.records().iter().any(|record| record.kind == StepKind::Tool));
    assert_eq!(runtime.run(two()).await.unwrap(), 2);
    assert_eq!(shared.records().len(), own.records().len(), "another run uses the journal of the runtime");
}

#[tokio::test]
async fn equal_runs_with_journals_of_their_own_have_equal_keys_and_share_nothing() {
    let (log, journals) = (Log::default(), [MemoryJournal::new(), MemoryJournal::new()]);
    let runtime = approving(&log);
    for journal in &journals {
        runtime.start(two()).journal(journal.clone()).await.unwrap();
    }
    assert_eq!(written(&log).len(), 4);
    let keys = |journal: &MemoryJournal| journal.records().into_iter().map(|record| record.key).collect::<Vec<_>>();
    assert_eq!(keys(&journals[0]), keys(&journals[1]));
}

#[tokio::test]
async fn a_run_is_resumed_from_its_own_journal_under_its_id() {
    let (log, journal) = (Log::default(), MemoryJournal::new());
    let first = approving(&log).start(two()).journal(journal.clone());
    let handle = first.handle();
    assert_eq!(handle.id(), None, "the journal may know another id");
    first.await.unwrap();
    written(&log);
    let unfinished = journal.records().into_iter().filter(|record| record.kind != StepKind::Result);
    let again = approving(&log).start(two()).journal(MemoryJournal::from_records(unfinished)).with_id("new");
    let resumed = again.handle();
    assert_eq!(again.await.unwrap(), 2);
    assert_eq!((written(&log), resumed.id()), (vec![], handle.id()));
}

#[tokio::test]
async fn the_id_that_a_run_is_given_is_that_of_its_events_and_its_journal() {
    let (log, journal, recorder) = (Log::default(), MemoryJournal::new(), Recorder::new());
    let start = approving(&log).start(two()).with_id("order-17");
    assert_eq!(start.id(), Some("order-17"));
    start.journal(journal.clone()).sink(recorder.clone()).await.unwrap();
    assert!(recorder.events().iter().all(|event| &*event.run == "order-17"));
    let run: Record = journal.records().remove(0);
    assert_eq!((run.kind, run.value), (StepKind::Run, "order-17".into()));
}

#[tokio::test]
async fn a_run_under_another_is_recorded_in_the_journal_of_that_run() {
    let (log, outer, unused) = (Log::default(), MemoryJournal::new(), MemoryJournal::new());
    let builder = crate::own_builder().state(log.clone()).state(approving(&log)).state(unused.clone());
    let runtime = builder.approve_with(|_| async { Decision::approve() }).build().unwrap();
    assert_eq!(runtime.start(bridge {}).journal(outer.clone()).await.unwrap(), 1);
    assert!(unused.records().is_empty());
    assert!(outer.records().iter().any(|record| record.kind == StepKind::Approval));
}

/// A person who decides later: keeps what is asked, and never answers from the `patience`th request on.
#[derive(Clone, Debug)]
struct Person {
    keys: Arc<Mutex<Vec<Option<Arc<str>>>>>,
    runs: Arc<Mutex<Vec<Arc<str>>>>,
    patience: usize,
}

impl Person {
    fn new(patience: usize) -> Self {
        Self { keys: Arc::default(), runs: Arc::default(), patience }
    }

    async fn ask(&self, key: Option<&Arc<str>>, run: &Arc<str>) {
        self.runs.lock().unwrap().push(Arc::clone(run));
        let asked = {
            let mut keys = self.keys.lock().unwrap();
            keys.push(key.cloned());
            keys.len()
        };
        if asked >= self.patience {
            std::future::pending::<()>().await;
        }
    }

    fn keys(&self) -> Vec<Option<Arc<str>>> {
        self.keys.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Person {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        self.ask(request.key.as_ref(), &request.run).await;
        Decision::approve()
    }
}

#[async_trait]
impl InputHandler for Person {
    async fn answer(&self, request: &InputRequest) -> std::result::Result<String, BoxError> {
        self.ask(request.key.as_ref(), &request.run).await;
        Ok("Ann".into())
    }
}

/// Runs a call until it waits for a person, and drops it there.
async fn drop_when_waiting(run: impl IntoFuture<Output: std::fmt::Debug>) {
    let waited = tokio::time::timeout(std::time::Duration::from_millis(50), run.into_future()).await;
    assert!(waited.is_err(), "the run ended: {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_has_one_key_in_each_process_and_equal_calls_have_different_ones() {
    let (log, journal, person) = (Log::default(), MemoryJournal::new(), Person::new(2));
    let runtime = builder(&log).approver(person.clone()).build().unwrap();
    drop_when_waiting(runtime.start(two()).journal(journal.clone())).await;
    let first = person.keys();
    assert!(first[0].is_some() && first[1].is_some() && first[0] != first[1], "{first:?}");

    let later = Person::new(9);
    let runtime = builder(&log).approver(later.clone()).build().unwrap();
    runtime.start(two()).journal(journal.replayed()).await.unwrap();
    assert_eq!(later.keys(), [first[1].clone()], "only the second is asked again");
    let recorded = |key: &Option<Arc<str>>| journal.records().iter().any(|record| Some(&record.key) == key.as_ref());
    assert!(recorded(&first[0]), "the key is that of the recorded answer");
}

#[tokio::test(start_paused = true)]
async fn a_question_has_one_key_in_each_process_and_the_id_of_its_run() {
    let (log, journal, person) = (Log::default(), MemoryJournal::new(), Person::new(2));
    let runtime = builder(&log).input_handler(person.clone()).build().unwrap();
    drop_when_waiting(runtime.start(ask_twice {}).journal(journal.clone()).with_id("r")).await;
    let first = person.keys();
    assert!(first[0].is_some() && first[1].is_some() && first[0] != first[1], "{first:?}");

    let later = Person::new(9);
    let runtime = builder(&log).input_handler(later.clone()).build().unwrap();
    assert_eq!(runtime.start(ask_twice {}).journal(journal.replayed()).await.unwrap(), "AnnAnn");
    assert_eq!((later.keys(), later.runs.lock().unwrap().clone()), (vec![first[1].clone()], vec!["r".into()]));
}

#[tokio::test]
async fn without_a_journal_what_is_asked_has_no_key() {
    let (log, person) = (Log::default(), Person::new(9));
    let runtime = builder(&log).approver(person.clone()).input_handler(person.clone()).build().unwrap();
    runtime.run(two()).await.unwrap();
    runtime.run(ask_twice {}).await.unwrap();
    assert_eq!(person.keys(), vec![None; 4]);
}

fn sqlite() -> (tempfile::TempDir, SqliteJournal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = SqliteJournal::open(folder.path().join("runs.db")).unwrap();
    (folder, journal)
}

/// Waits for the promise that a run makes.
async fn asked(runs: &SqliteJournal) -> OpenPromise {
    loop {
        if let Some(promise) = runs.promises().await.unwrap().pop() {
            return promise;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Runs a call until it asks, drops it, and returns what it asked, as another process finds it.
async fn drop_when_asked<T: std::fmt::Debug>(run: impl IntoFuture<Output = T>, runs: &SqliteJournal) -> OpenPromise {
    let promise = tokio::select! {
        result = run.into_future() => panic!("the run ended: {result:?}"),
        promise = asked(runs) => promise,
    };
    let other = SqliteJournal::open(runs.path()).unwrap();
    assert_eq!(other.promises().await.unwrap(), std::slice::from_ref(&promise));
    promise
}

#[tokio::test]
async fn an_approval_is_stored_before_the_approver_is_asked_and_given_later_in_another_process() {
    let (_folder, runs) = sqlite();
    let (log, person) = (Log::default(), Person::new(1));
    let call = || append_all { texts: vec!["a".into()] };
    let runtime = builder(&log).approver(person.clone()).build().unwrap();
    let promise = drop_when_asked(runtime.start(call()).journal(runs.run("r").await.unwrap()), &runs).await;
    assert_eq!((&*promise.run, promise.kind, &promise.request["tool"]), ("r", StepKind::Approval, &json!("append")));

    let other = SqliteJournal::open(runs.path()).unwrap();
    assert!(other.resolve(&promise, json!({ "decision": "edit", "arguments": { "text": "bb" } })).await.unwrap());
    assert!(
        !other.resolve(&promise, json!({ "decision": "deny", "reason": "late" })).await.unwrap(),
        "the first holds"
    );
    let (later, run) = (Person::new(9), other.run("r").await.unwrap());
    let runtime = builder(&log).approver(later.clone()).build().unwrap();
    assert_eq!(runtime.start(call()).journal(run).await.unwrap(), 2);
    assert_eq!((written(&log), later.keys().len()), (vec!["bb".to_owned()], 0), "the approver is not asked again");
}

#[tokio::test]
async fn a_question_is_answered_in_another_process_while_its_run_waits() {
    let (_folder, runs) = sqlite();
    let runtime = builder(&Log::default()).input_handler(Person::new(1)).build().unwrap();
    let run = tokio::spawn(runtime.start(ask_twice {}).journal(runs.run("r").await.unwrap()).into_future());
    let other = SqliteJournal::open(runs.path()).unwrap();
    for answer in ["Ann", "Bob"] {
        let promise = asked(&other).await;
        assert_eq!((promise.kind, &promise.request["prompt"]), (StepKind::Input, &json!("Who are you?")));
        other.resolve(&promise, json!(answer)).await.unwrap();
    }
    assert_eq!(run.await.unwrap().unwrap(), "AnnBob");
}

#[tokio::test]
async fn an_answer_of_the_approver_withdraws_the_promise() {
    let (_folder, runs) = sqlite();
    let log = Log::default();
    approving(&log).start(two()).journal(runs.run("r").await.unwrap()).await.unwrap();
    assert_eq!(runs.promises().await.unwrap(), []);
}

#[tokio::test]
async fn an_edit_with_invalid_arguments_is_asked_for_again_under_the_same_id() {
    let (_folder, runs) = sqlite();
    let log = Log::default();
    let runtime = builder(&log).approver(Person::new(1)).build().unwrap();
    let call = append_all { texts: vec!["a".into()] };
    let run = tokio::spawn(runtime.start(call).journal(runs.run("r").await.unwrap()).into_future());
    let first = asked(&runs).await;
    runs.resolve(&first, json!({ "decision": "edit", "arguments": { "text": 1 } })).await.unwrap();
    let second = asked(&runs).await;
    assert!(second.id == first.id && second.digest != first.digest, "{second:?}");
    assert!(second.request["problem"].is_string(), "{second:?}");
    assert!(!runs.resolve(&first, json!({ "decision": "approve" })).await.unwrap(), "the request has changed");
    runs.resolve(&second, json!({ "decision": "approve" })).await.unwrap();
    run.await.unwrap().unwrap();
    assert_eq!(written(&log), ["a"]);
}
