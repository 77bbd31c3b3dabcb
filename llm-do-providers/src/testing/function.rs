//! A model backed by a function.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use super::answer::Answer;
use super::model_name;
use super::test::word_count;
use crate::batched::BatchedRequest;
use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent, replay};
use crate::response::Response;
use crate::usage::Usage;

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

    /// Creates a model that follows rules: it answers with a text or one call of a tool.
    ///
    /// Calls have distinct ids, and the usage is the number of words.
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers as model; pub use llm_do_providers as testing; pub use serde_json::json; }
    /// use llm_do::json;
    /// use llm_do::testing::{Answer, FunctionModel};
    ///
    /// let clerk = FunctionModel::answering(|request| match request.results("find_customer").next() {
    ///     None => Answer::call("find_customer", json!({ "name": request.prompt() })),
    ///     Some(found) => Answer::text(format!("The customer is {}.", found.content)),
    /// });
    /// # _ = clerk;
    /// ```
    pub fn answering(answer: impl Fn(Request<'_>) -> Answer + Send + Sync + 'static) -> Self {
        Self::new(move |request| {
            let part = answer(request).into_part(&request, format!("call_{}", request.messages.len()));
            let usage = Usage::of_request(word_count(request.messages), word_count(std::slice::from_ref(&part)));
            Ok(Response::new("function", vec![part], usage))
        })
    }

    /// Sets the name `function:NAME`, or that of another provider's model if `name` has a prefix, such as
    /// `openai:gpt-5-mini`, for tests that depend on it, such as those of prices. Default: `function:model`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: model_name("function", name), ..self }
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

    fn batch(&self, _request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        Ok(None)
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
    use std::sync::Arc;

    use futures_util::TryStreamExt;
    use serde_json::json;

    use super::FunctionModel;
    use crate::attachment::Attachment;
    use crate::error::{ErrorKind, ProviderError};
    use crate::message::{Message, ResponsePart, ToolCall, ToolResult, UserPart};
    use crate::model::{Model, OutputSchema, Request, RequestHint, StreamEvent, ToolSpec};
    use crate::response::Response;
    use crate::settings::Settings;
    use crate::testing::Answer;
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

    #[tokio::test]
    async fn rules_see_the_prompt_and_the_results_since_it() {
        let model = FunctionModel::answering(|request| match request.results("add").last() {
            None => Answer::call("add", json!({ "to": request.prompt() })),
            Some(sum) => Answer::text(format!("{}: {}", request.prompt(), sum.content)),
        });
        let settings = Settings::default();
        let mut messages = Vec::new();
        for (prompt, sum) in [("one", "1"), ("two", "2")] {
            messages.push(Message::user(prompt));
            let called = model.request(Request::new(&messages, &settings)).await.unwrap();
            let call = called.tool_calls().next().unwrap().clone();
            assert_eq!(
                (&*call.id, &*call.arguments),
                (&*format!("call_{}", messages.len()), &*json!({ "to": prompt }).to_string())
            );
            messages.push(Message::Assistant { parts: called.parts });
            messages.push(Message::Tool { results: vec![ToolResult::new(&call, sum)] });
            let answer = model.request(Request::new(&messages, &settings)).await.unwrap();
            assert_eq!(answer.text(), format!("{prompt}: {sum}"));
            messages.push(Message::Assistant { parts: answer.parts });
        }
    }

    #[tokio::test]
    async fn a_message_after_the_answers_that_the_hint_counts_is_not_the_prompt() {
        let model = FunctionModel::answering(|request| Answer::text(request.prompt()));
        let settings = Settings::default();
        let part = ResponsePart::Text { text: "no JSON".into() };
        let messages =
            [Message::user("go"), Message::Assistant { parts: vec![part] }, Message::user("answer with JSON")];
        let request = Request::new(&messages, &settings).hint(RequestHint::new().answers(1));
        assert_eq!(model.request(request).await.unwrap().text(), "go");
    }

    #[tokio::test]
    async fn an_output_has_the_form_that_the_request_asks_for() {
        let model = FunctionModel::answering(|_| Answer::output(json!(["a"])));
        let settings = Settings::default();
        let request = Request::new(&[], &settings);
        assert_eq!(model.request(request).await.unwrap().text(), r#"["a"]"#);
        let wrapper = json!({ "type": "object", "properties": { "result": { "type": "array" } } });
        let text = FunctionModel::answering(|_| Answer::output(json!("a \"b\"")));
        assert_eq!(text.request(request).await.unwrap().text(), "a \"b\"");
        let output = OutputSchema { name: "o".into(), schema: Arc::new(wrapper.clone()) };
        assert_eq!(model.request(request.output(Some(&output))).await.unwrap().text(), r#"{"result":["a"]}"#);
        let tool = ToolSpec { name: "final_result".into(), description: "".into(), parameters: Arc::new(wrapper) };
        let called = model.request(request.tools(std::slice::from_ref(&tool))).await.unwrap();
        assert_eq!(called.tool_calls().next().unwrap().arguments, r#"{"result":["a"]}"#);
    }
}
