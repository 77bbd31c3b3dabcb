//! Requests as they are written.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Dialect, Target};
use crate::attachment::Attachment;
use crate::capability::OpenAiCapabilities;
use crate::message::{Message, ResponsePart, Thinking, ToolCall, ToolResult, UserPart};
use crate::model::{JsonWriter, OutputSchema, Request, ToolChoice, ToolSpec};
use crate::openai::server::{ELSEWHERE, Server};
use crate::settings::Settings;

/// OpenAI's own server.
fn home() -> &'static Dialect {
    Server::OpenAi.dialect()
}

fn sent(request: &Request<'_>, dialect: &'static Dialect, stream: bool) -> Value {
    let capabilities = OpenAiCapabilities::default();
    let target = Target { model: "m", dialect, capabilities: &capabilities, is_mistral: dialect.is_mistral("m") };
    serde_json::to_value(super::request(target, request, stream, &mut JsonWriter::default()).unwrap().0).unwrap()
}

fn sent_messages(messages: &[Message]) -> Value {
    sent(&Request::new(messages, &Settings::default()), home(), false)["messages"].clone()
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn made(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "add", arguments)
}

fn call(arguments: &str) -> ResponsePart {
    ResponsePart::ToolCall(made("c1", arguments))
}

#[test]
fn a_bare_request_sends_nothing_unasked() {
    let settings = Settings::default();
    let request = Request::new(&[], &settings).tool_choice(ToolChoice::Required);
    assert_eq!(sent(&request, home(), false), json!({"model": "m", "messages": []}));
}

#[test]
fn a_streamed_request_asks_for_usage() {
    let body = sent(&Request::new(&[], &Settings::default()), home(), true);
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn instructions_are_the_system_message() {
    let settings = Settings::default();
    let request = Request::new(&[], &settings).instructions(Some("be brief"));
    assert_eq!(sent(&request, home(), false)["messages"], json!([{"role": "system", "content": "be brief"}]));
}

#[test]
fn several_user_parts_stay_several() {
    let part = |text: &str| UserPart::Text { text: text.into() };
    let messages = [Message::user("a"), Message::User { parts: vec![part("b"), part("c")] }];
    let parts = json!([{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]);
    let expected = json!([{"role": "user", "content": "a"}, {"role": "user", "content": parts}]);
    assert_eq!(sent_messages(&messages), expected);
}

#[test]
fn calls_and_their_results_carry_the_same_id() {
    let result = |id: &str| ToolResult::new(&made(id, "{}"), "3");
    let calls = vec![
        ResponsePart::Thinking(Thinking::new("hm")),
        call("{\"a\":1}"),
        ResponsePart::ToolCall(made("c2", "{\"a\":1}")),
    ];
    let messages = [
        Message::Assistant { parts: calls },
        Message::Tool { results: vec![result("c1"), result("c2")] },
        Message::Assistant { parts: vec![text("3"), text("!")] },
        Message::Assistant { parts: vec![] },
        Message::Assistant { parts: vec![ResponsePart::Attachment(Attachment::new("image/png", "i"))] },
    ];
    let function = json!({"name": "add", "arguments": "{\"a\":1}"});
    let call = |id: &str| json!({"id": id, "type": "function", "function": function});
    let expected = json!([
        {"role": "assistant", "tool_calls": [call("c1"), call("c2")]},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "tool", "tool_call_id": "c2", "content": "3"},
        {"role": "assistant", "content": "3!"},
        {"role": "assistant", "content": "(no answer)"},
        {"role": "assistant", "content": "(a file)"},
    ]);
    assert_eq!(sent_messages(&messages), expected);
}

#[test]
fn files_of_results_follow_all_results_of_the_turn() {
    let file = |data: &str| Attachment::new("image/png", data);
    let result = |id: &str| ToolResult::new(&made(id, "{}"), "3");
    let results = vec![
        result("c1").with_attachments([file("a").named("a.png"), file("b")]),
        result("c2"),
        result("c3").with_attachments([Attachment::new("text/plain", "c").named("c.txt")]),
    ];
    let calls = ["c1", "c2", "c3"].map(|id| ResponsePart::ToolCall(made(id, "{}"))).to_vec();
    let messages = [
        Message::Assistant { parts: calls },
        Message::Tool { results },
        Message::Assistant { parts: vec![text("ok")] },
    ];
    let parts = json!([
        {"type": "text", "text": "File `a.png`, from the tool `add`:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ=="}},
        {"type": "text", "text": "File of type `image/png`, from the tool `add`:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,Yg=="}},
        {"type": "text", "text": "File `c.txt`, from the tool `add`:"},
        {"type": "text", "text": "File `c.txt`:\nc"},
    ]);
    let expected = json!([
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
        {"role": "tool", "tool_call_id": "c2", "content": "3"},
        {"role": "tool", "tool_call_id": "c3", "content": "3"},
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "ok"},
    ]);
    assert_eq!(sent_messages(&messages).as_array().unwrap()[1..], expected.as_array().unwrap()[..]);
}

#[test]
fn arguments_of_earlier_calls_are_always_objects() {
    let cases = [
        ("", "{}"),
        ("{\"a\"", r#"{"invalid_json":"{\"a\""}"#),
        ("[1]", r#"{"not_an_object":"[1]"}"#),
        ("null", r#"{"not_an_object":"null"}"#),
        (r#"{"a":"\ud83d"}"#, r#"{"invalid_json":"{\"a\":\"\\ud83d\"}"}"#),
        (" {\"a\": 1.50} ", " {\"a\": 1.50} "),
    ];
    for (written, expected) in cases {
        let messages = sent_messages(&[Message::Assistant { parts: vec![call(written)] }]);
        assert_eq!(messages[0]["tool_calls"][0]["function"]["arguments"], expected);
    }
}

#[test]
fn tools_and_the_choice_among_them_are_sent() {
    let parameters = Arc::new(json!({"type": "object"}));
    let tools = [ToolSpec { name: "add".into(), description: "Adds.".into(), parameters }];
    let settings = Settings::default();
    let request = Request::new(&[], &settings).tools(&tools);
    let choices = [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::Tool("add"), json!({"type": "function", "function": {"name": "add"}})),
    ];
    for (choice, expected) in choices {
        let body = sent(&request.tool_choice(choice), home(), false);
        assert_eq!(body["tool_choice"], expected);
        let function = json!({"name": "add", "description": "Adds.", "parameters": {"type": "object"}});
        assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
    }
}

#[test]
fn an_output_schema_is_strict_only_if_it_qualifies() {
    let loose = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let output = OutputSchema { name: "out".into(), schema: Arc::new(loose.clone()) };
    let settings = Settings::default();
    let body = sent(&Request::new(&[], &settings).output(Some(&output)), home(), false);
    let json_schema = json!({"name": "out", "strict": false, "schema": loose});
    assert_eq!(body["response_format"], json!({"type": "json_schema", "json_schema": json_schema}));

    let schema = Arc::new(json!({"type": "object", "properties": {}}));
    let output = OutputSchema { name: "out".into(), schema };
    let body = sent(&Request::new(&[], &settings).output(Some(&output)), home(), false);
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
}

#[test]
fn the_limit_on_tokens_has_the_name_that_the_server_knows() {
    let settings = Settings { max_tokens: Some(5), stop: vec!["x".into()], seed: Some(1), ..Settings::default() };
    let request = Request::new(&[], &settings);
    let body = json!({"model": "m", "messages": [], "stop": ["x"], "seed": 1, "max_completion_tokens": 5});
    assert_eq!(sent(&request, home(), false), body);
    let body = json!({"model": "m", "messages": [], "stop": ["x"], "seed": 1, "max_tokens": 5});
    assert_eq!(sent(&request, &ELSEWHERE, false), body);
}
