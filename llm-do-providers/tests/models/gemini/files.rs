//! Supported and unsupported files.

use llm_do_providers::{
    Attachment, ErrorKind, Message, Model, Request, ResponsePart, Settings, ToolCall, ToolResult, UserPart,
};
use serde_json::{Value, json};

use crate::gemini::{model, sent_by};
use crate::server::Server;

/// The contents of a request.
async fn received(name: &str, messages: &[Message]) -> Value {
    sent_by(name, Request::new(messages, &Settings::default())).await["contents"].take()
}

fn inline(mime_type: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": mime_type, "data": data}})
}

#[tokio::test]
async fn text_and_files_keep_their_order() {
    let file = |media_type: &str, data: &str| UserPart::Attachment(Attachment::new(media_type, data).named("a.x"));
    let parts = vec![
        file("image/png", "hi!"),
        UserPart::Text { text: "What is this?".into() },
        file("application/pdf", "%PDF"),
        file("Audio/X-WAV; a=b", "RIFF"),
        file("audio/mpeg", "hi!"),
        file("video/mp4", "hi!"),
        file("text/markdown", "# A"),
    ];
    let sent = json!([
        inline("image/png", "aGkh"),
        {"text": "What is this?"},
        inline("application/pdf", "JVBERg=="),
        inline("audio/wav", "UklGRg=="),
        inline("audio/mp3", "aGkh"),
        inline("video/mp4", "aGkh"),
        {"text": "File `a.x`:\n# A"},
    ]);
    let received = received("gemini-3-flash", &[Message::User { parts }]).await;
    assert_eq!(received, json!([{"role": "user", "parts": sent}]));
}

/// A call, and its result with files of three types.
fn drawn() -> [Message; 3] {
    let call = ToolCall::new("c1", "draw", "{}");
    let files = [
        Attachment::new("image/png", "hi!").named("a.png"),
        Attachment::new("audio/wav", "RIFF"),
        Attachment::new("text/plain", "b").named("b.txt"),
    ];
    let result = ToolResult::new(&call, "done").with_attachments(files);
    let said = Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] };
    [Message::user("Draw."), said, Message::Tool { results: vec![result] }]
}

#[tokio::test]
async fn a_result_has_its_supported_files_and_the_rest_follow() {
    let contents = received("gemini-3-flash", &drawn()).await;
    let response = json!({"name": "draw", "response": {"output": "done"}, "parts": [inline("image/png", "aGkh")]});
    assert_eq!(contents[2], json!({"role": "user", "parts": [{"functionResponse": response}]}));
    let files = json!([
        {"text": "File of type `audio/wav`, from the tool `draw`:"}, inline("audio/wav", "UklGRg=="),
        {"text": "File `b.txt`, from the tool `draw`:"}, {"text": "File `b.txt`:\nb"},
    ]);
    assert_eq!(contents[3], json!({"role": "user", "parts": files}));
}

#[tokio::test]
async fn before_version_3_all_files_follow() {
    let contents = received("gemini-2.5-flash", &drawn()).await;
    let response = json!({"name": "draw", "response": {"output": "done"}});
    assert_eq!(contents[2], json!({"role": "user", "parts": [{"functionResponse": response}]}));
    assert_eq!(contents[3]["parts"][0], json!({"text": "File `a.png`, from the tool `draw`:"}));
    assert_eq!(contents[3]["parts"][1], inline("image/png", "aGkh"));
}

#[tokio::test]
async fn an_unsupported_file_is_rejected_before_the_request() {
    let server = Server::scripted([]).await;
    let model = model(&server).build().unwrap();
    for file in [Attachment::new("application/zip", "my secret"), Attachment::new("text/plain", [0xE9])] {
        let messages = [Message::User { parts: vec![UserPart::Attachment(file.clone().named("a.zip"))] }];
        let error = model.request(Request::new(&messages, &Settings::default())).await.unwrap_err();
        let text = error.to_string();
        assert_eq!((error.kind(), error.status()), (ErrorKind::InvalidRequest, None), "{text}");
        assert!(text.contains(&format!("the attachment `a.zip` of type `{}`", file.media_type())), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(server.requests().is_empty());
}
