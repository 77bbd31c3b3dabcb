//! Files from a server that sends them, or says who does.
//!
//! Redirects are followed here, and not by the client, for two reasons: the token is for the configured server and
//! nobody else, and what that server says beside a redirect is not said by whoever it leads to.

use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, LOCATION, RANGE};
use reqwest::{Client, ClientBuilder, Method, Request, Response, Url};
use tokio::time::timeout;

use super::response_meta::RefusalHeaders;
use super::{clients, fault, permitted};
use crate::error::{ErrorKind, ProviderError};
use crate::secret::ApiKey;

/// How many redirects one request may meet.
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
    /// Returns the server at `base`, which alone is shown the token; `idle` is how long each piece may take.
    ///
    /// It has connections of its own, since those of a shared client belong to the runtime that opened them.
    ///
    /// # Errors
    ///
    /// Returns an error of kind `Configuration` if `base` is no URL, or if there is no TLS on this machine.
    pub(crate) fn new(
        provider: &'static str,
        base: &str,
        token: Option<ApiKey>,
        idle: Duration,
    ) -> Result<Self, ProviderError> {
        let base = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
            let text = "the address of the hub is not one; write it like `https://huggingface.co`";
            ProviderError::new(provider, ErrorKind::Configuration, text)
        })?;
        // One file at a time shares no connection, and the windows of HTTP/2 would slow it.
        let client = clients::made(provider, ClientBuilder::http1_only)?;
        Ok(Self { provider, base, token, idle, client })
    }

    /// Returns scheme, host and port of the server.
    pub(crate) fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Asks what there is at a path, without its content.
    ///
    /// Redirects within the server are followed up to one that has the header `until`; what it says of another server's
    /// file is the answer.
    pub(crate) async fn head(&self, path: &[&str], until: &str) -> Result<Answer, ProviderError> {
        let mut url = self.url(path);
        for _ in 0..REDIRECTS {
            let answer = self.send(Method::HEAD, &url, 0).await?;
            match answer.target(&url)? {
                Some(target) if self.is_own(&target) && answer.header(until).is_none() => url = target,
                _ => return Ok(answer),
            }
        }
        Err(self.circle())
    }

    /// Asks whoever `answer` redirects to the same, wherever that leads; returns `answer` if it is no redirect.
    pub(crate) async fn follow(&self, mut answer: Answer) -> Result<Answer, ProviderError> {
        for _ in 0..REDIRECTS {
            match answer.target(answer.response.url())? {
                Some(target) => answer = self.send(Method::HEAD, &target, 0).await?,
                None => return Ok(answer),
            }
        }
        Err(self.circle())
    }

    /// Asks for the content at a path, from the byte `from` on; redirects are followed wherever they lead.
    pub(crate) async fn get(&self, path: &[&str], from: u64) -> Result<Answer, ProviderError> {
        let mut url = self.url(path);
        for _ in 0..REDIRECTS {
            let answer = self.send(Method::GET, &url, from).await?;
            match answer.target(&url)? {
                Some(target) => url = target,
                None => return Ok(answer),
            }
        }
        Err(self.circle())
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // A URL of this scheme always has a path to add to.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    async fn send(&self, method: Method, url: &Url, from: u64) -> Result<Answer, ProviderError> {
        permitted(self.provider, url)?;
        let mut request = Request::new(method, url.clone());
        let headers = request.headers_mut();
        // A length and a range are those of the file only if nothing is compressed on the way.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if from > 0 {
            headers.extend(HeaderValue::from_str(&format!("bytes={from}-")).ok().map(|value| (RANGE, value)));
        }
        if let Some(token) = self.token.as_ref().filter(|_| self.is_own(url)) {
            // An `ApiKey` holds only what a header can carry, so that there always is a value.
            if let Ok(mut value) = HeaderValue::from_str(&format!("Bearer {}", token.expose())) {
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
        }
        let origin = url.origin().ascii_serialization();
        match timeout(self.idle, self.client.execute(request)).await {
            Ok(Ok(response)) => Ok(Answer { provider: self.provider, origin, idle: self.idle, response }),
            Ok(Err(error)) => Err(fault::unreached(self.provider, &origin, "the address of the hub", error)),
            Err(_) => Err(fault::late(self.provider, &origin, self.idle, "idle timeout", None)),
        }
    }

    fn circle(&self) -> ProviderError {
        let text = format!("{} redirects in a loop; check the address of the hub", self.origin());
        ProviderError::new(self.provider, ErrorKind::Protocol, text)
    }
}

/// What a server of files answers, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    provider: &'static str,
    origin: String,
    idle: Duration,
    response: Response,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the header `name`, if there is one and it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Waits for the next piece of the content; `None` once it has ended in order.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ProviderError> {
        let status = self.status();
        match timeout(self.idle, self.response.chunk()).await {
            Ok(chunk) => chunk.map_err(|error| fault::broken(self.provider, &self.origin, status, error)),
            Err(_) => Err(fault::late(self.provider, &self.origin, self.idle, "idle timeout", Some(status))),
        }
    }

    /// Returns the error of that kind with what this answer says: its status, when to try again, what it is called.
    pub(crate) fn refusal(&self, kind: ErrorKind, text: String) -> ProviderError {
        let error = ProviderError::new(self.provider, kind, text).with_status(self.status());
        RefusalHeaders::read(self.response.headers()).add_to(error)
    }

    /// Returns where the answer leads, if it is a redirect.
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
