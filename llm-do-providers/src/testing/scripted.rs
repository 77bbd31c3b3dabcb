//! A model with scripted answers.

mod recorded_request;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;

pub use self::recorded_request::RecordedRequest;
use super::answer::Answer;
use super::function::split_words;
use super::model_name;
use crate::batched::BatchedRequest;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ResponsePart, ToolCall};
use crate::model::{Model, Profile, Request, ResponseStream, replay};
use crate::response::Response;
use crate::usage::Usage;

const PROVIDER: &str = "scripted";

/// A model that returns scripted answers in order and records its requests.
///
/// A request after the last answer fails with the number of requests, and [`assert_finished`](Self::assert_finished) fails if
/// answers are left, so that a test notices an unexpected course. Clones share the script and the record: keep one
/// clone in the test and pass the other on. Concurrent workers take answers in the order of their requests; if that
/// order varies, use a [`FunctionModel`](super::FunctionModel) that inspects the request.
///
/// Streams emit text, thinking and arguments word by word. Each answer has a usage of one input and one output token,
/// unless [`usage`](Self::usage) is set.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::{Model, Settings}; pub use llm_do_providers as model; pub use llm_do_providers as testing; }
/// use llm_do::testing::ScriptedModel;
/// use llm_do::{Model, Settings};
/// use llm_do::model::{Message, Request};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), llm_do_providers::ProviderError> {
/// let model = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).text("It is 5.");
/// let (messages, settings) = ([Message::user("2 + 3?")], Settings::new());
/// let answer = model.request(Request::new(&messages, &settings)).await?;
/// assert_eq!(answer.tool_calls().next().unwrap().name, "add");
/// assert_eq!(model.request(Request::new(&messages, &settings)).await?.text(), "It is 5.");
/// assert_eq!(model.requests()[0].messages, messages);
/// model.assert_finished();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    name: String,
    profile: Profile,
    usage: Usage,
    script: Arc<Mutex<Script>>,
}

/// The remaining answers and the recorded requests.
#[derive(Default)]
struct Script {
    answers: VecDeque<Result<Scripted, ProviderError>>,
    /// The number of calls in the script, for their ids.
    calls: usize,
    repeats: bool,
    asked: Vec<RecordedRequest>,
}

/// A scripted answer.
#[derive(Clone)]
enum Scripted {
    Response(Response),
    /// The output of a worker, whose form depends on the request.
    Output {
        id: String,
        output: Value,
        usage: Usage,
    },
}

impl Script {
    /// Returns the id of the next call.
    fn next_id(&mut self) -> String {
        self.calls += 1;
        format!("call_{}", self.calls)
    }
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self {
            name: "scripted:model".to_owned(),
            profile: Profile::BASIC,
            usage: Usage::of_request(1, 1),
            script: Arc::default(),
        }
    }
}

impl ScriptedModel {
    /// Creates a model with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name `scripted:NAME`, or that of another provider's model if `name` has a prefix, such as
    /// `openai:gpt-5-mini`, for tests that depend on it, such as those of prices. Default: `scripted:model`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: model_name(PROVIDER, name), ..self }
    }

    /// Sets the features of the model. Default: [`Profile::BASIC`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Sets the usage of each answer added afterwards. Default: one input and one output token.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Adds a text answer.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.answer([ResponsePart::Text { text: text.into() }])
    }

    /// Adds an answer with one tool call; the ids are `call_1`, `call_2`, ... in the order of the script.
    ///
    /// For the result of a worker, use [`output`](Self::output).
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "`json!({ .. })` is passed by value")]
    pub fn call(self, tool: &str, arguments: Value) -> Self {
        let id = self.script().next_id();
        self.answer([ResponsePart::ToolCall(ToolCall::new(id, tool, arguments.to_string()))])
    }

    /// Adds an answer that is the output of a worker: a value of its return type, or the same as JSON.
    ///
    /// The request decides the form: a call of the output tool `final_result`, JSON text for a model whose
    /// [`profile`](Self::profile) has structured output or no tools, or plain text for a worker that returns text. The value is
    /// not checked here, so a test can give a worker an invalid one.
    ///
    /// # Panics
    ///
    /// Panics if the value cannot be written as JSON.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod llm_do { pub use llm_do_providers::{Model, Settings}; pub use llm_do_providers as model; pub use llm_do_providers as testing; }
    /// use llm_do::testing::ScriptedModel;
    /// use llm_do::{Model, Settings};
    /// use llm_do::model::{Message, Request};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), llm_do_providers::ProviderError> {
    /// let model = ScriptedModel::new().output(vec![1, 2]);
    /// let (messages, settings) = ([Message::user("Which numbers?")], Settings::new());
    /// assert_eq!(model.request(Request::new(&messages, &settings)).await?.text(), "[1,2]");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn output(self, output: impl Serialize) -> Self {
        let output = match serde_json::to_value(output) {
            Ok(output) => output,
            Err(error) => panic!("an output cannot be written as JSON: {error}"),
        };
        let usage = self.usage;
        {
            let mut script = self.script();
            let id = script.next_id();
            script.answers.push_back(Ok(Scripted::Output { id, output, usage }));
        }
        self
    }

    /// Adds an answer with these parts: several calls, thinking, files, and so on.
    #[must_use]
    pub fn answer(self, parts: impl IntoIterator<Item = ResponsePart>) -> Self {
        let response = Response::new(self.name.clone(), parts.into_iter().collect(), self.usage);
        self.respond(response)
    }

    /// Adds a complete response, with its own finish reason, usage or model.
    #[must_use]
    pub fn respond(self, response: Response) -> Self {
        self.script().answers.push_back(Ok(Scripted::Response(response)));
        self
    }

    /// Adds an error; the request after it gets the next answer.
    #[must_use]
    pub fn error(self, error: ProviderError) -> Self {
        self.script().answers.push_back(Err(error));
        self
    }

    /// Repeats the last answer forever, unless it is an error. Default: a request after the last answer fails.
    #[must_use]
    pub fn repeat_last(self) -> Self {
        self.script().repeats = true;
        self
    }

    /// Returns the requests so far in order, including those that got an error.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.script().asked.clone()
    }

    /// Asserts that all answers were used. A repeated last answer may have been used any number of times, or never.
    ///
    /// # Panics
    ///
    /// Panics with the number of unused answers and the next one, if there are any.
    #[track_caller]
    pub fn assert_finished(&self) {
        let (asked, left, next) = {
            let script = self.script();
            let repeats = script.repeats && script.answers.back().is_some_and(Result::is_ok);
            let left = script.answers.len() - usize::from(repeats);
            (script.asked.len(), left, script.answers.front().map(description))
        };
        let next = next.unwrap_or_default();
        let requests = if asked == 1 { "1 request" } else { &format!("{asked} requests") };
        assert!(left == 0, "`{}` has {left} unused answers after {requests}; {next}", self.name);
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut script = self.script();
        script.asked.push(RecordedRequest::from_request(request));
        let is_last = script.repeats && script.answers.len() == 1;
        if let Some(Ok(last)) = script.answers.front().filter(|_| is_last) {
            return Ok(self.response(last.clone(), request));
        }
        let asked = script.asked.len();
        let exhausted = || {
            let text = format!(
                "the script of `{}` has {} answers, but this is request {asked}; add an answer",
                self.name,
                asked - 1
            );
            Err(ProviderError::new(PROVIDER, ErrorKind::Configuration, text))
        };
        script.answers.pop_front().map_or_else(exhausted, |answer| Ok(self.response(answer?, request)))
    }

    fn response(&self, answer: Scripted, request: Request<'_>) -> Response {
        match answer {
            Scripted::Response(response) => response,
            Scripted::Output { id, output, usage } => {
                let part = Answer::output(output).into_part(&request, id);
                Response::new(self.name.clone(), vec![part], usage)
            }
        }
    }
}

/// Describes an answer.
fn description(answer: &Result<Scripted, ProviderError>) -> String {
    match answer {
        Ok(Scripted::Response(response)) => format!("the next one is {:?}", response.parts),
        Ok(Scripted::Output { output, .. }) => format!("the next one is the output {output}"),
        Err(error) => format!("the next one is the error `{error}`"),
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        f.debug_struct("ScriptedModel")
            .field("name", &self.name)
            .field("asked", &script.asked.len())
            .field("left", &script.answers.len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for ScriptedModel {
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
        self.next(request)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let whole = replay(self.next(request)?);
        Ok(Box::pin(whole.flat_map(|event| stream::iter(split_words(event)))))
    }
}
