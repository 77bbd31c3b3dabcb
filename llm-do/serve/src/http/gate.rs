//! The checks of a request before its handler: host, origin, token, rate.

use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultKeyedRateLimiter, Quota};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use llm_do_listen::ClientConnection;

use super::problem::Problem;
use crate::access::{Identity, identify};
use crate::engine::Shared;
use crate::metrics::StatusLabel;

/// Hosts under which this machine reaches itself.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The headers of all answers: browsers must not cache them, frame them, or guess another type.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    // A model's text may contain links, whose hosts a browser would resolve before the user follows one.
    (header::X_DNS_PREFETCH_CONTROL, HeaderValue::from_static("off")),
];

/// The checks of requests.
pub(super) struct Gate {
    shared: Arc<Shared>,
    rates: DefaultKeyedRateLimiter<Sender>,
}

/// The senders whose requests share a rate limit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Sender {
    Client(Arc<str>),
    /// All requests without a valid token.
    Unknown,
    /// All senders of webhooks, whose signatures are checked later.
    Webhook,
}

impl Gate {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let rate = NonZeroU32::new(shared.options.requests_per_second).unwrap_or(NonZeroU32::MIN);
        // A page loads several resources together.
        let burst = rate.saturating_mul(NonZeroU32::MIN.saturating_add(1));
        Self { shared, rates: DefaultKeyedRateLimiter::keyed(Quota::per_second(rate).allow_burst(burst)) }
    }

    /// Refuses requests with other host names, since a web page could reach the service under its own name (DNS
    /// rebinding). Refuses requests of pages of other origins, which would act with the access of the browser.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let missing = || Problem::new(StatusCode::BAD_REQUEST, "missing_host", "the header `host` is missing");
        let host = text(header::HOST).ok_or_else(missing)?.to_ascii_lowercase();
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(&*host, |(name, _)| name);
        let hosts = &self.shared.options.hosts;
        let is_known = hosts.iter().any(|known| known.eq_ignore_ascii_case(&host) || known.eq_ignore_ascii_case(name))
            || LOOPBACK_HOSTS.contains(&name);
        if !is_known {
            return Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "unknown_host",
                format!(
                    "unknown host `{host}`: the operator can accept it with `--host`, or in `hosts` of the service file"
                ),
            ));
        }
        let is_same =
            |origin: &str| origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(&host));
        match text(header::ORIGIN) {
            Some(origin) if !is_same(origin) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "foreign_origin",
                format!("the origin `{origin}` is not the service's own: requests from other web pages are refused"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the identity of the sender.
    fn identify(&self, headers: &HeaderMap) -> Option<Identity> {
        let clients = &self.shared.options.clients;
        if clients.is_empty() {
            return Some(Identity::local());
        }
        let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, token) = value.split_once(' ')?;
        identify(clients, token.trim()).filter(|_| scheme.eq_ignore_ascii_case("bearer"))
    }

    fn check_rate(&self, sender: &Sender) -> Result<(), Problem> {
        self.rates.check_key(sender).map_err(|_| {
            let rate = self.shared.options.requests_per_second;
            let text = format!(
                "limit reached: {rate} requests per second, and twice as many in a burst; retry after a second"
            );
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", text)
        })
    }
}

/// Lets a request pass if its host and origin are right; counts it.
pub(super) async fn guard(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = match gate.check_origin(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let status = StatusLabel { status: response.status().as_u16() };
    gate.shared.metrics.requests.get_or_create(&status).inc();
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// Lets a request pass if its token is valid, and hands the client to the handler.
pub(super) async fn authenticate(
    State(gate): State<Arc<Gate>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let client = gate.identify(request.headers());
    let sender = client.as_ref().map_or(Sender::Unknown, |client| Sender::Client(Arc::clone(&client.name)));
    gate.check_rate(&sender)?;
    let client = client.ok_or_else(Problem::unauthenticated)?;
    ClientConnection::allow(request.extensions());
    request.extensions_mut().insert(client);
    Ok(next.run(request).await)
}

/// Limits the rate of webhooks, since each is read and its signature computed before its sender is known.
pub(super) async fn limit_webhooks(
    State(gate): State<Arc<Gate>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    gate.check_rate(&Sender::Webhook)?;
    Ok(next.run(request).await)
}
