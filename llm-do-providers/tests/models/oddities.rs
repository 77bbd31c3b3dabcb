//! What servers send in place of what they document: each costs itself, with every protocol, streamed and whole.

mod broken;
mod errors;
mod events;
mod fields;
mod usage;

use std::sync::Arc;
use std::time::Duration;

use llm_do_providers::{AnthropicModel, ApiKey, GeminiModel, Model, OpenAiModel, OpenAiResponsesModel};
use serde_json::{Value, json};

use crate::server::{Reply, Server};

/// The protocols.
const WIRES: [Wire; 4] = [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

impl Wire {
    /// A model at `server` that asks once.
    fn model(self, server: &Server) -> Arc<dyn Model> {
        self.retrying(server, 0)
    }

    fn retrying(self, server: &Server, retries: u32) -> Arc<dyn Model> {
        let limit = Duration::from_secs(5);
        let (url, root) = (server.base_url(), server.base_url().trim_end_matches("/v1"));
        let key = || ApiKey::new("my-secret-key").unwrap();
        macro_rules! built {
            ($builder:expr) => {
                Arc::new($builder.idle_timeout(limit).timeout(limit).retries(retries).build().unwrap())
            };
        }
        match self {
            Self::Chat => built!(OpenAiModel::builder("m").base_url(url).api_key(key())),
            Self::Responses => built!(OpenAiResponsesModel::builder("m").base_url(url).api_key(key())),
            Self::Anthropic => built!(AnthropicModel::builder("claude-sonnet-4-5").base_url(root).api_key(key())),
            Self::Gemini => built!(GeminiModel::builder("gemini-3-flash").base_url(root).api_key(key())),
        }
    }

    /// The data of the events of an answer with the text "Hello" that calls `add`, each with its type.
    fn events(self) -> Vec<Value> {
        match self {
            Self::Chat => vec![
                chunk(&json!({"role": "assistant", "content": "Hel"})),
                chunk(&json!({"role": "assistant", "content": "lo"})),
                chunk(
                    &json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "add", "arguments": ""}}]}),
                ),
                chunk(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\":1}"}}]})),
                json!({"model": "m-1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
                json!({"model": "m-1", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
            ],
            Self::Responses => {
                let (message, call) = items();
                vec![
                    json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
                    json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "i0", "delta": "Hel"}),
                    json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "i0", "delta": "lo"}),
                    json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
                    json!({"type": "response.output_item.added", "output_index": 1,
                        "item": {"type": "function_call", "id": "i1", "call_id": "c1", "name": "add", "arguments": ""}}),
                    json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "i1", "delta": "{\"a\":1}"}),
                    json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
                    json!({"type": "response.completed", "response": self.whole()}),
                ]
            }
            Self::Anthropic => vec![
                json!({"type": "message_start", "message": {"model": "m-1", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "c1", "name": "add", "input": {}}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
                json!({"type": "content_block_stop", "index": 1}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}}),
                json!({"type": "message_stop"}),
            ],
            Self::Gemini => vec![
                candidate(&json!([{"text": "Hel"}]), None),
                candidate(&json!([{"text": "lo"}]), None),
                candidate(&json!([{"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}}]), Some("STOP")),
            ],
        }
    }

    /// The same answer as a whole.
    fn whole(self) -> Value {
        match self {
            Self::Chat => json!({"model": "m-1", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Hello",
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}}]}}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
            Self::Responses => {
                let (message, call) = items();
                json!({"object": "response", "status": "completed", "model": "m-1", "output": [message, call], "error": null,
                    "usage": {"input_tokens": 3, "output_tokens": 4}})
            }
            Self::Anthropic => json!({"type": "message", "role": "assistant", "model": "m-1", "content": [
                {"type": "text", "text": "Hello"}, {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}}],
                "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 4}}),
            Self::Gemini => candidate(
                &json!([{"text": "Hello"}, {"functionCall": {"id": "c1", "name": "add", "args": {"a": 1}}}]),
                Some("STOP"),
            ),
        }
    }

    /// The lines of its events, with the type of each where the protocol has one.
    fn lines(self) -> Vec<String> {
        let mut lines: Vec<_> = self.events().iter().map(line).collect();
        if self == Self::Chat {
            lines.push("data: [DONE]\n\n".to_owned());
        }
        lines
    }

    /// How many events the answer has before it is complete.
    fn before_end(self) -> usize {
        match self {
            Self::Chat => 4,
            Self::Responses => 7,
            Self::Anthropic => 8,
            Self::Gemini => 2,
        }
    }
}

/// The message and the call of the answer, as items of Responses.
fn items() -> (Value, Value) {
    let message = json!({"type": "message", "id": "i0", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]});
    let call = json!({"type": "function_call", "id": "i1", "call_id": "c1", "name": "add", "arguments": "{\"a\":1}"});
    (message, call)
}

fn chunk(delta: &Value) -> Value {
    json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn candidate(parts: &Value, finish: Option<&str>) -> Value {
    let mut piece =
        json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "m-1"});
    if let Some(finish) = finish {
        piece["candidates"][0]["finishReason"] = finish.into();
        piece["usageMetadata"] = json!({"promptTokenCount": 3, "candidatesTokenCount": 4});
    }
    piece
}

fn line(data: &Value) -> String {
    match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

fn stream(lines: impl IntoIterator<Item = impl AsRef<str>>) -> Reply {
    lines.into_iter().fold(Reply::stream(), |reply, line| reply.chunk(line.as_ref())).end()
}

/// Asks a model at a server that replies with `reply`, streamed or not.
async fn ask(
    wire: Wire,
    reply: Reply,
    is_streamed: bool,
) -> Result<llm_do_providers::Response, llm_do_providers::ProviderError> {
    let server = Server::scripted([reply]).await;
    let model = wire.model(&server);
    if is_streamed { crate::question::streamed(&model).await } else { crate::question::whole(&model).await }
}

/// Checks the answer of [`Wire::events`].
fn check(wire: Wire, response: &llm_do_providers::Response, how: &str) {
    assert_eq!(response.text(), "Hello", "{wire:?}: {how}");
    let calls: Vec<_> = response.tool_calls().collect();
    assert_eq!(calls.len(), 1, "{wire:?}: {how}: {response:?}");
    let arguments: Value = serde_json::from_str(&calls[0].arguments).unwrap();
    assert_eq!(
        (calls[0].id.as_str(), calls[0].name.as_str(), arguments),
        ("c1", "add", json!({"a": 1})),
        "{wire:?}: {how}"
    );
    assert_eq!(response.finish, llm_do_providers::FinishReason::ToolCalls, "{wire:?}: {how}");
    assert_eq!((response.usage.input_tokens, response.usage.output_tokens), (3, 4), "{wire:?}: {how}");
}
