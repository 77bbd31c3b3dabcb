//! Tools that a model's provider runs: what is told of them, and what is not asked.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use llm_do::approval::ApprovalMode;
use llm_do::event::{EventKind, EventPart, JsonLines, Terminal, Verbosity};
use llm_do::guard::FunctionGuard;
use llm_do::journal::MemoryJournal;
use llm_do::model::{
    Profile, ProviderError, Request, Response, ResponsePart, ResponseStream, ServerSideTool, ServerSideToolUse,
    StreamEvent,
};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, ReplayModel, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::{Model, Value, async_trait, json};

/// Search for an answer.
#[worker(server_side_tools = [web_search, code_execution])]
async fn search(input: String) -> String;

/// Search for an answer.
#[worker(server_side_tools = [web_fetch])]
async fn fetch(input: String) -> String;

const PROFILE: Profile =
    Profile::NONE.with_server_side_tools(&[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution]);

fn used(name: &str, input: Value, error: Option<&str>) -> ResponsePart {
    let used = ServerSideToolUse::new(name, input, json!({ "found": "swordfish" }));
    ResponsePart::ServerSideTool(used.with_error(error.map(str::to_owned)))
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

/// A search that found something, code that failed, and an answer.
fn answer() -> Response {
    let parts = vec![
        used("web_search", json!({ "query": "bees" }), None),
        text("I run "),
        used("code_execution", json!({ "code": "1/0" }), Some("return code 1")),
        text("it."),
    ];
    let mut usage = Usage::of_request(7, 3);
    usage.server_side_tools = 2;
    Response::new("m", parts, usage)
}

fn scripted() -> ScriptedModel {
    ScriptedModel::new().respond(answer()).repeat_last().profile(PROFILE)
}

fn started(tool: &str, input: Value) -> EventKind {
    EventKind::ServerSideToolStarted { tool: tool.into(), input }
}

fn finished(tool: &str, input: Value, error: Option<&str>) -> EventKind {
    EventKind::ServerSideToolFinished { tool: tool.into(), input, error: error.map(str::to_owned) }
}

/// What is told of both.
fn both() -> [EventKind; 4] {
    let (query, code) = (json!({ "query": "bees" }), json!({ "code": "1/0" }));
    [
        started("web_search", query.clone()),
        finished("web_search", query, None),
        started("code_execution", code.clone()),
        finished("code_execution", code, Some("return code 1")),
    ]
}

fn is_told(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ServerSideToolStarted { .. } | EventKind::ServerSideToolFinished { .. })
}

/// Returns what is told of server-side tools in a run.
async fn told(builder: RuntimeBuilder) -> Vec<EventKind> {
    let recorder = Recorder::new();
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    drop(runtime.run(search { input: "q".into() }).await);
    recorder.kinds().into_iter().filter(is_told).collect()
}

#[tokio::test]
async fn each_use_is_told_as_begun_and_ended_streamed_or_not_and_guarded_or_not() {
    let builder = |streaming| Runtime::builder().force_model(scripted()).streaming(streaming);
    for streaming in [false, true] {
        assert_eq!(told(builder(streaming)).await, both());
        let guard = FunctionGuard::new("nothing").after_response(|_, _| Ok(()));
        assert_eq!(told(builder(streaming).guard(guard)).await, both());
    }
}

#[tokio::test]
async fn what_was_recorded_with_them_is_replayed_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplayModel::open(folder.path().join("search.jsonl"), || Ok(scripted())).unwrap();
    for _ in ["recorded", "replayed"] {
        let model = open();
        let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
        assert_eq!(runtime.run(search { input: "q".into() }).await.unwrap(), "I run it.");
        model.assert_over();
    }
    let other = Runtime::builder().force_model(open()).build().unwrap().run(fetch { input: "q".into() }).await;
    let error = llm_do::error::chain(&other.unwrap_err());
    assert!(error.contains("it differs from the next recorded request at `/server_side_tools/0"), "{error}");
}

/// A model whose streams are these events.
#[derive(Debug)]
struct Streaming(Mutex<Vec<StreamEvent>>);

#[async_trait]
impl Model for Streaming {
    fn name(&self) -> &'static str {
        "test:streaming"
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        unreachable!("it is streamed")
    }

    async fn stream(&self, _: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let events = std::mem::take(&mut *self.0.lock().unwrap());
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

fn streaming(events: Vec<StreamEvent>) -> RuntimeBuilder {
    Runtime::builder().force_model(Streaming(Mutex::new(events))).streaming(true)
}

fn begun(tool: &str, input: Value) -> StreamEvent {
    StreamEvent::ServerSideTool { name: tool.into(), input }
}

#[tokio::test]
async fn a_stream_tells_of_a_use_as_it_begins_and_as_it_ends() {
    let (first, second) = (json!({ "query": "bees" }), json!({ "query": "wasps" }));
    let done = |input: &Value, error: Option<&str>| {
        let error = error.map(str::to_owned);
        StreamEvent::ServerSideToolDone { name: "web_search".into(), input: input.clone(), error }
    };
    let parts = vec![
        used("web_search", first.clone(), None),
        used("web_search", second.clone(), Some("unavailable")),
        text("Bees."),
    ];
    let events = vec![
        begun("web_search", first.clone()),
        begun("web_search", second.clone()),
        done(&second, Some("unavailable")),
        StreamEvent::Text("Bees.".into()),
        done(&first, None),
        StreamEvent::Done(Response::new("m", parts, Usage::of_request(1, 1))),
    ];
    let expected = [
        started("web_search", first.clone()),
        started("web_search", second.clone()),
        finished("web_search", second, Some("unavailable")),
        finished("web_search", first, None),
    ];
    assert_eq!(told(streaming(events)).await, expected);
}

#[tokio::test]
async fn what_a_stream_leaves_out_is_told_with_the_whole_answer() {
    let (asked, all, code) = (json!({ "queries": ["a"] }), json!({ "queries": ["a", "b"] }), json!({ "code": "1" }));
    let parts = vec![used("web_search", all.clone(), None), used("code_execution", code.clone(), None), text("So.")];
    let events =
        vec![begun("web_search", asked.clone()), StreamEvent::Done(Response::new("m", parts, Usage::of_request(1, 1)))];
    let expected = [
        started("web_search", asked),
        finished("web_search", all, None),
        started("code_execution", code.clone()),
        finished("code_execution", code, None),
    ];
    assert_eq!(told(streaming(events)).await, expected);
}

#[tokio::test]
async fn a_use_in_an_answer_that_breaks_off_is_told_as_ended() {
    let input = json!({ "query": "bees" });
    let expected = [
        started("web_search", input.clone()),
        finished("web_search", input.clone(), Some("the answer was interrupted")),
    ];
    assert_eq!(told(streaming(vec![begun("web_search", input)])).await, expected);
}

#[tokio::test]
async fn a_result_that_stands_apart_from_its_use_is_no_use_of_its_own() {
    let input = json!({ "query": "bees" });
    let asked = ResponsePart::ServerSideTool(ServerSideToolUse::new("web_search", input.clone(), Value::Null));
    let model = ScriptedModel::new().answer([asked, text("Bees."), used("web_search", Value::Null, None)]);
    let expected = [started("web_search", input.clone()), finished("web_search", input, None)];
    assert_eq!(told(Runtime::builder().force_model(model.profile(PROFILE))).await, expected);
}

#[tokio::test]
async fn nobody_is_asked_about_what_a_provider_runs() {
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(scripted()).approval_mode(ApprovalMode::RejectAll);
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(search { input: "q".into() }).await.unwrap(), "I run it.");
    let asked = |kind: &EventKind| matches!(kind, EventKind::ApprovalAsked { .. });
    assert!(!recorder.kinds().iter().any(asked));
}

#[tokio::test]
async fn what_a_provider_counts_is_in_the_usage_of_a_replay_too_and_is_told_only_once() {
    let journal = MemoryJournal::new();
    let model = scripted();
    for told_of in [4, 0] {
        let recorder = Recorder::new();
        let journal = if told_of == 0 { journal.replayed() } else { journal.clone() };
        let builder = Runtime::builder().force_model(model.clone()).journal(journal);
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let start = runtime.start(search { input: "q".into() });
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), "I run it.");
        assert_eq!(handle.usage().model.server_side_tools, 2);
        assert_eq!(recorder.kinds().iter().filter(|kind| is_told(kind)).count(), told_of);
        let parts = recorder.kinds().into_iter().find_map(|kind| match kind {
            EventKind::ModelResponse { parts, .. } => Some(parts),
            _ => None,
        });
        let parts = parts.unwrap();
        assert!(parts.iter().filter_map(EventPart::whole).eq(&answer().parts), "{parts:?}");
    }
    assert_eq!(model.requests().len(), 1);
}

#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test]
async fn a_terminal_and_a_log_show_each_use_with_how_it_ended() {
    let (shown, logged) = (Written::default(), Written::default());
    let log = Arc::new(JsonLines::new(logged.clone()));
    let builder = Runtime::builder().force_model(scripted()).shared_sink(log.clone());
    let runtime = builder.sink(Terminal::new(shown.clone(), Verbosity::Calls)).build().unwrap();
    runtime.run(search { input: "q".into() }).await.unwrap();
    runtime.flush().await;
    log.finish().unwrap();
    let shown = shown.text();
    for line in [
        "  search: provider runs web_search {\"query\":\"bees\"}\n",
        "  search: provider finished web_search\n",
        "  search: provider failed to run code_execution: return code 1\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let lines: Vec<Value> = logged.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).cloned().collect::<Vec<_>>();
    let started = of("server_side_tool_started");
    assert_eq!((&started[0]["tool"], &started[0]["input"]), (&json!("web_search"), &json!({ "query": "bees" })));
    let finished = of("server_side_tool_finished");
    assert_eq!(finished[0].get("error"), None);
    assert_eq!(finished[1]["error"], "return code 1");
}
