//! The Messages API client against a server with scripted responses.
//!
//! The responses of the server follow <https://platform.claude.com/docs/en/api/messages/create> and the pages that each test names.

mod answers;
mod asking;
mod binding;
mod compaction;
mod dialect;
mod failures;
mod history;
mod pauses;
mod programs;
mod replay;
mod server_side;
mod streams;

use std::time::Duration;

use llm_do_providers::{AnthropicBuilder, AnthropicModel, Model, Request, Response};
use serde_json::{Value, json};

use crate::question::whole;
use crate::server::{Reply, Server};

/// A model at `server` with short timeouts.
fn named(model: &str, server: &Server) -> AnthropicBuilder {
    let limit = Duration::from_secs(5);
    AnthropicModel::builder(model).base_url(server.base_url()).idle_timeout(limit).timeout(limit)
}

fn model(server: &Server) -> AnthropicModel {
    named("claude-sonnet-4-5", server).build().unwrap()
}

/// The body and the head of one request.
async fn asked(model: &str, request: Request<'_>) -> (Value, String) {
    let server = Server::scripted([Reply::json(200, &hello())]).await;
    named(model, &server).build().unwrap().request(request).await.unwrap();
    let request = server.requests().remove(0);
    (request.body, request.head)
}

fn hello() -> Value {
    message(&json!([{"type": "text", "text": "hello"}]), "end_turn")
}

/// A complete response body.
fn message(content: &Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-1", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null, "usage": {"input_tokens": 3, "output_tokens": 4}
    })
}

/// The complete answer of a server that responds with `content`.
async fn answer_of(content: Value, stop_reason: &str) -> Response {
    let server = Server::scripted([Reply::json(200, &message(&content, stop_reason))]).await;
    whole(&model(&server)).await.unwrap()
}

/// A named event of a stream.
trait Named {
    fn named_event(self, data: &Value) -> Self;
}

impl Named for Reply {
    fn named_event(self, data: &Value) -> Self {
        self.chunk(&format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()))
    }
}

/// The start of a stream.
fn begun() -> Reply {
    let usage = json!({"input_tokens": 3, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-1", "content": [],
        "stop_reason": null, "usage": usage});
    Reply::stream().named_event(&json!({"type": "message_start", "message": message}))
}

fn start(reply: Reply, index: usize, block: &Value) -> Reply {
    reply.named_event(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn delta(reply: Reply, index: usize, delta: &Value) -> Reply {
    reply.named_event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn stop(reply: Reply, index: usize) -> Reply {
    reply.named_event(&json!({"type": "content_block_stop", "index": index}))
}

/// Adds a complete block to a stream.
fn block(reply: Reply, index: usize, block: &Value, deltas: &[Value]) -> Reply {
    stop(deltas.iter().fold(start(reply, index, block), |reply, more| delta(reply, index, more)), index)
}

fn text_block(reply: Reply, index: usize, text: &str) -> Reply {
    block(reply, index, &json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": text})])
}

/// The end of a stream.
fn ended(reply: Reply, stop_reason: &str) -> Reply {
    let delta = json!({"stop_reason": stop_reason, "stop_sequence": null});
    let usage = json!({"output_tokens": 4});
    let reply = reply.named_event(&json!({"type": "message_delta", "delta": delta, "usage": usage}));
    reply.named_event(&json!({"type": "message_stop"})).end()
}

fn ok_stream() -> Reply {
    ended(text_block(begun(), 0, "fine"), "end_turn")
}
