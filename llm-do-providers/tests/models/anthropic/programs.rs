//! Code of the model, which the provider runs, and which calls tools.
//!
//! By <https://platform.claude.com/docs/en/agents-and-tools/tool-use/programmatic-tool-calling>.

use std::sync::Arc;

use llm_do_providers::{
    Attachment, Message, Model, Request, Response, ResponsePart, ServerSideTool, Settings, ToolChoice, ToolResult,
    ToolSpec,
};
use serde_json::{Value, json};

use crate::anthropic::{asked, begun, block, ended, hello, message, model, named};
use crate::question::{add, streamed};
use crate::server::{Reply, Server};

const CODE: &[ServerSideTool] = &[ServerSideTool::ProgrammaticToolCalling];
const VERSION: &str = "code_execution_20260120";
const MODEL: &str = "claude-sonnet-4-5";

fn program() -> Value {
    json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "await add(1)"}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "add", "input": {"a": 1},
        "caller": {"type": VERSION, "tool_id": "srvtoolu_1"}})
}

fn output() -> Value {
    json!({"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1",
        "content": {"type": "code_execution_result", "stdout": "3", "stderr": "", "return_code": 0, "content": []}})
}

/// An answer of `content`, in which code ran in a container.
fn in_container(content: &Value, stop_reason: &str) -> Value {
    let mut body = message(content, stop_reason);
    body["container"] = json!({"id": "container_1", "expires_at": "2026-11-26T14:30:00Z"});
    body
}

async fn answer(content: &Value, stop_reason: &str) -> Response {
    let server = Server::scripted([Reply::json(200, &in_container(content, stop_reason))]).await;
    crate::anthropic::whole(&model(&server)).await.unwrap()
}

fn results(response: &Response) -> Message {
    Message::Tool { results: response.tool_calls().map(|call| ToolResult::new(call, "3")).collect() }
}

/// The body of a request with `messages`.
async fn sent(messages: &[Message]) -> Value {
    let (settings, tools) = (Settings::new().cache_prompt(true), [add()]);
    asked(MODEL, Request::new(messages, &settings).tools(&tools).server_side_tools(CODE)).await.0
}

/// A conversation whose last answer is code that waits for its call.
async fn waiting() -> Vec<Message> {
    let response =
        answer(&json!([{"type": "text", "text": "I run code."}, program(), call("toolu_1")]), "tool_use").await;
    let results = results(&response);
    vec![Message::user("1 + 2?"), Message::Assistant { parts: response.parts }, results]
}

#[tokio::test]
async fn tools_are_offered_to_code_too_except_the_output_tool_and_recursive_schemas() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let tree = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}}}});
    let tools = [
        add(),
        ToolSpec { name: "final_result".into(), ..add() },
        ToolSpec { name: "walk".into(), parameters: Arc::new(tree), ..add() },
    ];
    let server_side = [ServerSideTool::CodeExecution, ServerSideTool::ProgrammaticToolCalling];
    let request = Request::new(&messages, &settings).tools(&tools).output_tool(Some("final_result"));
    let request = request.tool_choice(ToolChoice::Auto).server_side_tools(&server_side);
    let tools = asked(MODEL, request).await.0["tools"].take();
    let callers: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool.get("allowed_callers").cloned()).collect();
    assert_eq!(callers, [Some(json!(["direct", VERSION])), None, None, None]);
    assert_eq!(tools[3], json!({"type": VERSION, "name": "code_execution"}), "one tool runs all code");
}

#[tokio::test]
async fn without_tools_no_code_is_offered() {
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let body = asked(MODEL, Request::new(&messages, &settings).server_side_tools(CODE)).await.0;
    assert_eq!(body.get("tools"), None);
}

#[test]
fn only_models_that_are_known_for_it_run_code_that_calls_tools() {
    let models = [
        ("claude-sonnet-4-5", true),
        ("claude-opus-5-5", true),
        ("claude-haiku-4-5", false),
        ("claude-opus-4-1", false),
    ];
    for (name, runs) in models {
        let model = llm_do_providers::AnthropicModel::builder(name).base_url("http://127.0.0.1:1").build().unwrap();
        assert_eq!(model.profile().runs(&CODE[0]), runs, "{name}");
    }
}

#[tokio::test]
async fn parallel_calls_of_code_cannot_be_limited() {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    let (messages, settings, tools) = ([Message::user("hi")], Settings::new().parallel_tool_calls(false), [add()]);
    let request = Request::new(&messages, &settings).tools(&tools).server_side_tools(CODE);
    let response = named(MODEL, &server).build().unwrap().request(request).await.unwrap();
    assert_eq!(server.requests()[0].body.get("tool_choice"), None);
    assert_eq!(response.warnings[0].setting, "parallel_tool_calls");
}

#[tokio::test]
async fn code_that_waits_gets_its_results_alone_and_in_its_container() {
    let mut messages = waiting().await;
    let body = sent(&messages).await;
    assert_eq!(body["container"], "container_1");
    assert_eq!(body["messages"][1]["content"].as_array().unwrap()[1..], [program(), call("toolu_1")]);
    let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "3"}]);
    assert_eq!(body["messages"][2]["content"], result("toolu_1"), "without a cache breakpoint");

    let again = json!([call("toolu_2")]);
    // An answer without the container continues in the one of its turn.
    let response = crate::anthropic::answer_of(again.clone(), "tool_use").await;
    messages.extend([Message::Assistant { parts: response.parts.clone() }, results(&response)]);
    let body = sent(&messages).await;
    assert_eq!((&body["container"], &body["messages"][3]["content"]), (&json!("container_1"), &again));
    assert_eq!(body["messages"][4]["content"], result("toolu_2"));

    let end = json!([output(), {"type": "text", "text": "3."}]);
    messages.extend([Message::Assistant { parts: answer(&end, "end_turn").await.parts }, Message::user("thanks")]);
    let body = sent(&messages).await;
    assert_eq!((&body["messages"][3]["content"], &body["messages"][5]["content"]), (&again, &end));
    assert_eq!(body["messages"][1]["content"].as_array().unwrap()[1..], [program(), call("toolu_1")]);
    assert_eq!(body.get("container"), None);
}

#[tokio::test]
async fn a_stream_has_the_callers_and_the_container() {
    let content = json!([program(), call("toolu_1")]);
    let mut reply = begun();
    for (index, part) in content.as_array().unwrap().iter().enumerate() {
        let (mut start, input) = (part.clone(), part["input"].to_string());
        start["input"] = json!({});
        reply = block(reply, index, &start, &[json!({"type": "input_json_delta", "partial_json": input})]);
    }
    let container = json!({"id": "container_1", "expires_at": "2026-11-26T14:30:00Z"});
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null, "container": container});
    let end = json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 4}});
    let reply = crate::anthropic::Named::named_event(reply, &end);
    let server = Server::scripted([ended(reply, "tool_use")]).await;
    let response = streamed(&model(&server)).await.unwrap();
    assert_eq!(response.parts, answer(&content, "tool_use").await.parts);
}

#[tokio::test]
async fn code_that_cannot_finish_is_left_out_and_its_calls_are_the_models() {
    let mut interrupted = waiting().await;
    interrupted.push(Message::user("stop"));
    let body = sent(&interrupted).await;
    let direct = json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1}});
    assert_eq!(body["messages"][1]["content"], json!([{"type": "text", "text": "I run code."}, direct]));
    assert_eq!(body["messages"][2]["content"][1]["text"], "stop");
    assert_eq!(body.get("container"), None);

    // As left by a summary of the first messages.
    let later = answer(&json!([call("toolu_1"), output()]), "tool_use").await;
    let results = results(&later);
    let torn = [Message::user("hi"), Message::Assistant { parts: later.parts }, results];
    assert_eq!(sent(&torn).await["messages"][1]["content"], json!([direct]));
}

#[tokio::test]
async fn results_for_code_have_no_files() {
    let response = answer(&json!([program(), call("toolu_1"), call("toolu_2")]), "tool_use").await;
    let file = || Attachment::new("image/png", "hi!").named("a.png");
    let results = response
        .tool_calls()
        .zip([false, true])
        .map(|(call, is_error)| ToolResult::new(call, "see the files").with_error(is_error).with_attachments([file()]));
    let results = Message::Tool { results: results.collect() };
    let body = sent(&[Message::user("hi"), Message::Assistant { parts: response.parts }, results]).await;
    let blocks = body["messages"][2]["content"].as_array().unwrap();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let text = block["content"].as_str().unwrap();
        assert!(text.starts_with("see the files\n") && text.contains("`a.png`"), "{text}");
    }
}

#[tokio::test]
async fn a_program_is_a_use_of_a_server_side_tool() {
    let parts = answer(&json!([program(), call("toolu_1")]), "tool_use").await.parts;
    let ResponsePart::ServerSideTool(used) = &parts[0] else { panic!("{parts:?}") };
    assert_eq!((used.name.as_str(), &used.input["code"]), ("code_execution", &json!("await add(1)")));
}
