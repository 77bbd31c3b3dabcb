//! HTTP for the providers: connections, timeouts, size limits; the only module that names `reqwest`.

mod batch;
mod call;
mod client_config;
mod clients;
#[cfg(feature = "local-download")]
mod download;
mod error_response;
mod events;
mod fault;
mod response_body;
mod response_meta;
mod secrets;
mod tail;

use std::fmt;
#[cfg(feature = "testing")]
use std::net::IpAddr;
use std::sync::Arc;
#[cfg(feature = "testing")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, Url};
#[cfg(feature = "openai")]
use serde_json::Value;
use tokio::time::timeout;

pub(crate) use self::batch::may_have_arrived;
pub(crate) use self::call::PreparedRequest;
pub(crate) use self::client_config::{ClientConfig, ServerDefaults, Timeouts, config_setters};
pub use self::clients::set_user_agent;
#[cfg(feature = "local-download")]
pub(crate) use self::download::{FileResponse, FileServer};
#[cfg(fuzzing)]
pub(crate) use self::error_response::refused;
pub(crate) use self::error_response::{answered_error, error_of, flat_error, has_content, names_error, reported};
pub(crate) use self::events::{Event, Events};
use self::response_body::{ResponseBody, StreamLimits};
use self::response_meta::{ErrorHeaders, ResponseMeta};
use crate::error::{ErrorKind, ProviderError};
use crate::secret::ApiKey;

/// The connect timeout.
const CONNECT: Duration = Duration::from_secs(10);
/// The maximum time to read the body of a refusal, for its error code.
const REFUSAL: Duration = Duration::from_secs(5);
/// The maximum size of a refusal that is read for its error code, in bytes.
const REFUSAL_SIZE: usize = 64 << 10;
/// The maximum time of a question about the server itself.
#[cfg(feature = "openai")]
const ABOUT: Duration = Duration::from_secs(10);
/// The maximum size of an unstreamed answer, and of JSON in place of a stream, in bytes.
const WHOLE_SIZE: usize = 16 << 20;
/// The capacity for the headers of a request: enough for those that the client adds, so that no copy grows.
const HEADERS: usize = 8;

/// Whether only requests to this machine are allowed.
#[cfg(feature = "testing")]
static FORBIDDEN: AtomicBool = AtomicBool::new(false);

/// Blocks requests to other machines.
#[cfg(feature = "testing")]
pub(crate) fn forbid() {
    FORBIDDEN.store(true, Ordering::Relaxed);
}

/// Returns an error for a request to another machine, if requests are forbidden.
#[cfg_attr(
    not(feature = "testing"),
    allow(clippy::unnecessary_wraps, unused_variables, reason = "nothing forbids them")
)]
fn permitted(provider: &str, url: &Url) -> Result<(), ProviderError> {
    #[cfg(feature = "testing")]
    if FORBIDDEN.load(Ordering::Relaxed) && !is_here(url) {
        let text = format!("`forbid_requests` blocked a request to {}; use a test model", origin(url));
        return Err(ProviderError::new(provider, ErrorKind::Configuration, text));
    }
    Ok(())
}

/// Whether a URL is on this machine.
#[cfg(feature = "testing")]
fn is_here(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// A URL that takes requests as JSON, with the headers and timeouts for it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// The name of the provider, for errors.
    pub(crate) provider: &'static str,
    /// The name of its protocol, for errors.
    pub(crate) protocol: &'static str,
    pub(crate) timeouts: Timeouts,
    /// Where the key is set, for errors.
    pub(crate) key_hint: String,
    url: Url,
    /// Scheme, host and port of the URL, for errors.
    origin: Arc<str>,
    /// The headers of each request.
    headers: HeaderMap,
    /// Secrets that are redacted from errors, besides those in the headers.
    secrets: Vec<String>,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct WholeResponse {
    pub(crate) head: ResponseMeta,
    pub(crate) body: Vec<u8>,
}

impl fmt::Debug for Endpoint {
    /// Omits everything that may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provider, protocol, timeouts, .. } = self;
        let mut shown = f.debug_struct("Endpoint");
        shown.field("provider", provider).field("protocol", protocol).field("origin", &self.origin);
        shown.field("timeouts", timeouts).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Returns the endpoint at `path` below `base`, without a key, and with long timeouts.
    pub(crate) fn new(
        provider: &'static str,
        protocol: &'static str,
        base: &str,
        path: &str,
    ) -> Result<Self, ProviderError> {
        let whole = format!("{}{path}", base.trim_end_matches('/'));
        let url = Url::parse(&whole).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or_else(|| {
            let text = "invalid base URL: expected an `http` or `https` URL such as `http://127.0.0.1:8080/v1`";
            ProviderError::new(provider, ErrorKind::Configuration, text)
        })?;
        let mut headers = HeaderMap::with_capacity(HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let timeouts = Timeouts::default();
        let (key_hint, origin) = ("the key".to_owned(), origin(&url).into());
        let secrets = secrets::in_url(&url);
        Ok(Self { provider, protocol, timeouts, key_hint, url, origin, headers, secrets })
    }

    /// Returns the endpoint for `call`, which also redacts the headers of the call from errors.
    pub(crate) fn for_call(self: &Arc<Self>, call: &PreparedRequest) -> Arc<Self> {
        if call.headers.is_empty() {
            return Arc::clone(self);
        }
        let mut endpoint = Self::clone(self);
        endpoint.secrets.extend(secrets::in_headers(&call.headers).map(str::to_owned));
        Arc::new(endpoint)
    }

    /// Adds `key` to each request, as a bearer token.
    #[cfg_attr(not(feature = "openai"), allow(dead_code, reason = "each provider has its headers"))]
    pub(crate) fn authorize(&mut self, key: &ApiKey) {
        self.add_secret(AUTHORIZATION, &format!("Bearer {}", key.expose()));
    }

    /// Adds `key` to each request, in the header `name`.
    #[cfg_attr(
        not(any(feature = "anthropic", feature = "gemini")),
        allow(dead_code, reason = "each provider has its headers")
    )]
    pub(crate) fn key_header(&mut self, name: &'static str, key: &ApiKey) {
        self.add_secret(HeaderName::from_static(name), key.expose());
    }

    /// Adds the header `name`, which holds no secret, to each request.
    ///
    /// # Errors
    ///
    /// Returns an error that names the header if its value cannot be sent.
    #[cfg_attr(not(feature = "anthropic"), allow(dead_code, reason = "each provider has its headers"))]
    pub(crate) fn header(&mut self, name: &'static str, value: &str) -> Result<(), ProviderError> {
        let value = HeaderValue::from_str(value).map_err(|_| {
            let text = format!(
                "the header `{name}` cannot be sent; its value has characters that HTTP headers cannot contain"
            );
            ProviderError::new(self.provider, ErrorKind::Configuration, text)
        })?;
        self.headers.insert(HeaderName::from_static(name), value);
        Ok(())
    }

    /// Adds a header that holds a secret to each request.
    fn add_secret(&mut self, name: HeaderName, value: &str) {
        // An `ApiKey` has only characters that a header can contain, so this never fails.
        if let Ok(mut value) = HeaderValue::from_str(value) {
            value.set_sensitive(true);
            self.headers.insert(name, value);
        }
    }

    /// Whether requests go to the host `host`.
    pub(crate) fn is_at(&self, host: &str) -> bool {
        self.url.host_str() == Some(host)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn fetch(&self, call: &PreparedRequest) -> Result<WholeResponse, ProviderError> {
        let mut head = ResponseMeta::default();
        let exchange = async {
            let mut answer = self.post(call).await?;
            head = ResponseMeta::from_response(&answer);
            self.read(&mut answer, WHOLE_SIZE).await
        };
        let limit = call.timeout.unwrap_or(self.timeouts.whole);
        let body = timeout(limit, exchange).await.unwrap_or_else(|_| Err(self.late(limit, "timeout")));
        match body {
            Ok(body) => Ok(WholeResponse { head, body }),
            Err(error) => Err(head.add_to(error)),
        }
    }

    /// Sends a request and returns the server-sent events of the answer.
    pub(crate) async fn open(&self, call: &PreparedRequest) -> Result<Events, ProviderError> {
        let idle = call.timeout.unwrap_or(self.timeouts.idle);
        let limits = StreamLimits::begin(idle, self.timeouts.stream.max(idle));
        let answer = timeout(idle, self.post(call)).await;
        let answer = answer.unwrap_or_else(|_| Err(self.late(idle, "idle timeout")))?;
        let head = ResponseMeta::from_response(&answer);
        let arriving = ResponseBody::new(self.provider, Arc::clone(&self.origin), limits, answer);
        Ok(Events::new(self.provider, Box::pin(arriving)).after(head))
    }

    async fn post(&self, call: &PreparedRequest) -> Result<Response, ProviderError> {
        self.send(Method::POST, call).await
    }

    /// Sends a request; an answer of another status than success is an error.
    async fn send(&self, method: Method, call: &PreparedRequest) -> Result<Response, ProviderError> {
        permitted(self.provider, &self.url)?;
        let failed = |error| self.connection_failed(error);
        let client = clients::client(self.provider)?;
        let request = client.request(method, self.url.clone()).body(call.body.clone());
        let mut request = request.build().map_err(failed)?;
        // Later headers replace earlier ones: first basic authentication from the URL, then the endpoint's headers,
        // then the request's.
        replace_headers(request.headers_mut(), &self.headers);
        replace_headers(request.headers_mut(), &call.headers);
        let answer = client.execute(request).await.map_err(failed)?;
        if answer.status().is_success() { Ok(answer) } else { Err(self.refused(answer, &call.body).await) }
    }

    /// Returns the path of the URL up to `end`.
    pub(crate) fn path_before(&self, end: &str) -> &str {
        self.url.path().strip_suffix(end).unwrap_or_default()
    }

    /// Returns the JSON that the server has at another path.
    #[cfg(feature = "openai")]
    pub(crate) async fn get_json(&self, path: &str) -> Result<Value, ProviderError> {
        let body = timeout(ABOUT, self.get(path)).await.unwrap_or_else(|_| Err(self.late(ABOUT, "timeout")))?;
        serde_json::from_slice(&body).map_err(|_| {
            let text = format!("the answer at `{path}` is not JSON; check the base URL");
            ProviderError::new(self.provider, ErrorKind::Protocol, text)
        })
    }

    #[cfg(feature = "openai")]
    async fn get(&self, path: &str) -> Result<Vec<u8>, ProviderError> {
        permitted(self.provider, &self.url)?;
        let failed = |error| self.connection_failed(error);
        let mut url = self.url.clone();
        url.set_path(path);
        let client = clients::client(self.provider)?;
        let mut request = client.get(url).build().map_err(failed)?;
        replace_headers(request.headers_mut(), &self.headers);
        let mut answer = client.execute(request).await.map_err(failed)?;
        if !answer.status().is_success() {
            return Err(self.refused(answer, &[]).await);
        }
        self.read(&mut answer, WHOLE_SIZE).await
    }

    async fn read(&self, answer: &mut Response, limit: usize) -> Result<Vec<u8>, ProviderError> {
        let status = answer.status().as_u16();
        let mut body = Vec::with_capacity(content_length(answer).min(limit));
        while let Some(chunk) =
            answer.chunk().await.map_err(|error| fault::broken(self.provider, &self.origin, status, error))?
        {
            if body.len() + chunk.len() > limit {
                return Err(fault::too_large(self.provider, status, limit));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Adds to an error the server's own text, without keys and other secrets; it is shown only to a user who asks for it.
    pub(crate) fn with_text(&self, error: ProviderError, text: &str) -> ProviderError {
        let secrets = self.secrets.iter().map(String::as_str).chain(secrets::in_headers(&self.headers));
        error.with_provider_text(error_response::redacted(&error_response::text_of(text), secrets))
    }

    async fn refused(&self, mut answer: Response, sent: &[u8]) -> ProviderError {
        let status = answer.status().as_u16();
        let headers = ErrorHeaders::read(answer.headers());
        let body = timeout(REFUSAL, self.read(&mut answer, REFUSAL_SIZE)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let error = error_response::refused(self.provider, &self.key_hint, status, &body, sent);
        headers.add_to(self.with_text(error, &String::from_utf8_lossy(&body)))
    }

    fn late(&self, limit: Duration, name: &str) -> ProviderError {
        fault::late(self.provider, &self.origin, limit, name, None)
    }

    fn connection_failed(&self, error: reqwest::Error) -> ProviderError {
        fault::connection_failed(self.provider, &self.origin, "the base URL", error)
    }
}

/// Returns scheme, host and port, the parts of a URL that hold no secret.
fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Adds headers; each replaces those of its name.
fn replace_headers(headers: &mut HeaderMap, by: &HeaderMap) {
    if headers.is_empty() {
        headers.clone_from(by);
    } else if !by.is_empty() {
        headers.extend(by.clone());
    }
}

/// Returns the length of the answer that the server announces, in bytes; 0 if it announces none.
fn content_length(answer: &Response) -> usize {
    answer.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or_default()
}
