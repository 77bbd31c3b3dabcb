//! What one run has of its own: one runtime serves many users, and nothing of one reaches another.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use llm_do::approval::{ApprovalInbox, ApprovalMode, ApprovalRequest, DecidedBy, Decision};
use llm_do::context::{CancellationToken, InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::event::{Event, EventKind, EventSink, event_channel};
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::{FunctionModel, Recorder, ScriptedModel, TestModel};
use llm_do::usage::Usage;
use llm_do::{CallError, History, Limits, async_trait, json};

/// Send a mail.
#[tool(effect = destructive, inline)]
fn send_mail(to: String) -> String {
    format!("sent to {to}")
}

/// Sends a mail, so many times.
#[entry(toolsets = [send_mail])]
async fn notify(ctx: &CallContext<notify>, to: String, #[arg(default = 1)] times: usize) -> Result<String> {
    let mut sent = String::new();
    for _ in 0..times {
        sent = ctx.call(send_mail { to: to.clone() }).await?;
    }
    Ok(sent)
}

/// Has a model send a mail.
#[worker(toolsets = [send_mail])]
async fn assistant(input: String) -> String;

/// Asks a model.
#[entry(toolsets = [assistant])]
async fn delegate(ctx: &CallContext<delegate>) -> Result<String> {
    Ok(ctx.call(assistant { input: "Send it.".into() }).await?)
}

/// Asks the user.
#[entry]
async fn ask(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("Who are you?").await?)
}

/// Look at files.
#[worker]
async fn look(prompt: Prompt) -> String;

/// Who uses the runtime.
struct User(&'static str);

/// Returns the user's name.
#[tool(effect = read_only, inline)]
fn who(user: State<User>) -> String {
    user.0.to_owned()
}

/// Waits until it is cancelled.
#[entry]
async fn wait(ctx: &CallContext) -> Result<()> {
    ctx.progress("waiting");
    ctx.cancelled().await;
    std::future::pending().await
}

/// Return the key under which a service would know this call again.
#[tool(effect = read_only, inline)]
fn key(ctx: &CallContext) -> String {
    ctx.idempotency_key()
}

fn builder() -> llm_do::runtime::RuntimeBuilder {
    Runtime::builder().state(User("nobody")).force_model(TestModel::new().text("seen"))
}

fn runtime() -> Runtime {
    builder().build().unwrap()
}

/// A model that sends a mail to Ann, and then says what came of it.
fn mailing() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let part = if let Some(Message::Tool { results }) = request.messages.last() {
            ResponsePart::Text { text: results[0].content.clone() }
        } else {
            ResponsePart::ToolCall(ToolCall::new("1", "send_mail", json!({ "to": "Ann" }).to_string()))
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    })
}

/// Returns who decided about each call, and whether it may run.
fn decisions(recorder: &Recorder) -> Vec<(bool, DecidedBy)> {
    let decision = |event: Event| match event.kind {
        EventKind::ApprovalDecided { approved, by, .. } if &*event.name == "send_mail" => Some((approved, by)),
        _ => None,
    };
    recorder.events().into_iter().filter_map(decision).collect()
}

/// What a sink took; it outlives the sink.
type Taken = Arc<Mutex<Vec<Arc<Event>>>>;

/// A sink that takes nothing before its gate is open.
#[derive(Debug)]
struct Gated {
    gate: Mutex<Receiver<()>>,
    taken: Taken,
}

impl EventSink for Gated {
    fn emit(&self, event: &Arc<Event>) {
        let _ = self.gate.lock().unwrap().recv();
        self.taken.lock().unwrap().push(Arc::clone(event));
    }
}

fn gated() -> (Arc<Gated>, Taken, std::sync::mpsc::Sender<()>) {
    let (opens, gate) = channel();
    let taken = Taken::default();
    (Arc::new(Gated { gate: Mutex::new(gate), taken: Arc::clone(&taken) }), taken, opens)
}

// The run's id.

#[tokio::test]
async fn the_id_of_a_run_is_known_before_it_begins_and_is_that_of_its_events() {
    let recorder = Recorder::new();
    let start = runtime().start(key {}).sink(recorder.clone());
    let (handle, id) = (start.handle(), start.id().unwrap().to_owned());
    assert_eq!(handle.id(), Some(&*id));
    let idempotency = start.await.unwrap();
    assert!(idempotency.starts_with(&id), "{idempotency} of the run {id}");
    assert!(recorder.events().iter().all(|event| *event.run == *id));
    assert_eq!(handle.id(), Some(&*id));
}

#[tokio::test]
async fn two_runs_have_two_ids() {
    let runtime = runtime();
    let (one, other) = (runtime.start(key {}), runtime.start(key {}));
    assert_ne!(one.id(), other.id());
}

#[tokio::test]
async fn a_resumed_run_has_the_id_that_its_journal_recorded() {
    let journal = MemoryJournal::new();
    let first = builder().journal(journal.clone()).build().unwrap().start(key {});
    let handle = first.handle();
    assert_eq!((first.id(), handle.id()), (None, None), "the journal may have another");
    first.await.unwrap();
    let id = handle.id().unwrap().to_owned();

    let recorder = Recorder::new();
    let again = builder().journal(journal).build().unwrap().start(key {}).sink(recorder.clone());
    let handle = again.handle();
    again.await.unwrap();
    assert_eq!(handle.id(), Some(&*id));
    assert!(recorder.events().iter().all(|event| *event.run == *id));
}

// Sinks.

#[tokio::test]
async fn a_sink_of_a_run_sees_that_run_and_no_other() {
    let all = Recorder::new();
    let runtime = builder().sink(all.clone()).build().unwrap();
    let own = Recorder::new();
    let start = runtime.start(who {}).sink(own.clone());
    let id = start.id().unwrap().to_owned();
    let (one, other) = futures_util::join!(start.into_future(), runtime.run(who {}));
    assert_eq!((&*one.unwrap(), &*other.unwrap()), ("nobody", "nobody"));
    let of_run: Vec<_> = all.events().into_iter().filter(|event| *event.run == *id).map(|event| event.seq).collect();
    assert_eq!(own.events().iter().map(|event| event.seq).collect::<Vec<_>>(), of_run);
    assert!(own.events().len() * 2 == all.events().len() && own.events().iter().all(|event| *event.run == *id));
}

#[tokio::test]
async fn the_events_of_a_run_end_with_it_although_its_handle_is_kept() {
    let (sink, events) = event_channel(256);
    let start = runtime().start(who {}).sink(sink);
    let handle = start.handle();
    start.await.unwrap();
    let events = tokio::time::timeout(Duration::from_secs(20), events.collect::<Vec<_>>()).await.unwrap();
    assert!(matches!(events.last().unwrap().kind, EventKind::Usage { .. }));
    assert_eq!(handle.usage().tool_calls, 0);
}

#[tokio::test]
async fn the_events_of_a_run_that_is_dropped_end_with_its_call() {
    let (sink, mut events) = event_channel(256);
    let start = runtime().start(wait {}).sink(sink);
    let _handle = start.handle();
    let run = tokio::spawn(start.into_future());
    while !matches!(events.recv().await.unwrap().kind, EventKind::Progress { .. }) {}
    run.abort();
    let left: Vec<_> = events.collect().await;
    assert!(matches!(left.last().unwrap().kind, EventKind::CallFinished { .. }), "{left:?}");
}

#[tokio::test]
async fn a_run_that_never_begins_ends_its_events() {
    let (sink, mut events) = event_channel(256);
    drop(runtime().start(who {}).sink(sink));
    assert!(events.recv().await.is_none());
}

#[tokio::test]
async fn a_slow_sink_of_a_run_holds_up_nothing_and_misses_nothing() {
    let (sink, taken, gate) = gated();
    let weak: Weak<Gated> = Arc::downgrade(&sink);
    let (runtime, own) = (runtime(), Recorder::new());
    runtime.start(who {}).shared_sink(sink).sink(own.clone()).await.unwrap();
    assert_eq!(taken.lock().unwrap().len(), 0);
    let other = runtime.clone();
    let flushed = tokio::spawn(async move { other.flush().await });
    tokio::task::yield_now().await;
    assert!(!flushed.is_finished(), "a flush waits for the sinks of runs too");
    drop(gate);
    flushed.await.unwrap();
    assert_eq!(taken.lock().unwrap().len(), own.events().len());
    // Another task drops it, and then its thread ends.
    let gone = async {
        while weak.upgrade().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.expect("a sink is dropped once its run is over");
}

#[tokio::test]
async fn a_runtime_that_is_dropped_waits_for_the_sinks_of_runs() {
    let (sink, taken, gate) = gated();
    let (runtime, own) = (runtime(), Recorder::new());
    runtime.start(who {}).shared_sink(sink).sink(own.clone()).await.unwrap();
    let opens = std::thread::spawn(move || drop(gate));
    drop(runtime);
    assert_eq!(taken.lock().unwrap().len(), own.events().len());
    opens.join().unwrap();
}

#[tokio::test]
async fn one_sink_may_be_that_of_several_runs() {
    let (runtime, own) = (runtime(), Arc::new(Recorder::new()));
    for _ in 0..2 {
        runtime.start(who {}).shared_sink(own.clone()).await.unwrap();
    }
    let ended = |event: &Event| matches!(event.kind, EventKind::CallFinished { .. });
    assert_eq!(own.events().iter().filter(|event| ended(event)).count(), 2);
}

// Approval.

#[tokio::test]
async fn each_run_asks_its_own_approver_about_equal_calls() {
    let runtime = builder().approve_with(|_| async { Decision::deny("the runtime's") }).build().unwrap();
    let (ann, mut anns) = ApprovalInbox::new();
    let (bob, mut bobs) = ApprovalInbox::new();
    let to = || notify { to: "Ann".into(), times: 1 };
    let anns_run = tokio::spawn(runtime.start(to()).approver(ann).into_future());
    let bobs_run = tokio::spawn(runtime.start(to()).approver(bob).into_future());
    let (anns_question, bobs_question) = (anns.next().await.unwrap(), bobs.next().await.unwrap());
    assert_eq!(anns_question.request().arguments, bobs_question.request().arguments);
    assert_eq!((anns_question.request().position, bobs_question.request().position), (1, 1));
    bobs_question.deny("not Bob");
    assert_eq!(
        llm_do::error::chain(&bobs_run.await.unwrap().unwrap_err()),
        "`notify` failed: call to `send_mail` denied: not Bob"
    );
    anns_question.approve();
    assert_eq!(anns_run.await.unwrap().unwrap(), "sent to Ann");
    assert!(runtime.run(to()).await.unwrap_err().is_denied(), "a run without an approver asks the runtime's");
}

#[tokio::test]
async fn what_one_approver_approved_for_the_session_is_asked_of_another() {
    let asked: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let approver = |name: &'static str| {
        let asked = Arc::clone(&asked);
        move |_: ApprovalRequest| {
            asked.lock().unwrap().push(name);
            async { Decision::approve_for_session() }
        }
    };
    let runtime = builder().approve_with(approver("runtime")).build().unwrap();
    let twice = || notify { to: "Ann".into(), times: 2 };
    runtime.run(twice()).await.unwrap();
    runtime.start(twice()).approve_with(approver("Ann")).await.unwrap();
    runtime.start(twice()).approve_with(approver("Bob")).await.unwrap();
    runtime.run(twice()).await.unwrap();
    assert_eq!(*asked.lock().unwrap(), ["runtime", "Ann", "Bob"], "each once: its own session remembers");
}

#[tokio::test]
async fn what_an_approver_of_one_run_approved_holds_for_no_other_run_after_a_resume() {
    let journal = MemoryJournal::new();
    let runtime = builder().journal(journal.clone()).build().unwrap();
    let twice = || notify { to: "Ann".into(), times: 2 };
    runtime.start(twice()).approve_with(|_| async { Decision::approve_for_session() }).await.unwrap();
    // As if the process had died after the first mail was approved.
    let mut records = journal.records();
    let approved = records.iter().position(|record| record.kind == llm_do::journal::StepKind::Approval).unwrap();
    records.truncate(approved + 1);
    let runtime = builder()
        .journal(MemoryJournal::from_records(records))
        .approve_with(|_| async { Decision::deny("this one is asked") })
        .build()
        .unwrap();
    runtime.run(twice()).await.unwrap();
    let error = runtime.run(twice()).await.unwrap_err();
    assert!(llm_do::error::chain(&error).ends_with("denied: this one is asked"), "{error}");
}

#[tokio::test]
async fn a_decision_that_a_journal_replays_is_remembered_in_its_run_only() {
    let journal = MemoryJournal::new();
    let build =
        || builder().journal(journal.clone()).approve_with(|_| async { Decision::deny("the runtime's") }).build();
    let twice = || notify { to: "Ann".into(), times: 2 };
    let first = build().unwrap();
    first.start(twice()).approve_with(|_| async { Decision::approve_for_session() }).await.unwrap();
    let again = build().unwrap();
    again.start(twice()).approve_with(|_| async { Decision::deny("again") }).await.unwrap();
    assert!(again.run(twice()).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn the_mode_of_a_run_is_its_own() {
    let runtime = builder().approve_with(|_| async { Decision::deny("the runtime's") }).build().unwrap();
    let once = || notify { to: "Ann".into(), times: 1 };
    let own = Recorder::new();
    runtime.start(once()).approval_mode(ApprovalMode::ApproveAll).sink(own.clone()).await.unwrap();
    assert_eq!(decisions(&own), [(true, DecidedBy::Mode)]);
    assert!(runtime.run(once()).await.unwrap_err().is_denied());

    let lenient = builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let refusing = lenient.start(once()).approval_mode(ApprovalMode::RejectAll).await;
    assert!(refusing.unwrap_err().is_denied());
    lenient.run(once()).await.unwrap();
}

#[tokio::test]
async fn a_worker_below_the_root_asks_the_approver_of_the_run() {
    let runtime = Runtime::builder().state(User("nobody")).force_model(mailing()).build().unwrap();
    assert!(runtime.run(delegate {}).await.unwrap_err().is_denied());
    let approved = runtime.start(delegate {}).approve_with(|_| async { Decision::approve() }).await;
    assert_eq!(approved.unwrap(), "sent to Ann");
}

// The user, files, state.

#[derive(Debug)]
struct Named(&'static str);

#[async_trait]
impl InputHandler for Named {
    async fn answer(&self, _: &InputRequest) -> Result<String, BoxError> {
        Ok(self.0.to_owned())
    }
}

#[tokio::test]
async fn each_run_asks_its_own_user() {
    let runtime = builder().input_handler(Named("Zoe")).build().unwrap();
    let (ann, bob) =
        (runtime.start(ask {}).input_handler(Named("Ann")), runtime.start(ask {}).input_handler(Named("Bob")));
    let (ann, bob, zoe) = futures_util::join!(ann.into_future(), bob.into_future(), runtime.run(ask {}));
    assert_eq!([ann.unwrap(), bob.unwrap(), zoe.unwrap()], ["Ann", "Bob", "Zoe"]);
}

#[tokio::test]
async fn each_run_reads_files_below_its_own_folder() {
    let (anns, bobs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(anns.path().join("note.txt"), "Ann's").unwrap();
    std::fs::write(bobs.path().join("note.txt"), "Bob's").unwrap();
    let model = ScriptedModel::new().text("seen").repeat_last();
    let runtime = builder().force_model(model.clone()).project_root(bobs.path()).build().unwrap();
    let note = |path: &std::path::Path| look { prompt: Prompt::new("Look.").attach_file(path) };
    runtime.start(note("note.txt".as_ref())).project_root(anns.path()).await.unwrap();
    runtime.run(note("note.txt".as_ref())).await.unwrap();
    let read = |asked: usize| format!("{:?}", model.requests()[asked].messages);
    let attached =
        |text: &str| format!("{:?}", llm_do::Attachment::new("text/plain", text.as_bytes().to_vec()).named("note.txt"));
    assert!(read(0).contains(&attached("Ann's")) && read(1).contains(&attached("Bob's")), "{} {}", read(0), read(1));
    let outside = runtime.start(note(&bobs.path().join("note.txt"))).project_root(anns.path()).await.unwrap_err();
    assert!(
        llm_do::error::chain(&outside).contains("not below the project's root"),
        "{}",
        llm_do::error::chain(&outside)
    );
}

#[tokio::test]
async fn each_run_has_its_own_state_or_else_the_runtimes() {
    let runtime = runtime();
    assert_eq!(runtime.start(who {}).state(User("Ann")).await.unwrap(), "Ann");
    assert_eq!(runtime.run(who {}).await.unwrap(), "nobody");
}

// Limits and ends.

#[tokio::test]
async fn the_lower_of_the_runs_and_the_runtimes_limits_holds() {
    let builder = builder().approval_mode(ApprovalMode::ApproveAll).limits(Limits::new().tool_calls(2).requests(1));
    let runtime = builder.build().unwrap();
    let calls = |times| notify { to: "Ann".into(), times };
    let limited = |limits: Limits, times| runtime.start(calls(times)).limits(limits).into_future();
    let failed = |result: Result<String, CallError>| llm_do::error::chain(&result.unwrap_err());
    assert!(failed(limited(Limits::new().tool_calls(1), 2).await).contains("limited to 1"));
    assert!(failed(limited(Limits::new().tool_calls(9), 3).await).contains("limited to 2"));
    assert!(failed(limited(Limits::new().cost(llm_do::usage::Money::from_cents(1)), 3).await).contains("limited to 2"));
    limited(Limits::new().tool_calls(9), 2).await.unwrap();
    runtime.run(calls(2)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_is_its_own() {
    let runtime = runtime();
    let error = runtime.start(wait {}).limits(Limits::new().wall_time(Duration::from_secs(3))).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_own_token_by_the_runtimes_and_by_its_handle() {
    let all = CancellationToken::new();
    let runtime = builder().cancellation(all.clone()).build().unwrap();
    let own = CancellationToken::new();
    let (one, other) = (runtime.start(wait {}).cancellation(own.clone()), runtime.start(wait {}));
    let third = runtime.start(wait {}).cancellation(CancellationToken::new());
    let (handle, mut third) = (other.handle(), Box::pin(third.into_future()));
    let (mut one, mut other) = (Box::pin(one.into_future()), Box::pin(other.into_future()));
    assert!((&mut one).now_or_never().is_none() && (&mut other).now_or_never().is_none());
    own.cancel();
    assert!(one.await.unwrap_err().is_cancelled());
    assert!((&mut other).now_or_never().is_none(), "another run goes on");
    handle.cancel();
    assert!(other.await.unwrap_err().is_cancelled());
    assert!((&mut third).now_or_never().is_none());
    all.cancel();
    assert!(third.await.unwrap_err().is_cancelled());
}

/// What is read and not written.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Address {
    #[serde(default, skip_serializing)]
    street: String,
}

/// Look up who lives there.
#[tool(effect = read_only, inline)]
fn look_up(address: Address) -> String {
    address.street
}

#[tokio::test]
async fn the_sink_of_a_run_sees_arguments_as_the_sink_of_a_runtime_does() {
    let (runtimes, runs) = (Recorder::new(), Recorder::new());
    let call = json!({ "address": { "street": "Elm" } });
    builder().sink(runtimes.clone()).build().unwrap().start_named("look_up", call.clone()).await.unwrap();
    runtime().start_named("look_up", call.clone()).sink(runs.clone()).await.unwrap();
    for recorder in [runtimes, runs] {
        let started = recorder.events().into_iter().find_map(|event| match event.kind {
            EventKind::CallStarted { arguments, .. } => Some(arguments),
            _ => None,
        });
        assert_eq!(started, Some(call.clone()));
    }
}

// Histories.

#[tokio::test]
async fn a_call_by_name_of_what_has_no_conversation_refuses_a_history() {
    let runtime = runtime();
    let before: History = vec![Message::user("Hello!")].into();
    for (name, kind) in [("ask", "entry"), ("who", "tool")] {
        let error = runtime.start_named(name, json!({})).history(before.clone()).await.unwrap_err();
        let text = format!(
            "only workers accept a message history, and `{name}` is of kind `{kind}`: call it without a history"
        );
        assert_eq!(error.to_string(), text);
    }
    let start = runtime.start_named("look", json!({ "input": "Look." })).history(before);
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!(handle.history().messages().len(), 3);
}
