//! Before and after requests to models.

use llm_do::error::chain;
use llm_do::event::{EventKind, GuardAction, GuardHook};
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::model::Message;
use llm_do::prelude::*;
use llm_do::testing::{Recorder, TestModel};
use serde_json::json;

use super::{Notes, builder, calling, done, reader, scripted, text};

/// Has a worker read.
#[entry(toolsets = [reader])]
async fn delegate(ctx: &CallContext<delegate>) -> Result<String> {
    match ctx.call(reader { input: "x".into() }).await {
        Err(error) if error.is_refused() => Ok(format!("without: {error}")),
        other => Ok(other?),
    }
}

/// Has another worker read.
#[worker(toolsets = [reader])]
async fn chief(input: String) -> String;

#[tokio::test]
async fn a_changed_request_is_sent_and_the_history_does_not_change() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let guard = FunctionGuard::new("hide").before_request(|request| {
        assert_eq!((request.instructions(), request.model()), ("Be brief.", "function:model"));
        assert!(request.messages().len() < 4, "the messages added for the first request are gone");
        request.set_instructions("Be long.");
        request.settings_mut().max_tokens = Some(7);
        let turn = Message::user(format!("turn {}", request.turn()));
        request.messages_mut().push(turn);
        Ok(())
    });
    let model = scripted(&notes, [calling("read", &json!({ "path": "a" })), text("done")]);
    let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(reader { input: "x".into() });
    let handle = start.handle();
    start.await.unwrap();
    let asked = notes.take();
    assert!(asked.iter().all(|asked| asked.contains("Be long.") && asked.contains(r#""max_tokens":7"#)), "{asked:?}");
    assert!(asked[0].contains("turn 1") && asked[1].contains("turn 2") && !asked[1].contains("turn 1"), "{asked:?}");
    let history = serde_json::to_string(&handle.history()).unwrap();
    assert!(!history.contains("turn "), "{history}");
    assert_eq!(
        done(&recorder),
        [
            (GuardHook::BeforeRequest, GuardAction::Changed, None),
            (GuardHook::BeforeRequest, GuardAction::Changed, None)
        ]
    );
}

#[tokio::test]
async fn tool_calls_without_their_results_are_repaired() {
    let notes = Notes::default();
    let guard = FunctionGuard::new("forget").before_request(|request| {
        request.messages_mut().retain(|message| !matches!(message, Message::Tool { .. }));
        Ok(())
    });
    let model = scripted(&notes, [calling("read", &json!({ "path": "a" })), text("done")]);
    let runtime = builder().force_model(model).guard(guard).build().unwrap();
    runtime.run(reader { input: "x".into() }).await.unwrap();
    let second = notes.take().pop().unwrap();
    assert!(second.contains("not finished") && !second.contains("lines of"), "{second}");
}

#[tokio::test]
async fn a_refused_request_is_not_sent_and_the_workers_caller_gets_the_error() {
    let notes = Notes::default();
    let guard = || {
        FunctionGuard::new("no").before_request(|request| match request.worker() {
            "reader" => Err(Refusal::reject("the day is over")),
            _ => Ok(()),
        })
    };
    let runtime = builder().force_model(scripted(&notes, [text("hi")])).guard(guard()).build().unwrap();
    let told = runtime.run(delegate {}).await.unwrap();
    assert_eq!(told, "without: the guard `no` refused `reader`: the day is over");
    assert_eq!(notes.take(), [""; 0]);
    let runtime = builder().force_model(TestModel::new()).guard(guard()).build().unwrap();
    let told = runtime.run(chief { input: "x".into() }).await.unwrap();
    assert_eq!(told, "reader: the guard `no` refused `reader`: the day is over");
}

#[tokio::test]
async fn a_guard_can_stop_a_run_by_its_usage() {
    let guard = FunctionGuard::new("budget").before_request(|request| match request.used().model.requests {
        0..2 => Ok(()),
        used => Err(Refusal::stop(format!("{used} requests are enough"))),
    });
    let runtime = builder().force_model(TestModel::new()).guard(guard).build().unwrap();
    let start = runtime.start(chief { input: "x".into() });
    let handle = start.handle();
    let error = start.await.unwrap_err();
    assert_eq!(chain(&error), "the guard `budget` refused `reader`: 2 requests are enough");
    assert_eq!(handle.usage().model.requests, 2, "the chief's, and the reader's first");
}

#[tokio::test]
async fn the_worker_and_events_get_the_changed_response() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let guard = FunctionGuard::new("clean").after_response(|_, response| {
        response.parts = vec![text("clean")];
        Ok(())
    });
    let model = scripted(&notes, [calling("write", &json!({ "path": "dirty" }))]);
    let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(reader { input: "x".into() });
    let handle = start.handle();
    assert_eq!(start.await.unwrap(), "clean");
    assert!(!serde_json::to_string(&handle.history()).unwrap().contains("dirty"));
    let events = serde_json::to_string(&recorder.kinds()).unwrap();
    assert!(events.contains("clean") && !events.contains("dirty"), "{events}");
    assert!(
        recorder.kinds().iter().any(|kind| matches!(kind, EventKind::ModelDelta { .. })),
        "deltas are still emitted"
    );
    assert_eq!(done(&recorder), [(GuardHook::AfterResponse, GuardAction::Changed, None)]);
}

#[tokio::test]
async fn a_refused_response_is_retried_and_its_tool_calls_do_not_run() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let guard = FunctionGuard::new("calm").after_response(|_, response| match response.tool_calls().next() {
        Some(_) => Err(Refusal::reject("answer without calls")),
        None => Ok(()),
    });
    let model = scripted(&notes, [calling("write", &json!({ "path": "a" })), text("done")]);
    let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(reader { input: "x".into() }).await.unwrap(), "done");
    assert!(notes.take()[1].contains("not run: answer without calls"));
    let kinds = recorder.kinds();
    assert!(kinds.contains(&EventKind::ModelRetry { reason: "answer without calls".into() }));
    let calls = kinds.iter().filter(|kind| matches!(kind, EventKind::CallStarted { .. })).count();
    assert_eq!(calls, 1, "the worker's own");
}

#[tokio::test]
async fn refused_responses_use_the_retries() {
    let notes = Notes::default();
    let guard = FunctionGuard::new("never").after_response(|_, _| Err(Refusal::reject("not polite")));
    let runtime = builder().force_model(scripted(&notes, [text("hi")])).guard(guard).build().unwrap();
    let error = runtime.run(reader { input: "x".into() }).await.unwrap_err();
    assert_eq!(error.to_string(), "`reader` gave up: no valid result in 2 attempts; the last error: not polite");
    assert_eq!(notes.take().len(), 2);
}

#[tokio::test]
async fn outer_guards_still_see_a_refused_response() {
    let notes = Notes::default();
    let redact = FunctionGuard::new("redact").after_response(|_, response| {
        response.parts.iter_mut().for_each(|part| {
            if let llm_do::model::ResponsePart::Text { text } = part {
                *text = text.replace("secret", "[redacted]");
            }
        });
        Ok(())
    });
    let refuse = FunctionGuard::new("once").after_response(|request, _| match request.turn() {
        1 => Err(Refusal::reject("once more")),
        _ => Ok(()),
    });
    let model = scripted(&notes, [text("a secret"), text("done")]);
    let runtime = builder().force_model(model).guard(redact).guard(refuse).build().unwrap();
    runtime.run(reader { input: "x".into() }).await.unwrap();
    let second = notes.take().pop().unwrap();
    assert!(second.contains("a [redacted]") && second.contains("once more") && !second.contains("secret"), "{second}");
}

#[tokio::test]
async fn a_response_that_stops_the_run_counts_as_usage_and_is_in_no_event() {
    let recorder = Recorder::new();
    let guard = FunctionGuard::new("stop").after_response(|_, _| Err(Refusal::stop("not this")));
    let model = scripted(&Notes::default(), [text("awful")]);
    let runtime = builder().force_model(model).guard(guard).sink(recorder.clone()).build().unwrap();
    let start = runtime.start(reader { input: "x".into() });
    let handle = start.handle();
    let error = start.await.unwrap_err();
    assert!(error.is_refused() && !error.is_recoverable(), "{error}");
    assert_eq!(handle.usage().model.requests, 1);
    assert!(!serde_json::to_string(&recorder.kinds()).unwrap().contains("awful"));
}
