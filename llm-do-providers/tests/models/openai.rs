//! The chat completions client against a server with scripted responses.

mod answers;
mod asking;
mod attachments;
mod connections;
mod dialect;
mod failures;
mod grammar;
mod peers;
mod servers;

use std::time::Duration;

use llm_do_providers::{OpenAiBuilder, OpenAiModel, Response};
use serde_json::{Value, json};

use crate::question::{streamed, whole};
use crate::server::{Reply, Server};

/// A model at `server` with short timeouts.
fn model(server: &Server) -> OpenAiBuilder {
    let limit = Duration::from_secs(5);
    OpenAiModel::builder("m").base_url(server.base_url()).idle_timeout(limit).timeout(limit)
}

/// The complete answer of a server that responds with `message`.
async fn answer_of(message: Value, finish: &str) -> Response {
    let body = json!({
        "model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4}
    });
    let server = Server::scripted([Reply::json(200, &body)]).await;
    whole(&model(&server).build().unwrap()).await.unwrap()
}

/// A chunk of a streamed answer.
#[expect(clippy::needless_pass_by_value, reason = "the deltas are written in place")]
fn piece(delta: Value) -> Value {
    json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// The chunks after the last delta.
fn ending(finish: &str) -> [Value; 2] {
    [
        json!({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
        json!({"model": "m-1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
    ]
}

/// A complete stream of `deltas`.
fn stream_of(deltas: impl IntoIterator<Item = Value>, finish: &str) -> Reply {
    let reply = deltas
        .into_iter()
        .map(piece)
        .chain(ending(finish))
        .fold(Reply::stream(), |reply, piece| reply.event(&piece.to_string()));
    reply.event("[DONE]").end()
}

/// The streamed answer of a server that responds with `deltas`.
async fn stream_answer_of(deltas: impl IntoIterator<Item = Value>, finish: &str) -> Response {
    let server = Server::scripted([stream_of(deltas, finish)]).await;
    streamed(&model(&server).build().unwrap()).await.unwrap()
}
