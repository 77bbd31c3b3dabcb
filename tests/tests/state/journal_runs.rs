//! Runs with a journal: replay and resume.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::{ApprovalInbox, ApprovalRequest, Approver, DecidedBy, Decision};
use llm_do::async_trait;
use llm_do::context::{InputHandler, InputRequest};
use llm_do::error::BoxError;
use llm_do::event::{Caller, EventKind, Timestamp};
use llm_do::journal::{
    FileJournal, Journal, JournalError, JournalOutcome, MemoryJournal, StepFuture, StepKind, StepSpec,
};
use llm_do::model::{
    ErrorKind, FinishReason, Message, ProviderError, Request, Response, ResponsePart, ToolCall, ToolResult,
};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, Recorder};
use llm_do::usage::{RunUsage, Usage};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The effects outside of the plane. Clones share the log.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// Write a text.
#[tool(effect = destructive)]
async fn write(text: String, log: State<Log>) -> usize {
    log.add(format!("wrote {text}"));
    text.len()
}

/// Look at a text.
#[tool(effect = read_only)]
async fn look(text: String, log: State<Log>) -> usize {
    log.add(format!("looked at {text}"));
    text.len()
}

/// Fail with a message.
#[tool(effect = read_only)]
async fn fail_with(words: String, log: State<Log>) -> std::io::Result<()> {
    log.add("failed");
    Err(std::io::Error::other(words))
}

/// Panic.
#[tool(effect = read_only)]
async fn panic_in(words: String, log: State<Log>) -> u8 {
    log.add("panicked");
    std::panic::resume_unwind(Box::new(words))
}

/// Take too long.
#[tool(effect = read_only, timeout = Duration::from_millis(20))]
async fn linger(log: State<Log>) -> u8 {
    log.add("dawdled");
    std::future::pending().await
}

/// Take too long in a tool that is called.
#[tool(effect = read_only, timeout = Duration::from_millis(20))]
async fn wait_for_another(ctx: &CallContext) -> Result<u8> {
    Ok(ctx.call(dawdle_on {}).await?)
}

/// Never return.
#[tool(effect = read_only)]
async fn dawdle_on(log: State<Log>) -> u8 {
    log.add("dawdled on");
    std::future::pending().await
}

/// Nest a list in lists.
#[tool(effect = read_only)]
async fn nest(depth: usize, log: State<Log>) -> Value {
    log.add("nested");
    nested(depth)
}

/// Take anything.
#[tool(effect = read_only)]
async fn take(anything: Value, log: State<Log>) -> usize {
    log.add("took");
    anything.to_string().len()
}

/// Ask the user.
#[tool(effect = read_only)]
async fn ask_user(ctx: &CallContext, question: String) -> Result<String> {
    Ok(ctx.request_user_input(question).await?)
}

/// Return the idempotency key of this call.
#[tool(effect = read_only)]
async fn key(ctx: &CallContext) -> String {
    ctx.idempotency_key()
}

/// Do what is asked.
#[worker(toolsets = [write, look, fail_with, panic_in, linger, wait_for_another, ask_user, nest, take])]
async fn assistant(input: String) -> String;

/// Asks the assistant.
#[entry(toolsets = [assistant])]
async fn through_entry(ctx: &CallContext<through_entry>, input: String) -> Result<String> {
    Ok(ctx.call(assistant { input }).await?)
}

/// Writes texts sequentially.
#[entry(toolsets = [write])]
async fn write_all(ctx: &CallContext<write_all>, texts: Vec<String>) -> Result<usize> {
    let mut sum = 0;
    for text in texts {
        sum += ctx.call(write { text }).await?;
    }
    Ok(sum)
}

/// A model that makes these calls, one per answer, and then returns the messages as text.
fn calling(calls: impl IntoIterator<Item = (&'static str, Value)>) -> FunctionModel {
    let calls: Vec<_> = calls.into_iter().collect();
    FunctionModel::new(move |request: Request<'_>| {
        let results: Vec<&ToolResult> = request.messages.iter().flat_map(results).collect();
        let part = match calls.get(results.len()) {
            Some((name, arguments)) => {
                ResponsePart::ToolCall(ToolCall::new(results.len().to_string(), *name, arguments.to_string()))
            }
            None => ResponsePart::Text { text: format!("{:?}", request.messages.iter().map(text).collect::<Vec<_>>()) },
        };
        Ok(Response::new("m", vec![part], Usage::of_request(100, 10)))
    })
}

/// A model that must not be called.
fn unused_model() -> FunctionModel {
    FunctionModel::new(|_| panic!("a model was called in a replay"))
}

fn results(message: &Message) -> &[ToolResult] {
    match message {
        Message::Tool { results } => results,
        _ => &[],
    }
}

fn text(message: &Message) -> String {
    match message {
        Message::Tool { results } => results.iter().map(|result| result.content.as_str()).collect(),
        Message::User { parts } => format!("{parts:?}"),
        _ => String::new(),
    }
}

/// An approver that always returns this decision, and logs the requests.
#[derive(Debug)]
struct Always(Decision, Log);

#[async_trait]
impl Approver for Always {
    async fn review(&self, request: &ApprovalRequest, _: &llm_do::CallContext) -> Decision {
        self.1.add(format!("asked about {}", request.tool));
        self.0.clone()
    }
}

/// A user who answers with the prompt and the 0-based index of the question.
#[derive(Debug, Default)]
struct User(AtomicUsize);

#[async_trait]
impl InputHandler for User {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        Ok(format!("{} {}", request.question.prompt, self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

/// A user who must not be asked.
#[derive(Debug)]
struct UnusedUser;

#[async_trait]
impl InputHandler for UnusedUser {
    async fn answer(&self, _: &InputRequest) -> Result<String, BoxError> {
        panic!("the user was asked in a replay")
    }
}

fn process(journal: &MemoryJournal, log: &Log) -> RuntimeBuilder {
    let builder = crate::own_builder().journal(journal.clone()).state(log.clone());
    builder.state(Changed(Vec::new())).state(Changing(Vec::new())).state(Up::default())
}

fn approved(builder: RuntimeBuilder, log: &Log) -> RuntimeBuilder {
    builder.approver(Always(Decision::approve(), log.clone()))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Returns the journal as it was after its first `records` records.
fn cut(journal: &MemoryJournal, records: usize) -> MemoryJournal {
    MemoryJournal::from_records(journal.records().into_iter().take(records))
}

#[tokio::test]
async fn a_recorded_approval_is_not_asked_again() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let all = || write_all { texts: texts(&["a", "b"]) };
    let first = approved(process(&journal, &log), &log).build().unwrap().run(all()).await.unwrap();
    assert_eq!(log.take().len(), 4);

    // The approver would decide differently now.
    let again = process(&journal.replayed(), &log).approver(Always(Decision::deny("no"), log.clone()));
    assert_eq!(again.build().unwrap().run(all()).await.unwrap(), first);
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_denial_that_was_sent_to_a_model_is_not_asked_again() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let model = calling([("write", json!({ "text": "a" })), ("look", json!({ "text": "b" }))]);
    let run = async |journal: &MemoryJournal, decision: Decision, model: FunctionModel| {
        let approver = Always(decision, log.clone());
        let builder = process(journal, &log).approver(approver).force_model(model);
        builder.build().unwrap().run(assistant { input: "Go.".into() }).await.unwrap()
    };
    let first = run(&journal, Decision::deny("not today"), model).await;
    assert!(first.contains("not today"), "{first}");
    assert_eq!(log.take(), ["asked about write", "looked at b"]);
    assert_eq!(run(&journal.replayed(), Decision::approve(), unused_model()).await, first);
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn a_run_denied_for_lack_of_an_approver_can_be_resumed_with_one() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let alone = process(&journal, &log).build().unwrap();
    let error = alone.run(write_all { texts: texts(&["a"]) }).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    log.take();
    let resumed = approved(process(&journal.replayed(), &log), &log).build().unwrap();
    assert_eq!(resumed.run(write_all { texts: texts(&["a"]) }).await.unwrap(), 1);
    assert_eq!(log.take(), ["asked about write", "wrote a"]);
}

#[tokio::test]
async fn a_denial_by_an_approver_is_final() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let denying = process(&journal, &log).approver(Always(Decision::deny("not today"), log.clone()));
    let error = denying.build().unwrap().run(write_all { texts: texts(&["a"]) }).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    log.take();
    let resumed = approved(process(&journal.replayed(), &log), &log).build().unwrap();
    let error = resumed.run(write_all { texts: texts(&["a"]) }).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("not today"), "{error:?}");
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn a_request_that_the_approver_dropped_is_asked_again() {
    let log = Log::default();
    let run = async |builder: RuntimeBuilder| builder.build().unwrap().run(write_all { texts: texts(&["a"]) }).await;
    for gone in ["the approval request was dropped", "the approval inbox was dropped", "the approver panicked"] {
        let (journal, (approver, mut inbox)) = (MemoryJournal::new(), ApprovalInbox::new());
        let panicking = |_| async { std::panic::resume_unwind(Box::new("on purpose")) };
        let asking = match gone {
            "the approver panicked" => process(&journal, &log).approve_with(panicking),
            _ => process(&journal, &log).approver(approver),
        };
        let leaving = async {
            if gone == "the approval request was dropped" {
                drop(inbox.next().await);
            }
            drop(inbox);
        };
        let ((), denied) = futures_util::join!(leaving, run(asking));
        let denied = denied.unwrap_err();
        assert!(denied.is_denied() && llm_do::error::chain(&denied).contains(gone), "{denied:?}");
        assert_eq!(run(approved(process(&journal.replayed(), &log), &log)).await.unwrap(), 1);
        assert_eq!(log.take(), ["asked about write", "wrote a"], "{gone}");
    }
}

#[tokio::test]
async fn an_approval_for_the_session_is_remembered_by_the_next_process() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let remembering = |journal: &MemoryJournal, recorder: &Recorder| {
        let approver = Always(Decision::approve_for_session(), log.clone());
        process(journal, &log).approver(approver).sink(recorder.clone()).build().unwrap()
    };
    let all = || write_all { texts: texts(&["a", "a", "b", "a"]) };
    remembering(&journal, &Recorder::new()).run(all()).await.unwrap();
    let asked = |log: &Log| log.take().iter().filter(|line| line.starts_with("asked")).count();
    assert_eq!(asked(&log), 2, "about `a` once, and about `b`");

    // The run, the approval of the first `a`, its begin and its result are kept; the rest is new.
    let recorder = Recorder::new();
    remembering(&cut(&journal, 4), &recorder).run(all()).await.unwrap();
    assert_eq!(asked(&log), 1, "about `b`");
    let by = |kind: EventKind| match kind {
        EventKind::ApprovalDecided { by, .. } => Some(by),
        _ => None,
    };
    let judges: Vec<_> = recorder.kinds().into_iter().filter_map(by).skip(1).collect();
    assert_eq!(judges, [DecidedBy::Approver, DecidedBy::Memory, DecidedBy::Approver, DecidedBy::Memory]);
}

#[tokio::test]
async fn another_call_at_a_recorded_place_ends_the_run_with_an_error_that_names_both() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, written: &[&str]| {
        let arguments = json!({ "texts": ["a", "b"] });
        // As if the code had changed: the same arguments of the run, but other calls.
        let changed = Changed(texts(written));
        approved(process(journal, &log), &log).state(changed).build().unwrap().run_named("changing", arguments).await
    };
    run(&journal, &["a", "b"]).await.unwrap();
    log.take();
    // Killed before its result was recorded: a run with a recorded result does not run again.
    let journal = cut(&journal, journal.records().len() - 1);
    let error = run(&journal.replayed(), &["a", "c"]).await.unwrap_err();
    assert!(matches!(&error, CallError::Failed { .. }) && !error.is_recoverable(), "{error:?}");
    let text = llm_do::error::chain(&error);
    assert!(text.contains("`changing` → 2nd call") && text.matches("`write` (input ").count() == 2, "{text}");
    assert!(!text.contains("\"c\""), "{text}");
    let error = run(&journal.replayed(), &["a"]).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("the end of `changing`"), "{}", llm_do::error::chain(&error));
    assert!(log.take().is_empty(), "no effect ran");
}

/// The texts that `changing` writes, independent of its arguments.
struct Changed(Vec<String>);

/// Writes the texts of [`Changed`].
#[entry(toolsets = [write])]
async fn changing(ctx: &CallContext<changing>, texts: Vec<String>, changed: State<Changed>) -> Result<usize> {
    for text in &changed.0 {
        ctx.call(write { text: text.clone() }).await?;
    }
    Ok(texts.len())
}

#[tokio::test]
async fn a_finished_run_is_replayed_with_its_result_usage_and_history_without_a_model() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let calls = [("look", json!({ "text": "a" })), ("write", json!({ "text": "b" })), ("look", json!({ "text": "c" }))];
    let run = async |builder: RuntimeBuilder| {
        let start = approved(builder, &log).build().unwrap().start(assistant { input: "Go.".into() });
        let handle = start.handle();
        (start.await.unwrap(), handle.usage(), handle.usage_tree(), handle.history())
    };
    let first = run(process(&journal, &log).force_model(calling(calls))).await;
    assert_eq!((first.1.model.requests, first.1.tool_calls, log.take().len()), (4, 3, 4));
    let again = run(process(&journal.replayed(), &log).force_model(unused_model())).await;
    assert_eq!(again, first);
    assert!(log.take().is_empty());
}

#[tokio::test]
async fn the_usage_of_a_replayed_worker_counts_for_its_caller_and_in_its_events() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |builder: RuntimeBuilder| {
        let recorder = Recorder::new();
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let start = runtime.start(through_entry { input: "Go.".into() });
        let handle = start.handle();
        start.await.unwrap();
        let finished = |event: &llm_do::event::Event| match event.kind {
            EventKind::CallFinished { replayed, .. } if &*event.name == "assistant" => Some(replayed),
            _ => None,
        };
        (handle.usage(), handle.usage_tree(), recorder.events().iter().find_map(finished))
    };
    let (used, tree, fresh) =
        run(process(&journal, &log).force_model(calling([("look", json!({ "text": "a" }))]))).await;
    // Without the result of the entry, so that it calls the worker again.
    let unfinished = cut(&journal, journal.records().len() - 1);
    let replayed = run(process(&unfinished, &log).force_model(unused_model())).await;
    assert_eq!(replayed, (used, tree, Some(true)));
    assert_eq!((fresh, used.model.input_tokens, used.tool_calls), (Some(false), 200, 2));
}

#[tokio::test]
async fn a_run_and_its_calls_have_the_same_ids_in_each_process() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let recorder = Recorder::new();
        let runtime = process(journal, &log).sink(recorder.clone()).build().unwrap();
        let key = runtime.run(key {}).await.unwrap();
        (recorder.events()[0].run.to_string(), key)
    };
    let (first, key) = run(&journal).await;
    assert_eq!(run(&cut(&journal, 1)).await, (first.clone(), key.clone()));
    assert!(key.starts_with(&first), "{key}");
    let other = run(&MemoryJournal::new()).await;
    assert!(other.0 != first && other.1 != key);
}

/// Returns the idempotency keys of itself and of two equal calls.
#[entry(toolsets = [key])]
async fn keys(ctx: &CallContext<keys>) -> Result<Vec<String>> {
    Ok(vec![ctx.idempotency_key(), ctx.call(key {}).await?, ctx.call(key {}).await?])
}

#[tokio::test]
async fn equal_calls_have_distinct_keys_that_are_the_same_in_each_process() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let first = process(&journal, &log).build().unwrap().run(keys {}).await.unwrap();
    let unique: std::collections::BTreeSet<_> = first.iter().collect();
    assert_eq!(unique.len(), 3);
    for records in 1..journal.records().len() {
        let again = process(&cut(&journal, records), &log).build().unwrap();
        assert_eq!(again.run(keys {}).await.unwrap(), first);
    }
}

/// Send a text, and return its length.
#[tool(effect = destructive)]
async fn send(text: String, log: State<Log>) -> ToolReturn {
    log.add(format!("sent {text}"));
    let file = llm_do::Attachment::new("text/plain", text.clone().into_bytes());
    ToolReturn::from(json!(text.len())).attach(file)
}

/// Send a text, with progress.
#[tool(effect = destructive)]
async fn send_in_steps(ctx: &CallContext, text: String, log: State<Log>) -> usize {
    ctx.progress("sending");
    log.add(format!("sent {text}"));
    text.len()
}

#[tokio::test]
async fn a_root_tool_whose_result_is_recorded_does_not_run_again() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let recorder = Recorder::new();
        let runtime = process(journal, &log).sink(recorder.clone()).build().unwrap();
        let returned = runtime.start(send { text: "a".into() }).with_files().await.unwrap();
        let in_steps = runtime.run(send_in_steps { text: "b".into() }).await.unwrap();
        let replayed = |kind: EventKind| match kind {
            EventKind::CallFinished { replayed, .. } => Some(replayed),
            _ => None,
        };
        (returned, in_steps, recorder.kinds().into_iter().filter_map(replayed).collect::<Vec<_>>())
    };
    let (returned, in_steps, replayed) = run(&journal).await;
    assert_eq!((returned.attachments().len(), in_steps, replayed), (1, 1, vec![false, false]));
    assert_eq!(log.take(), ["sent a", "sent b"]);
    let again = journal.replayed();
    let (replay, in_steps, replayed) = run(&again).await;
    assert_eq!((replay, in_steps, replayed), (returned, 1, vec![true, true]));
    assert_eq!(log.take(), [""; 0], "a recorded effect was repeated");
    assert!(!again.is_replaying());
}

#[tokio::test]
async fn a_root_entry_whose_result_is_recorded_does_not_run_again_and_its_usage_is_restored() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |builder: RuntimeBuilder| {
        let start = builder.build().unwrap().start(through_entry { input: "Go.".into() });
        let handle = start.handle();
        (start.await.unwrap(), handle.usage(), handle.usage_tree())
    };
    let model = calling([("look", json!({ "text": "a" }))]);
    let first = run(process(&journal, &log).force_model(model)).await;
    assert_eq!(log.take(), ["looked at a"]);
    // With the result alone: the records of steps inside are not needed.
    let is_of_run = |record: &llm_do::journal::Record| matches!(record.kind, StepKind::Run | StepKind::Result);
    let result = MemoryJournal::from_records(journal.records().into_iter().filter(is_of_run));
    assert_eq!(run(process(&result, &log).force_model(unused_model())).await, first);
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test]
async fn equal_runs_of_a_session_are_different_runs() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let runtime = approved(process(journal, &log), &log).build().unwrap();
        for _ in 0..2 {
            runtime.run(write_all { texts: texts(&["a"]) }).await.unwrap();
        }
    };
    run(&journal).await;
    assert_eq!(log.take().iter().filter(|line| *line == "wrote a").count(), 2);
    run(&journal.replayed()).await;
    assert!(log.take().is_empty());
    assert_eq!(journal.records().iter().filter(|record| record.kind == StepKind::Run).count(), 2);
}

/// Draws a number, reads the time, waits, and reads the time again.
#[entry]
async fn chance(ctx: &CallContext, log: State<Log>) -> Result<(u32, Timestamp, Timestamp)> {
    let drawing = log.clone();
    let drawn = ctx.effect("draw", "dice", async move {
        drawing.add("drew");
        Ok(4)
    });
    let drawn = drawn.await?;
    let before = ctx.now().await?;
    ctx.sleep(Duration::from_secs(3600)).await?;
    Ok((drawn, before, ctx.now().await?))
}

#[tokio::test(start_paused = true)]
async fn effects_times_and_waits_are_replayed() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    let begun = tokio::time::Instant::now();
    let first = process(&journal, &log).clock(noon).build().unwrap().run(chance {}).await.unwrap();
    assert_eq!(first, (4, noon, noon));
    assert!(begun.elapsed() >= Duration::from_secs(3600));
    assert_eq!(log.take(), ["drew"]);

    let (begun, later) = (tokio::time::Instant::now(), "2026-02-02T12:00:00Z".parse::<Timestamp>().unwrap());
    let again = process(&journal.replayed(), &log).clock(later).build().unwrap();
    assert_eq!(again.run(chance {}).await.unwrap(), first);
    assert!(begun.elapsed() < Duration::from_secs(1) && log.take().is_empty());
    // With the records up to the first time: the wait and the second time are new.
    let resumed = process(&cut(&journal, 3), &log).clock(later).build().unwrap();
    assert_eq!(resumed.run(chance {}).await.unwrap(), (4, noon, later));
    assert!(begun.elapsed() >= Duration::from_secs(3600));
}

/// Tries until it works.
#[entry]
async fn trying(ctx: &CallContext, log: State<Log>) -> Result<usize> {
    let trying = log.clone();
    let tried = ctx.effect("try", (), async move {
        trying.add("tried");
        Err::<usize, _>("not yet".into())
    });
    Ok(tried.await?)
}

#[tokio::test]
async fn an_effect_whose_failure_ended_the_run_is_retried_on_resume() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let error = process(journal, &log).build().unwrap().run(trying {}).await.unwrap_err();
        llm_do::error::chain(&error)
    };
    let first = run(&journal).await;
    assert!(first.contains("not yet"), "{first}");
    assert_eq!(run(&journal.replayed()).await, first);
    assert_eq!(log.take(), ["tried", "tried"]);
    // Killed before the result of the run was recorded: the failure is replayed, and retried on the next resume.
    let unfinished = cut(&journal, journal.records().len() - 1);
    assert_eq!(run(&unfinished).await, first);
    assert_eq!(log.take(), [""; 0]);
    assert_eq!(run(&unfinished.replayed()).await, first);
    assert_eq!(log.take(), ["tried"]);
}

/// A type whose serialized form cannot be deserialized.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Lossy {
    #[serde(skip_serializing)]
    amount: u32,
}

/// Pays, in an effect whose recorded result cannot be deserialized.
#[entry]
async fn pay(ctx: &CallContext, log: State<Log>) -> Result<u32> {
    let log = log.clone();
    let paid = ctx.effect("pay", (), async move {
        log.add("paid");
        Ok(Lossy { amount: 1 })
    });
    Ok(paid.await?.amount)
}

#[tokio::test]
async fn a_successful_effect_with_an_unreadable_record_does_not_run_again() {
    let (mut journal, log) = (MemoryJournal::new(), Log::default());
    for _ in 0..3 {
        process(&journal, &log).build().unwrap().run(pay {}).await.unwrap_err();
        journal = journal.replayed();
    }
    assert_eq!(log.take(), ["paid"]);
}

/// Whether servers are up.
#[derive(Clone, Debug, Default)]
struct Up(Arc<AtomicBool>);

/// Fetch something.
#[tool(effect = read_only)]
async fn fetch(what: String, up: State<Up>, log: State<Log>) -> Result<String> {
    log.add(format!("fetched {what}"));
    if up.0.load(Ordering::Relaxed) { Ok(what) } else { Err("the server is down".into()) }
}

/// Fetch something in a nested call.
#[tool(effect = read_only)]
async fn fetch_below(ctx: &CallContext, what: String) -> Result<String> {
    ctx.call(write { text: format!("before {what}") }).await?;
    Ok(ctx.call(fetch { what }).await?)
}

/// Handles one failure, and returns the next.
#[entry(toolsets = [fetch, fetch_below, write])]
async fn handle_one_and_fail(ctx: &CallContext<handle_one_and_fail>) -> Result<String> {
    let first = ctx.call(fetch { what: "first".into() }).await;
    ctx.call(write { text: format!("first: {}", first.is_ok()) }).await?;
    let second = ctx.call(fetch_below { what: "second".into() }).await?;
    Ok(format!("{} {second}", first.is_ok()))
}

#[tokio::test]
async fn failures_that_ended_a_run_are_retried_and_handled_failures_are_not() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, up: bool| {
        let up = Up(Arc::new(AtomicBool::new(up)));
        let runtime = approved(process(journal, &log), &log).state(up).build().unwrap();
        let result = runtime.run(handle_one_and_fail {}).await;
        result.map_err(|error| llm_do::error::chain(&error))
    };
    let error = run(&journal, false).await.unwrap_err();
    assert!(error.contains("the server is down"), "{error}");
    log.take();
    let again = journal.replayed();
    assert_eq!(run(&again, false).await, Err(error));
    assert_eq!(log.take(), ["fetched second"]);
    let once_more = again.replayed();
    assert_eq!(run(&once_more, true).await.as_deref(), Ok("false second"));
    assert_eq!(log.take(), ["fetched second"], "recorded approvals and effects are not repeated");
    assert_eq!(run(&once_more.replayed(), false).await.as_deref(), Ok("false second"));
    assert_eq!(log.take(), [""; 0]);
}

fn down() -> FunctionModel {
    FunctionModel::new(|_| {
        let error = ProviderError::new("function", ErrorKind::Unavailable, "the server is down").with_status(503);
        Err(error.with_source("a cause"))
    })
}

/// Asks the assistant, and continues if it fails.
#[entry(toolsets = [assistant, write])]
async fn with_or_without(ctx: &CallContext<with_or_without>) -> Result<String> {
    let answer = ctx.call(assistant { input: "Go.".into() }).await;
    let failed = answer.err().map(|error| llm_do::error::chain(&error)).unwrap_or_default();
    ctx.call(write { text: "continued".into() }).await?;
    Ok(failed)
}

#[tokio::test]
async fn a_handled_failure_of_a_model_is_the_same_in_each_process() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, model: FunctionModel| {
        let runtime = approved(process(journal, &log), &log).force_model(model).build().unwrap();
        let start = runtime.start(with_or_without {});
        let handle = start.handle();
        (start.await.map_err(|error| llm_do::error::chain(&error)), handle.usage())
    };
    let first = run(&journal, down()).await;
    let expected = "the model of `assistant` failed: function: status 503: the server is down: a cause";
    assert_eq!((first.0.as_deref(), first.1.model.requests), (Ok(expected), 1));
    let records = journal.records();
    let failed = records.iter().position(|record| record.kind == StepKind::Model).unwrap();
    for kept in 1..=records.len() {
        let model = if kept > failed { unused_model() } else { down() };
        assert_eq!(run(&cut(&journal, kept), model).await, first, "{kept} records");
    }
}

#[tokio::test]
async fn a_model_request_that_failed_or_was_filtered_is_retried_on_resume() {
    let filtered = || {
        FunctionModel::new(|request: Request<'_>| {
            let is_last = request.messages.iter().any(|message| !results(message).is_empty());
            let part = ResponsePart::Text { text: "never".into() };
            let response = Response::new("m", vec![part], Usage::of_request(1, 1));
            let call = ToolCall::new("0", "look", json!({ "text": "a" }).to_string());
            let calls = Response::new("m", vec![ResponsePart::ToolCall(call)], Usage::of_request(100, 10));
            Ok(if is_last { response.with_finish(FinishReason::ContentFilter) } else { calls })
        })
    };
    for (model, looked) in [(down(), 0), (filtered(), 1)] {
        let (journal, log) = (MemoryJournal::new(), Log::default());
        let run = async |journal: &MemoryJournal, model: FunctionModel| {
            let runtime = process(journal, &log).force_model(model).build().unwrap();
            runtime.run(through_entry { input: "Go.".into() }).await.map_err(|error| llm_do::error::chain(&error))
        };
        let error = run(&journal, model).await.unwrap_err();
        assert_eq!(log.take().len(), looked, "{error}");
        let again = journal.replayed();
        let result = run(&again, calling([("look", json!({ "text": "a" }))])).await;
        assert!(result.as_ref().is_ok_and(|text| text.contains("Go.")), "{result:?}");
        assert_eq!(log.take().len(), 1 - looked, "effects of the first run are not repeated");
        assert_eq!(run(&again.replayed(), unused_model()).await, result);
    }
}

#[tokio::test]
async fn a_file_forgets_the_failures_that_ended_a_run_and_keeps_later_records() {
    let (folder, log) = (tempfile::tempdir().unwrap(), Log::default());
    let path = folder.path().join("run.jsonl");
    let run = async |up: bool| {
        let up = Up(Arc::new(AtomicBool::new(up)));
        let builder = crate::own_builder().journal(FileJournal::open(&path).unwrap()).state(log.clone()).state(up);
        let builder = builder.state(Changed(Vec::new())).state(Changing(Vec::new()));
        approved(builder, &log)
            .build()
            .unwrap()
            .run(handle_one_and_fail {})
            .await
            .map_err(|error| llm_do::error::chain(&error))
    };
    let error = run(false).await.unwrap_err();
    assert_eq!(run(false).await, Err(error));
    log.take();
    assert_eq!(run(true).await.as_deref(), Ok("false second"));
    assert_eq!(log.take(), ["fetched second"]);
    assert_eq!(run(false).await.as_deref(), Ok("false second"));
    assert_eq!(log.take(), [""; 0]);
    let records: Vec<_> = FileJournal::read(&path).unwrap().map(Result::unwrap).collect();
    let keys: std::collections::BTreeSet<_> = records.iter().map(|record| record.key.clone()).collect();
    assert_eq!(keys.len(), records.len(), "forgotten records are not returned");
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"forget\":[")).count(), 2);
}

#[tokio::test]
async fn the_user_is_asked_once_and_the_answer_is_replayed_to_the_model() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let calls = || [("ask_user", json!({ "question": "Who?" })), ("look", json!({ "text": "a" }))];
    let model = || calling(calls());
    let first = process(&journal, &log).input_handler(User::default()).force_model(model());
    let result = first.build().unwrap().run(assistant { input: "Go.".into() }).await.unwrap();
    assert!(result.contains("The user answered: Who? 0"), "{result}");
    for records in 2..=journal.records().len() {
        let (whole, rest) = (records == journal.records().len(), cut(&journal, records));
        let asked = rest.records().iter().any(|record| record.kind == StepKind::Input);
        let builder = process(&rest, &log).force_model(if whole { unused_model() } else { model() });
        let builder = if asked { builder.input_handler(UnusedUser) } else { builder.input_handler(User::default()) };
        assert_eq!(builder.build().unwrap().run(assistant { input: "Go.".into() }).await.unwrap(), result, "{records}");
    }
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(0), |inner, _| json!([inner]))
}

#[tokio::test]
async fn the_model_receives_an_error_for_values_nested_too_deep_for_the_journal() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let calls = [("nest", json!({ "depth": 119 })), ("take", json!({ "anything": nested(120) }))];
    let run = async |journal: &MemoryJournal, model: FunctionModel| {
        let runtime = process(journal, &log).force_model(model).build().unwrap();
        runtime.run(assistant { input: "Go.".into() }).await.unwrap()
    };
    let first = run(&journal, calling(calls)).await;
    assert!(first.contains("`nest` failed: JSON nested deeper than 120 levels cannot be recorded"), "{first}");
    assert!(first.contains("invalid arguments for `take`: JSON nested deeper than 120 levels"), "{first}");
    assert_eq!(run(&journal.replayed(), unused_model()).await, first);
    assert_eq!(log.take(), ["nested"]);

    let calls = [("nest", json!({ "depth": 118 })), ("take", json!({ "anything": nested(119) }))];
    let folder = tempfile::tempdir().unwrap();
    let run = async || {
        let journal = FileJournal::open(folder.path().join("run.jsonl")).unwrap();
        let model = calling(calls.clone());
        let builder = crate::own_builder().journal(journal).state(log.clone());
        let builder = builder.state(Changed(Vec::new())).state(Changing(Vec::new())).state(Up::default());
        builder.force_model(model).build().unwrap().run(assistant { input: "Go.".into() }).await.unwrap()
    };
    assert_eq!(run().await, run().await);
    assert_eq!(log.take(), ["nested", "took"]);
}

/// A user who answers the first question after the second one.
#[derive(Debug, Default)]
struct SecondFirst(Notify);

#[async_trait]
impl InputHandler for SecondFirst {
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
        if request.question.prompt == "First?" {
            self.0.notified().await;
        } else {
            self.0.notify_one();
        }
        Ok(format!("to {}", request.question.prompt))
    }
}

#[tokio::test]
async fn answers_to_questions_of_one_turn_are_sent_in_the_order_of_the_questions() {
    let both = |request: Request<'_>| {
        let answers: String = request.messages.iter().map(text).collect();
        let ask = |question: &str| {
            let (id, arguments) = (question.to_owned(), json!({ "question": question }).to_string());
            ResponsePart::ToolCall(ToolCall::new(id, "ask_user", arguments))
        };
        let is_answered = answers.contains("The user answered");
        let parts =
            if is_answered { vec![ResponsePart::Text { text: answers }] } else { vec![ask("First?"), ask("Second?")] };
        Ok(Response::new("m", parts, Usage::of_request(100, 10)))
    };
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, user: SecondFirst| {
        let builder = process(journal, &log).input_handler(user).force_model(FunctionModel::new(both));
        builder
            .build()
            .unwrap()
            .run(through_entry { input: "Go.".into() })
            .await
            .map_err(|error| llm_do::error::chain(&error))
    };
    let result = run(&journal, SecondFirst::default()).await.unwrap();
    assert!(result.find("answered: to First?") < result.find("answered: to Second?"), "{result}");
    for records in 0..=journal.records().len() {
        // The second answer may already be recorded.
        let user = SecondFirst::default();
        user.0.notify_one();
        assert_eq!(run(&cut(&journal, records), user).await.as_ref(), Ok(&result), "{records} records");
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_receives_the_same_error_messages_in_a_replay() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let calls = || {
        [
            ("fail_with", json!({ "words": "no \"such\" file" })),
            ("panic_in", json!({ "words": "index out of bounds" })),
            ("look", json!({ "txt": "a" })),
            ("linger", json!({})),
            ("wait_for_another", json!({})),
        ]
    };
    let first = process(&journal, &log).force_model(calling(calls())).build().unwrap();
    let result = first.run(assistant { input: "Go.".into() }).await.unwrap();
    for words in ["`fail_with` failed: no", "`panic_in` panicked: index out of bounds", "invalid arguments for `look`"]
    {
        assert!(result.contains(words), "{result}");
    }
    assert!(result.contains("`linger` timed out") && result.contains("`wait_for_another` timed out"), "{result}");
    assert_eq!(log.take(), ["failed", "panicked", "dawdled", "dawdled on"]);
    for records in 1..=journal.records().len() {
        let whole = records == journal.records().len();
        let again =
            process(&cut(&journal, records), &log).force_model(if whole { unused_model() } else { calling(calls()) });
        let again = again.build().unwrap().run(assistant { input: "Go.".into() }).await;
        assert_eq!(again.map_err(|error| llm_do::error::chain(&error)).as_deref(), Ok(&*result), "{records}");
        let repeated = log.take();
        assert!(!whole || repeated.is_empty(), "{repeated:?}");
    }
}

/// Makes two concurrent calls, cancels one when the other fails, and returns the error as text.
#[entry(toolsets = [write, fail_later])]
async fn cancel_one(ctx: &CallContext<cancel_one>) -> Result<String> {
    let written = async { ctx.call(write { text: "a".into() }).await.map_err(BoxError::from) };
    let failed = async { ctx.call(fail_later {}).await.map_err(BoxError::from) };
    Ok(match futures_util::try_join!(failed, written) {
        Ok(_) => "both".to_owned(),
        Err(error) => llm_do::error::chain(&*error),
    })
}

/// Fail after yielding several times.
#[tool(effect = read_only)]
async fn fail_later(log: State<Log>) -> Result<()> {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    log.add("failed");
    Err("later".into())
}

/// Makes two concurrent calls, cancels one when the other fails, and returns the error.
#[entry(toolsets = [write, fail_later])]
async fn cancel_and_fail(ctx: &CallContext<cancel_and_fail>) -> Result<()> {
    let written = async { ctx.call(write { text: "a".into() }).await.map_err(BoxError::from) };
    let failed = async { ctx.call(fail_later {}).await.map_err(BoxError::from) };
    futures_util::try_join!(failed, written).map(drop)
}

#[tokio::test]
async fn a_recorded_call_that_is_cancelled_earlier_in_a_replay_is_not_a_divergence() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let runtime = approved(process(journal, &log), &log).build().unwrap();
        runtime.run(cancel_and_fail {}).await.map_err(|error| llm_do::error::chain(&error))
    };
    let first = run(&journal).await;
    assert_eq!(first, Err("`cancel_and_fail` failed: `fail_later` failed: later".to_owned()));
    assert_eq!(log.take(), ["asked about write", "wrote a", "failed"]);
    for records in 1..=journal.records().len() {
        assert_eq!(run(&cut(&journal, records)).await, first, "{records}");
    }
}

#[tokio::test]
async fn a_call_that_handles_the_failure_of_one_of_several_concurrent_calls_resumes() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let runtime = approved(process(journal, &log), &log).build().unwrap();
        runtime.run(cancel_one {}).await.map_err(|error| llm_do::error::chain(&error))
    };
    let first = run(&journal).await;
    assert_eq!(first, Ok("`fail_later` failed: later".to_owned()));
    for records in 1..=journal.records().len() {
        assert_eq!(run(&cut(&journal, records)).await, first, "{records}");
    }
}

/// Makes two concurrent calls, cancels one when the other fails, and then makes a third.
#[entry(toolsets = [write, fail_later])]
async fn cancel_and_continue(ctx: &CallContext<cancel_and_continue>) -> Result<usize> {
    let written = async { ctx.call(write { text: "a".into() }).await.map_err(BoxError::from) };
    let failed = async { ctx.call(fail_later {}).await.map_err(BoxError::from) };
    let is_failed = futures_util::try_join!(failed, written).is_err();
    Ok(ctx.call(write { text: format!("failed: {is_failed}") }).await?)
}

#[tokio::test]
async fn a_finished_call_whose_result_was_dropped_is_replayed_so_that_later_calls_resume() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal| {
        let runtime = approved(process(journal, &log), &log).build().unwrap();
        runtime.run(cancel_and_continue {}).await.map_err(|error| llm_do::error::chain(&error))
    };
    assert_eq!(run(&journal).await, Ok("failed: true".len()));
    for records in 1..=journal.records().len() {
        assert_eq!(run(&cut(&journal, records)).await, Ok("failed: true".len()), "{records}");
    }
}

/// The texts or tags that the code of an entry uses, independent of its arguments.
struct Changing(Vec<String>);

/// Write a text in two steps.
#[tool(effect = read_only)]
async fn write_later(text: String, log: State<Log>) -> usize {
    log.add(format!("began {text}"));
    tokio::task::yield_now().await;
    text.len()
}

/// Writes the texts of [`Changing`] concurrently.
#[entry(toolsets = [write_later])]
async fn changing_concurrently(ctx: &CallContext<changing_concurrently>, changing: State<Changing>) -> Result<usize> {
    let written = changing.0.iter().map(|text| ctx.call(write_later { text: text.clone() }));
    Ok(futures_util::future::try_join_all(written).await?.len())
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_that_differ_from_the_recorded_ones_end_the_run_before_they_start() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, written: &[&str]| {
        let changing = Changing(texts(written));
        approved(process(journal, &log), &log).state(changing).build().unwrap().run(changing_concurrently {}).await
    };
    run(&journal, &["a", "b"]).await.unwrap();
    log.take();
    // Killed before the result of the run was recorded.
    let unfinished = cut(&journal, journal.records().len() - 1);
    let error = run(&unfinished.replayed(), &["c", "d"]).await.unwrap_err();
    assert!(
        llm_do::error::chain(&error).contains("`changing_concurrently` → 1st call"),
        "{}",
        llm_do::error::chain(&error)
    );
    assert_eq!(log.take(), [""; 0], "an effect started before the divergence was detected");
    assert_eq!(unfinished.replayed().records().len(), unfinished.records().len());
}

/// Label something.
#[tool(effect = read_only)]
async fn label(labels: HashSet<u32>, log: State<Log>) -> usize {
    log.add("labelled");
    tokio::task::yield_now().await;
    labels.len()
}

/// Sort labels.
#[worker]
async fn sort_labels(labels: HashSet<u32>, counts: HashMap<String, u32>) -> String;

/// Labels twice concurrently, and then sorts the labels.
#[entry(toolsets = [label, sort_labels])]
async fn label_all(ctx: &CallContext<label_all>, labels: HashSet<u32>) -> Result<String> {
    let more: HashSet<_> = labels.iter().map(|label| label + 1).collect();
    let (one, two) = (ctx.call(label { labels: labels.clone() }), ctx.call(label { labels: more }));
    let (one, two) = futures_util::try_join!(one, two)?;
    let counts = labels.iter().map(|label| (label.to_string(), *label)).collect();
    let sorted = ctx.call(sort_labels { labels, counts }).await?;
    Ok(format!("{one} {two} {sorted}"))
}

#[tokio::test]
async fn unordered_arguments_make_the_same_call_in_each_process() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    // Each `HashSet` iterates in a different order.
    let run = async |journal: &MemoryJournal, model: FunctionModel| {
        let runtime = process(journal, &log).force_model(model).build().unwrap();
        runtime.run(label_all { labels: (0..50).collect() }).await.map_err(|error| llm_do::error::chain(&error))
    };
    let first = run(&journal, calling([])).await;
    assert!(first.as_ref().is_ok_and(|text| text.starts_with("50 50 ")), "{first:?}");
    assert_eq!(log.take().len(), 2);
    for records in 1..=journal.records().len() {
        let kept = cut(&journal, records);
        let labelled = kept.records().iter().filter(|record| &*record.name == "label").count();
        let is_answered = kept.records().iter().any(|record| record.kind == StepKind::Model);
        let model = if is_answered { unused_model() } else { calling([]) };
        assert_eq!(run(&kept, model).await, first, "{records} records");
        assert_eq!(log.take().len(), 2 - labelled, "{records} records");
        let runs = kept.records().iter().filter(|record| record.kind == StepKind::Run).count();
        assert_eq!(runs, 1, "the run itself is replayed");
    }
}

/// A journal with room for a limited number of steps.
#[derive(Debug)]
struct Full(MemoryJournal, AtomicUsize);

#[async_trait]
impl Journal for Full {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if self.1.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
            let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(JournalError::Io { path: "run.jsonl".into(), source: full });
        }
        self.0.step(step, local).await
    }

    fn is_replaying(&self) -> bool {
        self.0.is_replaying()
    }
}

#[tokio::test]
async fn a_full_journal_ends_the_run_before_the_next_effect() {
    let log = Log::default();
    let model = || calling([("look", json!({ "text": "a" })), ("write", json!({ "text": "b" }))]);
    let whole = MemoryJournal::new();
    let runtime = approved(process(&whole, &log), &log).force_model(model()).build().unwrap();
    let result = runtime.run(assistant { input: "Go.".into() }).await.unwrap();
    log.take();
    for room in 0..whole.records().len() {
        let kept = MemoryJournal::new();
        let builder = process(&kept, &log).journal(Full(kept.clone(), AtomicUsize::new(room)));
        let runtime = approved(builder, &log).force_model(model()).build().unwrap();
        let error = runtime.run(assistant { input: "Go.".into() }).await.unwrap_err();
        assert!(!error.is_recoverable() && llm_do::error::chain(&error).contains("run.jsonl"), "{error:?}");
        let done = log.take();
        assert!(done.iter().filter(|line| !line.starts_with("asked")).count() <= kept.records().len());

        // With room again, the run resumes.
        let resumed = approved(process(&kept.replayed(), &log), &log).force_model(model()).build().unwrap();
        assert_eq!(resumed.run(assistant { input: "Go.".into() }).await.unwrap(), result);
        let all = [done, log.take()].concat();
        assert_eq!(all.iter().filter(|line| *line == "wrote b").count(), 1, "{room}: {all:?}");
    }
}

#[tokio::test]
async fn a_replayed_run_reports_the_same_calls_without_their_bodies() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |builder: RuntimeBuilder| {
        let recorder = Recorder::new();
        let start = builder.sink(recorder.clone()).build().unwrap().start(assistant { input: "Go.".into() });
        let handle = start.handle();
        start.await.unwrap();
        let started = |kind: EventKind| match kind {
            EventKind::CallStarted { by, what, .. } if by != Caller::User => Some((by, what)),
            _ => None,
        };
        let calls: Vec<_> = recorder.kinds().into_iter().filter_map(started).collect();
        (calls, recorder.call_log(), handle.usage())
    };
    let model = calling([("look", json!({ "text": "a" })), ("fail_with", json!({ "words": "b" }))]);
    let first: (_, _, RunUsage) = run(process(&journal, &log).force_model(model)).await;
    assert_eq!(run(process(&journal.replayed(), &log).force_model(unused_model())).await, first);
}

/// Return if the servers are up, otherwise wait forever.
#[tool(effect = read_only)]
async fn stall(up: State<Up>) {
    if !up.0.load(Ordering::Relaxed) {
        std::future::pending::<()>().await;
    }
}

/// Write a text in a nested call, and then wait for the servers.
#[tool(effect = read_only)]
async fn write_tagged(ctx: &CallContext, tag: String, text: String) -> Result<String> {
    ctx.call(write { text }).await?;
    ctx.call(stall {}).await?;
    Ok(tag)
}

/// Write a text in a call nested twice.
#[tool(effect = read_only, toolsets = [write_tagged])]
async fn write_below(ctx: &CallContext<write_below>, text: String, changing: State<Changing>) -> Result<String> {
    Ok(ctx.call(write_tagged { tag: changing.0[0].clone(), text }).await?)
}

/// Writes a text for each tag of [`Changing`].
#[entry(toolsets = [write_tagged, write_below])]
async fn write_for_tags(
    ctx: &CallContext<write_for_tags>,
    together: bool,
    below: bool,
    changing: State<Changing>,
) -> Result<usize> {
    if below {
        return Ok(ctx.call(write_below { text: "0".into() }).await?.len());
    }
    let tags = changing.0.iter().enumerate();
    let calls = tags.map(|(n, tag)| ctx.call(write_tagged { tag: tag.clone(), text: n.to_string() }));
    if together {
        return Ok(futures_util::future::try_join_all(calls).await?.len());
    }
    for call in calls {
        call.await?;
    }
    Ok(changing.0.len())
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_of_a_call_that_was_in_flight_at_a_crash_diverge_before_its_effects_repeat() {
    for (together, below) in [(false, false), (true, false), (false, true)] {
        let (journal, log) = (MemoryJournal::new(), Log::default());
        let run = async |journal: &MemoryJournal, tags: &[&str], up: bool| {
            let (changing, up) = (Changing(texts(tags)), Up(Arc::new(AtomicBool::new(up))));
            let runtime = approved(process(journal, &log), &log).state(changing).state(up).build().unwrap();
            let run = runtime.run(write_for_tags { together, below });
            let result = tokio::time::timeout(Duration::from_secs(60), run).await;
            (result.map(|result| result.map_err(|error| llm_do::error::chain(&error))), log.take())
        };
        let wrote = |lines: &[String]| lines.iter().filter(|line| line.starts_with("wrote")).count();
        let (died, lines) = run(&journal, &["a", "b"], false).await;
        assert!(died.is_err() && wrote(&lines) > 0, "{died:?} {lines:?}");
        let records = journal.records().len();

        let changed = journal.replayed();
        let (diverged, lines) = run(&changed, &["c", "d"], true).await;
        let error = diverged.unwrap().unwrap_err();
        assert!(error.contains("diverged from its journal") && error.contains("`write_tagged`"), "{error}");
        assert_eq!((lines, changed.records().len()), (Vec::new(), records), "together {together}, below {below}");

        let (same, lines) = run(&journal.replayed(), &["a", "b"], true).await;
        assert!(same.unwrap().is_ok());
        // Of sequential calls, the second had not begun before the crash.
        assert_eq!(wrote(&lines), usize::from(!together && !below), "{lines:?}");
    }
}

/// Handles one of two failures, and returns the other at the end.
#[entry(toolsets = [fetch, write])]
async fn keep_a_failure(ctx: &CallContext<keep_a_failure>) -> Result<String> {
    let kept = ctx.call(fetch { what: "kept".into() }).await;
    let lost = ctx.call(fetch { what: "lost".into() }).await;
    ctx.call(write { text: format!("lost: {}", lost.is_err()) }).await?;
    Ok(format!("{} without {}", kept?, lost.is_err()))
}

#[tokio::test]
async fn a_failure_that_code_kept_and_returned_later_is_retried() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, up: bool| {
        let runtime = approved(process(journal, &log), &log).state(Up(Arc::new(AtomicBool::new(up)))).build().unwrap();
        let result = runtime.run(keep_a_failure {}).await.map_err(|error| llm_do::error::chain(&error));
        (result, log.take())
    };
    let (first, lines) = run(&journal, false).await;
    assert!(first.as_ref().is_err_and(|error| error.contains("the server is down")), "{first:?}");
    assert_eq!(lines, ["fetched kept", "fetched lost", "asked about write", "wrote lost: true"]);
    let again = journal.replayed();
    assert_eq!(run(&again, false).await, (first, vec!["fetched kept".to_owned()]));
    let up = again.replayed();
    let whole = (Ok("kept without true".to_owned()), vec!["fetched kept".to_owned()]);
    assert_eq!(run(&up, true).await, whole, "the handled failure is replayed");
    assert_eq!(run(&up.replayed(), false).await, (whole.0, Vec::new()));
}

/// Retries, and returns the last failure after a report of it.
#[entry(toolsets = [fetch, write])]
async fn keep_trying(ctx: &CallContext<keep_trying>) -> Result<String> {
    let mut last = None;
    for n in 0..20 {
        match ctx.call(fetch { what: "news".into() }).await {
            Ok(news) => return Ok(format!("{news} at {n}")),
            Err(error) => drop(last.replace(error)),
        }
        ctx.call(write { text: n.to_string() }).await?;
    }
    Err(last.unwrap().into())
}

#[tokio::test]
async fn of_equal_failures_only_the_returned_one_is_retried() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, up: bool| {
        let runtime = approved(process(journal, &log), &log).state(Up(Arc::new(AtomicBool::new(up)))).build().unwrap();
        let result = runtime.run(keep_trying {}).await.map_err(|error| llm_do::error::chain(&error));
        (result, log.take())
    };
    let (first, lines) = run(&journal, false).await;
    assert!(first.is_err() && lines.iter().filter(|line| *line == "fetched news").count() == 20, "{lines:?}");
    let again = journal.replayed();
    assert_eq!(run(&again, false).await, (first, vec!["fetched news".to_owned()]));
    assert_eq!(run(&again.replayed(), true).await, (Ok("news at 19".to_owned()), vec!["fetched news".to_owned()]));
}

/// Handles the first of two equal failures, and returns the second in an error that hides its type, after a report of it.
#[entry(toolsets = [fetch, write])]
async fn hide_a_failure(ctx: &CallContext<hide_a_failure>) -> Result<String> {
    let handled = ctx.call(fetch { what: "news".into() }).await.is_err();
    let fetched = ctx.call(fetch { what: "news".into() }).await.map_err(std::io::Error::other);
    ctx.call(write { text: format!("down: {}", fetched.is_err()) }).await?;
    Ok(format!("{} {handled}", fetched?))
}

#[tokio::test]
async fn a_failure_that_ended_the_run_inside_an_error_of_another_type_is_retried() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, up: bool| {
        let runtime = approved(process(journal, &log), &log).state(Up(Arc::new(AtomicBool::new(up)))).build().unwrap();
        let result = runtime.run(hide_a_failure {}).await.map_err(|error| llm_do::error::chain(&error));
        (result, log.take())
    };
    let (first, lines) = run(&journal, false).await;
    assert!(first.is_err() && lines.contains(&"wrote down: true".to_owned()), "{lines:?}");
    let again = journal.replayed();
    assert_eq!(run(&again, false).await, (first, vec!["fetched news".to_owned()]), "the handled failure is replayed");
    let (result, lines) = run(&again.replayed(), true).await;
    assert_eq!(result, Ok("news true".to_owned()));
    assert_eq!(lines, ["fetched news", "asked about write", "wrote down: false"]);
}

/// Fetches, writes a text that depends on the outcome, and then returns the outcome.
#[entry(toolsets = [fetch, write, write_tagged])]
async fn report_and_return(ctx: &CallContext<report_and_return>) -> Result<String> {
    let fetched = ctx.call(fetch { what: "news".into() }).await;
    if fetched.is_err() {
        ctx.call(write { text: "sorry".into() }).await?;
        ctx.call(write_tagged { tag: "down".into(), text: "down".into() }).await.ok();
    } else {
        ctx.call(write { text: "good".into() }).await?;
    }
    Ok(fetched?)
}

#[tokio::test]
async fn a_run_may_make_other_calls_after_a_retried_failure() {
    let (folder, log) = (tempfile::tempdir().unwrap(), Log::default());
    let run = async |path: &std::path::Path, up: bool| {
        let journal = FileJournal::open(path).unwrap();
        let builder = crate::own_builder().journal(journal).state(log.clone()).state(Up(Arc::new(AtomicBool::new(up))));
        let builder = builder.state(Changed(Vec::new())).state(Changing(Vec::new()));
        let recorder = Recorder::new();
        let runtime = approved(builder, &log).sink(recorder.clone()).build().unwrap();
        // Nothing gives an end to `stall` while the server is down, so that this process dies in it.
        let stalled = async {
            while up || recorder.events().iter().all(|event| &*event.name != "stall") {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let result = tokio::select! {
            result = runtime.run(report_and_return {}) => result.map_err(|error| llm_do::error::chain(&error)),
            () = stalled => Err("stalled".to_owned()),
        };
        (result, log.take())
    };
    let path = folder.path().join("run.jsonl");
    assert_eq!(run(&path, false).await.0, Err("stalled".to_owned()));
    // The recorded failure of the server is replayed; `stall` returns, and the run ends with the kept failure.
    let (failed, lines) = run(&path, true).await;
    assert!(failed.is_err_and(|error| error.contains("the server is down")));
    assert_eq!(lines, [""; 0]);
    let ended = std::fs::read_to_string(&path).unwrap().lines().count();
    let (result, lines) = run(&path, true).await;
    assert_eq!(result, Ok("news".to_owned()));
    assert_eq!(lines, ["fetched news", "asked about write", "wrote good"]);

    // Killed anywhere in that last run, it resumes to the same result.
    let text = std::fs::read_to_string(&path).unwrap();
    for kept in ended..text.lines().count() {
        let path = folder.path().join("killed.jsonl");
        std::fs::write(&path, text.split_inclusive('\n').take(kept).collect::<String>()).unwrap();
        let (result, lines) = run(&path, true).await;
        assert_eq!(result, Ok("news".to_owned()), "{kept} lines");
        assert!(!lines.contains(&"wrote sorry".to_owned()), "{lines:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn a_recorded_model_answer_is_marked_as_replayed() {
    let (journal, log) = (MemoryJournal::new(), Log::default());
    let run = async |journal: &MemoryJournal, model: FunctionModel| {
        let recorder = Recorder::new();
        let runtime = process(journal, &log).force_model(model).sink(recorder.clone()).build().unwrap();
        runtime.run(assistant { input: "Go.".into() }).await.unwrap();
        let replayed = recorder.kinds().into_iter().filter_map(|kind| match kind {
            EventKind::ModelResponse { replayed, .. } => Some(replayed),
            _ => None,
        });
        replayed.collect::<Vec<_>>()
    };
    let model = || calling([("look", json!({ "text": "a" }))]);
    assert_eq!(run(&journal, model()).await, [false, false]);
    assert_eq!(run(&journal.replayed(), unused_model()).await, [true, true]);
    let answered = journal.records().iter().position(|record| record.kind == StepKind::Model).unwrap();
    assert_eq!(run(&cut(&journal, answered + 1), model()).await, [true, false]);
}
