//! The serialized conversation: roles, results first, files.

use llm_do_providers::{
    Attachment, ErrorKind, Message, Model, Request, ResponsePart, Settings, Thinking, ToolCall, ToolResult, UserPart,
};
use serde_json::{Value, json};

use crate::anthropic::asked;
use crate::server::Server;

async fn sent(messages: &[Message]) -> Value {
    let settings = Settings::default();
    asked("claude-sonnet-4-5", Request::new(messages, &settings)).await.0["messages"].take()
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, "add", arguments)
}

fn assistant(parts: impl IntoIterator<Item = ResponsePart>) -> Message {
    Message::Assistant { parts: parts.into_iter().collect() }
}

fn calls(ids: &[&str]) -> Message {
    assistant(ids.iter().map(|id| ResponsePart::ToolCall(call(id, "{\"a\": 1.50}"))))
}

fn result(id: &str) -> ToolResult {
    ToolResult::new(&call(id, "{}"), "3")
}

fn png(data: &str) -> Attachment {
    Attachment::new("image/png", data)
}

/// The content block of an image.
fn image(base64: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64}})
}

#[tokio::test]
async fn a_turn_is_sent_unchanged() {
    let messages =
        [Message::user("1+2?"), assistant([text("Let me see."), ResponsePart::ToolCall(call("c1", "{\"a\": 1.50}"))])];
    let results = Message::Tool { results: vec![result("c1")] };
    let told = sent(&[messages.as_slice(), &[results, assistant([text("3")]), Message::user("thanks")]].concat()).await;
    let used = json!({"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1.50}});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "1+2?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, used]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "3"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "3"}]},
        {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
    ]);
    assert_eq!(told, expected);
}

#[tokio::test]
async fn consecutive_messages_are_merged_with_results_first() {
    let failed = ToolResult::new(&call("c2", "{}"), "no such file").with_error(true);
    let messages = [
        Message::user("a"),
        Message::user("b"),
        calls(&["c1", "c2"]),
        Message::Tool { results: vec![result("c1"), failed] },
        Message::user("and hurry"),
    ];
    let told = sent(&messages).await;
    let expected = json!([
        {"type": "tool_result", "tool_use_id": "c1", "content": "3"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "no such file", "is_error": true},
        {"type": "text", "text": "and hurry"},
    ]);
    assert_eq!(told.as_array().unwrap().len(), 3);
    assert_eq!(told[0]["content"], json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]));
    assert_eq!(told[2]["content"], expected);
}

/// By <https://platform.claude.com/docs/en/build-with-claude/vision> and
/// <https://platform.claude.com/docs/en/build-with-claude/pdf-support>.
#[tokio::test]
async fn files_of_the_user_are_images_and_documents() {
    let file = |attachment| UserPart::Attachment(attachment);
    let parts = vec![
        UserPart::Text { text: "look".into() },
        file(Attachment::new("Image/JPG; a=b", "hi!")),
        file(Attachment::new("application/pdf", "hi!").named("a.pdf")),
        file(Attachment::new("text/csv", "a,b\n").named("t.csv")),
        file(Attachment::new("application/json", "[]")),
    ];
    let told = sent(&[Message::User { parts }]).await;
    let base64 = |media_type: &str| json!({"type": "base64", "media_type": media_type, "data": "aGkh"});
    let plain = |data: &str| json!({"type": "text", "media_type": "text/plain", "data": data});
    let expected = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "source": base64("image/jpeg")},
        {"type": "document", "source": base64("application/pdf"), "title": "a.pdf"},
        {"type": "document", "source": plain("a,b\n"), "title": "t.csv"},
        {"type": "document", "source": plain("[]")},
    ]);
    assert_eq!(told[0]["content"], expected);
}

#[tokio::test]
async fn files_of_a_result_are_part_of_it() {
    let silent = ToolResult::new(&call("c2", "{}"), "").with_attachments([png("b")]);
    let results = vec![result("c1").with_attachments([png("a")]), silent, ToolResult::new(&call("c3", "{}"), " ")];
    let told = sent(&[Message::user("hi"), calls(&["c1", "c2", "c3"]), Message::Tool { results }]).await;
    let expected = json!([
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "3"}, image("YQ==")]},
        {"type": "tool_result", "tool_use_id": "c2", "content": [image("Yg==")]},
        {"type": "tool_result", "tool_use_id": "c3"},
    ]);
    assert_eq!(told[2]["content"], expected);
}

/// The API documents: "all content must be type `text` if `is_error` is true".
#[tokio::test]
async fn files_of_a_failure_follow_all_results() {
    let failed = result("c1").with_error(true).with_attachments([png("a").named("a.png")]);
    let told = sent(&[calls(&["c1", "c2"]), Message::Tool { results: vec![failed, result("c2")] }]).await;
    let expected = json!([
        {"type": "tool_result", "tool_use_id": "c1", "content": "3", "is_error": true},
        {"type": "tool_result", "tool_use_id": "c2", "content": "3"},
        {"type": "text", "text": "File `a.png`, from the tool `add`:"},
        image("YQ=="),
    ]);
    assert_eq!(told[1]["content"], expected);
}

#[tokio::test]
async fn an_unsupported_file_is_rejected_by_name() {
    let server = Server::scripted([]).await;
    let (model, settings) = (crate::anthropic::model(&server), Settings::default());
    for file in [
        Attachment::new("audio/mpeg", "secret").named("a.mp3"),
        Attachment::new("image/tiff", "secret"),
        Attachment::new("text/plain", [0xE9]).named("é.txt"),
    ] {
        let user = Message::User { parts: vec![UserPart::Attachment(file.clone())] };
        let error = model.request(Request::new(&[user], &settings)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        let text = error.to_string();
        assert!(text.contains(&format!("of type `{}`", file.media_type())) && !text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_file_of_a_result_that_cannot_be_sent_is_named_to_the_model() {
    let files = [
        (Attachment::new("image/svg+xml", "<svg xmlns=\"x\"/>").named("a.svg"), "`a.svg` of type `image/svg+xml`"),
        (Attachment::new("image/png", &b"BM\0\0\0\0\0\0\0\0\0\0\0\0"[..]), "it contains `image/bmp`"),
        (Attachment::new("audio/mpeg", "secret").named("a.mp3"), "`a.mp3` of type `audio/mpeg`"),
        (Attachment::new("text/plain", [0xE9]).named("é.txt"), "it is not UTF-8"),
        (Attachment::new("image/png", ""), "it is empty"),
    ];
    for (file, expected) in files {
        let results = vec![result("c1").with_attachments([file])];
        let told = sent(&[calls(&["c1"]), Message::Tool { results }]).await;
        let text = told[1]["content"][0]["content"][1]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(expected) && !text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_call_without_a_result_and_a_result_without_a_call_do_not_fail_the_conversation() {
    let told = sent(&[calls(&["c1", "c1"]), Message::Tool { results: vec![result("c1"), result("other")] }]).await;
    let (made, given) = (&told[0]["content"], &told[1]["content"]);
    assert_eq!(given.as_array().unwrap().len(), 2);
    assert_ne!(made[0]["id"], made[1]["id"]);
    assert_eq!((&given[0]["tool_use_id"], &given[1]["tool_use_id"]), (&made[0]["id"], &made[1]["id"]));
    assert_eq!((&given[0]["content"], &given[1]["is_error"]), (&json!("3"), &json!(true)));
}

#[tokio::test]
async fn the_input_of_an_earlier_call_is_always_an_object() {
    let cases = [
        ("", json!({})),
        ("{\"a\"", json!({"invalid_json": "{\"a\""})),
        ("[1]", json!({"not_an_object": "[1]"})),
        (" {\"b\":1,\"a\":2} ", json!({"b": 1, "a": 2})),
    ];
    for (written, expected) in cases {
        let told = sent(&[assistant([ResponsePart::ToolCall(call("c1", written))])]).await;
        assert_eq!(told[0]["content"][0]["input"], expected, "{written}");
    }
}

/// The API accepts `^[a-zA-Z0-9_-]+$`; ids of other providers may contain other characters.
#[tokio::test]
async fn an_invalid_call_id_is_rewritten_consistently() {
    let told = sent(&[calls(&["call|1.é"]), Message::Tool { results: vec![result("call|1.é")] }]).await;
    assert_eq!(told[0]["content"][0]["id"], "call_1__");
    assert_eq!(told[1]["content"][0]["tool_use_id"], "call_1__");
}

#[tokio::test]
async fn unsupported_parts_of_the_history_are_left_out() {
    let foreign = ResponsePart::Thinking(Thinking::new("another model's thought"));
    let messages = [
        Message::user("hi"),
        assistant([foreign.clone(), text("  \n"), ResponsePart::Attachment(png("a"))]),
        Message::user("still there?"),
        assistant([foreign, text("yes")]),
        Message::User { parts: vec![UserPart::Text { text: " ".into() }] },
    ];
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "still there?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
    ]);
    assert_eq!(sent(&messages).await, expected);
}
