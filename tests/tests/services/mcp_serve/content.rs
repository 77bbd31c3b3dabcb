//! The results that clients get.

use std::time::{Duration, Instant};

use llm_do::{Attachment, ToolReturn};
use rmcp::model::ReadResourceRequestParams;

use super::*;

/// A point.
#[llm_do::data]
struct Point {
    x: i64,
    y: i64,
}

/// Return a point.
#[tool(effect = read_only)]
fn origin() -> Point {
    Point { x: 0, y: 0 }
}

/// Return files.
#[tool(effect = read_only)]
fn files() -> ToolReturn {
    let file = |media_type: &str, data: &[u8]| Attachment::new(media_type, data.to_vec());
    ToolReturn::text("four files")
        .attach(file("image/png", b"png"))
        .attach(file("audio/wav", b"wav"))
        .attach(file("text/plain", b"text").named("a b.txt"))
        .attach(file("application/pdf", b"%PDF"))
        .note("for the operator alone")
}

#[tokio::test]
async fn an_object_is_structured_and_text() {
    for era in ERAS {
        let client = connect(serving(|builder| builder), era, User::default()).await;
        let result = client.call_tool(call("origin", json!({}))).await.unwrap();
        assert_eq!(result.structured_content, Some(json!({ "x": 0, "y": 0 })));
        assert_eq!(text(&result), r#"{"x":0,"y":0}"#);
    }
}

#[tokio::test]
async fn files_have_the_form_of_their_media_type() {
    let client = connect(serving(|builder| builder), Era::Rounds, User::default()).await;
    let result = client.call_tool(call("files", json!({}))).await.unwrap();
    let expected = json!([
        { "type": "text", "text": "four files" },
        { "type": "image", "data": "cG5n", "mimeType": "image/png" },
        { "type": "audio", "data": "d2F2", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "attachment:///a%20b.txt", "mimeType": "text/plain", "text": "text" } },
        { "type": "resource", "resource": { "uri": "attachment:///file", "mimeType": "application/pdf", "blob": "JVBERg==" } },
    ]);
    assert_eq!(serde_json::to_value(&result.content).unwrap(), expected);
}

#[tokio::test]
async fn an_error_is_a_result_that_the_clients_model_can_read() {
    let client = connect(serving(|builder| builder), Era::Rounds, User::default()).await;
    let result = client.call_tool(call("add", json!({ "a": 1, "b": "two" }))).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(text(&result), r#"invalid arguments for `add`: value is not of type "integer" at `/b`"#);
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol_with_a_suggestion() {
    let client = connect(serving(|builder| builder), Era::Rounds, User::default()).await;
    let error = client.call_tool(call("origins", json!({}))).await.unwrap_err().to_string();
    assert!(error.contains("unknown tool `origins`; did you mean `origin`?"), "{error}");
}

#[tokio::test]
async fn an_error_of_a_resource_is_not_sent_to_the_client() {
    let service = serving(|builder| builder)
        .resources("notes://{day}", "Notes", |_| async { Err("/home/ann/notes: permission denied".into()) });
    let client = connect(service, Era::Rounds, User::default()).await;
    let error = client.read_resource(ReadResourceRequestParams::new("notes://monday")).await.unwrap_err().to_string();
    assert!(error.contains("the resource `notes://monday` could not be read") && !error.contains("home"), "{error}");
}

#[tokio::test]
async fn the_uri_of_a_resource_is_bounded_and_matched_in_time() {
    let template = format!("t://{}", ["{a}"; 20].join("-"));
    let service = serving(|builder| builder)
        .resources(template, "All", |_| async { Ok(Some(Attachment::new("text/plain", b"found".to_vec()))) });
    let client = connect(service, Era::Rounds, User::default()).await;
    let read = async |uri: String| client.read_resource(ReadResourceRequestParams::new(uri)).await;
    let begun = Instant::now();
    let unknown = read(format!("t://{}/", "-".repeat(2000))).await.unwrap_err().to_string();
    assert!(unknown.contains("unknown resource"), "{unknown}");
    assert!(begun.elapsed() < Duration::from_secs(1), "it took {:?}", begun.elapsed());
    let long = read(format!("t://{}", "-".repeat(3000))).await.unwrap_err().to_string();
    assert!(long.contains("the URI has 3004 bytes, more than the limit of 2048"), "{long}");
    assert!(read(format!("t://{}", ["b"; 20].join("-"))).await.is_ok());
}
