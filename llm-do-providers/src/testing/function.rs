//! A model backed by a function.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent, replay};
use crate::response::Response;

type AnswerFunction = dyn Fn(Request<'_>) -> Result<Response, ProviderError> + Send + Sync;

/// A model that answers with the result of a function.
///
/// Streams emit text, thinking and arguments word by word, to test consumers with deltas.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; pub use llm_do_providers as testing; pub use llm_do_providers as usage; }
/// use llm_do::testing::FunctionModel;
/// use llm_do::model::{Response, ResponsePart};
/// use llm_do::usage::Usage;
///
/// let echo = FunctionModel::new(|request| {
///     let text = format!("{} messages", request.messages.len());
///     Ok(Response::new("echo", vec![ResponsePart::Text { text }], Usage::of_request(1, 1)))
/// });
/// # _ = echo;
/// ```
#[derive(Clone)]
pub struct FunctionModel {
    name: String,
    profile: Profile,
    answer: Arc<AnswerFunction>,
}

impl FunctionModel {
    /// Creates a model that calls `answer` for each request.
    pub fn new(answer: impl Fn(Request<'_>) -> Result<Response, ProviderError> + Send + Sync + 'static) -> Self {
        Self { name: "function:model".to_owned(), profile: Profile::BASIC, answer: Arc::new(answer) }
    }

    /// Sets the name `function:NAME`. Default: `function:model`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: format!("function:{name}"), ..self }
    }

    /// Sets the features of the model. Default: [`Profile::BASIC`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }
}

impl fmt::Debug for FunctionModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionModel")
            .field("name", &self.name)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for FunctionModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        (self.answer)(request)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let whole = replay((self.answer)(request)?);
        Ok(Box::pin(whole.flat_map(|event| stream::iter(split_words(event)))))
    }
}

/// Splits an event into one event per word.
pub(super) fn split_words(event: Result<StreamEvent, ProviderError>) -> Vec<Result<StreamEvent, ProviderError>> {
    match event {
        Ok(StreamEvent::Text(text)) => words(&text).map(StreamEvent::Text).map(Ok).collect(),
        Ok(StreamEvent::Thinking(text)) => words(&text).map(StreamEvent::Thinking).map(Ok).collect(),
        Ok(StreamEvent::ToolCall { index, name, arguments }) => {
            let piece = |arguments| StreamEvent::ToolCall { index, name: Arc::clone(&name), arguments };
            std::iter::once(String::new()).chain(words(&arguments)).map(piece).map(Ok).collect()
        }
        other => vec![other],
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(' ').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;

    use super::FunctionModel;
    use crate::attachment::Attachment;
    use crate::error::{ErrorKind, ProviderError};
    use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};
    use crate::model::{Model, Request, StreamEvent};
    use crate::response::Response;
    use crate::settings::Settings;
    use crate::usage::Usage;

    fn model() -> FunctionModel {
        FunctionModel::new(|_| {
            let call = ToolCall::new("1", "add", "{\"a\": 1}");
            let parts = vec![ResponsePart::Text { text: "two words".into() }, ResponsePart::ToolCall(call)];
            Ok(Response::new("m", parts, Usage::of_request(1, 2)))
        })
    }

    #[tokio::test]
    async fn streams_emit_words_and_end_with_the_same_answer() {
        let settings = Settings::default();
        let request = Request::new(&[], &settings);
        let events: Vec<_> = model().stream(request).await.unwrap().try_collect().await.unwrap();
        let piece = |text: &str| StreamEvent::ToolCall { index: 0, name: "add".into(), arguments: text.into() };
        let whole = model().request(request).await.unwrap();
        let expected = [
            StreamEvent::Text("two ".into()),
            StreamEvent::Text("words".into()),
            piece(""),
            piece("{\"a\": "),
            piece("1}"),
            StreamEvent::Done(whole),
        ];
        assert_eq!(events, expected);
    }

    #[tokio::test]
    async fn errors_are_returned_unchanged() {
        let model = FunctionModel::new(|_| Err(ProviderError::new("p", ErrorKind::Timeout, "late"))).named("late");
        let settings = Settings::default();
        assert!(model.request(Request::new(&[], &settings)).await.unwrap_err().is_timeout());
        assert!(model.stream(Request::new(&[], &settings)).await.is_err());
        assert_eq!(model.name(), "function:late");
    }

    #[tokio::test]
    async fn files_reach_the_function_unchanged() {
        let file = || Attachment::new("video/mp4", [0xFF]).named("a.mp4");
        let call = ToolCall::new("1", "film", "{}");
        let history = || {
            let result = ToolResult::new(&call, "done").with_attachments([file()]);
            [Message::User { parts: vec![UserPart::Attachment(file())] }, Message::Tool { results: vec![result] }]
        };
        let expected = history();
        let model = FunctionModel::new(move |request| {
            assert_eq!(request.messages, expected);
            Ok(Response::new("m", Vec::new(), Usage::default()))
        });
        model.request(Request::new(&history(), &Settings::default())).await.unwrap();
    }
}
