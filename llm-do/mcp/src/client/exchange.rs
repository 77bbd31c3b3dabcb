//! Requests to a server at a URL. An answer is matched to its request by the connection, so an error with another id
//! belongs to it too.

mod events;
mod site;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures_util::stream::{BoxStream, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use rmcp_sse::Sse;
use serde_json::Value;

use self::events::Events;
use super::message::{self, Asked, failed};
use super::text;

/// The accepted media types of answers.
const ACCEPTED: &str = "application/json, text/event-stream";
const EVENTS: &str = "text/event-stream";
const SESSION: &str = "mcp-session-id";
/// Marks the result of another request.
const OTHER: &str = "llm-do/other";

type Failure = StreamableHttpError<reqwest::Error>;
type Posted = Result<StreamableHttpPostResponse, Failure>;
type Stream = BoxStream<'static, Result<Sse, SseError>>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// The client of a server at a URL.
#[derive(Clone, Debug)]
pub(super) struct Exchange(reqwest::Client);

/// The request that an answer is for.
#[derive(Clone, Debug)]
struct Pending {
    id: RequestId,
    asked: Asked,
    has_session: bool,
}

impl Pending {
    fn from_message(message: &ClientJsonRpcMessage, has_session: bool) -> Option<Self> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        Some(Self { id: request.id.clone(), asked: Asked::from_request(&request.request), has_session })
    }

    fn id(&self) -> Value {
        match &self.id {
            RequestId::Number(number) => (*number).into(),
            RequestId::String(text) => text.as_ref().into(),
        }
    }

    fn is(&self, id: &Value) -> bool {
        let text = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        text == self.id.to_string()
    }

    /// Parses messages. An error belongs to this request; a result with another id becomes an error of this request.
    fn read(&self, bytes: &[u8]) -> Vec<Value> {
        let asked = |id: &Value| if self.is(id) { self.asked } else { Asked::Other };
        message::read(bytes, asked).into_iter().map(|message| self.matched(message)).collect()
    }

    fn matched(&self, mut message: Value) -> Value {
        if message.get("method").is_some() || self.is(&message["id"]) {
            return message;
        }
        if message.get("error").is_some() {
            message["id"] = self.id();
            return message;
        }
        let found = text::excerpt(&message["id"].to_string());
        let mut failed = self.failed(&format!("an answer to the request `{found}` in place of `{}`", self.id));
        failed["error"]["data"] = OTHER.into();
        failed
    }

    fn failed(&self, reason: &str) -> Value {
        failed(Some(self.id()), reason)
    }
}

/// Returns whether a message was the result of another request.
fn is_of_other(message: &Value) -> bool {
    message["error"]["data"] == OTHER
}

/// Returns whether a message ends the wait for an answer.
fn is_answer(message: &Value) -> bool {
    message.get("method").is_none()
}

impl StreamableHttpClient for Exchange {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Posted {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, token, headers, limits).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Posted {
        let headers: HeaderMap = headers.into_iter().collect();
        let mut request = self.0.post(uri.as_ref()).headers(headers).header(header::ACCEPT, ACCEPTED);
        request = request.header(header::CONTENT_TYPE, "application/json").body(serde_json::to_vec(&message)?);
        if let Some(session) = &session {
            request = request.header(SESSION, session.as_ref());
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.send().await.map_err(Failure::Client)?;
        if let Some(error) = authorization(&response) {
            return Err(error);
        }
        match Pending::from_message(&message, session.is_some()) {
            Some(pending) => answered(response, &pending, limits).await,
            None if response.status() == StatusCode::NOT_FOUND && session.is_some() => Err(Failure::SessionExpired),
            // No request waits for it; if the server is broken, the next request fails.
            None => Ok(StreamableHttpPostResponse::Accepted),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Stream, Failure> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Stream, Failure> {
        let stream = self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await?;
        Ok(Events::new(stream, None).boxed())
    }
}

/// Returns the error of a server that requires authorization, with its challenge.
fn authorization(response: &Response) -> Option<Failure> {
    let challenge = response.headers().get(header::WWW_AUTHENTICATE)?.to_str().ok()?;
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(Failure::AuthRequired(AuthRequiredError::new(challenge.to_owned()))),
        StatusCode::FORBIDDEN => {
            let error = InsufficientScopeError::new(challenge.to_owned(), scope(challenge));
            Some(Failure::InsufficientScope(error))
        }
        _ => None,
    }
}

/// Returns the scope in a challenge.
fn scope(challenge: &str) -> Option<String> {
    let start = challenge.to_ascii_lowercase().find("scope=")? + "scope=".len();
    let scope = &challenge[start..];
    let scope = match scope.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => scope.split([',', ';', ' ']).next()?,
    };
    (!scope.is_empty()).then(|| scope.to_owned())
}

/// Reads the answer to a request.
async fn answered(response: Response, pending: &Pending, limits: StreamableHttpResponseLimits) -> Posted {
    let status = response.status();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let session = header(SESSION);
    let kind = header("content-type").unwrap_or_default();
    let is_stream = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(EVENTS));
    if status.is_success() && is_stream {
        let stream = events::of_body(response, limits.max_sse_event_size);
        return Ok(StreamableHttpPostResponse::Sse(Events::new(stream, Some(pending.clone())).boxed(), session));
    }
    if status.is_redirection() {
        let target = header("location").map(|url| super::http::without_secrets(&url)).unwrap_or_default();
        return refused(status, &format!("a redirect to {target}, which is not followed"), pending);
    }
    if status == StatusCode::ACCEPTED && pending.has_session {
        // The answer may arrive on the stream of the session.
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status.is_success() {
        let body = body(response, limits.max_json_response_size, false).await?;
        return found(status, &kind, &body, session, pending);
    }
    let body = body(response, limits.max_error_response_size, true).await?;
    let message = pending.read(&body).into_iter().find(is_answer).filter(|message| message.get("error").is_some());
    let shown = text::excerpt(&String::from_utf8_lossy(&body));
    let is_unknown_method = message.as_ref().is_some_and(|message| message["error"]["code"] == -32601);
    if pending.has_session && is_forgotten(status, &shown, is_unknown_method) {
        return Err(Failure::SessionExpired);
    }
    let is_unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    match message.as_ref().filter(|_| !is_unauthorized).and_then(message::typed) {
        Some(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
        None => refused(status, &shown, pending),
    }
}

/// Returns whether a refusal means that the server no longer knows the session.
fn is_forgotten(status: StatusCode, body: &str, is_unknown_method: bool) -> bool {
    let names_session = body.to_ascii_lowercase().contains("session");
    match status {
        StatusCode::NOT_FOUND => names_session || !is_unknown_method,
        StatusCode::BAD_REQUEST | StatusCode::GONE | StatusCode::SERVICE_UNAVAILABLE => names_session,
        _ => false,
    }
}

/// Returns the error of a request that was refused. An old server may refuse a discovery with any status; the handshake
/// is tried then.
fn refused(status: StatusCode, words: &str, pending: &Pending) -> Posted {
    let reason = if words.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {words}") };
    let is_unauthorized = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if pending.asked == Asked::Discover
        && !is_unauthorized
        && let Some(message) = message::typed(&pending.failed(&reason))
    {
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    Err(Failure::UnexpectedServerResponse(Cow::Owned(reason)))
}

/// Returns the answer in the body of a response of any type.
fn found(status: StatusCode, kind: &str, body: &[u8], session: Option<String>, pending: &Pending) -> Posted {
    let answers: Vec<_> = pending.read(body).into_iter().filter(is_answer).collect();
    let own = answers.iter().find(|message| message.get("result").is_some()).or(answers.first());
    if let Some(message) = own.and_then(message::typed) {
        return Ok(StreamableHttpPostResponse::Json(message, session));
    }
    let shown = text::excerpt(&String::from_utf8_lossy(body));
    let found = if shown.is_empty() {
        "an empty body".to_owned()
    } else {
        format!("a body of the type `{}`: {shown}", text::excerpt(kind))
    };
    Err(Failure::UnexpectedServerResponse(Cow::Owned(format!("HTTP {status} with {found}"))))
}

/// Reads at most `most` bytes of a body; a longer body is cut, or an error.
async fn body(mut response: Response, most: usize, cuts: bool) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Failure::Client)? {
        let room = most - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        match (chunk.len() > room, cuts) {
            (true, true) => break,
            (true, false) => return Err(Failure::ResponseBodyTooLarge { max_size: most }),
            (false, _) => {}
        }
    }
    Ok(body)
}
