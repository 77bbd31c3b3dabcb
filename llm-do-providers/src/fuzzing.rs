//! Properties that hold for any bytes that a server sends. Used only by the targets in `fuzz`.
//!
//! Nothing panics; a stream has the same events however it is split; a saved answer can be loaded; and an answer that
//! can be read can be sent back.

#![expect(clippy::missing_panics_doc, reason = "a target reports what it found by a panic")]

use std::future::poll_fn;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use serde::de::IgnoredAny;

use crate::anthropic::AnthropicModel;
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::pieces::{read_by_bytes, read_whole};
use crate::exchange::{Exchange, ResponseAccumulator};
use crate::gemini::GeminiModel;
use crate::http::{Endpoint, Events, refused};
use crate::message::{Message, ToolResult};
use crate::model::{Request, StreamEvent};
use crate::openai::{OpenAiModel, Server};
use crate::response::Response;
use crate::responses::OpenAiResponsesModel;
use crate::secret::ApiKey;
use crate::settings::Settings;

const SERVER: &str = "http://localhost";

/// A stream of server-sent events, cut anywhere.
pub fn events(bytes: &[u8]) {
    let whole = all_events(vec![Bytes::copy_from_slice(bytes)]);
    assert_eq!(all_events(bytes.chunks(1).map(Bytes::copy_from_slice).collect()), whole);
}

/// The body of an error response, whose first two bytes are its status.
pub fn error_response(bytes: &[u8]) {
    let Some((status, body)) = bytes.split_first_chunk() else { return };
    let status = 400 + u16::from_le_bytes(*status) % 200;
    let error = refused("test", "the key", status, body, body);
    assert_eq!(error.status(), Some(status));
    assert!(!matches!(error.kind(), ErrorKind::Configuration | ErrorKind::Timeout), "{error}");
}

/// An answer by Chat Completions, streamed or whole, of servers that differ in how they send thoughts.
pub fn chat(bytes: &[u8]) {
    static MODELS: LazyLock<[OpenAiModel; 3]> = LazyLock::new(|| {
        let elsewhere = OpenAiModel::builder("m").base_url(SERVER);
        let servers = [Server::OpenRouter, Server::Mistral].map(|server| OpenAiModel::at(server, "m").api_key(key()));
        let [first, second] = servers;
        [elsewhere, first, second].map(|builder| builder.build().expect("a model"))
    });
    for model in &*MODELS {
        hold(|request| model.exchange(request, true), bytes);
    }
}

/// An answer by Responses, streamed or whole.
pub fn responses(bytes: &[u8]) {
    static MODEL: LazyLock<OpenAiResponsesModel> =
        LazyLock::new(|| OpenAiResponsesModel::builder("m").base_url(SERVER).build().expect("a model"));
    hold(|request| MODEL.exchange(request, true), bytes);
}

/// An answer by Anthropic Messages, streamed or whole.
pub fn anthropic(bytes: &[u8]) {
    static MODEL: LazyLock<AnthropicModel> = LazyLock::new(|| {
        AnthropicModel::builder("claude-sonnet-4-5").base_url(SERVER).api_key(key()).build().expect("a model")
    });
    hold(|request| MODEL.exchange(request, true), bytes);
}

/// An answer by Gemini, streamed or whole.
pub fn gemini(bytes: &[u8]) {
    static MODEL: LazyLock<GeminiModel> = LazyLock::new(|| {
        GeminiModel::builder("gemini-3-flash").base_url(SERVER).api_key(key()).build().expect("a model")
    });
    hold(|request| MODEL.exchange(&MODEL.streamed, request), bytes);
}

fn key() -> ApiKey {
    ApiKey::new("key").expect("a key")
}

fn all_events(pieces: Vec<Bytes>) -> (Vec<String>, Option<String>) {
    let mut events = Events::new("test", Box::pin(stream::iter(pieces.into_iter().map(Ok))));
    let mut all = Vec::new();
    loop {
        match poll_fn(|context| events.poll_next(context))
            .now_or_never()
            .expect("all pieces are there, so that nothing waits")
        {
            Ok(Some(event)) => all.push(event.data),
            Ok(None) => return (all, None),
            Err(error) => return (all, Some(error.to_string())),
        }
    }
}

/// Checks the properties for `bytes` as the answer to the requests of `asking`.
fn hold<F, G>(asking: impl Fn(&Request<'_>) -> Result<Exchange<F>, ProviderError>, bytes: &[u8])
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    let (messages, settings) = ([Message::user("hello")], Settings::default());
    let exchange = asking(&Request::new(&messages, &settings)).expect("a request");
    let begin = || exchange.begun().1;
    let streamed = read_whole(begin(), bytes);
    let split = read_by_bytes(begin(), bytes);
    assert_eq!(split.0, streamed.0);
    assert_eq!(split.1.map(|error| error.to_string()), streamed.1.as_ref().map(ToString::to_string));

    let arrived = streamed.1.as_ref().and_then(ProviderError::partial_response).cloned();
    let done = streamed.0.into_iter().filter_map(|event| match event {
        StreamEvent::Done(response) => Some(response),
        _ => None,
    });
    for response in done.chain(arrived).chain(whole(begin(), bytes)) {
        assert_eq!(saved(&response), response);
        answer_it(&asking, response);
    }
}

/// Reads `bytes` as one whole answer; `None` if it is invalid.
fn whole<G: ResponseAccumulator>(mut answer: G, bytes: &[u8]) -> Option<Response> {
    let endpoint = Endpoint::new("test", "its protocol", SERVER, "").expect("a URL");
    answer.absorb_whole(&endpoint, bytes).ok()?;
    answer.fault().is_none().then(|| answer.complete())
}

fn saved(response: &Response) -> Response {
    let json = serde_json::to_string(response).expect("what can be saved");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Sends `response` back in the next request of the conversation.
fn answer_it<F, G>(asking: &impl Fn(&Request<'_>) -> Result<Exchange<F>, ProviderError>, response: Response)
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    let results: Vec<_> = response.tool_calls().map(|call| ToolResult::new(call, "done")).collect();
    let next = if results.is_empty() { Message::user("and then?") } else { Message::Tool { results } };
    let messages = [Message::user("hello"), Message::Assistant { parts: response.parts }, next];
    let settings = Settings::default();
    // A part that cannot be sent, such as a file of an unknown type, is an error, and no request is sent.
    if let Ok(exchange) = asking(&Request::new(&messages, &settings)) {
        let body = exchange.begun().0;
        serde_json::from_slice::<IgnoredAny>(body).expect("a body of JSON");
    }
}
