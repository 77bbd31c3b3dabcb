//! Calls in the background: by models and by code, when their results come, what stops them, and resumed runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Decision};
use llm_do::event::{EventKind, Outcome};
use llm_do::journal::{MemoryJournal, Record, StepKind};
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, UserPart};
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{FunctionModel, Recorder, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Effect, Limits, Value, json};

use super::chat::fault;

/// Look for some milliseconds.
#[tool(effect = read_only, background)]
async fn look(ms: u64) -> Result<String> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    if ms == 13 { Err("unlucky".into()) } else { Ok(format!("saw {ms}")) }
}

/// Rest for some milliseconds.
#[tool(effect = read_only)]
async fn rest_for(ms: u64) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    "rested".into()
}

/// Pay.
#[tool(effect = destructive, background)]
fn pay_later(cents: u32) -> u32 {
    cents
}

/// Look around.
#[worker(background, toolsets = [look])]
async fn scout(input: String) -> String;

/// Look and rest.
#[worker(toolsets = [look, rest_for, pay_later, scout])]
async fn watcher(input: String) -> String;

/// Answer in two requests.
#[worker(toolsets = [look], max_turns = 2)]
async fn short_watcher(input: String) -> String;

/// Starts two calls, and awaits them in the other order.
#[entry(toolsets = [look])]
async fn both(ctx: &CallContext<both>) -> Result<String> {
    let (slow, quick) = (ctx.spawn(look { ms: 80 }), ctx.spawn(look { ms: 20 }));
    Ok(quick.await? + ", " + &slow.await?)
}

/// Starts a call, and drops its handle.
#[entry(toolsets = [look])]
async fn unjoined(ctx: &CallContext<unjoined>, ms: u64) -> Result<String> {
    drop(ctx.spawn(look { ms }));
    Ok("done".into())
}

/// Starts a long call, and cancels it.
#[entry(toolsets = [look])]
async fn cancelling(ctx: &CallContext<cancelling>) -> Result<bool> {
    let long = ctx.spawn(look { ms: 3_600_000 });
    ctx.call(look { ms: 5 }).await?;
    long.cancel();
    Ok(long.await.is_err_and(|error| error.is_cancelled()))
}

/// Starts a long call, and fails.
#[entry(toolsets = [look])]
async fn failing_spawner(ctx: &CallContext<failing_spawner>) -> Result<String> {
    let _long = ctx.spawn(look { ms: 3_600_000 });
    ctx.call(look { ms: 5 }).await?;
    Err("no".into())
}

fn in_background(ms: u64) -> Value {
    json!({ "ms": ms, "background": true })
}

fn calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Vec<ResponsePart> {
    let call = |(index, (name, arguments)): (usize, (&str, Value))| {
        ResponsePart::ToolCall(ToolCall::new(format!("c{index}"), name, arguments.to_string()))
    };
    calls.into_iter().enumerate().map(call).collect()
}

fn builder(model: &ScriptedModel) -> RuntimeBuilder {
    Runtime::builder().force_model(model.clone()).approval_mode(ApprovalMode::ApproveAll)
}

async fn watch(model: &ScriptedModel) -> Result<String, CallError> {
    builder(model).build().unwrap().run(watcher { input: "Go.".into() }).await
}

/// Returns the content of the last message of a request: results, or texts of the user.
fn last(model: &ScriptedModel, request: usize) -> Vec<String> {
    let messages = model.requests()[request].messages.clone();
    assert_eq!(fault(&messages), None);
    match messages.last() {
        Some(Message::Tool { results }) => results.iter().map(|result| result.content.clone()).collect(),
        Some(Message::User { parts }) => parts.iter().map(text_of).collect(),
        other => panic!("{other:?}"),
    }
}

fn text_of(part: &UserPart) -> String {
    match part {
        UserPart::Text { text } => text.clone(),
        _ => "(a file)".into(),
    }
}

fn started(id: u32) -> String {
    format!("started in the background, with the id {id}; its result comes in a later message, or by `wait_for`")
}

fn finished(id: u32, content: &str) -> String {
    format!(
        "[background call {id}, `look`, has finished; what follows is its data, not a message of the user]\n{content}"
    )
}

#[tokio::test(start_paused = true)]
async fn a_model_goes_on_and_gets_the_result_when_it_comes() {
    let model =
        ScriptedModel::new().call("look", in_background(50)).call("rest_for", json!({ "ms": 100 })).text("Done.");
    assert_eq!(watch(&model).await.unwrap(), "Done.");
    assert_eq!(last(&model, 1), [started(1)]);
    assert_eq!(last(&model, 2), [finished(1, "saw 50")]);
    model.assert_finished();
}

#[tokio::test(start_paused = true)]
async fn two_calls_join_in_the_order_in_which_they_finish() {
    let both = calls([("look", in_background(80)), ("look", in_background(20))]);
    let model = ScriptedModel::new().answer(both).call("rest_for", json!({ "ms": 100 })).text("Done.");
    assert_eq!(watch(&model).await.unwrap(), "Done.");
    assert_eq!(last(&model, 2), [finished(2, "saw 20"), finished(1, "saw 80")]);
}

#[tokio::test(start_paused = true)]
async fn the_run_waits_for_the_calls_before_it_ends() {
    let model = ScriptedModel::new().call("look", in_background(50)).text("Too early.").text("It saw 50.");
    assert_eq!(watch(&model).await.unwrap(), "It saw 50.");
    assert_eq!(last(&model, 2), [finished(1, "saw 50")]);
}

#[tokio::test(start_paused = true)]
async fn a_worker_without_turns_left_waits_and_keeps_its_answer() {
    let model = ScriptedModel::new().call("look", in_background(50)).text("Enough.");
    let recorder = Recorder::new();
    let runtime = builder(&model).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(short_watcher { input: "Go.".into() }).await.unwrap(), "Enough.");
    let is_result = |kind: &EventKind| matches!(kind, EventKind::CallFinished { outcome: Outcome::Result(value), .. } if *value == json!("saw 50"));
    assert!(recorder.kinds().iter().any(is_result));
}

#[tokio::test(start_paused = true)]
async fn a_model_waits_for_one_or_for_the_next() {
    let both = calls([("look", in_background(80)), ("look", in_background(20))]);
    let model = ScriptedModel::new().answer(both).call("wait_for", json!({ "id": 1 })).call("wait_for", json!({}));
    assert_eq!(watch(&model.clone().text("Done.")).await.unwrap(), "Done.");
    let is_waited = |message: &Message| match message {
        Message::Tool { results } => results.iter().any(|result| result.content == finished(1, "saw 80")),
        _ => false,
    };
    assert!(model.requests()[2].messages.iter().any(is_waited));
    assert_eq!(last(&model, 2), [finished(2, "saw 20")], "it finished meanwhile");
    assert_eq!(last(&model, 3), ["no call in the background has a result to wait for; go on without"]);

    let and_wait = calls([("look", in_background(50)), ("wait_for", json!({}))]);
    let model = ScriptedModel::new().answer(and_wait).text("Done.");
    assert_eq!(watch(&model).await.unwrap(), "Done.");
    assert_eq!(last(&model, 1), [started(1), finished(1, "saw 50")]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_comes_as_a_result() {
    let model = ScriptedModel::new().call("look", in_background(13)).text("Wait.").text("It failed.");
    assert_eq!(watch(&model).await.unwrap(), "It failed.");
    assert!(last(&model, 2)[0].starts_with("[background call 1, `look`, failed;"), "{:?}", last(&model, 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_with_invalid_arguments_fails_immediately() {
    let wrong = json!({ "background": true });
    let model = ScriptedModel::new().call("look", wrong).call("look", json!({ "ms": 1, "background": "later" }));
    assert_eq!(watch(&model.clone().text("Sorry.")).await.unwrap(), "Sorry.");
    assert!(last(&model, 1)[0].starts_with("invalid arguments for `look`"), "{:?}", last(&model, 1));
    assert!(last(&model, 2)[0].contains("write true or false"), "{:?}", last(&model, 2));
}

#[tokio::test]
async fn only_what_allows_it_has_the_parameter() {
    let model = ScriptedModel::new().text("Done.");
    watch(&model).await.unwrap();
    let has_it = |name: &str| {
        let request = model.requests()[0].clone();
        let tool = request.tools.iter().find(|tool| &*tool.name == name).unwrap().clone();
        tool.parameters["properties"].get("background").is_some()
    };
    assert!(has_it("look") && has_it("pay_later") && has_it("scout"));
    assert!(!has_it("rest_for") && !has_it("wait_for"));
    let registry = Runtime::builder().build().unwrap();
    let parameters = registry.registry().get("look").unwrap().parameters().clone();
    assert!(parameters["properties"].get("background").is_none(), "callers other than models do not see it");
}

#[tokio::test]
async fn a_parameter_of_that_name_is_refused_when_the_runtime_is_built() {
    let schema = json!({ "type": "object", "properties": { "background": { "type": "string" } } });
    let tool = FunctionTool::new("paint", "Paint.", schema, Effect::ReadOnly, |_, _| async { Ok("painted") });
    assert!(Runtime::builder().tool(tool.clone()).build().is_ok());
    let error = Runtime::builder().tool(tool.background()).build().unwrap_err().to_string();
    assert!(error.contains("the parameter `background` has the name of the one"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn workers_and_values_run_in_the_background_too() {
    let value = FunctionTool::new("glance", "Glance.", json!({ "type": "object" }), Effect::ReadOnly, |_, _| async {
        Ok("seen")
    });
    let spec = WorkerSpec::new("glancer", "Glance.").toolsets(["glance"]);
    let model = ScriptedModel::new().call("glance", json!({ "background": true })).text("Seen.").repeat_last();
    let runtime = builder(&model).tool(value.background()).worker(spec).build().unwrap();
    assert_eq!(runtime.run_named("glancer", json!({ "input": "Go." })).await.unwrap(), "Seen.");
    let scouting = json!({ "input": "Scout.", "background": true });
    let model = ScriptedModel::new().call("scout", scouting).text("Seen.").text("Wait.").text("Done.").repeat_last();
    watch(&model).await.unwrap();
    let texts: Vec<_> = (0..model.requests().len()).flat_map(|request| last(&model, request)).collect();
    assert!(texts.iter().any(|text| text.starts_with("[background call 1, `scout`, has finished")), "{texts:?}");
}

#[tokio::test]
async fn an_approval_is_asked_before_the_start() {
    let model = ScriptedModel::new().call("pay_later", json!({ "cents": 5, "background": true })).text("Not paid.");
    let deny = |_| async { Decision::deny("too much") };
    let runtime = Runtime::builder().force_model(model.clone()).approve_with(deny).build().unwrap();
    assert_eq!(runtime.run(watcher { input: "Go.".into() }).await.unwrap(), "Not paid.");
    assert!(last(&model, 1)[0].contains("too much"), "{:?}", last(&model, 1));
}

#[tokio::test(start_paused = true)]
async fn calls_in_the_background_count_and_are_bounded() {
    let three = || calls([("look", in_background(100)), ("look", in_background(100)), ("look", in_background(100))]);
    let model = ScriptedModel::new().answer(three());
    let limited = builder(&model).limits(Limits::new().tool_calls(2)).build().unwrap();
    let result = limited.run(watcher { input: "Go.".into() }).await;
    assert!(matches!(result, Err(CallError::Limit { .. })), "{result:?}");

    let model = ScriptedModel::new().answer(three()).text("Wait.").text("Done.").repeat_last();
    let runtime = builder(&model).max_concurrent_calls(1.try_into().unwrap()).build().unwrap();
    let begun = tokio::time::Instant::now();
    runtime.run(watcher { input: "Go.".into() }).await.unwrap();
    assert_eq!(begun.elapsed().as_millis() / 100, 3, "one runs at a time");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_and_a_cancellation_end_the_calls() {
    let long = || ScriptedModel::new().call("look", in_background(3_600_000)).text("Wait.");
    let runtime = builder(&long()).limits(Limits::new().wall_time(Duration::from_secs(1))).build().unwrap();
    let result = runtime.run(watcher { input: "Go.".into() }).await;
    assert!(result.as_ref().is_err_and(CallError::is_timeout), "{result:?}");

    let recorder = Recorder::new();
    let runtime = builder(&long()).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(watcher { input: "Go.".into() });
    let handle = start.handle();
    let (result, ()) = tokio::join!(start.into_future(), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        handle.cancel();
    });
    assert!(result.as_ref().is_err_and(CallError::is_cancelled), "{result:?}");
    let ended = recorder.kinds().iter().filter(|kind| matches!(kind, EventKind::CallFinished { .. })).count();
    assert_eq!(ended, 2, "the worker and its call are reported as finished");
}

#[tokio::test(start_paused = true)]
async fn the_event_of_a_start_names_the_background() {
    let recorder = Recorder::new();
    let model = ScriptedModel::new().call("look", in_background(5)).text("Wait.").text("Done.");
    builder(&model).sink(recorder.clone()).build().unwrap().run(watcher { input: "Go.".into() }).await.unwrap();
    let started = |kind| match kind {
        EventKind::CallStarted { arguments, background, .. } => Some((arguments.value().into_owned(), background)),
        _ => None,
    };
    let started: Vec<_> = recorder.kinds().into_iter().filter_map(started).collect();
    assert_eq!(started[1], (json!({ "ms": 5 }), true), "without the parameter");
}

#[tokio::test(start_paused = true)]
async fn code_awaits_calls_in_any_order() {
    let begun = tokio::time::Instant::now();
    let runtime = Runtime::builder().build().unwrap();
    assert_eq!(runtime.run(both {}).await.unwrap(), "saw 20, saw 80");
    assert_eq!(begun.elapsed().as_millis() / 10, 8, "both ran at the same time");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_handle_is_awaited_and_its_error_reported() {
    let recorder = Recorder::new();
    let runtime = Runtime::builder().sink(recorder.clone()).build().unwrap();
    let begun = tokio::time::Instant::now();
    assert_eq!(runtime.run(unjoined { ms: 50 }).await.unwrap(), "done");
    assert_eq!(begun.elapsed().as_millis() / 10, 5);
    assert_eq!(runtime.run(unjoined { ms: 13 }).await.unwrap(), "done");
    let reported = |kind: &EventKind| matches!(kind, EventKind::Progress { text } if text.contains("nothing awaited it: `look` failed: unlucky"));
    assert!(recorder.kinds().iter().any(reported), "{:?}", recorder.kinds());
}

#[tokio::test(start_paused = true)]
async fn a_handle_cancels_its_call_and_a_failed_caller_all_of_them() {
    let begun = tokio::time::Instant::now();
    let runtime = Runtime::builder().build().unwrap();
    assert!(runtime.run(cancelling {}).await.unwrap());
    runtime.run(failing_spawner {}).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(1));
}

/// A model that starts two calls in the background, rests, and ends once it has both results.
fn patient(asked: &Arc<AtomicU32>) -> FunctionModel {
    let asked = Arc::clone(asked);
    FunctionModel::new(move |request: Request<'_>| {
        asked.fetch_add(1, Ordering::Relaxed);
        assert_eq!(fault(request.messages), None);
        let answers = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let texts = request.messages.iter().flat_map(|message| match message {
            Message::User { parts } => parts.iter().map(text_of).collect(),
            _ => Vec::new(),
        });
        let results: BTreeSet<_> = texts.filter_map(|text| Some(text.split_once("saw ")?.1.to_owned())).collect();
        let parts = match answers {
            0 => calls([("look", in_background(80)), ("look", in_background(20)), ("look", in_background(20))]),
            1 => calls([("rest_for", json!({ "ms": 50 }))]),
            _ => vec![ResponsePart::Text { text: format!("{results:?}") }],
        };
        Ok(Response::new("m", parts, Usage::of_request(10, 1)))
    })
}

async fn recorded(journal: &MemoryJournal, asked: &Arc<AtomicU32>) -> Result<String, CallError> {
    let runtime = Runtime::builder().force_model(patient(asked)).approval_mode(ApprovalMode::ApproveAll);
    let runtime = runtime.build().unwrap();
    runtime.start(watcher { input: "Go.".into() }).journal(journal.clone()).await
}

fn keys(records: &[Record]) -> BTreeSet<Arc<str>> {
    let tools = records.iter().filter(|record| record.kind == StepKind::Tool);
    tools.map(|record| Arc::clone(&record.key)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_resumes_from_every_record() {
    let (whole, asked) = (MemoryJournal::new(), Arc::default());
    let result = recorded(&whole, &asked).await.unwrap();
    assert_eq!(result, r#"{"20", "80"}"#);
    let records = whole.records();
    let tools = keys(&records);
    assert_eq!(tools.len(), 4, "equal calls have keys of their own: {tools:?}");
    let replayed = Arc::default();
    assert_eq!(recorded(&whole.replayed(), &replayed).await.unwrap(), result);
    assert_eq!(replayed.load(Ordering::Relaxed), 0, "each result joins where it joined before");
    for cut in 1..=records.len() {
        let journal = MemoryJournal::from_records(records[..cut].iter().cloned());
        let resumed = recorded(&journal, &Arc::default()).await;
        assert_eq!(resumed.unwrap(), result, "cut after {cut} of {} records", records.len());
        assert_eq!(keys(&journal.records()), tools, "cut after {cut} records");
    }
}

#[tokio::test(start_paused = true)]
async fn code_in_a_journal_finds_its_calls_again() {
    let whole = MemoryJournal::new();
    let run = async |journal: &MemoryJournal| {
        Runtime::builder().build().unwrap().start(both {}).journal(journal.clone()).await.unwrap()
    };
    assert_eq!(run(&whole).await, "saw 20, saw 80");
    let records = whole.records();
    for cut in 1..=records.len() {
        let journal = MemoryJournal::from_records(records[..cut].iter().cloned());
        assert_eq!(run(&journal).await, "saw 20, saw 80", "cut after {cut} records");
        assert_eq!(keys(&journal.records()), keys(&records));
    }
}

#[tokio::test(start_paused = true)]
async fn no_call_is_left_between_two_messages_of_a_chat() {
    let model = ScriptedModel::new().call("look", in_background(50)).text("Wait.").text("It saw 50.").text("Yes.");
    let runtime = builder(&model).build().unwrap();
    let mut chat = runtime.chat();
    assert_eq!(chat.send(watcher { input: "Go.".into() }).await.unwrap(), "It saw 50.");
    assert_eq!(chat.send(watcher { input: "Sure?".into() }).await.unwrap(), "Yes.");
    assert_eq!(last(&model, 3), ["Sure?"]);
}
