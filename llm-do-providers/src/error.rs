//! Why a request to a model failed.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::response::Response;

/// Why a request to a model failed: ask for its kind, its status and what to do.
///
/// The text names the provider, what happened and what to do; it never holds a key, a prompt or the body of a reply, and
/// neither does the text by `Debug`.
///
/// It can be written as JSON and read again; of its source, only the text is kept.
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
    arrived: Option<Box<Response>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_source",
        deserialize_with = "read_source"
    )]
    source: Option<Source>,
}

type Source = Box<dyn std::error::Error + Send + Sync>;

/// Writes the texts of a source and of its own sources.
#[expect(clippy::ref_option, reason = "serde passes the field")]
fn write_source<S: Serializer>(source: &Option<Source>, serializer: S) -> Result<S::Ok, S::Error> {
    let first: Option<&(dyn std::error::Error + 'static)> = source.as_deref().map(|source| source as _);
    let texts: Vec<_> = std::iter::successors(first, |error| error.source()).map(ToString::to_string).collect();
    serializer.serialize_str(&texts.join(": "))
}

fn read_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Source>, D::Error> {
    String::deserialize(deserializer).map(|text| Some(text.into()))
}

/// What kind of failure a [`ProviderError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Something is missing or wrong before any request: a key, a file, a model's name.
    Configuration,
    /// The key was refused (status 401 or 403).
    Auth,
    /// The provider refuses the request as it is (other 4xx), or redirects it.
    InvalidRequest,
    /// The conversation is longer than the model reads, or the request larger than the server takes (status 413).
    ContextTooLong,
    /// The provider's filter stops the request, or its answer.
    ContentFilter,
    /// Too many requests, or the quota is used up (status 429), or the credit (status 402).
    RateLimited,
    /// The provider has more to do than it can (status 498, 503 or 529).
    Overloaded,
    /// The provider fails (other 5xx, or status 408 or 409), or reports an error of no other kind.
    Unavailable,
    /// No connection, or it broke.
    Transport,
    /// No answer in time.
    Timeout,
    /// The answer does not follow the protocol.
    Protocol,
    /// The run was cancelled.
    Cancelled,
}

impl ProviderError {
    /// Returns an error of `provider`; `message` says what happened and what to do, in lower case, without a full stop.
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
            arrived: None,
            source: None,
        }))
    }

    /// Adds the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Adds how long the provider asks to wait.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// Says whether the same request may succeed a little later, where the provider says so.
    #[must_use]
    pub fn with_should_retry(mut self, should_retry: bool) -> Self {
        self.0.should_retry = Some(should_retry);
        self
    }

    /// Adds what the provider calls the request, for its support.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.0.request_id = Some(id.into());
        self
    }

    /// Adds what of the answer had arrived.
    #[must_use]
    pub fn with_arrived(mut self, arrived: Response) -> Self {
        self.0.arrived = Some(Box::new(arrived));
        self
    }

    /// Takes what had arrived, for another error or for none.
    pub(crate) fn take_arrived(&mut self) -> Option<Response> {
        self.0.arrived.take().map(|arrived| *arrived)
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds to the text what became clear later, such as how often it was tried.
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

    /// Returns the text without the name of the provider, the status and the cause.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the provider's name, such as `openai`.
    #[must_use]
    pub fn provider(&self) -> &str {
        &self.0.provider
    }

    /// Returns the HTTP status, if there was an answer: 200 where it failed after it had begun.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns how long the provider asks to wait before the next try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns whether the provider says that the same request may succeed a little later; `None` if it does not say.
    #[must_use]
    pub fn should_retry(&self) -> Option<bool> {
        self.0.should_retry
    }

    /// Returns what the provider calls the request: its support asks for it.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Returns what of the answer had arrived when it broke off, or turned out to be none.
    ///
    /// The last text may be cut off; a tool call whose arguments were not all there is not among it. Its
    /// [`usage`](Response::usage) is what the provider had told by then, of tries that failed before too.
    #[must_use]
    pub fn arrived(&self) -> Option<&Response> {
        self.0.arrived.as_deref()
    }

    /// Returns whether the provider refused for too many requests.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.0.kind == ErrorKind::RateLimited
    }

    /// Returns whether no answer came in time.
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
    /// Shows no part of an answer; the source as its own text, which quotes less than its fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Repr { provider, kind, message, status, retry_after, should_retry, request_id, arrived, source } = &*self.0;
        let mut shown = f.debug_struct("ProviderError");
        shown.field("provider", provider).field("kind", kind).field("message", message).field("status", status);
        shown.field("retry_after", retry_after).field("should_retry", should_retry).field("request_id", request_id);
        shown.field("has_arrived", &arrived.is_some()).field("source", &source.as_ref().map(ToString::to_string));
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
    fn what_arrived_is_not_shown_by_debug() {
        let part = ResponsePart::Text { text: "my secret".to_owned() };
        let error = ProviderError::new("openai", ErrorKind::Transport, "the connection broke")
            .with_arrived(Response::new("m", vec![part], Usage::default()));
        let shown = format!("{error:?} {error:#?}");
        assert!(shown.contains("the connection broke") && shown.contains("has_arrived: true"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
    }
}
