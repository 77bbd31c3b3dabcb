//! Requests to a batch API: at other paths of the server of a model.

use std::collections::BTreeMap;
use std::error::Error as _;

use reqwest::Method;
use serde_json::Value;
use tokio::time::timeout;

use super::{Endpoint, PreparedRequest};
use crate::error::{ErrorKind, ProviderError};

impl Endpoint {
    /// Returns the endpoint at another path of the server.
    #[must_use]
    pub(crate) fn at(&self, path: &str) -> Self {
        let mut endpoint = self.clone();
        endpoint.url.set_path(path);
        endpoint.url.set_query(None);
        endpoint
    }

    /// Returns what identifies the account that requests with these headers are of: the URL, and all headers.
    pub(crate) fn account(&self, call: &PreparedRequest) -> Vec<u8> {
        let headers = self.headers.iter().chain(&call.headers).map(|(name, value)| (name.as_str(), value.as_bytes()));
        // Those of the call replace those of the endpoint.
        let headers: BTreeMap<_, _> = headers.collect();
        let mut account = self.url.as_str().as_bytes().to_vec();
        for (name, value) in headers {
            account.push(b'\n');
            account.extend_from_slice(name.as_bytes());
            account.push(b':');
            account.extend_from_slice(value);
        }
        account
    }

    /// Sends a request, and returns the JSON of the answer.
    pub(crate) async fn post_json(&self, call: &PreparedRequest) -> Result<Value, ProviderError> {
        let answer = self.fetch(call).await?;
        self.json(&answer.body)
    }

    /// Returns the JSON at the endpoint, of at most `limit` bytes.
    pub(crate) async fn read_json(&self, call: &PreparedRequest, limit: usize) -> Result<Value, ProviderError> {
        let reading = async {
            let mut answer = self.send(Method::GET, call).await?;
            self.read(&mut answer, limit).await
        };
        let body = timeout(self.timeouts.whole, reading).await;
        let body = body.unwrap_or_else(|_| Err(self.late(self.timeouts.whole, "timeout")))?;
        self.json(&body)
    }

    /// Passes each line at the endpoint on; they may be more than fit into memory.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) async fn read_lines(
        &self,
        call: &PreparedRequest,
        line: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<(), ProviderError> {
        use super::{WHOLE_SIZE, fault};

        let idle = self.timeouts.idle;
        let late = |_| self.late(idle, "idle timeout");
        let mut answer = timeout(idle, self.send(Method::GET, call)).await.map_err(late)??;
        let (status, mut rest) = (answer.status().as_u16(), Vec::new());
        let broken = |error| fault::broken(self.provider, &self.origin, status, error);
        while let Some(chunk) = timeout(idle, answer.chunk()).await.map_err(late)?.map_err(broken)? {
            let mut begin = 0;
            for end in memchr::memchr_iter(b'\n', &chunk) {
                rest.extend_from_slice(&chunk[begin..end]);
                line(&rest);
                rest.clear();
                begin = end + 1;
            }
            rest.extend_from_slice(&chunk[begin..]);
            if rest.len() > WHOLE_SIZE {
                return Err(fault::too_large(self.provider, status, WHOLE_SIZE));
            }
        }
        if !rest.is_empty() {
            line(&rest);
        }
        Ok(())
    }

    /// Returns the error for the answer of a request of a batch, as if the server had refused that request.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn refusal(&self, status: u16, body: &[u8]) -> ProviderError {
        let error = super::error_response::refused(self.provider, &self.key_hint, status, body, &[]);
        self.with_text(error, &String::from_utf8_lossy(body))
    }

    fn json(&self, body: &[u8]) -> Result<Value, ProviderError> {
        serde_json::from_slice(body).map_err(|error| {
            let text = "the answer of the batch API is not JSON; check the base URL";
            ProviderError::new(self.provider, ErrorKind::Protocol, text).with_source(error)
        })
    }
}

/// Whether a request that failed may have reached the provider, so that a second one may do the same again.
pub(crate) fn may_have_arrived(error: &ProviderError) -> bool {
    let is_unsent = || {
        let source = error.source().and_then(|source| source.downcast_ref::<reqwest::Error>());
        source.is_some_and(reqwest::Error::is_connect)
    };
    error.status().is_none() && matches!(error.kind(), ErrorKind::Transport | ErrorKind::Timeout) && !is_unsent()
}
