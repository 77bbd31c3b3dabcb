//! Servers that ask a model.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::approval::{ApprovalMode, ApprovalRequest, Decision};
use llm_do::error::chain;
use llm_do::event::{Event, EventKind};
use llm_do::mcp::McpServer;
use llm_do::model::{FinishReason, Message, ProviderError, Request, Response, ResponsePart, UserPart};
use llm_do::testing::{RecordedRequest, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::{Limits, Model, Runtime, Value, async_trait, json};

use super::script::{Script, builder};

/// The flags of a server of each era.
const ERAS: [&[&str]; 2] = [&[], &["modern"]];

fn sampling(script: &Script) -> McpServer {
    script.server().sampling("test:any")
}

fn runtime(script: &Script, model: impl Model + 'static) -> Runtime {
    builder(sampling(script)).force_model(model).build().unwrap()
}

/// Has the server ask, with these parameters; returns the answer that it got, or the error of the call.
async fn asked(runtime: &Runtime, parameters: Value) -> Result<Value, String> {
    let arguments = json!({ "text": parameters.to_string() });
    let answer = runtime.run_named("mcp__s__sample", arguments).await.map_err(|error| error.model_message())?;
    let answer: Value = serde_json::from_str(answer.as_str().unwrap()).unwrap();
    match answer["error"]["message"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(answer["result"].clone()),
    }
}

/// A model that never answers, and that knows whether its last request was dropped.
#[derive(Clone, Debug, Default)]
struct Endless(Arc<AtomicBool>);

struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[async_trait]
impl Model for Endless {
    fn name(&self) -> &'static str {
        "test:endless"
    }

    async fn request(&self, _: Request<'_>) -> Result<Response, ProviderError> {
        let _dropped = Dropped(Arc::clone(&self.0));
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_configured_model_answers_and_counts_for_the_call() {
    for flags in ERAS {
        let script = Script::new(flags);
        let model = ScriptedModel::new().text("Hello!");
        let runtime = runtime(&script, model.clone());
        let start = runtime.start_named("mcp__s__sample", json!({}));
        let handle = start.handle();
        let answer: Value = serde_json::from_str(start.await.unwrap().as_str().unwrap()).unwrap();
        let answer = &answer["result"];
        assert_eq!(answer["content"]["text"], "Hello!", "{flags:?}: {answer}");
        assert_eq!((&answer["role"], &answer["stopReason"]), (&json!("assistant"), &json!("endTurn")));
        assert_eq!(handle.usage().model.requests, 1, "{flags:?}");
        let requests = model.requests();
        assert_eq!(requests[0].messages, [Message::user("Hi")]);
        assert_eq!((requests[0].settings.max_tokens, requests[0].tools.len()), (Some(5), 0));
    }
}

#[tokio::test]
async fn a_conversation_with_its_settings_and_files_reaches_the_model() {
    let script = Script::new(&[]);
    let model = ScriptedModel::new().text("A dot.");
    let text = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let image = json!({ "role": "user", "content": [
        { "type": "text", "text": "And this?" },
        { "type": "image", "data": "AAAA", "mimeType": "image/png" },
    ] });
    let parameters = json!({
        "messages": [text("user", "What is it?"), text("assistant", "A cat."), image],
        "systemPrompt": "Be brief.",
        "temperature": 0.5,
        "stopSequences": ["."],
        "maxTokens": 100_000,
    });
    assert_eq!(asked(&runtime(&script, model.clone()), parameters).await.unwrap()["content"]["text"], "A dot.");
    let RecordedRequest { messages, instructions, settings, .. } = &model.requests()[0];
    assert_eq!(messages[1], Message::Assistant { parts: vec![ResponsePart::Text { text: "A cat.".into() }] });
    let Message::User { parts } = &messages[2] else { panic!("{messages:?}") };
    assert!(matches!(&parts[1], UserPart::Attachment(file) if file.media_type() == "image/png"));
    assert_eq!((instructions.as_str(), settings.temperature), ("Be brief.", Some(0.5)));
    assert_eq!((settings.max_tokens, &*settings.stop), (Some(4096), &[".".to_owned()][..]), "the tokens are bounded");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_sent_as_such() {
    let script = Script::new(&[]);
    let part = ResponsePart::Text { text: "Once upon".into() };
    let response = Response::new("m", vec![part], Usage::default()).with_finish(FinishReason::Length);
    let answer = asked(&runtime(&script, ScriptedModel::new().respond(response)), json!({})).await.unwrap();
    assert_eq!((&answer["stopReason"], &answer["content"]["text"]), (&json!("maxTokens"), &json!("Once upon")));
    assert_eq!(answer["model"], "m");
}

#[tokio::test]
async fn the_user_approves_the_server_the_messages_and_the_bounds() {
    for flags in ERAS {
        let script = Script::new(flags);
        let shown: Arc<Mutex<Vec<ApprovalRequest>>> = Arc::default();
        let keep = Arc::clone(&shown);
        let runtime = builder(sampling(&script))
            .approval_mode(ApprovalMode::Prompt)
            .approve_with(move |request: ApprovalRequest| {
                keep.lock().unwrap().push(request);
                std::future::ready(Decision::deny("no"))
            })
            .force_model(ScriptedModel::new())
            .build()
            .unwrap();
        let error = asked(&runtime, json!({})).await.unwrap_err();
        assert!(error.contains("llm-do refuses the sampling request: it is not approved"), "{flags:?}: {error}");
        let shown = shown.lock().unwrap();
        let request = &shown[0];
        assert_eq!((&*request.tool, &*request.caller), ("mcp_sampling__s", "mcp__s__sample"));
        assert_eq!(request.arguments, json!({ "max_tokens": 5, "messages": [{ "role": "user", "text": "Hi" }] }));
        let summary = request.summary();
        assert!(summary.starts_with("let the MCP server `s` ask `test:any` for 5 tokens: [{"), "{summary}");
    }
}

#[tokio::test]
async fn content_that_we_do_not_have_is_refused_with_the_reason() {
    let script = Script::new(&[]);
    let runtime = runtime(&script, ScriptedModel::new());
    let message = |role: &str, content: Value| json!({ "messages": [{ "role": role, "content": content }] });
    let cases = [
        (json!({ "messages": [] }), "its last message is not one of the user"),
        (message("assistant", json!({ "type": "text", "text": "Hi" })), "its last message is not one of the user"),
        (message("assistant", json!({ "type": "image", "data": "", "mimeType": "image/png" })), "of the assistant"),
        (message("user", json!({ "type": "tool_result", "toolUseId": "1", "content": [] })), "calls of tools"),
        (json!({ "tools": [] }), "tools in sampling requests are not supported"),
        (message("user", json!({ "type": "text", "text": "x".repeat(200_000) })), "200000 bytes, more than the limit"),
        (message("user", json!({ "type": "image", "data": "%", "mimeType": "image/png" })), "not base64"),
    ];
    for (parameters, reason) in cases {
        let error = asked(&runtime, parameters).await.unwrap_err();
        assert!(error.contains("llm-do refuses the sampling request") && error.contains(reason), "{reason}: {error}");
    }
}

#[tokio::test]
async fn a_limit_that_is_reached_ends_the_call() {
    for flags in ERAS {
        let script = Script::new(flags);
        let runtime = runtime(&script, ScriptedModel::new().text("Hello!").repeat_last());
        let limits = Limits::new().requests(0);
        let error = runtime.start_named("mcp__s__sample", json!({})).limits(limits).await.unwrap_err();
        assert!(chain(&error).contains("limit"), "{flags:?}: {}", chain(&error));
    }
}

#[tokio::test]
async fn a_request_outside_of_a_call_is_a_run_of_its_own() {
    let script = Script::new(&[]).with_file("sampled");
    let events: Arc<Mutex<Vec<Arc<Event>>>> = Arc::default();
    let keep = Arc::clone(&events);
    let runtime = builder(sampling(&script))
        .force_model(ScriptedModel::new().text("Hello!"))
        .on_event(move |event| keep.lock().unwrap().push(Arc::clone(event)))
        .build()
        .unwrap();
    runtime.run_named("mcp__s__sample", json!({ "size": 100 })).await.unwrap();
    let answer = sampled(&script).await;
    assert_eq!(answer["result"]["content"]["text"], "Hello!", "{answer}");
    runtime.flush().await;
    let events = events.lock().unwrap();
    let asked = events.iter().find(|event| matches!(event.kind, EventKind::ModelRequest { .. })).unwrap();
    assert_eq!(&*asked.name, "mcp_sampling__s");
    let first = events.iter().find(|event| event.run == asked.run).unwrap();
    assert_eq!(&*first.name, "mcp_sampling__s", "it is the root of its run");
}

#[tokio::test]
async fn a_request_that_could_belong_to_several_calls_is_refused() {
    let script = Script::new(&[]).with_file("log");
    let runtime = runtime(&script, ScriptedModel::new());
    let hanging = runtime.start_named("mcp__s__hang", json!({}));
    let hanging = tokio::spawn(async move { hanging.await });
    script.wait_for("tools/call").await;
    let error = asked(&runtime, json!({})).await.unwrap_err();
    assert!(error.contains("several calls are in flight"), "{error}");
    hanging.abort();
}

#[tokio::test]
async fn a_server_that_cancels_its_request_stops_the_model() {
    let script = Script::new(&[]);
    let model = Endless::default();
    let runtime = runtime(&script, model.clone());
    let arguments = json!({ "text": r#"{"cancel": true}"#, "size": 0 });
    assert_eq!(runtime.run_named("mcp__s__sample", arguments).await.unwrap(), "cancelled");
    assert!(model.0.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_run_that_is_cancelled_stops_the_model() {
    for flags in ERAS {
        let script = Script::new(flags);
        let model = Endless::default();
        let runtime = runtime(&script, model.clone());
        let start = runtime.start_named("mcp__s__sample", json!({}));
        let handle = start.handle();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            handle.cancel();
        };
        let (answer, ()) = tokio::join!(start, cancel);
        assert!(answer.unwrap_err().is_cancelled() && model.0.load(Ordering::Relaxed), "{flags:?}");
    }
}

/// Waits for the answer to a request that belongs to no call.
async fn sampled(script: &Script) -> Value {
    for _ in 0..1000 {
        match script.lines("sampled").first() {
            Some(line) => return serde_json::from_str(line).unwrap(),
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
    panic!("the server got no answer within 10 seconds");
}
