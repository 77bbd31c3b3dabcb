//! A model that follows a script.

mod asked;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Value;

pub use self::asked::AskedRequest;
use super::function::in_words;
use crate::error::{ErrorKind, ProviderError};
use crate::message::{ResponsePart, ToolCall};
use crate::model::{Model, Profile, Request, ResponseStream, replay};
use crate::response::Response;
use crate::usage::Usage;

const PROVIDER: &str = "scripted";

/// A model that gives the answers of a script, in order, and keeps what it was asked.
///
/// A request after the last answer fails, with how many were asked for, and so does [`assert_over`](Self::assert_over) where
/// answers are left: a test that expected another course notices. Clones have one script and one record, so that a test
/// keeps one and gives the other away. Workers that run at the same time take answers in the order in which they ask; where
/// that may be any, a [`FunctionModel`](super::FunctionModel) looks at what it is asked.
///
/// Its streams give texts, thoughts and arguments word by word. Each answer used a token read and one written, unless
/// [`usage`](Self::usage) says otherwise.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers::*; pub mod testing { pub use llm_do_providers::*; } }
/// use llm_do::testing::ScriptedModel;
/// use llm_do::{Message, Model, Request, Settings};
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
/// model.assert_over();
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

/// The answers to come, and the requests that were made.
#[derive(Default)]
struct Script {
    answers: VecDeque<Result<Response, ProviderError>>,
    /// How many calls the answers make, for their ids.
    calls: usize,
    repeats: bool,
    asked: Vec<AskedRequest>,
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self {
            name: "scripted:model".to_owned(),
            profile: Profile::NONE,
            usage: Usage::of_request(1, 1),
            script: Arc::default(),
        }
    }
}

impl ScriptedModel {
    /// Returns a model with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls the model `scripted:NAME`, or as another provider's, if the name has one: `openai:gpt-5-mini`, for tests of what
    /// depends on that, such as prices. Default: `scripted:model`.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        let name = if name.contains(':') { name.to_owned() } else { format!("{PROVIDER}:{name}") };
        Self { name, ..self }
    }

    /// Says what the model can do. Default: [`Profile::NONE`].
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Says what each of the answers that are added from here on used. Default: a token read, and one written.
    #[must_use]
    pub fn usage(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }

    /// Adds an answer of a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.answer([ResponsePart::Text { text: text.into() }])
    }

    /// Adds an answer that calls one tool; the ids of such calls are `call_1`, `call_2`, ... in the order of the script.
    ///
    /// A worker's output goes through the tool `final_result` where the model's profile has no structured output.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "`json!({ .. })` stands here without a reference")]
    pub fn call(self, tool: &str, arguments: Value) -> Self {
        let id = {
            let mut script = self.script();
            script.calls += 1;
            format!("call_{}", script.calls)
        };
        self.answer([ResponsePart::ToolCall(ToolCall::new(id, tool, arguments.to_string()))])
    }

    /// Adds an answer of these parts: several calls, thoughts, files, whatever a provider might give.
    #[must_use]
    pub fn answer(self, parts: impl IntoIterator<Item = ResponsePart>) -> Self {
        let response = Response::new(self.name.clone(), parts.into_iter().collect(), self.usage);
        self.respond(response)
    }

    /// Adds an answer as it is: with a finish reason, a usage or a model of its own.
    #[must_use]
    pub fn respond(self, response: Response) -> Self {
        self.script().answers.push_back(Ok(response));
        self
    }

    /// Adds a failure; the request after it gets the next answer.
    #[must_use]
    pub fn error(self, error: ProviderError) -> Self {
        self.script().answers.push_back(Err(error));
        self
    }

    /// Gives the last answer for ever, unless it is a failure. Default: a request after the last answer fails.
    #[must_use]
    pub fn repeat_last(self) -> Self {
        self.script().repeats = true;
        self
    }

    /// Returns what was asked so far, in order, those requests included that got an error.
    #[must_use]
    pub fn requests(&self) -> Vec<AskedRequest> {
        self.script().asked.clone()
    }

    /// Fails the test if answers were not asked for. A last answer that repeats may have been given any number of times, or
    /// never.
    ///
    /// # Panics
    ///
    /// Panics with how many answers are left, and what the next one is.
    #[track_caller]
    pub fn assert_over(&self) {
        let (asked, left, next) = {
            let script = self.script();
            let repeats = script.repeats && script.answers.back().is_some_and(Result::is_ok);
            let left = script.answers.len() - usize::from(repeats);
            (script.asked.len(), left, script.answers.front().map(shown))
        };
        let next = next.unwrap_or_default();
        let times = if asked == 1 { "once" } else { &format!("{asked} times") };
        assert!(left == 0, "`{}` was asked {times}; answers left: {left}, {next}", self.name);
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut script = self.script();
        script.asked.push(AskedRequest::of(request));
        let is_last = script.repeats && script.answers.len() == 1;
        if let Some(Ok(last)) = script.answers.front().filter(|_| is_last) {
            return Ok(last.clone());
        }
        let asked = script.asked.len();
        let over = || {
            let text = format!("the script of `{}` has {} answers, and this is request {asked}", self.name, asked - 1);
            Err(ProviderError::new(PROVIDER, ErrorKind::Configuration, text))
        };
        script.answers.pop_front().unwrap_or_else(over)
    }
}

/// Says what an answer is.
fn shown(answer: &Result<Response, ProviderError>) -> String {
    match answer {
        Ok(response) => format!("the next is {:?}", response.parts),
        Err(error) => format!("the next is the error `{error}`"),
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

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.next(request)
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let whole = replay(self.next(request)?);
        Ok(Box::pin(whole.flat_map(|event| stream::iter(in_words(event)))))
    }
}
