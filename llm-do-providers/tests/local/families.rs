//! The embedded model of every family, with tiny random files: properties that hold for any weights.

mod files;
mod templates;
mod tiny;
mod tokens;
mod tools;
mod turns;

use std::ops::Deref;

use futures_util::StreamExt as _;
use llm_do_providers::{
    LocalModel, Message, Model as _, OutputSchema, ProviderError, Request, Response, Settings, StreamEvent, ToolSpec,
};
use serde_json::{Value, json};

use self::templates::{LLAMA, LLAMA_MARKS, MISTRAL, QWEN, QWEN_MARKS, QWEN_NAMED};
use self::tiny::{Tiny, Written, bytes};

/// Returns a model of the family Qwen.
fn qwen(family: &str) -> Tiny {
    Tiny::of_bytes(family, bytes(&QWEN_MARKS, &QWEN_NAMED)).with_template(QWEN)
}

/// Returns a model of the family Llama.
fn llama() -> Tiny {
    Tiny::of_bytes("llama", bytes(&LLAMA_MARKS, &[])).with_template(LLAMA)
}

/// Returns a Llama model with the vocabulary of Llama 2.
fn mistral() -> Tiny {
    Tiny::of_characters("llama").with_template(MISTRAL)
}

/// A model and its file.
struct Opened {
    model: LocalModel,
    _file: Written,
}

impl Deref for Opened {
    type Target = LocalModel;

    fn deref(&self) -> &LocalModel {
        &self.model
    }
}

/// Returns a model of each kind.
fn all() -> [(&'static str, Opened); 4] {
    [("qwen2", qwen("qwen2")), ("qwen3", qwen("qwen3")), ("llama", llama()), ("mistral", mistral())]
        .map(|(name, tiny)| (name, open(&tiny)))
}

/// Returns the model of a file.
fn open(tiny: &Tiny) -> Opened {
    let file = tiny.write();
    Opened { model: LocalModel::new(&file.0.to_string_lossy()).expect("the file is there"), _file: file }
}

fn at_most(tokens: u32) -> Settings {
    Settings::new().max_tokens(tokens)
}

/// Returns what the model answers to a text.
async fn ask(model: &LocalModel, text: &str, settings: &Settings) -> Result<Response, ProviderError> {
    model.request(Request::new(&[Message::user(text)], settings)).await
}

/// Returns all stream events of a request.
async fn events(model: &LocalModel, request: Request<'_>) -> Vec<StreamEvent> {
    let stream = model.stream(request).await.expect("the request is sound");
    stream.map(|event| event.expect("the model answers")).collect().await
}

fn add() -> ToolSpec {
    let parameters = json!({
        "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"],
    });
    ToolSpec { name: "add".into(), description: "Adds.".into(), parameters: parameters.into() }
}

/// A schema with short answers only.
fn short() -> Value {
    json!({
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 6}, "age": {"type": "integer"}, "is_new": {"type": "boolean"}},
        "required": ["name", "age", "is_new"],
    })
}

fn output(schema: &Value) -> OutputSchema {
    OutputSchema { name: "answer".into(), schema: schema.clone().into() }
}
