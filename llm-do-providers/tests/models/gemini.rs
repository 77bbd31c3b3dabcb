//! The client of the Gemini API against a server with scripted responses.
//!
//! The answers are ours, written by <https://ai.google.dev/api/generate-content>.

mod answers;
mod asking;
mod dialect;
mod failures;
mod files;
mod google_tools;
mod replay;

use std::time::Duration;

use llm_do_providers::{ApiKey, GeminiBuilder, GeminiModel, Model, Request, Response};
use serde_json::{Value, json};

use crate::question::{streamed, whole};
use crate::server::{Reply, Server};

/// A model at `server` with short timeouts.
fn named(server: &Server, model: &str) -> GeminiBuilder {
    let limit = Duration::from_secs(5);
    let base_url = server.base_url().trim_end_matches("/v1");
    let key = ApiKey::new("my-secret-key").unwrap();
    GeminiModel::builder(model).base_url(base_url).api_key(key).idle_timeout(limit).timeout(limit)
}

fn model(server: &Server) -> GeminiBuilder {
    named(server, "gemini-3-flash")
}

fn usage() -> Value {
    json!({
        "promptTokenCount": 3, "cachedContentTokenCount": 2, "toolUsePromptTokenCount": 10, "candidatesTokenCount": 4,
        "thoughtsTokenCount": 5, "totalTokenCount": 22
    })
}

/// A complete response body with `parts`.
fn body(parts: &Value, finish: &str) -> Value {
    let content = json!({"role": "model", "parts": parts});
    json!({
        "candidates": [{"content": content, "finishReason": finish, "index": 0}], "usageMetadata": usage(),
        "modelVersion": "gemini-3-flash-001", "responseId": "r1"
    })
}

/// The complete answer of a server that responds with `parts`.
async fn answer_of(parts: Value, finish: &str) -> Response {
    let server = Server::scripted([Reply::json(200, &body(&parts, finish))]).await;
    whole(&model(&server).build().unwrap()).await.unwrap()
}

/// A chunk of a streamed answer.
fn piece(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "gemini-3-flash-001"})
}

/// A stream of chunks with these parts; the last chunk has the finish reason.
fn stream_of(pieces: impl IntoIterator<Item = Value>, finish: &str) -> Reply {
    let mut pieces: Vec<_> = pieces.into_iter().map(|parts| piece(&parts)).collect();
    let last = pieces.last_mut().unwrap();
    last["candidates"][0]["finishReason"] = finish.into();
    last["usageMetadata"] = usage();
    pieces.into_iter().fold(Reply::stream(), |reply, piece| reply.event(&piece.to_string())).end()
}

/// The streamed answer of a server that responds with these chunks.
async fn stream_answer_of(pieces: impl IntoIterator<Item = Value>, finish: &str) -> Response {
    let server = Server::scripted([stream_of(pieces, finish)]).await;
    streamed(&model(&server).build().unwrap()).await.unwrap()
}

/// The body of a request to a model with this name.
async fn sent_by(name: &str, request: Request<'_>) -> Value {
    let server = Server::scripted([Reply::json(200, &body(&json!([{"text": "fine"}]), "STOP"))]).await;
    named(&server, name).retries(0).build().unwrap().request(request).await.unwrap();
    server.requests().remove(0).body
}
