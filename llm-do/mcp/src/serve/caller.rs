//! The client that called, for tools that make requests to it.

use std::fmt;

use futures_util::future::try_join_all;
use llm_do_core::base::error::BoxError;
use llm_do_core::plane::context::CallContext;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, CreateMessageRequest, ElicitRequest, InputRequest, ListRootsRequest};
use serde_json::Value;

use super::ask::{Asker, supports};
use super::form::form;

/// The MCP client that made a call, for tools that need more than an answer to one question.
///
/// Clients have different capabilities: check [`supports`](Self::supports) first. Nothing is recorded in a journal.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::json;
/// use llm_do::mcp::{ClientRequest, McpClient};
///
/// /// Register a person.
/// #[tool]
/// async fn register(ctx: &CallContext) -> Result<String> {
///     let client = McpClient::of(ctx).ok_or("only clients of MCP can register a person")?;
///     let schema = json!({
///         "type": "object",
///         "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
///         "required": ["name"],
///     });
///     let answer = client.ask(ClientRequest::form("person", "Who are you?", &schema)?).await?;
///     Ok(answer["content"]["name"].as_str().unwrap_or("unknown").to_owned())
/// }
/// ```
#[derive(Clone)]
pub struct McpClient {
    capabilities: ClientCapabilities,
    asker: Asker,
}

/// A request to a client: a form, or data that the client has.
#[derive(Clone, Debug)]
pub struct ClientRequest {
    name: String,
    request: InputRequest,
}

impl ClientRequest {
    /// Asks the user to fill in a form; the schema has fields of texts, numbers, booleans and choices, and no nested objects.
    ///
    /// The answer has `action`, which is `accept`, `decline` or `cancel`, and for `accept` the fields in `content`.
    ///
    /// # Errors
    ///
    /// Returns an error if the protocol does not allow the schema.
    pub fn form(
        name: impl Into<String>,
        message: impl Into<String>,
        schema: &Value,
    ) -> Result<Self, serde_json::Error> {
        let request = InputRequest::Elicitation(ElicitRequest::new(form(message.into(), schema)?));
        Ok(Self { name: name.into(), request })
    }

    /// Asks the client's model; `parameters` are those of `sampling/createMessage`, such as `messages` and `maxTokens`.
    ///
    /// The protocol removes this request after 2027-07-28.
    ///
    /// # Errors
    ///
    /// Returns an error if the protocol does not allow the parameters.
    pub fn sampling(name: impl Into<String>, parameters: Value) -> Result<Self, serde_json::Error> {
        let request = InputRequest::CreateMessage(CreateMessageRequest::new(serde_json::from_value(parameters)?));
        Ok(Self { name: name.into(), request })
    }

    /// Requests the folders in which the client works.
    ///
    /// The protocol removes this request after 2027-07-28.
    #[must_use]
    pub fn roots(name: impl Into<String>) -> Self {
        Self { name: name.into(), request: InputRequest::ListRoots(ListRootsRequest::default()) }
    }
}

impl McpClient {
    pub(super) fn new(capabilities: ClientCapabilities, asker: Asker) -> Self {
        Self { capabilities, asker }
    }

    /// Returns the client that made the root call of this run; `None` if it was not a client of
    /// [`McpService`](super::McpService).
    #[must_use]
    pub fn of<S>(ctx: &CallContext<S>) -> Option<Self> {
        ctx.state::<Self>().map(|client| Self::clone(&client))
    }

    /// Returns whether the client can answer a request.
    #[must_use]
    pub fn supports(&self, request: &ClientRequest) -> bool {
        supports(&self.capabilities, &request.request)
    }

    /// Sends a request to the client, and returns its answer in the form of the protocol.
    ///
    /// # Errors
    ///
    /// Returns [`MissingCapability`] if the client cannot answer, and another error if the client ends the call.
    pub async fn ask(&self, request: ClientRequest) -> Result<Value, BoxError> {
        if !self.supports(&request) {
            return Err(MissingCapability { request: request.request }.into());
        }
        self.asker.ask(request.name, request.request).await
    }

    /// Sends several requests to the client concurrently, and returns its answers in the same order.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Self::ask).
    pub async fn ask_all(&self, requests: impl IntoIterator<Item = ClientRequest>) -> Result<Vec<Value>, BoxError> {
        try_join_all(requests.into_iter().map(|request| self.ask(request))).await
    }
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("capabilities", &self.capabilities).finish_non_exhaustive()
    }
}

/// The client lacks the capability for a request of a tool; the client receives an error that names the capability.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the client does not support `{}`", self.method())]
pub struct MissingCapability {
    request: InputRequest,
}

impl MissingCapability {
    fn method(&self) -> &'static str {
        match self.request {
            InputRequest::CreateMessage(_) => "sampling/createMessage",
            InputRequest::ListRoots(_) => "roots/list",
            _ => "elicitation/create",
        }
    }

    /// Returns the protocol error.
    pub(super) fn error(&self) -> ErrorData {
        let capabilities = ClientCapabilities::builder();
        ErrorData::missing_required_client_capability(match self.request {
            InputRequest::CreateMessage(_) => capabilities.enable_sampling().build(),
            InputRequest::ListRoots(_) => capabilities.enable_roots().build(),
            _ => capabilities.enable_elicitation().build(),
        })
    }
}
