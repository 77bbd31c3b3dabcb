//! A short question with a tool, for the model of any provider.

use std::sync::Arc;

use futures_util::StreamExt;
use llm_do_providers::{Message, Model, ProviderError, Request, Response, Settings, StreamEvent, ToolSpec};
use serde_json::json;

pub(crate) fn add() -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
    ToolSpec { name: "add".into(), description: "Adds.".into(), parameters: Arc::new(parameters) }
}

/// The complete answer to the question.
pub(crate) async fn whole(model: &impl Model) -> Result<Response, ProviderError> {
    let (messages, settings) = ([Message::user("my secret question")], Settings::default());
    model.request(Request::new(&messages, &settings).tools(&[add()])).await
}

/// The stream events for the same question.
pub(crate) async fn events(model: &impl Model) -> Vec<Result<StreamEvent, ProviderError>> {
    let (messages, settings) = ([Message::user("my secret question")], Settings::default());
    events_of(model, Request::new(&messages, &settings).tools(&[add()])).await
}

/// The streamed answer to the same question.
pub(crate) async fn streamed(model: &impl Model) -> Result<Response, ProviderError> {
    end_of(events(model).await)
}

/// The streamed answer to a request.
pub(crate) async fn streamed_answer(model: &impl Model, request: Request<'_>) -> Result<Response, ProviderError> {
    end_of(events_of(model, request).await)
}

async fn events_of(model: &impl Model, request: Request<'_>) -> Vec<Result<StreamEvent, ProviderError>> {
    model.stream(request).await.unwrap().collect().await
}

fn end_of(mut events: Vec<Result<StreamEvent, ProviderError>>) -> Result<Response, ProviderError> {
    match events.pop() {
        Some(Ok(StreamEvent::Done(response))) => Ok(response),
        Some(Err(error)) => Err(error),
        other => panic!("a stream must end in an answer or an error, not in {other:?}"),
    }
}
