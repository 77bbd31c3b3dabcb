//! Supported and unsupported files.

use llm_do_providers::{
    Attachment, ErrorKind, Message, Model, ProviderError, Request, Response, ResponsePart, Settings, ToolCall,
    ToolResult, UserPart,
};
use serde_json::{Value, json};

use crate::openai::model;
use crate::server::{Reply, Server};

fn hello() -> Reply {
    Reply::json(200, &json!({"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}))
}

/// Sends a request to `server` without retries.
async fn ask(server: &Server, messages: &[Message]) -> Result<Response, ProviderError> {
    model(server).retries(0).build().unwrap().request(Request::new(messages, &Settings::default())).await
}

/// The messages of a request.
async fn received(messages: &[Message]) -> Value {
    let server = Server::scripted([hello()]).await;
    ask(&server, messages).await.unwrap();
    server.requests()[0].body["messages"].clone()
}

#[tokio::test]
async fn text_and_files_keep_their_order() {
    let parts = vec![
        UserPart::Attachment(Attachment::new("image/png", [0x89, b'P', b'N', b'G'])),
        UserPart::Text { text: "What is this?".into() },
        UserPart::Attachment(Attachment::new("application/pdf", "%PDF").named("a.pdf")),
        UserPart::Attachment(Attachment::new("audio/wav", "RIFF")),
        UserPart::Attachment(Attachment::new("text/markdown", "# A").named("a.md")),
    ];
    let content = json!([
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        {"type": "text", "text": "What is this?"},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "text", "text": "File `a.md`:\n# A"},
    ]);
    assert_eq!(received(&[Message::User { parts }]).await, json!([{"role": "user", "content": content}]));
}

#[tokio::test]
async fn a_message_without_files_stays_plain_text() {
    assert_eq!(received(&[Message::user("hi")]).await, json!([{"role": "user", "content": "hi"}]));
}

#[tokio::test]
async fn a_file_of_a_result_follows_the_result() {
    let call = ToolCall::new("c1", "draw", "{}");
    let result = ToolResult::new(&call, "done").with_attachments([Attachment::new("image/png", "a").named("a.png")]);
    let messages = [
        Message::user("Draw."),
        Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] },
        Message::Tool { results: vec![result] },
    ];
    let content = json!([
        {"type": "text", "text": "File `a.png`, from the tool `draw`:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ=="}},
    ]);
    let received = received(&messages).await;
    assert_eq!(received[2], json!({"role": "tool", "tool_call_id": "c1", "content": "done"}));
    assert_eq!(received[3], json!({"role": "user", "content": content}));
    assert_eq!(received.as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn an_unsupported_file_is_rejected_before_the_request() {
    let server = Server::scripted([hello(), hello()]).await;
    let file = Attachment::new("application/zip", "my secret").named("a.zip");
    let messages = [Message::User { parts: vec![UserPart::Attachment(file)] }];
    let model = model(&server).retries(0).build().unwrap();
    let settings = Settings::default();
    let streamed = model.stream(Request::new(&messages, &settings)).await.err().unwrap();
    for error in [ask(&server, &messages).await.unwrap_err(), streamed] {
        let text = error.to_string();
        assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, None), "{text}");
        assert!(text.contains("support the attachment `a.zip` of type `application/zip`"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(server.requests().is_empty());
}
