//! The Responses client against a server with scripted responses.
//!
//! Requests and answers are those of <https://platform.openai.com/docs/api-reference/responses>.

mod answers;
mod asking;
mod programs;
mod replay;

use std::time::Duration;

use llm_do_providers::{Message, Model, OpenAiResponsesBuilder, OpenAiResponsesModel, Request, Response, Settings};
use serde_json::{Value, json};

use crate::question::streamed_answer;
use crate::server::{Reply, Server};

/// A model at `server` with short timeouts.
fn model(server: &Server) -> OpenAiResponsesBuilder {
    named("m", server)
}

fn named(model: &str, server: &Server) -> OpenAiResponsesBuilder {
    let limit = Duration::from_secs(5);
    OpenAiResponsesModel::builder(model).base_url(server.base_url()).idle_timeout(limit).timeout(limit).retries(0)
}

/// The body of an answer whose output is `items`.
fn body(items: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "m-1", "output": items, "error": null,
        "incomplete_details": null, "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    })
}

fn message(text: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content})
}

/// A stream of complete items and the end event.
fn stream_of(items: &Value) -> Reply {
    let items_ = items.as_array().unwrap().iter().enumerate();
    let done = items_.map(|(n, item)| json!({"type": "response.output_item.done", "output_index": n, "item": item}));
    let end = json!({"type": "response.completed", "response": body(items)});
    done.chain([end]).fold(Reply::stream(), |reply, event| reply.event(&event.to_string())).end()
}

/// The answer to a conversation, checked to be the same complete and streamed.
async fn answer_of(items: &Value) -> Response {
    let server = Server::scripted([Reply::json(200, &body(items)), stream_of(items)]).await;
    let (model, messages) = (model(&server).build().unwrap(), [Message::user("hi")]);
    let settings = Settings::default();
    let whole = model.request(Request::new(&messages, &settings)).await.unwrap();
    assert_eq!(streamed_answer(&model, Request::new(&messages, &settings)).await.unwrap(), whole);
    whole
}

/// The body of a request.
async fn sent(request: Request<'_>) -> Value {
    sent_to("m", request).await
}

/// The body of a request to `model`.
async fn sent_to(model: &str, request: Request<'_>) -> Value {
    let server = Server::scripted([Reply::json(200, &body(&json!([message("fine")])))]).await;
    named(model, &server).build().unwrap().request(request).await.unwrap();
    server.requests().remove(0).body
}
