//! Settings of a single run: one runtime serves many users, whose runs are isolated.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use llm_do::approval::{ApprovalInbox, ApprovalMode, ApprovalRequest, DecidedBy, Decision};
use llm_do::context::{CancellationToken, InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::event::{Delivery, Event, EventKind, EventSink, event_channel};
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

/// Sends a mail a number of times.
#[entry(toolsets = [send_mail])]
async fn notify(ctx: &CallContext<notify>, to: String, #[arg(default = 1)] times: usize) -> Result<String> {
    let mut sent = String::new();
    for _ in 0..times {
        sent = ctx.call(send_mail { to: to.clone() }).await?;
    }
    Ok(sent)
}

/// Send mails.
#[worker(toolsets = [send_mail])]
async fn mailer(input: String) -> String;

/// Calls a worker.
#[entry(toolsets = [mailer])]
async fn hand_over(ctx: &CallContext<hand_over>) -> Result<String> {
    Ok(ctx.call(mailer { input: "Send it.".into() }).await?)
}

/// Asks the user.
#[entry]
async fn ask_name(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("Who are you?").await?)
}

/// Look at files.
#[worker]
async fn look_at(prompt: Prompt) -> String;

/// The user of a run.
struct User(&'static str);

/// Returns the user's name.
#[tool(effect = read_only, inline)]
fn who(user: State<User>) -> String {
    user.0.to_owned()
}

/// Waits until it is cancelled.
#[entry]
async fn wait_until_cancelled(ctx: &CallContext) -> Result<()> {
    ctx.progress("waiting");
    ctx.cancelled().await;
    std::future::pending().await
}

/// Return the idempotency key of this call.
#[tool(effect = read_only, inline)]
fn own_key(ctx: &CallContext) -> String {
    ctx.idempotency_key()
}

fn builder() -> llm_do::runtime::RuntimeBuilder {
    crate::own_builder().state(User("default")).force_model(TestModel::new().text("seen"))
}

fn runtime() -> Runtime {
    builder().build().unwrap()
}

/// Returns a model that sends a mail to Ann and then returns the result.
fn mail_model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let part = if let Some(Message::Tool { results }) = request.messages.last() {
            ResponsePart::Text { text: results[0].content.clone() }
        } else {
            ResponsePart::ToolCall(ToolCall::new("1", "send_mail", json!({ "to": "Ann" }).to_string()))
        };
        Ok(Response::new("test", vec![part], Usage::of_request(1, 1)))
    })
}

/// Returns for each mail whether it was approved, and by what.
fn decisions(recorder: &Recorder) -> Vec<(bool, DecidedBy)> {
    let decision = |event: Event| match event.kind {
        EventKind::ApprovalDecided { approved, by, .. } if &*event.name == "send_mail" => Some((approved, by)),
        _ => None,
    };
    recorder.events().into_iter().filter_map(decision).collect()
}

/// The events that a sink received; outlives the sink.
type ReceivedEvents = Arc<Mutex<Vec<Arc<Event>>>>;

/// A sink that blocks until its gate is open.
#[derive(Debug)]
struct GatedSink {
    gate: Mutex<Receiver<()>>,
    received: ReceivedEvents,
}

impl EventSink for GatedSink {
    fn emit(&self, event: &Arc<Event>) {
        let _ = self.gate.lock().unwrap().recv();
        self.received.lock().unwrap().push(Arc::clone(event));
    }
}

fn gated_sink() -> (Arc<GatedSink>, ReceivedEvents, std::sync::mpsc::Sender<()>) {
    let (opens, gate) = channel();
    let received = ReceivedEvents::default();
    (Arc::new(GatedSink { gate: Mutex::new(gate), received: Arc::clone(&received) }), received, opens)
}

// Run ids.

#[tokio::test]
async fn the_id_of_a_run_is_known_before_it_starts_and_is_in_its_events() {
    let recorder = Recorder::new();
    let start = runtime().start(own_key {}).sink(recorder.clone());
    let (handle, id) = (start.handle(), start.id().unwrap().to_owned());
    assert_eq!(handle.id(), Some(&*id));
    let idempotency = start.await.unwrap();
    assert!(idempotency.starts_with(&id), "{idempotency} of the run {id}");
    assert!(recorder.events().iter().all(|event| *event.run == *id));
    assert_eq!(handle.id(), Some(&*id));
}

#[tokio::test]
async fn two_runs_have_different_ids() {
    let runtime = runtime();
    let (one, other) = (runtime.start(own_key {}), runtime.start(own_key {}));
    assert_ne!(one.id(), other.id());
}

#[tokio::test]
async fn a_resumed_run_has_the_id_that_its_journal_recorded() {
    let journal = MemoryJournal::new();
    let first = builder().journal(journal.clone()).build().unwrap().start(own_key {});
    let handle = first.handle();
    assert_eq!((first.id(), handle.id()), (None, None), "a journal may contain another id");
    first.await.unwrap();
    let id = handle.id().unwrap().to_owned();

    let recorder = Recorder::new();
    let again = builder().journal(journal).build().unwrap().start(own_key {}).sink(recorder.clone());
    let handle = again.handle();
    again.await.unwrap();
    assert_eq!(handle.id(), Some(&*id));
    assert!(recorder.events().iter().all(|event| *event.run == *id));
}

// Sinks.

#[tokio::test]
async fn a_sink_of_a_run_receives_only_events_of_that_run() {
    let all = Recorder::new();
    let runtime = builder().sink(all.clone()).build().unwrap();
    let own = Recorder::new();
    let start = runtime.start(who {}).sink(own.clone());
    let id = start.id().unwrap().to_owned();
    let (one, other) = futures_util::join!(start.into_future(), runtime.run(who {}));
    assert_eq!((&*one.unwrap(), &*other.unwrap()), ("default", "default"));
    let of_run: Vec<_> = all.events().into_iter().filter(|event| *event.run == *id).map(|event| event.seq).collect();
    assert_eq!(own.events().iter().map(|event| event.seq).collect::<Vec<_>>(), of_run);
    assert!(own.events().len() * 2 == all.events().len() && own.events().iter().all(|event| *event.run == *id));
}

#[tokio::test]
async fn the_event_channel_closes_with_its_run_while_a_handle_is_kept() {
    let (sink, events) = event_channel(256);
    let start = runtime().start(who {}).sink(sink);
    let handle = start.handle();
    start.await.unwrap();
    let events = tokio::time::timeout(Duration::from_secs(20), events.collect::<Vec<_>>()).await.unwrap();
    assert!(matches!(events.last().unwrap().kind, EventKind::Usage { .. }));
    assert_eq!(handle.usage().tool_calls, 0);
}

#[tokio::test]
async fn the_event_channel_of_a_dropped_run_ends_with_a_finished_call() {
    let (sink, mut events) = event_channel(256);
    let start = runtime().start(wait_until_cancelled {}).sink(sink);
    let _handle = start.handle();
    let run = tokio::spawn(start.into_future());
    while !matches!(events.recv().await.unwrap().kind, EventKind::Progress { .. }) {}
    run.abort();
    let rest: Vec<_> = events.collect().await;
    assert!(matches!(rest.last().unwrap().kind, EventKind::CallFinished { .. }), "{rest:?}");
}

#[tokio::test]
async fn the_event_channel_of_a_run_that_never_starts_closes() {
    let (sink, mut events) = event_channel(256);
    drop(runtime().start(who {}).sink(sink));
    assert!(events.recv().await.is_none());
}

#[tokio::test]
async fn a_slow_sink_of_a_run_blocks_nothing_and_loses_no_event() {
    let (sink, received, gate) = gated_sink();
    let weak: Weak<GatedSink> = Arc::downgrade(&sink);
    let (runtime, own) = (runtime(), Recorder::new());
    runtime.start(who {}).shared_sink(sink).sink(own.clone()).await.unwrap();
    assert_eq!(received.lock().unwrap().len(), 0);
    let other = runtime.clone();
    let flushed = tokio::spawn(async move { other.flush().await });
    tokio::task::yield_now().await;
    assert!(!flushed.is_finished(), "a flush also waits for sinks of runs");
    drop(gate);
    flushed.await.unwrap();
    assert_eq!(received.lock().unwrap().len(), own.events().len());
    // A background task drops the sink.
    let dropped = async {
        while weak.upgrade().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), dropped).await.expect("the sink of a finished run is dropped");
}

/// A sink whose flush never ends immediately.
#[derive(Debug)]
struct Yielding;

#[async_trait]
impl EventSink for Yielding {
    fn emit(&self, _: &Arc<Event>) {}

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_sink_whose_flush_takes_a_moment_is_dropped_after_its_run() {
    let (runtime, sink) = (runtime(), Arc::new(Yielding));
    let weak = Arc::downgrade(&sink);
    runtime.start(who {}).shared_sink(sink).await.unwrap();
    let dropped = async {
        while weak.upgrade().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), dropped).await.expect("the sink of a finished run is dropped");
}

#[tokio::test]
async fn dropping_a_runtime_waits_for_the_sinks_of_runs() {
    let (sink, received, gate) = gated_sink();
    let (runtime, own) = (runtime(), Recorder::new());
    runtime.start(who {}).shared_sink(sink).sink(own.clone()).await.unwrap();
    let opens = std::thread::spawn(move || drop(gate));
    drop(runtime);
    assert_eq!(received.lock().unwrap().len(), own.events().len());
    opens.join().unwrap();
}

#[tokio::test]
async fn several_runs_may_share_a_sink() {
    let (runtime, own) = (runtime(), Arc::new(Recorder::new()));
    for _ in 0..2 {
        runtime.start(who {}).shared_sink(own.clone()).await.unwrap();
    }
    let is_finished = |event: &&Event| matches!(event.kind, EventKind::CallFinished { .. });
    assert_eq!(own.events().iter().filter(is_finished).count(), 2);
}

// Approval.

#[tokio::test]
async fn each_run_asks_its_own_approver_about_equal_calls() {
    let runtime = builder().approve_with(|_| async { Decision::deny("denied by the runtime") }).build().unwrap();
    let (ann, mut anns) = ApprovalInbox::new();
    let (bob, mut bobs) = ApprovalInbox::new();
    let to = || notify { to: "Ann".into(), times: 1 };
    let anns_run = tokio::spawn(runtime.start(to()).approver(ann).into_future());
    let bobs_run = tokio::spawn(runtime.start(to()).approver(bob).into_future());
    let (anns_request, bobs_request) = (anns.next().await.unwrap(), bobs.next().await.unwrap());
    assert_eq!(anns_request.request().arguments, bobs_request.request().arguments);
    assert_eq!((anns_request.request().position, bobs_request.request().position), (1, 1));
    bobs_request.deny("not Bob");
    assert_eq!(
        llm_do::error::chain(&bobs_run.await.unwrap().unwrap_err()),
        "`notify` failed: call to `send_mail` denied: not Bob"
    );
    anns_request.approve();
    assert_eq!(anns_run.await.unwrap().unwrap(), "sent to Ann");
    assert!(runtime.run(to()).await.unwrap_err().is_denied(), "a run without an approver uses that of the runtime");
}

#[tokio::test]
async fn a_session_approval_holds_only_for_its_approver() {
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
    assert_eq!(*asked.lock().unwrap(), ["runtime", "Ann", "Bob"], "each approver is asked once");
}

#[tokio::test]
async fn an_approval_of_a_resumed_run_does_not_hold_for_other_runs() {
    let journal = MemoryJournal::new();
    let runtime = builder().journal(journal.clone()).build().unwrap();
    let twice = || notify { to: "Ann".into(), times: 2 };
    runtime.start(twice()).approve_with(|_| async { Decision::approve_for_session() }).await.unwrap();
    // Simulates a crash after the first approval.
    let mut records = journal.records();
    let approved = records.iter().position(|record| record.kind == llm_do::journal::StepKind::Approval).unwrap();
    records.truncate(approved + 1);
    let runtime = builder()
        .journal(MemoryJournal::from_records(records))
        .approve_with(|_| async { Decision::deny("denied by the second run") })
        .build()
        .unwrap();
    runtime.run(twice()).await.unwrap();
    let error = runtime.run(twice()).await.unwrap_err();
    assert!(llm_do::error::chain(&error).ends_with("denied: denied by the second run"), "{error}");
}

#[tokio::test]
async fn a_replayed_decision_is_remembered_only_in_its_run() {
    let journal = MemoryJournal::new();
    let build = || {
        builder().journal(journal.clone()).approve_with(|_| async { Decision::deny("denied by the runtime") }).build()
    };
    let twice = || notify { to: "Ann".into(), times: 2 };
    let first = build().unwrap();
    first.start(twice()).approve_with(|_| async { Decision::approve_for_session() }).await.unwrap();
    let again = build().unwrap();
    again.start(twice()).approve_with(|_| async { Decision::deny("again") }).await.unwrap();
    assert!(again.run(twice()).await.unwrap_err().is_denied());
}

#[tokio::test]
async fn a_run_may_have_its_own_approval_mode() {
    let runtime = builder().approve_with(|_| async { Decision::deny("denied by the runtime") }).build().unwrap();
    let once = || notify { to: "Ann".into(), times: 1 };
    let own = Recorder::new();
    runtime.start(once()).approval_mode(ApprovalMode::ApproveAll).sink(own.clone()).await.unwrap();
    assert_eq!(decisions(&own), [(true, DecidedBy::Mode)]);
    assert!(runtime.run(once()).await.unwrap_err().is_denied());

    let lenient = builder().approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    let rejecting = lenient.start(once()).approval_mode(ApprovalMode::RejectAll).await;
    assert!(rejecting.unwrap_err().is_denied());
    lenient.run(once()).await.unwrap();
}

#[tokio::test]
async fn nested_calls_use_the_approver_of_the_run() {
    let runtime = crate::own_builder().state(User("default")).force_model(mail_model()).build().unwrap();
    assert!(runtime.run(hand_over {}).await.unwrap_err().is_denied());
    let approved = runtime.start(hand_over {}).approve_with(|_| async { Decision::approve() }).await;
    assert_eq!(approved.unwrap(), "sent to Ann");
}

// Input handlers, files, state.

#[derive(Debug)]
struct FixedAnswer(&'static str);

#[async_trait]
impl InputHandler for FixedAnswer {
    async fn answer(&self, _: &InputRequest) -> Result<String, BoxError> {
        Ok(self.0.to_owned())
    }
}

#[tokio::test]
async fn each_run_has_its_own_input_handler() {
    let runtime = builder().input_handler(FixedAnswer("Zoe")).build().unwrap();
    let (ann, bob) = (
        runtime.start(ask_name {}).input_handler(FixedAnswer("Ann")),
        runtime.start(ask_name {}).input_handler(FixedAnswer("Bob")),
    );
    let (ann, bob, zoe) = futures_util::join!(ann.into_future(), bob.into_future(), runtime.run(ask_name {}));
    assert_eq!([ann.unwrap(), bob.unwrap(), zoe.unwrap()], ["Ann", "Bob", "Zoe"]);
}

#[tokio::test]
async fn each_run_reads_files_of_its_own_project_root() {
    let (anns, bobs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(anns.path().join("note.txt"), "Ann's").unwrap();
    std::fs::write(bobs.path().join("note.txt"), "Bob's").unwrap();
    let model = ScriptedModel::new().text("seen").repeat_last();
    let runtime = builder().force_model(model.clone()).project_root(bobs.path()).build().unwrap();
    let note = |path: &std::path::Path| look_at { prompt: Prompt::new("Look.").attach_file(path) };
    runtime.start(note("note.txt".as_ref())).project_root(anns.path()).await.unwrap();
    runtime.run(note("note.txt".as_ref())).await.unwrap();
    let read = |index: usize| format!("{:?}", model.requests()[index].messages);
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
async fn the_state_of_a_run_overrides_that_of_the_runtime() {
    let runtime = runtime();
    assert_eq!(runtime.start(who {}).state(User("Ann")).await.unwrap(), "Ann");
    assert_eq!(runtime.run(who {}).await.unwrap(), "default");
}

// Limits and cancellation.

#[tokio::test]
async fn the_lower_limit_of_run_and_runtime_applies() {
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
async fn a_run_may_have_its_own_time_limit() {
    let runtime = runtime();
    let error = runtime
        .start(wait_until_cancelled {})
        .limits(Limits::new().wall_time(Duration::from_secs(3)))
        .await
        .unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_resumed_run_has_the_rest_of_its_time() {
    let (runtime, begin) = (runtime(), tokio::time::Instant::now());
    let limits = Limits::new().wall_time(Duration::from_secs(60));
    let start = || runtime.start(wait_until_cancelled {}).limits(limits.clone());
    let error = start().time_spent(Duration::from_secs(57)).await.unwrap_err();
    assert!(error.to_string().contains("after 60s"), "the error names the whole limit: {error}");
    assert_eq!(begin.elapsed().as_secs(), 3);
    assert!(start().time_spent(Duration::from_secs(61)).await.unwrap_err().is_timeout());
    assert_eq!(begin.elapsed().as_secs(), 3, "no time is left");
}

#[tokio::test]
async fn a_run_is_cancelled_by_its_token_the_runtimes_token_or_its_handle() {
    let all = CancellationToken::new();
    let runtime = builder().cancellation(all.clone()).build().unwrap();
    let own = CancellationToken::new();
    let (one, other) =
        (runtime.start(wait_until_cancelled {}).cancellation(own.clone()), runtime.start(wait_until_cancelled {}));
    let third = runtime.start(wait_until_cancelled {}).cancellation(CancellationToken::new());
    let (handle, mut third) = (other.handle(), Box::pin(third.into_future()));
    let (mut one, mut other) = (Box::pin(one.into_future()), Box::pin(other.into_future()));
    assert!((&mut one).now_or_never().is_none() && (&mut other).now_or_never().is_none());
    own.cancel();
    assert!(one.await.unwrap_err().is_cancelled());
    assert!((&mut other).now_or_never().is_none(), "the other run continues");
    handle.cancel();
    assert!(other.await.unwrap_err().is_cancelled());
    assert!((&mut third).now_or_never().is_none());
    all.cancel();
    assert!(third.await.unwrap_err().is_cancelled());
}

/// An address whose street is deserialized but not serialized.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Address {
    #[serde(default, skip_serializing)]
    street: String,
}

/// Return the street of an address.
#[tool(effect = read_only, inline)]
fn look_up(address: Address) -> String {
    address.street
}

#[tokio::test]
async fn sinks_of_runs_and_runtimes_receive_the_same_arguments() {
    let (runtimes, runs) = (Recorder::new(), Recorder::new());
    let call = json!({ "address": { "street": "Elm" } });
    builder().sink(runtimes.clone()).build().unwrap().start_named("look_up", call.clone()).await.unwrap();
    runtime().start_named("look_up", call.clone()).sink(runs.clone()).await.unwrap();
    for recorder in [runtimes, runs] {
        let started = recorder.events().into_iter().find_map(|event| match event.kind {
            EventKind::CallStarted { arguments, .. } => Some(arguments.value().into_owned()),
            _ => None,
        });
        assert_eq!(started, Some(call.clone()));
    }
}

// Histories.

#[tokio::test]
async fn a_history_is_rejected_for_entries_and_tools() {
    let runtime = runtime();
    let before: History = vec![Message::user("Hello!")].into();
    for (name, kind) in [("ask_name", "entry"), ("who", "tool")] {
        let error = runtime.start_named(name, json!({})).history(before.clone()).await.unwrap_err();
        let text = format!(
            "only workers accept a message history, and `{name}` is of kind `{kind}`: call it without a history"
        );
        assert_eq!(error.to_string(), text);
    }
    let start = runtime.start_named("look_at", json!({ "input": "Look." })).history(before);
    let handle = start.handle();
    start.await.unwrap();
    assert_eq!(handle.history().messages().len(), 3);
}
