//! The one trait that every model implements, and what goes in and out of it.

mod hint;
mod profile;
mod replay;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use serde_json::Value;

pub use self::hint::RequestHint;
pub use self::profile::Profile;
pub use self::replay::replay;
use crate::error::ProviderError;
use crate::message::Message;
use crate::response::Response;
use crate::server_side::ServerSideTool;
use crate::settings::Settings;

/// A language model that answers requests.
///
/// Dropping a future or a stream of it cancels the request.
#[async_trait]
pub trait Model: Debug + Send + Sync {
    /// Returns the full name, `provider:model`.
    fn name(&self) -> &str;

    /// Returns what the model can do. Default: [`Profile::default`].
    fn profile(&self) -> Profile {
        Profile::default()
    }

    /// Sends one request and waits for the whole answer.
    ///
    /// # Errors
    ///
    /// Returns an error once the request has failed for good: retries are the model's own affair.
    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError>;

    /// Sends one request and returns the answer as it arrives.
    ///
    /// The stream's last item is [`StreamEvent::Done`] or an error; a stream that ends without either broke off.
    /// Default: waits for [`request`](Self::request) and replays its answer.
    ///
    /// # Errors
    ///
    /// Returns an error if the request failed before anything arrived; later failures are items of the stream.
    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        Ok(replay(self.request(request).await?))
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn profile(&self) -> Profile {
        (**self).profile()
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        (**self).request(request).await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        (**self).stream(request).await
    }
}

/// One request to a model; it borrows the history, so that asking copies nothing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The instructions (system prompt).
    pub instructions: Option<&'a str>,
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a [ToolSpec],
    /// Whether it may, must or must not call one.
    pub tool_choice: ToolChoice<'a>,
    /// The tools that its provider may run, for models whose [`Profile`] names them.
    pub server_side_tools: &'a [ServerSideTool],
    /// The schema that the answer's text must follow, for models whose [`Profile`] says so.
    pub output: Option<&'a OutputSchema>,
    /// Settings.
    pub settings: &'a Settings,
    /// What models for tests go by, and all others ignore.
    pub hint: RequestHint<'a>,
}

impl<'a> Request<'a> {
    /// Returns a request of `messages` without instructions, tools, or output schema.
    #[must_use]
    pub fn new(messages: &'a [Message], settings: &'a Settings) -> Self {
        Self {
            instructions: None,
            messages,
            tools: &[],
            tool_choice: ToolChoice::Auto,
            server_side_tools: &[],
            output: None,
            settings,
            hint: RequestHint::default(),
        }
    }

    /// Sets the instructions. Default: none.
    #[must_use]
    pub fn instructions(self, instructions: Option<&'a str>) -> Self {
        Self { instructions, ..self }
    }

    /// Offers `tools`. Default: none.
    #[must_use]
    pub fn tools(self, tools: &'a [ToolSpec]) -> Self {
        Self { tools, ..self }
    }

    /// Sets whether tools may be called. Default: [`ToolChoice::Auto`].
    #[must_use]
    pub fn tool_choice(self, tool_choice: ToolChoice<'a>) -> Self {
        Self { tool_choice, ..self }
    }

    /// Lets the provider run `tools` while it answers. Default: none.
    #[must_use]
    pub fn server_side_tools(self, tools: &'a [ServerSideTool]) -> Self {
        Self { server_side_tools: tools, ..self }
    }

    /// Asks for an answer that follows `output`. Default: free text.
    #[must_use]
    pub fn output(self, output: Option<&'a OutputSchema>) -> Self {
        Self { output, ..self }
    }

    /// Says what models for tests go by. Default: nothing.
    #[must_use]
    pub fn hint(self, hint: RequestHint<'a>) -> Self {
        Self { hint, ..self }
    }
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: `^[A-Za-z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, an object.
    pub parameters: Arc<Value>,
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// As it likes.
    #[default]
    Auto,
    /// It must call at least one.
    Required,
    /// It must call this one.
    Tool(&'a str),
    /// It must not.
    None,
}

/// The schema of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSchema {
    /// A name for it: `^[A-Za-z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// The JSON schema, an object at its root.
    pub schema: Arc<Value>,
}

/// An answer as it arrives.
pub type ResponseStream = Pin<Box<dyn Stream<Item = Result<StreamEvent, ProviderError>> + Send>>;

/// A piece of an answer.
///
/// The pieces before [`Done`](Self::Done) are for display; the answer is what `Done` carries.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The model is not answering yet: it loads, waits for a retry, and so on.
    Waiting {
        /// What it is doing, in a few words.
        on: String,
    },
    /// More text.
    Text(String),
    /// More of a thought.
    Thinking(String),
    /// More of a tool call's arguments.
    ToolCall {
        /// The place of the call among the calls of this answer.
        index: usize,
        /// The tool's name, whole.
        name: Arc<str>,
        /// More of the arguments' JSON text; the first piece may be empty.
        arguments: String,
    },
    /// A use of a tool that the provider runs, once it is known what for.
    ServerSideTool {
        /// The tool's name, such as `web_search`.
        name: Arc<str>,
        /// What it was asked, in the provider's own terms.
        input: Value,
    },
    /// The end of such a use; a provider that tells it only with the whole answer leaves this out.
    ServerSideToolDone {
        /// The tool's name.
        name: Arc<str>,
        /// What it was asked, as when it began.
        input: Value,
        /// Why it failed, in a word of the provider's; none if it did not.
        error: Option<String>,
    },
    /// The whole answer; nothing follows.
    Done(Response),
}
