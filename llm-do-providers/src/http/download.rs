//! Downloads of files, from a server that sends them or redirects to them.
//!
//! Redirects are followed here, and not by the client, for two reasons: the token is only for the configured
//! server, and the headers of a redirect come from that server, not from its target.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, LOCATION, RANGE};
use reqwest::{Client, ClientBuilder, Method, Request, Response, Url};
use tokio::time::timeout;

use super::response_meta::ErrorHeaders;
use super::{clients, fault, permitted};
use crate::error::{ErrorKind, ProviderError};
use crate::secret::ApiKey;

/// The maximum number of redirects of a request.
const REDIRECTS: usize = 10;

/// A server of files.
#[derive(Debug)]
pub(crate) struct FileServer {
    provider: &'static str,
    base: Url,
    token: Option<ApiKey>,
    idle: Duration,
    client: Client,
}

impl FileServer {
    /// Returns the server at `base`, the only one that gets the token; `idle` is the timeout of each piece.
    ///
    /// It has its own connections, since those of a shared client belong to the runtime that opened them.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `Configuration` if `base` is not a URL, or if TLS is not available on this machine.
    pub(crate) fn new(
        provider: &'static str,
        base: &str,
        token: Option<ApiKey>,
        idle: Duration,
    ) -> Result<Self, ProviderError> {
        let base = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
            let text = "invalid address of the hub: expected an `http` or `https` URL such as `https://huggingface.co`";
            ProviderError::new(provider, ErrorKind::Configuration, text)
        })?;
        // Files are downloaded one by one, so that HTTP/2 only adds flow control.
        let client = clients::build_with(provider, ClientBuilder::http1_only)?;
        Ok(Self { provider, base, token, idle, client })
    }

    /// Returns scheme, host and port of the server.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Requests the headers of the file at a path.
    ///
    /// Redirects within the server are followed up to one that has the header `until`; a redirect to another server
    /// is returned as the answer.
    pub(crate) async fn head(&self, path: &[&str], until: &str) -> Result<FileResponse, ProviderError> {
        let mut url = self.url(path);
        for _ in 0..REDIRECTS {
            let answer = self.send(Method::HEAD, &url, 0).await?;
            match answer.target(&url)? {
                Some(target) if self.is_own(&target) && answer.header(until).is_none() => url = target,
                _ => return Ok(answer),
            }
        }
        Err(self.redirect_loop())
    }

    /// Sends the same request to the target of the redirect `answer`, on any server; returns `answer` if it is not a redirect.
    pub(crate) async fn follow(&self, mut answer: FileResponse) -> Result<FileResponse, ProviderError> {
        for _ in 0..REDIRECTS {
            match answer.target(answer.response.url())? {
                Some(target) => answer = self.send(Method::HEAD, &target, 0).await?,
                None => return Ok(answer),
            }
        }
        Err(self.redirect_loop())
    }

    /// Requests the content at a path, from the byte `from` on; redirects to any server are followed.
    pub(crate) async fn get(&self, path: &[&str], from: u64) -> Result<FileResponse, ProviderError> {
        let mut url = self.url(path);
        for _ in 0..REDIRECTS {
            let answer = self.send(Method::GET, &url, from).await?;
            match answer.target(&url)? {
                Some(target) => url = target,
                None => return Ok(answer),
            }
        }
        Err(self.redirect_loop())
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // A URL with this scheme always has a path.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    async fn send(&self, method: Method, url: &Url, from: u64) -> Result<FileResponse, ProviderError> {
        permitted(self.provider, url)?;
        let mut request = Request::new(method, url.clone());
        let headers = request.headers_mut();
        // Lengths and ranges match the file only without compression.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if from > 0 {
            headers.extend(HeaderValue::from_str(&format!("bytes={from}-")).ok().map(|value| (RANGE, value)));
        }
        if self.is_own(url)
            && let Some(token) = &self.token
        {
            // An `ApiKey` is a valid header value, so this is never `None`.
            if let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", token.expose())) {
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
        }
        let origin = url.origin().ascii_serialization();
        match timeout(self.idle, self.client.execute(request)).await {
            Ok(Ok(response)) => Ok(FileResponse { provider: self.provider, origin, idle: self.idle, response }),
            Ok(Err(error)) => Err(fault::connection_failed(self.provider, &origin, "the address of the hub", error)),
            Err(_) => Err(fault::late(self.provider, &origin, self.idle, "idle timeout", None)),
        }
    }

    fn redirect_loop(&self) -> ProviderError {
        let text = format!("{} redirects in a loop; check the address of the hub", self.origin());
        ProviderError::new(self.provider, ErrorKind::Protocol, text)
    }
}

/// The response of a file server, of any status.
#[derive(Debug)]
pub(crate) struct FileResponse {
    provider: &'static str,
    origin: String,
    idle: Duration,
    response: Response,
}

impl FileResponse {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the header `name`, if it is present and text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Waits for the next chunk of the content; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let status = self.status();
        match timeout(self.idle, self.response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| fault::broken(self.provider, &self.origin, status, error)),
            Err(_) => Err(fault::late(self.provider, &self.origin, self.idle, "idle timeout", Some(status))),
        }
    }

    /// Returns an error of the kind `kind` with the status, request ID and retry delay of this answer.
    pub(crate) fn refusal(&self, kind: ErrorKind, text: String) -> ProviderError {
        let error = ProviderError::new(self.provider, kind, text).with_status(self.status());
        ErrorHeaders::read(self.response.headers()).add_to(error)
    }

    /// Returns the target of the answer, if it is a redirect.
    fn target(&self, from: &Url) -> Result<Option<Url>, ProviderError> {
        if !self.response.status().is_redirection() {
            return Ok(None);
        }
        let location = self.response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let target = location.and_then(|location| from.join(location).ok());
        let is_sound = |url: &Url| url.scheme() == "https" || (url.scheme() == "http" && from.scheme() == "http");
        target.filter(is_sound).map(Some).ok_or_else(|| {
            let text = format!("{} redirects to an invalid or insecure URL; check the address of the hub", self.origin);
            self.refusal(ErrorKind::Protocol, text)
        })
    }
}
