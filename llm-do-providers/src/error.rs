//! Errors of requests to models.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::response::Response;

/// An error of a request to a model: its [kind](ErrorKind), its HTTP status and a message.
///
/// The message names the provider, what happened and what to do. Neither `Display` nor `Debug` shows a key, a prompt
/// or the body of a response.
///
/// It implements serde's traits; of the source, only the text is kept.
#[derive(Serialize, Deserialize)]
pub struct ProviderError(Box<Repr>);

#[derive(Serialize, Deserialize)]
struct Repr {
    provider: String,
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    should_retry: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    partial_response: Option<Box<Response>>,
    /// Not saved, since it may repeat a part of the request.
    #[serde(skip)]
    provider_text: Option<Box<str>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_source",
        deserialize_with = "deserialize_source"
    )]
    source: Option<Source>,
}

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Serializes the texts of an error and its sources.
#[expect(clippy::ref_option, reason = "the signature that serde expects")]
fn serialize_source<S: Serializer>(source: &Option<Source>, serializer: S) -> Result<S::Ok, S::Error> {
    let first: Option<&(dyn std::error::Error + 'static)> = source.as_deref().map(|source| source as _);
    let texts: Vec<_> = std::iter::successors(first, |error| error.source()).map(ToString::to_string).collect();
    serializer.serialize_str(&texts.join(": "))
}

fn deserialize_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Source>, D::Error> {
    String::deserialize(deserializer).map(|text| Some(text.into()))
}

/// The kind of a [`ProviderError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A missing or invalid setting, found before the request: a key, a file, a model name.
    Configuration,
    /// The key was rejected (status 401 or 403).
    Auth,
    /// The provider rejected the request (other 4xx), or redirected it.
    InvalidRequest,
    /// The conversation exceeds the model's context length, or the request the server's limit (status 413).
    ContextTooLong,
    /// A content filter of the provider stopped the request or the response.
    ContentFilter,
    /// Rate limit reached or quota exhausted (status 429).
    RateLimited,
    /// The account has no credit left (status 402); waiting does not help.
    NoCredit,
    /// The provider is overloaded (status 498, 503 or 529).
    Overloaded,
    /// The provider failed (other 5xx, or status 408 or 409), or reported an error of no other kind.
    Unavailable,
    /// The connection failed or was lost.
    Transport,
    /// The request timed out.
    Timeout,
    /// The response violates the protocol.
    Protocol,
    /// The run was cancelled.
    Cancelled,
}

impl ProviderError {
    /// Creates an error of `provider`; `message` states what happened and what to do, in lower case without a full
    /// stop.
    #[must_use]
    pub fn new(provider: impl Into<String>, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Repr {
            provider: provider.into(),
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            should_retry: None,
            request_id: None,
            partial_response: None,
            provider_text: None,
            source: None,
        }))
    }

    /// Creates the error for a request that `provider` would refuse, so that it is not sent.
    #[cfg(feature = "http")]
    pub(crate) fn invalid_request(provider: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(provider, ErrorKind::InvalidRequest, message)
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Sets the delay that the provider requests before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Sets whether the provider reports that a retry may succeed.
    #[must_use]
    pub fn with_should_retry(mut self, should_retry: bool) -> Self {
        self.0.should_retry = Some(should_retry);
        self
    }

    /// Sets the provider's id of the request, which its support asks for.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// Sets the part of the response that had arrived.
    #[must_use]
    pub fn with_partial_response(mut self, partial: Response) -> Self {
        self.0.partial_response = Some(Box::new(partial));
        self
    }

    /// Sets the provider's own text, if there is any.
    #[must_use]
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only servers send a text"))]
    pub(crate) fn with_provider_text(mut self, text: String) -> Self {
        self.0.provider_text = (!text.is_empty()).then(|| text.into());
        self
    }

    /// Takes the part of the response that had arrived.
    pub(crate) fn take_partial_response(&mut self) -> Option<Response> {
        self.0.partial_response.take().map(|partial| *partial)
    }

    /// Sets the source.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the same error for another request of its batch; of the source, the text.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only servers have batches"))]
    #[must_use]
    pub(crate) fn copy(&self) -> Self {
        let Repr {
            provider, kind, message, status, retry_after, should_retry, request_id, provider_text, source, ..
        } = &*self.0;
        Self(Box::new(Repr {
            provider: provider.clone(),
            kind: *kind,
            message: message.clone(),
            status: *status,
            retry_after: *retry_after,
            should_retry: *should_retry,
            request_id: request_id.clone(),
            partial_response: None,
            provider_text: provider_text.clone(),
            source: source.as_ref().map(|source| source.to_string().into()),
        }))
    }

    /// Appends a note to the message, such as the number of attempts.
    #[must_use]
    pub(crate) fn with_note(mut self, note: &str) -> Self {
        self.0.message.push_str("; ");
        self.0.message.push_str(note);
        self
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message without the provider, the status and the source.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the provider's name, such as `openai`.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.0.provider
    }

    /// Returns the HTTP status, if there was a response: 200 if it failed after a successful start.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns the delay that the provider requests before a retry.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns whether the provider reports that a retry may succeed; `None` if it does not report it.
    #[must_use]
    pub fn should_retry(&self) -> Option<bool> {
        self.0.should_retry
    }

    /// Returns the provider's id of the request, which its support asks for.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Returns the part of the response that had arrived before the failure.
    ///
    /// The last text may be cut off; tool calls with incomplete arguments are left out. Its
    /// [`usage`](Response::usage) is what the provider had reported until then, including failed attempts.
    #[must_use]
    pub fn partial_response(&self) -> Option<&Response> {
        self.0.partial_response.as_deref()
    }

    /// Returns the provider's own text about the failure: at most 500 printable characters, without keys, the values of extra
    /// headers and the password of the base URL.
    ///
    /// It may repeat a part of the request, so neither `Display` nor `Debug` shows it, and it is not serialized. The command
    /// line shows it with `-vv`.
    #[must_use]
    pub fn provider_text(&self) -> Option<&str> {
        self.0.provider_text.as_deref()
    }

    /// Returns whether a retry may succeed: as the provider reports, or else by the kind of failure.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        let by_kind = match self.0.kind {
            ErrorKind::RateLimited | ErrorKind::Overloaded | ErrorKind::Unavailable | ErrorKind::Transport => true,
            ErrorKind::Configuration
            | ErrorKind::Auth
            | ErrorKind::InvalidRequest
            | ErrorKind::ContextTooLong
            | ErrorKind::ContentFilter
            | ErrorKind::NoCredit
            | ErrorKind::Timeout
            | ErrorKind::Protocol
            | ErrorKind::Cancelled => false,
        };
        self.0.should_retry.unwrap_or(by_kind)
    }

    /// Returns whether the rate limit was reached.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.0.kind == ErrorKind::RateLimited
    }

    /// Returns whether the request timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.kind == ErrorKind::Timeout
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.0.provider)?;
        if let Some(status) = self.0.status {
            write!(f, "status {status}: ")?;
        }
        f.write_str(&self.0.message)?;
        self.0.request_id.as_ref().map_or(Ok(()), |id| write!(f, " (request {id})"))
    }
}

impl fmt::Debug for ProviderError {
    /// Omits the partial response, and shows the source by its text, which reveals less than its fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr {
            provider,
            kind,
            message,
            status,
            retry_after,
            should_retry,
            request_id,
            partial_response,
            provider_text: _,
            source,
        } = &*self.0;
        let mut shown = f.debug_struct("ProviderError");
        shown.field("provider", provider).field("kind", kind).field("message", message).field("status", status);
        shown.field("retry_after", retry_after).field("should_retry", should_retry).field("request_id", request_id);
        shown
            .field("has_partial_response", &partial_response.is_some())
            .field("source", &source.as_ref().map(ToString::to_string));
        shown.finish()
    }
}

impl std::error::Error for ProviderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, ProviderError};
    use crate::message::ResponsePart;
    use crate::response::Response;
    use crate::usage::Usage;

    #[test]
    fn debug_does_not_show_the_partial_response() {
        let part = ResponsePart::Text { text: "my secret".to_owned() };
        let error = ProviderError::new("openai", ErrorKind::Transport, "the connection broke")
            .with_partial_response(Response::new("m", vec![part], Usage::default()));
        let shown = format!("{error:?} {error:#?}");
        assert!(shown.contains("the connection broke") && shown.contains("has_partial_response: true"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}
