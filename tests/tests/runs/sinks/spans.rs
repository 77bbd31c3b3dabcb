//! Calls as spans of `tracing`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::event::TracingSink;
use llm_do::json;
use llm_do::model::{
    ErrorKind, Profile, ProviderError, Request, Response, ResponsePart, ServerSideTool, ServerSideToolUse, ToolCall,
};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, ScriptedModel, TestModel};
use llm_do::usage::Usage;
use serde_json::Value;
use tokio::sync::Notify;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{report, summarise};

/// Keep a secret.
#[tool(effect = read_only, inline)]
fn keep(secret: String) -> String {
    format!("kept {secret}")
}

/// Keep secrets.
#[worker(toolsets = [keep])]
async fn keeper(input: String) -> String;

/// Search.
#[worker(server_side_tools = [web_search])]
async fn search_for(input: String) -> String;

/// Fails.
#[tool(effect = read_only, inline)]
fn break_down(with: String) -> Result<()> {
    Err(with.into())
}

/// A span or an event: its name, its parent and its fields.
#[derive(Clone, Debug, Default)]
struct Seen {
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
    /// The number of references; 0 once it is closed.
    handles: u32,
}

impl Seen {
    fn name(&self) -> &str {
        self.fields.get("otel.name").map_or("", String::as_str)
    }
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        assert_eq!(self.fields.insert(field.name(), value.to_owned()), None, "{field} is set twice");
    }
}

/// Records all spans and events; without an explicit parent, they are in the span that was entered last.
#[derive(Clone, Default)]
struct Trace {
    next: Arc<AtomicU64>,
    spans: Arc<Mutex<BTreeMap<u64, Seen>>>,
    events: Arc<Mutex<Vec<Seen>>>,
    entered: Arc<Mutex<Vec<u64>>>,
}

impl Trace {
    fn parent(&self, explicit: Option<&Id>, is_contextual: bool) -> Option<u64> {
        let current = || self.entered.lock().unwrap().last().copied();
        explicit.map(Id::into_u64).or_else(|| is_contextual.then(current).flatten())
    }

    fn spans(&self) -> BTreeMap<u64, Seen> {
        self.spans.lock().unwrap().clone()
    }

    /// Returns the name of each span, after the name of its parent.
    fn nested(&self) -> Vec<(String, String)> {
        let spans = self.spans();
        let above = |seen: &Seen| seen.parent.map_or("", |parent| spans[&parent].name()).to_owned();
        spans.values().map(|seen| (above(seen), seen.name().to_owned())).collect()
    }

    fn span(&self, name: &str) -> Seen {
        self.spans().into_values().find(|seen| seen.name() == name).unwrap_or_else(|| panic!("no span `{name}`"))
    }
}

impl Subscriber for Trace {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "llm_do" || metadata.name() == "request"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let parent = self.parent(attributes.parent(), attributes.is_contextual());
        let mut seen = Seen { parent, handles: 1, ..Seen::default() };
        attributes.record(&mut seen);
        self.spans.lock().unwrap().insert(id, seen);
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(self.spans.lock().unwrap().get_mut(&span.into_u64()).unwrap());
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut seen = Seen { parent: self.parent(event.parent(), event.is_contextual()), ..Seen::default() };
        event.record(&mut seen);
        self.events.lock().unwrap().push(seen);
    }

    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        self.entered.lock().unwrap().retain(|entered| *entered != span.into_u64());
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.spans.lock().unwrap().get_mut(&id.into_u64()).unwrap().handles += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut spans = self.spans.lock().unwrap();
        let seen = spans.get_mut(&id.into_u64()).unwrap();
        seen.handles -= 1;
        seen.handles == 0
    }
}

fn traced(sink: TracingSink) -> RuntimeBuilder {
    Runtime::builder().force_model(TestModel::new()).approval_mode(ApprovalMode::ApproveAll).sink(sink)
}

/// Returns a model that calls `keep`, then answers that it is done.
fn calls_keep() -> ScriptedModel {
    let call = ToolCall::new("call-1", "keep", r#"{"secret":"swordfish"}"#);
    let answers = [ResponsePart::ToolCall(call), ResponsePart::Text { text: "swordfish is kept".into() }];
    answers.into_iter().fold(ScriptedModel::new(), |script, part| {
        script.respond(Response::new("served", vec![part], Usage::of_request(7, 3)))
    })
}

async fn keep_swordfish(sink: TracingSink) -> Trace {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let runtime = Runtime::builder().force_model(calls_keep().named("mistral:asked")).sink(sink).build().unwrap();
    runtime.run(keeper { input: "swordfish".into() }).await.unwrap();
    trace
}

#[tokio::test]
async fn a_request_has_its_messages_and_tools_if_events_and_the_sink_have_content() {
    for (of_events, of_sink) in [(true, true), (false, true), (true, false)] {
        let trace = Trace::default();
        let _guard = tracing::subscriber::set_default(trace.clone());
        let runtime = Runtime::builder().content(of_events).force_model(calls_keep().named("m:m"));
        let runtime = runtime.sink(TracingSink::new().content(of_sink)).build().unwrap();
        runtime.run(keeper { input: "swordfish".into() }).await.unwrap();
        let spans = trace.spans();
        let requests: Vec<_> = spans.values().filter(|span| span.name() == "chat m").collect();
        let has_messages = |span: &&Seen| span.fields.contains_key("gen_ai.input.messages");
        assert_eq!(requests.iter().all(has_messages), of_events && of_sink, "{requests:?}");
        if of_events && of_sink {
            let roles = |span: &Seen| {
                let messages: Value = serde_json::from_str(&span.fields["gen_ai.input.messages"]).unwrap();
                messages
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|message| message["role"].as_str().unwrap().to_owned())
                    .collect()
            };
            let roles: Vec<Vec<String>> = requests.iter().map(|span| roles(span)).collect();
            assert_eq!(roles, [vec!["user"], vec!["user", "assistant", "tool"]]);
            let defines = |span: &&Seen| span.fields["gen_ai.tool.definitions"].contains("Keep a secret.");
            assert!(requests.iter().all(defines), "the second event has only the digest: {requests:?}");
        }
    }
}

#[tokio::test]
async fn spans_are_nested_like_calls() {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let runtime = traced(TracingSink::new()).build().unwrap();
    runtime.run(report {}).await.unwrap();
    let nested = trace.nested();
    let is_in = |above: &str, name: &str| nested.iter().any(|(a, n)| (a.as_str(), n.as_str()) == (above, name));
    assert!(is_in("", "invoke_workflow report"), "{nested:?}");
    assert!(is_in("invoke_workflow report", "invoke_agent summarise"), "{nested:?}");
    assert!(is_in("invoke_agent summarise", "chat model"), "{nested:?}");
    assert!(is_in("invoke_agent summarise", "execute_tool write_twelve"), "{nested:?}");
    assert!(trace.spans().values().all(|span| span.handles == 0), "{:?}", trace.spans());
}

#[tokio::test]
async fn a_server_side_tool_is_in_the_span_of_the_request() {
    for with_content in [false, true] {
        let trace = Trace::default();
        let _guard = tracing::subscriber::set_default(trace.clone());
        let used = ServerSideToolUse::new("web_search", json!({ "query": "swordfish" }), Value::Null);
        let parts = [
            ResponsePart::ServerSideTool(used.with_error(Some("swordfish is sold out".into()))),
            ResponsePart::Text { text: "none".into() },
        ];
        let profile = Profile::BASIC.with_server_side_tools(&[ServerSideTool::WEB_SEARCH]);
        let model = ScriptedModel::new().answer(parts).profile(profile);
        let sink = TracingSink::new().content(with_content);
        let runtime = Runtime::builder().force_model(model).sink(sink).build().unwrap();
        runtime.run(search_for { input: "q".into() }).await.unwrap();
        assert!(
            trace.nested().contains(&("chat model".into(), "execute_tool web_search".into())),
            "{:?}",
            trace.nested()
        );
        let span = trace.span("execute_tool web_search");
        assert_eq!(
            ["gen_ai.tool.name", "gen_ai.tool.type", "error.type"].map(|field| &*span.fields[field]),
            ["web_search", "extension", "server_side_tool_failed"]
        );
        assert_eq!(span.handles, 0);
        assert_eq!(format!("{span:?}").contains("swordfish"), with_content, "{span:?}");
    }
}

#[tokio::test]
async fn a_run_is_in_the_span_in_which_it_was_started() {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let runtime = traced(TracingSink::new()).build().unwrap();
    let request = tracing::info_span!("request", otel.name = "GET /");
    let entered = request.enter();
    // A run that needs only this thread finishes in one poll, inside the span.
    let run = futures_util::future::poll_immediate(runtime.run(keep { secret: "x".into() }));
    run.await.unwrap().unwrap();
    drop(entered);
    assert_eq!(trace.nested()[1], ("GET /".to_owned(), "execute_tool keep".to_owned()));
}

/// Is notified once the shadow's worker runs.
static ASKED: Notify = Notify::const_new();

/// Keeps a secret, and waits until the shadow's worker runs.
#[entry(toolsets = [keep])]
async fn keep_and_stay(ctx: &CallContext<keep_and_stay>) -> Result<()> {
    ctx.call(keep { secret: "x".into() }).await?;
    ASKED.notified().await;
    Ok(())
}

/// Keep a secret in mind.
#[worker]
async fn mind(secret: String) -> String {
    ASKED.notify_one();
    secret
}

#[tokio::test]
async fn the_worker_of_a_shadow_is_in_the_span_of_the_root_call() {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let shadow = llm_do::harden::Shadow::of("keep", "mind");
    traced(TracingSink::new()).shadow(shadow).build().unwrap().run(keep_and_stay {}).await.unwrap();
    let nested = trace.nested();
    let inside = |name: &str| nested.iter().find(|(_, inner)| inner == name).map(|(outer, _)| outer.as_str());
    assert_eq!(inside("execute_tool keep"), Some("invoke_workflow keep_and_stay"), "{nested:?}");
    assert_eq!(inside("invoke_agent mind"), Some("invoke_workflow keep_and_stay"), "{nested:?}");
    assert_eq!(inside("chat model"), Some("invoke_agent mind"), "{nested:?}");
}

#[tokio::test]
async fn spans_have_the_attributes_of_the_conventions() {
    let trace = keep_swordfish(TracingSink::new()).await;
    let says = |name: &str, field: &str, value: &str| {
        let span = trace.span(name);
        assert_eq!(span.fields.get(field).map(String::as_str), Some(value), "{field} of {name}: {span:?}");
    };
    for (field, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "mistral_ai"),
        ("gen_ai.request.model", "asked"),
        ("gen_ai.response.model", "served"),
        ("gen_ai.usage.input_tokens", "7"),
        ("gen_ai.usage.output_tokens", "3"),
        ("otel.kind", "client"),
    ] {
        says("chat asked", field, value);
    }
    for (field, value) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "keeper"),
        ("gen_ai.provider.name", "mistral_ai"),
        ("gen_ai.request.model", "asked"),
        ("gen_ai.usage.input_tokens", "14"),
        ("gen_ai.usage.output_tokens", "6"),
    ] {
        says("invoke_agent keeper", field, value);
    }
    for (field, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "keep"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.call.id", "call-1"),
        ("llm_do.call", "1"),
    ] {
        says("execute_tool keep", field, value);
    }
}

#[tokio::test]
async fn spans_have_no_content_by_default() {
    let trace = keep_swordfish(TracingSink::new()).await;
    assert!(!format!("{:?}", trace.spans()).contains("swordfish"), "{:?}", trace.spans());

    let trace = keep_swordfish(TracingSink::new().content(true)).await;
    let tool = trace.span("execute_tool keep").fields;
    assert_eq!(tool["gen_ai.tool.call.arguments"], r#"{"secret":"swordfish"}"#);
    assert_eq!(tool["gen_ai.tool.call.result"], r#""kept swordfish""#);
    let json = |name: &str, field: &str| serde_json::from_str::<Value>(&trace.span(name).fields[field]).unwrap();
    let agent = json("invoke_agent keeper", "gen_ai.output.messages");
    assert_eq!(agent[0]["parts"][0]["content"], "swordfish is kept");
    assert!(json("invoke_agent keeper", "gen_ai.input.messages")[0]["parts"][0]["content"].is_string());
    let chat = json("chat asked", "gen_ai.output.messages");
    assert_eq!((&chat[0]["role"], &chat[0]["parts"][0]["type"]), (&"assistant".into(), &"tool_call".into()));
    assert_eq!(chat[0]["parts"][0]["arguments"]["secret"], "swordfish");
}

#[tokio::test]
async fn a_failure_has_an_error_type_without_its_text() {
    let trace = Trace::default();
    let _guard = tracing::subscriber::set_default(trace.clone());
    let runtime = traced(TracingSink::new()).build().unwrap();
    runtime.run(break_down { with: "swordfish".into() }).await.unwrap_err();
    let down = FunctionModel::new(|_: Request<'_>| Err(ProviderError::new("down", ErrorKind::Transport, "swordfish")));
    let runtime = Runtime::builder().force_model(down.named("down")).sink(TracingSink::new()).build().unwrap();
    runtime.run(summarise { input: "x".into() }).await.unwrap_err();
    for (name, kind) in [
        ("execute_tool break_down", "call_failed"),
        ("chat down", "request_failed"),
        ("invoke_agent summarise", "call_failed"),
    ] {
        let span = trace.span(name);
        assert_eq!((&*span.fields["error.type"], &*span.fields["otel.status_code"]), (kind, "ERROR"), "{name}");
        assert!(span.handles == 0, "{name}");
    }
    assert!(!format!("{:?}", trace.spans()).contains("swordfish"), "{:?}", trace.spans());
}

#[tokio::test]
async fn a_refused_call_is_an_event_in_its_callers_span() {
    /// Calls a tool that does not exist.
    #[entry]
    async fn lost(ctx: &CallContext) -> Result<bool> {
        Ok(ctx.call_tool("swordfish", Value::Null).await.is_err())
    }
    let run = |sink| async move {
        let trace = Trace::default();
        let _guard = tracing::subscriber::set_default(trace.clone());
        assert!(traced(sink).build().unwrap().run(lost {}).await.unwrap());
        trace
    };
    for content in [false, true] {
        let trace = run(TracingSink::new().content(content)).await;
        let events = trace.events.lock().unwrap().clone();
        assert_eq!(events.len(), 1);
        assert_eq!(events[0].fields["error.type"], "call_refused");
        assert_eq!(trace.spans()[&events[0].parent.unwrap()].name(), "invoke_workflow lost");
        assert_eq!(format!("{events:?}").contains("swordfish"), content, "{events:?}");
    }
}
