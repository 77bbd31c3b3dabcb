//! One request, with the headers and the timeout of its settings.

use std::time::Duration;

use bytes::Bytes;
#[cfg(feature = "openai")]
use reqwest::header::CONTENT_TYPE;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ProviderError;
use crate::settings::Settings;

/// A request that can be sent several times.
#[derive(Clone, Debug)]
pub(crate) struct PreparedRequest {
    pub(super) body: Bytes,
    pub(super) headers: HeaderMap,
    pub(super) timeout: Option<Duration>,
}

impl PreparedRequest {
    /// Creates a request with `body`, and the headers and the timeout of `settings`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the header that cannot be sent.
    pub(crate) fn new(provider: &str, body: Bytes, settings: &Settings) -> Result<Self, ProviderError> {
        let mut headers = HeaderMap::new();
        for (name, value) in settings.extra_headers.iter() {
            let header = HeaderName::from_bytes(name.as_bytes()).ok().zip(HeaderValue::from_str(value).ok());
            let Some((name, mut value)) = header else {
                let text = format!(
                    "the extra header `{name}` cannot be sent; its name or value has characters that HTTP headers cannot contain"
                );
                return Err(ProviderError::invalid_request(provider, text));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self { body, headers, timeout: settings.timeout })
    }

    /// Creates a request with the headers of a call, and another body. The timeout of the call is that of its answer.
    pub(crate) fn with_body(&self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), headers: self.headers.clone(), timeout: None }
    }

    /// Returns the request with another content type.
    #[cfg(feature = "openai")]
    pub(crate) fn with_content_type(mut self, content_type: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(content_type) {
            self.headers.insert(CONTENT_TYPE, value);
        }
        self
    }

    /// Returns the body, shared.
    pub(crate) fn shared_body(&self) -> Bytes {
        self.body.clone()
    }

    /// Returns the body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Replaces the body.
    pub(crate) fn set_body(&mut self, body: Bytes) {
        self.body = body;
    }
}
