//! The trait of all models, its requests and its stream events.

mod hint;
mod profile;
mod replay;
mod stream_event;
#[cfg_attr(
    not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
    allow(dead_code, unused_imports, reason = "only providers on the network write JSON")
)]
mod transcript;
mod window;

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::hint::RequestHint;
pub use self::profile::Profile;
pub use self::replay::replay;
pub use self::stream_event::StreamEvent;
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) use self::transcript::Json;
pub(crate) use self::transcript::JsonWriter;
pub use self::transcript::Transcript;
pub use self::window::ContextWindow;
use crate::batched::{self, BatchedRequest};
use crate::error::ProviderError;
use crate::message::{Message, ToolResult, UserPart};
use crate::response::Response;
use crate::server_side::ServerSideTool;
use crate::settings::Settings;

/// A language model that answers requests.
///
/// Dropping a future or a stream of the model cancels the request.
#[async_trait]
pub trait Model: Debug + Send + Sync {
    /// Returns the full name, `provider:model`.
    fn name(&self) -> &str;

    /// Returns the features of the model. Default: [`Profile::default`].
    fn profile(&self) -> Profile {
        Profile::default()
    }

    /// Returns what the model's form of a tool's schema changes, as sentences such as "`#/properties/a`: ..": keywords
    /// that are only described, and renamed properties.
    ///
    /// Arguments are still validated by the complete schema. Default: empty.
    ///
    /// # Errors
    ///
    /// Returns the reason if requests leave the tool out.
    fn tool_notes(&self, _tool: &ToolSpec) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    /// Returns whether [`ask_window`](Self::ask_window) may return a window. Default: false.
    fn reports_window(&self) -> bool {
        false
    }

    /// Asks the server how many tokens a request may have, for a model whose [profile](Self::profile) does not have it. Default:
    /// unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not answer.
    async fn ask_window(&self) -> Result<Option<ContextWindow>, ProviderError> {
        Ok(None)
    }

    /// Prepares a request with [`Settings::batch`] for the provider's batch API, without sending it.
    ///
    /// Returns `None` if the model answers such a request like any other, for a model without a price, such as test models.
    /// Default: the error.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`InvalidRequest`](crate::ErrorKind::InvalidRequest) if the model has no batch API.
    fn batch(&self, _request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        Err(batched::unsupported(self.name()))
    }

    /// Sends a request and waits for the complete response.
    ///
    /// # Errors
    ///
    /// Returns an error if the request has failed after the model's own retries.
    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError>;

    /// Sends a request and returns the response as a stream.
    ///
    /// The last item is [`StreamEvent::Done`] or an error; a stream that ends without either is incomplete. Default:
    /// waits for [`request`](Self::request) and replays its response.
    ///
    /// # Errors
    ///
    /// Returns an error if the request failed before the stream started; later failures are items of the stream.
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

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        (**self).tool_notes(tool)
    }

    fn reports_window(&self) -> bool {
        (**self).reports_window()
    }

    async fn ask_window(&self) -> Result<Option<ContextWindow>, ProviderError> {
        (**self).ask_window().await
    }

    fn batch(&self, request: Request<'_>) -> Result<Option<BatchedRequest>, ProviderError> {
        (**self).batch(request)
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        (**self).request(request).await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        (**self).stream(request).await
    }
}

/// A request to a model; it borrows the history to avoid copies.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The instructions (system prompt).
    pub instructions: Option<&'a str>,
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a [ToolSpec],
    /// More tools, which the model finds with the provider's tool search, for models whose [`Profile`] has it.
    pub deferred_tools: &'a [ToolSpec],
    /// Whether the model may, must or must not call a tool.
    pub tool_choice: ToolChoice<'a>,
    /// The server-side tools that the provider may run, for models whose [`Profile`] lists them.
    pub server_side_tools: &'a [ServerSideTool],
    /// The tool whose call ends the turn, which is not offered to the model's code.
    pub output_tool: Option<&'a str>,
    /// The schema of the answer's text, for models whose [`Profile`] supports it.
    pub output: Option<&'a OutputSchema>,
    /// The settings.
    pub settings: &'a Settings,
    /// Information for test models; other models ignore it.
    pub hint: RequestHint<'a>,
    pub(crate) transcript: Option<&'a Transcript>,
}

impl<'a> Request<'a> {
    /// Creates a request of `messages` without instructions, tools, or output schema.
    #[must_use]
    pub fn new(messages: &'a [Message], settings: &'a Settings) -> Self {
        Self {
            instructions: None,
            messages,
            tools: &[],
            deferred_tools: &[],
            tool_choice: ToolChoice::Auto,
            server_side_tools: &[],
            output_tool: None,
            output: None,
            settings,
            hint: RequestHint::default(),
            transcript: None,
        }
    }

    /// Sets the instructions. Default: none.
    #[must_use]
    pub fn instructions(self, instructions: Option<&'a str>) -> Self {
        Self { instructions, ..self }
    }

    /// Sets the tools. Default: none.
    #[must_use]
    pub fn tools(self, tools: &'a [ToolSpec]) -> Self {
        Self { tools, ..self }
    }

    /// Sets the tools that the model has to find. Default: none.
    #[must_use]
    pub fn deferred_tools(self, tools: &'a [ToolSpec]) -> Self {
        Self { deferred_tools: tools, ..self }
    }

    /// Sets whether tools may be called. Default: [`ToolChoice::Auto`].
    #[must_use]
    pub fn tool_choice(self, tool_choice: ToolChoice<'a>) -> Self {
        Self { tool_choice, ..self }
    }

    /// Sets the server-side tools that the provider may run. Default: none.
    #[must_use]
    pub fn server_side_tools(self, tools: &'a [ServerSideTool]) -> Self {
        Self { server_side_tools: tools, ..self }
    }

    /// Sets the tool whose call ends the turn, by name. Default: none.
    #[must_use]
    pub fn output_tool(self, name: Option<&'a str>) -> Self {
        Self { output_tool: name, ..self }
    }

    /// Sets the schema of the answer. Default: free text.
    #[must_use]
    pub fn output(self, output: Option<&'a OutputSchema>) -> Self {
        Self { output, ..self }
    }

    /// Sets the information for test models. Default: none.
    #[must_use]
    pub fn hint(self, hint: RequestHint<'a>) -> Self {
        Self { hint, ..self }
    }

    /// Sets the messages to those of a transcript, of which models only serialize what they have not sent before.
    ///
    /// If [`messages`](Self::messages) is changed afterwards, the transcript is ignored.
    #[must_use]
    pub fn transcript(self, transcript: &'a Transcript) -> Self {
        Self { messages: transcript, transcript: Some(transcript), ..self }
    }

    /// Returns the text of the prompt: of the last user message before the answers that the [`hint`](Self::hint) counts.
    #[must_use]
    pub fn prompt(&self) -> String {
        let Some(Message::User { parts }) = self.since_prompt().first() else { return String::new() };
        let texts = parts.iter().filter_map(|part| match part {
            UserPart::Text { text } => Some(text.as_str()),
            UserPart::Attachment(_) | UserPart::Pin => None,
        });
        texts.collect()
    }

    /// Returns the results of the calls of `tool` since the prompt, in order.
    pub fn results<'t>(&self, tool: &'t str) -> impl Iterator<Item = &'a ToolResult> + use<'a, 't> {
        let all = self.since_prompt().iter().flat_map(|message| match message {
            Message::Tool { results } => results.as_slice(),
            _ => &[],
        });
        all.filter(move |result| result.name == tool)
    }

    /// Returns whether the model may call `tool` by code that its provider runs.
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "openai")),
        allow(dead_code, reason = "other providers run no such code")
    )]
    pub(crate) fn offers_to_code(&self, tool: &ToolSpec) -> bool {
        self.takes_programs() && self.output_tool != Some(&tool.name)
    }

    /// Returns whether the provider may run code that calls tools.
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "openai")),
        allow(dead_code, reason = "other providers run no such code")
    )]
    pub(crate) fn takes_programs(&self) -> bool {
        self.server_side_tools.contains(&ServerSideTool::ProgrammaticToolCalling)
    }

    /// Returns whether the request requires the tool.
    #[cfg_attr(
        not(any(feature = "gemini", feature = "openai")),
        allow(dead_code, reason = "the other providers send every tool")
    )]
    pub(crate) fn must_have(&self, tool: &ToolSpec) -> bool {
        self.output_tool == Some(&tool.name)
            || matches!(self.tool_choice, ToolChoice::Tool(name) if *name == *tool.name)
    }

    /// Returns the writer of messages and tools for `model`; each built model has its own allocation of the name.
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "gemini", feature = "openai")),
        allow(dead_code, reason = "only providers on the network write JSON")
    )]
    pub(crate) fn writer(&self, model: &Arc<str>) -> JsonWriter<'a> {
        self.transcript.map(|transcript| transcript.writer(model, self.messages)).unwrap_or_default()
    }

    /// Returns the messages from the prompt on.
    pub(crate) fn since_prompt(&self) -> &'a [Message] {
        let messages = self.messages;
        let answers = (0..messages.len()).rev().filter(|place| matches!(messages[*place], Message::Assistant { .. }));
        let first = answers.take(self.hint.answers as usize).last().unwrap_or(messages.len());
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        &messages[messages[..first].iter().rposition(is_user).unwrap_or_default()..]
    }
}

/// The description of a tool for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name: `^[A-Za-z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// The description.
    pub description: Arc<str>,
    /// The JSON schema of the arguments, an object.
    pub parameters: Arc<Value>,
}

/// Whether a model may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must call this tool.
    Tool(&'a str),
    /// The model must not call a tool.
    None,
}

/// The schema of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    /// The name: `^[A-Za-z0-9_-]{1,64}$`.
    pub name: Arc<str>,
    /// The JSON schema; its root is an object.
    pub schema: Arc<Value>,
}

impl OutputSchema {
    /// Returns instructions to follow the schema, for servers that do not show it to the model.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn instructions(&self) -> String {
        let task = "Answer with one value of JSON and nothing else, no fence around it. It follows this JSON schema:";
        format!("{task}\n{}", self.schema)
    }
}

/// A response stream.
pub type ResponseStream = Pin<Box<dyn Stream<Item = Result<StreamEvent, ProviderError>> + Send>>;
