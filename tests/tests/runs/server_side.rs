//! Tools that a model's provider runs: their events, and no approval.

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
use llm_do::usage::{Cost, Money, Price, PriceTable, Usage};
use llm_do::{CallError, Limits, Model, Settings, Value, async_trait, json};

/// Search for an answer.
#[worker(server_side_tools = [web_search, code_execution])]
async fn search(input: String) -> String;

/// Search for an answer.
#[worker(server_side_tools = [web_fetch])]
async fn read_page(input: String) -> String;

/// Answer.
#[worker]
async fn plain(input: String) -> String;

const PROFILE: Profile =
    Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution]);

fn tool_use(name: &str, input: Value, error: Option<&str>) -> ResponsePart {
    let tool_use = ServerSideToolUse::new(name, input, json!({ "found": "swordfish" }));
    ResponsePart::ServerSideTool(tool_use.with_error(error.map(str::to_owned)))
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

/// A search with a result, code that failed, and an answer.
fn answer() -> Response {
    let parts = vec![
        tool_use("web_search", json!({ "query": "bees" }), None),
        text("I run "),
        tool_use("code_execution", json!({ "code": "1/0" }), Some("return code 1")),
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

/// The events of both uses in [`answer`].
fn expected_events() -> [EventKind; 4] {
    let (query, code) = (json!({ "query": "bees" }), json!({ "code": "1/0" }));
    [
        started("web_search", query.clone()),
        finished("web_search", query, None),
        started("code_execution", code.clone()),
        finished("code_execution", code, Some("return code 1")),
    ]
}

fn is_server_side(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ServerSideToolStarted { .. } | EventKind::ServerSideToolFinished { .. })
}

/// Returns the events of server-side tools in a run.
async fn server_side_events(builder: RuntimeBuilder) -> Vec<EventKind> {
    let recorder = Recorder::new();
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    drop(runtime.run(search { input: "q".into() }).await);
    recorder.kinds().into_iter().filter(is_server_side).collect()
}

#[tokio::test]
async fn each_use_has_a_started_and_a_finished_event_with_and_without_streaming_and_guards() {
    let builder = |streaming| Runtime::builder().force_model(scripted()).streaming(streaming);
    for streaming in [false, true] {
        assert_eq!(server_side_events(builder(streaming)).await, expected_events());
        let guard = FunctionGuard::new("accepts all").after_response(|_, _| Ok(()));
        assert_eq!(server_side_events(builder(streaming).guard(guard)).await, expected_events());
    }
}

#[tokio::test]
async fn a_recording_is_replayed_only_for_the_same_server_side_tools() {
    let folder = tempfile::tempdir().unwrap();
    let open = || ReplayModel::open(folder.path().join("search.jsonl"), || Ok(scripted())).unwrap();
    for _ in ["record", "replay"] {
        let model = open();
        let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
        assert_eq!(runtime.run(search { input: "q".into() }).await.unwrap(), "I run it.");
        model.assert_finished();
    }
    let other = Runtime::builder().force_model(open()).build().unwrap().run(read_page { input: "q".into() }).await;
    let error = llm_do::error::chain(&other.unwrap_err());
    assert!(error.contains("it differs from the next recorded request"), "{error}");
    assert!(error.contains("at `/server_side_tools/0"), "{error}");
}

/// A model that streams the given events.
#[derive(Debug)]
struct EventStreamModel(Mutex<Vec<StreamEvent>>);

#[async_trait]
impl Model for EventStreamModel {
    fn name(&self) -> &'static str {
        "test:streaming"
    }

    fn profile(&self) -> Profile {
        PROFILE
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        unreachable!("the model is streamed")
    }

    async fn stream(&self, _: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let events = std::mem::take(&mut *self.0.lock().unwrap());
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

fn streaming(events: Vec<StreamEvent>) -> RuntimeBuilder {
    Runtime::builder().force_model(EventStreamModel(Mutex::new(events))).streaming(true)
}

fn stream_started(tool: &str, input: Value) -> StreamEvent {
    StreamEvent::ServerSideTool { name: tool.into(), input }
}

#[tokio::test]
async fn a_stream_reports_uses_when_they_start_and_finish() {
    let (first, second) = (json!({ "query": "bees" }), json!({ "query": "wasps" }));
    let done = |input: &Value, error: Option<&str>| {
        let error = error.map(str::to_owned);
        StreamEvent::ServerSideToolDone { name: "web_search".into(), input: input.clone(), error }
    };
    let parts = vec![
        tool_use("web_search", first.clone(), None),
        tool_use("web_search", second.clone(), Some("unavailable")),
        text("Bees."),
    ];
    let events = vec![
        stream_started("web_search", first.clone()),
        stream_started("web_search", second.clone()),
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
    assert_eq!(server_side_events(streaming(events)).await, expected);
}

#[tokio::test]
async fn uses_missing_in_a_stream_are_reported_with_the_response() {
    let (first_input, full_input, code) =
        (json!({ "queries": ["a"] }), json!({ "queries": ["a", "b"] }), json!({ "code": "1" }));
    let parts = vec![
        tool_use("web_search", full_input.clone(), None),
        tool_use("code_execution", code.clone(), None),
        text("So."),
    ];
    let events = vec![
        stream_started("web_search", first_input.clone()),
        StreamEvent::Done(Response::new("m", parts, Usage::of_request(1, 1))),
    ];
    let expected = [
        started("web_search", first_input),
        finished("web_search", full_input, None),
        started("code_execution", code.clone()),
        finished("code_execution", code, None),
    ];
    assert_eq!(server_side_events(streaming(events)).await, expected);
}

#[tokio::test]
async fn a_use_in_an_incomplete_answer_is_reported_as_failed() {
    let input = json!({ "query": "bees" });
    let expected = [
        started("web_search", input.clone()),
        finished("web_search", input.clone(), Some("the answer was interrupted")),
    ];
    assert_eq!(server_side_events(streaming(vec![stream_started("web_search", input)])).await, expected);
}

#[tokio::test]
async fn a_separate_result_part_is_not_reported_as_another_use() {
    let input = json!({ "query": "bees" });
    let call = ResponsePart::ServerSideTool(ServerSideToolUse::new("web_search", input.clone(), Value::Null));
    let model = ScriptedModel::new().answer([call, text("Bees."), tool_use("web_search", Value::Null, None)]);
    let expected = [started("web_search", input.clone()), finished("web_search", input, None)];
    assert_eq!(server_side_events(Runtime::builder().force_model(model.profile(PROFILE))).await, expected);
}

#[tokio::test]
async fn server_side_tools_need_no_approval() {
    let recorder = Recorder::new();
    let builder = Runtime::builder().force_model(scripted()).approval_mode(ApprovalMode::RejectAll);
    let runtime = builder.sink(recorder.clone()).build().unwrap();
    assert_eq!(runtime.run(search { input: "q".into() }).await.unwrap(), "I run it.");
    let is_approval = |kind: &EventKind| matches!(kind, EventKind::ApprovalAsked { .. });
    assert!(!recorder.kinds().iter().any(is_approval));
}

#[tokio::test]
async fn a_replay_counts_the_usage_again_but_reports_no_uses() {
    let journal = MemoryJournal::new();
    let model = scripted();
    for expected_events in [4, 0] {
        let recorder = Recorder::new();
        let journal = if expected_events == 0 { journal.replayed() } else { journal.clone() };
        let builder = Runtime::builder().force_model(model.clone()).journal(journal);
        let runtime = builder.sink(recorder.clone()).build().unwrap();
        let start = runtime.start(search { input: "q".into() });
        let handle = start.handle();
        assert_eq!(start.await.unwrap(), "I run it.");
        assert_eq!(handle.usage().model.server_side_tools, 2);
        assert_eq!(recorder.kinds().iter().filter(|kind| is_server_side(kind)).count(), expected_events);
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
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedBuffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test]
async fn a_terminal_and_a_log_show_each_use_with_its_result() {
    let (shown, logged) = (SharedBuffer::default(), SharedBuffer::default());
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

/// Runs a search within `limits`, at a model with a price for searches and none for code.
async fn charged(limits: Limits) -> (Result<String, CallError>, Cost) {
    let mut response = answer();
    (response.usage.web_searches, response.usage.containers) = (2, 1);
    let model = ScriptedModel::new().respond(response).repeat_last().profile(PROFILE);
    let price = Price::per_million(Money::from_dollars(1), Money::from_dollars(1)).web_search(Money::from_cents(1));
    let prices = PriceTable::builtin().with("scripted:*", price).unwrap();
    let runtime = Runtime::builder().force_model(model).prices(prices).limits(limits).build().unwrap();
    let start = runtime.start(search { input: "q".into() });
    let handle = start.handle();
    (start.await, handle.usage_tree().total().cost)
}

#[tokio::test]
async fn a_charge_without_a_price_is_named_in_the_total_and_refused_by_a_limit() {
    let (result, cost) = charged(Limits::new()).await;
    assert_eq!(result.unwrap(), "I run it.");
    assert_eq!(cost.to_string(), "$0.02001 and 1 request of unknown price (unpriced: code_execution)");
    let limited = Limits::new().cost(Money::from_dollars(1));
    let (result, cost) = charged(limited.clone()).await;
    let error = llm_do::error::chain(&result.unwrap_err());
    let expected =
        "`cost` is limited to $1.00, but the price of `code_execution` with the model `scripted:model` is unknown";
    assert!(error.contains(expected), "{error}");
    assert!(cost.is_zero(), "nothing is sent");
    assert_eq!(charged(limited.allow_unpriced(true)).await.0.unwrap(), "I run it.");
}

#[tokio::test]
async fn the_price_of_a_requested_tier_must_be_known_under_a_limit() {
    let run = async |price: Price| {
        let model = ScriptedModel::new().respond(Response::new("m", vec![text("x")], Usage::of_request(1, 1)));
        let prices = PriceTable::builtin().with("scripted:*", price).unwrap();
        let builder = Runtime::builder().force_model(model).prices(prices);
        let builder = builder.settings(Settings::new().service_tier("flex"));
        let runtime = builder.limits(Limits::new().cost(Money::from_dollars(1))).build().unwrap();
        runtime.run(plain { input: "q".into() }).await
    };
    let price = Price::per_million(Money::from_dollars(1), Money::from_dollars(1));
    let error = llm_do::error::chain(&run(price.clone()).await.unwrap_err());
    assert!(error.contains("the price of `service_tier` with the model `scripted:model` is unknown"), "{error}");
    assert_eq!(run(price.clone().flex(price)).await.unwrap(), "x");
}
