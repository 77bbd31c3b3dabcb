//! The chat completions client against an independent server: llama.cpp's own, with a small model.
//!
//! Sampling is greedy, so answers are deterministic; the prompts are within the model's abilities. Tool calls need
//! two worked examples in the history.

/// Requirements of these tests; they run one after the other, since the server handles one request at a time.
macro_rules! with_server {
    ($($(#[$attribute:meta])* async fn $name:ident() $body:block)*) => {$(
        $(#[$attribute])*
        #[tokio::test]
        #[ignore = "needs the weights and the server: sh llm-do-providers/fetch-local-model.sh; sh llm-do-providers/tests/models/llama_cpp/install"]
        async fn $name() {
            let _turn = crate::llama_cpp::TURN.lock().await;
            $body
        }
    )*};
}

mod chat;
mod corpus;
mod faults;
mod schemas;
mod server;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use llm_do_providers::{
    Message, Model as _, OpenAiModel, OutputSchema, ProviderError, Request, Response, Server, Settings, StreamEvent,
};
use serde_json::Value;
use tokio::sync::Mutex;

/// Serializes the tests.
static TURN: Mutex<()> = Mutex::const_new(());

/// The model at the server, without retries.
fn model() -> OpenAiModel {
    let limit = Duration::from_secs(120);
    let model = OpenAiModel::at(Server::LlamaCpp, "smollm2-135m").base_url(server::base_url());
    model.idle_timeout(limit).timeout(limit).retries(0).build().unwrap()
}

/// Settings for short deterministic answers.
fn greedy(tokens: u32) -> Settings {
    let mut settings = Settings::default();
    (settings.temperature, settings.max_tokens) = (Some(0.0), Some(tokens));
    settings
}

async fn ask(text: &str, settings: &Settings) -> Result<Response, ProviderError> {
    model().request(Request::new(&[Message::user(text)], settings)).await
}

/// Returns the events of a streamed answer, and the complete answer.
async fn streamed(request: Request<'_>) -> Result<(Vec<StreamEvent>, Response), ProviderError> {
    let mut stream = model().stream(request).await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event? {
            StreamEvent::Done(response) => return Ok((events, response)),
            event => events.push(event),
        }
    }
    panic!("a stream must end in an answer or an error, not after {events:?}");
}

/// Returns the text deltas among `events`.
fn texts(events: &[StreamEvent]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        StreamEvent::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// Returns the model's answer to a request with an output schema.
async fn by_schema(text: &str, schema: &Value, tokens: u32) -> Result<Response, ProviderError> {
    let output = OutputSchema { name: "answer".into(), schema: Arc::new(schema.clone()) };
    let (messages, settings) = ([Message::user(text)], greedy(tokens));
    model().request(Request::new(&messages, &settings).output(Some(&output))).await
}
