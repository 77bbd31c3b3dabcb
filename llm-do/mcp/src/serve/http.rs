//! Serves clients over HTTP, with authentication and checks of host and origin.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use llm_do_listen::{ClientConnection, ConnectionLimits};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::client::Principal;
use super::handler::Handler;
use super::session_id::{SessionIds, has_session, unknown_session};
use super::sessions::{Sessions, handled};
use super::{McpService, ServeError, metadata};

/// The path of the server in [`McpService::serve_http`].
pub(super) const PATH: &str = "/mcp";

/// The origins of web pages that this machine serves.
const LOOPBACK_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// Returns the owner of a bearer token, if the token is valid; the inner `None` is an owner without a name.
type CheckToken = dyn Fn(&str) -> Option<Option<String>> + Send + Sync;

/// The options of a service over HTTP: authentication, hosts, origins and limits.
///
/// By default, a request needs no token, and only programs on this machine can connect.
#[derive(Clone, Default)]
#[must_use]
pub struct HttpOptions {
    check: Option<Arc<CheckToken>>,
    pub(super) authorization_servers: Vec<String>,
    pub(super) public_url: Option<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
    max_body_bytes: Option<usize>,
    is_open: bool,
    connections: ConnectionLimits,
    cancellation: CancellationToken,
}

impl HttpOptions {
    /// Requires this bearer token. Default: none.
    pub fn token(self, token: impl Into<String>) -> Self {
        let token = token.into();
        self.check_token(move |given| bool::from(given.as_bytes().ct_eq(token.as_bytes())))
    }

    /// Requires a bearer token that this function accepts. Default: none.
    ///
    /// A session, a call that waits for its client, and a task belong to the client with the same token. If tokens are
    /// refreshed, set [`authenticate`](Self::authenticate) instead.
    pub fn check_token(mut self, check: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(move |token| check(token).then_some(None)));
        self
    }

    /// Requires a bearer token for which this function returns the name of its owner, such as the subject of a token of an
    /// OAuth server. Default: none.
    ///
    /// A session, a call that waits for its client, and a task belong to the client with the same name, also after its
    /// token has changed.
    pub fn authenticate(mut self, owner: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(move |token| owner(token).map(Some)));
        self
    }

    /// Names an OAuth server that issues tokens; clients find it in the metadata of the service (RFC 9728). Default:
    /// none.
    pub fn authorization_server(mut self, url: impl Into<String>) -> Self {
        self.authorization_servers.push(url.into());
        self
    }

    /// Sets the URL under which clients reach the service, such as `https://example.com/mcp`. Default: `http`, with the host
    /// and the path of each request.
    ///
    /// The metadata contains it. Clients refuse metadata of another URL, so set it behind TLS or if a router changes
    /// paths.
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into());
        self
    }

    /// Accepts requests to this host, `name` or `name:port`. Default: `localhost`, `127.0.0.1` and `::1`.
    ///
    /// Other hosts are refused, so that a web page cannot reach the service under a name of its own domain (DNS
    /// rebinding).
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts requests from web pages of this origin, `https://name:port`. Default: pages that this machine serves
    /// over HTTP.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the maximum size of a request, in bytes. Default: 4 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body_bytes = Some(bytes);
        self
    }

    /// Allows [`McpService::serve_http`] to listen on addresses that other machines can reach without a token. Default:
    /// false.
    pub fn allow_unauthenticated(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Sets the maximum number of concurrent connections of [`McpService::serve_http`]. Default: 1024.
    ///
    /// An eighth of them is reserved for clients that made a permitted request in the last ten minutes. At the maximum,
    /// a new connection closes the oldest connection that has not sent a complete request.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.connections.total = connections.max(1);
        self
    }

    /// Sets the maximum number of concurrent connections of one IPv4 address, or of one `/64` network of IPv6. Default:
    /// 256.
    ///
    /// The addresses of this machine are not limited. Behind a proxy on another machine, all clients have the proxy's
    /// address: set [`max_connections`](Self::max_connections) here too, and limit the clients in the proxy.
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.connections.per_address = connections.max(1);
        self
    }

    /// Stops the service once `token` is cancelled. Default: never.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    fn config(&self) -> StreamableHttpServerConfig {
        let mut config = StreamableHttpServerConfig::default();
        config.cancellation_token = self.cancellation.clone();
        if !self.hosts.is_empty() {
            config.allowed_hosts.clone_from(&self.hosts);
        }
        let origins = LOOPBACK_ORIGINS.into_iter().map(str::to_owned).chain(self.origins.iter().cloned());
        config = config.with_allowed_origins(origins);
        if let Some(bytes) = self.max_body_bytes {
            config.max_request_body_bytes = bytes;
        }
        config
    }

    /// Checks that the service may listen on an address.
    fn check_address(&self, address: SocketAddr) -> Result<(), ServeError> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        if self.check.is_none() && !self.is_open {
            return Err(ServeError::new(format!(
                "{address} is reachable from other machines: set a token (`--token-file`), or allow requests \
                 without one (`--unauthenticated`)"
            )));
        }
        if self.hosts.is_empty() {
            return Err(ServeError::new(format!(
                "{address} is reachable from other machines: set the accepted hosts (`--host`)"
            )));
        }
        Ok(())
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_token = self.check.is_some();
        f.debug_struct("HttpOptions").field("has_token", &has_token).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// A service over HTTP, to be mounted in a router: a tower service.
///
/// A request is an HTTP request of the transport "streamable HTTP". Its token is checked first.
#[derive(Clone)]
pub struct McpHttpService {
    service: StreamableHttpService<Handler, Sessions>,
    sessions: Arc<Sessions>,
    session_ids: Arc<SessionIds>,
    options: HttpOptions,
}

impl fmt::Debug for McpHttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpHttpService").field("options", &self.options).finish_non_exhaustive()
    }
}

impl McpService {
    /// Returns a tower service that speaks the protocol over HTTP, for a route of your own router.
    ///
    /// With an [`authorization_server`](HttpOptions::authorization_server), also route the path of the metadata to it:
    /// for a service at `/mcp`, this is `/.well-known/oauth-protected-resource/mcp`.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::prelude::*;
    /// use llm_do::mcp::{HttpOptions, McpService};
    ///
    /// # fn main() -> Result<()> {
    /// let service = McpService::new(Runtime::builder().build()?).http(HttpOptions::default().token("secret"));
    /// let router: axum::Router = axum::Router::new().route_service("/mcp", service);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn http(self, options: HttpOptions) -> McpHttpService {
        let shared = Arc::new(self.into_shared());
        let handler = move || Ok(Handler::new(Arc::clone(&shared)));
        let sessions = Arc::<Sessions>::default();
        let service = StreamableHttpService::new(handler, Arc::clone(&sessions), options.config());
        McpHttpService { service, sessions, session_ids: Arc::default(), options }
    }

    /// Serves clients over HTTP at the path `/mcp`, until the options' token is cancelled.
    ///
    /// It closes a connection whose client needs more than ten seconds for the head of a request, pauses for 15 seconds
    /// in the body, or does not read its answer for 15 seconds.
    ///
    /// # Errors
    ///
    /// Returns an error if other machines can reach the listener and the options neither require a token nor allow
    /// requests without one, or name no host. Returns an error for an invalid public URL.
    pub async fn serve_http(self, listener: TcpListener, options: HttpOptions) -> Result<(), ServeError> {
        self.serve_http_and_report(listener, options, || {}).await
    }

    /// Like [`serve_http`](Self::serve_http), and calls `ready` once connections are accepted.
    #[doc(hidden)]
    pub async fn serve_http_and_report(
        self,
        listener: TcpListener,
        options: HttpOptions,
        ready: impl FnOnce() + Send,
    ) -> Result<(), ServeError> {
        let address = listener.local_addr().map_err(|error| ServeError::new(error.to_string()))?;
        options.check_address(address)?;
        options.check_url()?;
        let (cancellation, connections) = (options.cancellation.clone(), options.connections);
        let service = self.http(options);
        let router = Router::new().route_service(PATH, service.clone());
        let router = router.route_service(metadata::PREFIX, service.clone());
        let router = router.route_service(&format!("{}{PATH}", metadata::PREFIX), service);
        ready();
        // The options' token also ends the streams.
        llm_do_listen::serve(listener, router, connections, cancellation, || {}).await;
        Ok(())
    }
}

impl HttpOptions {
    /// Returns the principal of a request; `None` if a token is required and the request has no valid one.
    fn principal<B>(&self, request: &Request<B>) -> Option<Principal> {
        let authorization = request.headers().get(header::AUTHORIZATION);
        let Some(check) = &self.check else {
            return Some(authorization.map_or(Principal::Anonymous, |header| Principal::of_secret(header.as_bytes())));
        };
        let value = authorization?.to_str().ok()?.split_once(' ');
        let (_, token) = value.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))?;
        let token = token.trim();
        let owner = check(token)?;
        Some(owner.map_or_else(|| Principal::of_secret(token.as_bytes()), Principal::Subject))
    }

    fn refusal<B>(&self, request: &Request<B>) -> Response<Body> {
        let mut response = Response::new(Body::from(
            "missing or invalid bearer token: send the header `Authorization: Bearer TOKEN`\n",
        ));
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        response.headers_mut().insert(header::WWW_AUTHENTICATE, self.challenge(request));
        response
    }
}

impl<B> tower_service::Service<Request<B>> for McpHttpService
where
    B: http_body::Body<Data = Bytes, Error: fmt::Display> + Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        if let Some(description) = self.options.description(&request) {
            return Box::pin(async move { Ok(description) });
        }
        let Some(principal) = self.options.principal(&request) else {
            let refusal = self.options.refusal(&request);
            return Box::pin(async move { Ok(refusal) });
        };
        ClientConnection::allow(request.extensions());
        hide_tokens(request.headers_mut());
        self.session_ids.open(request.headers_mut(), &principal);
        request.extensions_mut().insert(principal.clone());
        let Self { service, sessions, session_ids, .. } = self.clone();
        Box::pin(async move {
            let ends_nothing = request.method() == Method::DELETE && !has_session(&sessions, request.headers());
            let handle = async { service.handle(request).await.map(Body::new) };
            let mut response = handled(&principal, handle).await;
            if ends_nothing && response.status().is_success() {
                return Ok(unknown_session());
            }
            session_ids.seal(response.headers_mut(), &principal);
            Ok(response)
        })
    }
}

/// Marks tokens as secret, so that the headers can be printed.
fn hide_tokens(headers: &mut HeaderMap) {
    for (name, value) in headers.iter_mut() {
        if name == header::AUTHORIZATION {
            value.set_sensitive(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn neither_a_client_nor_its_request_shows_the_token() {
        let mut request = Request::new(());
        request.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer hunter2"));
        for options in [HttpOptions::default(), HttpOptions::default().token("hunter2")] {
            let principal = options.principal(&request).unwrap();
            assert!(matches!(principal, Principal::Token(_)));
            hide_tokens(request.headers_mut());
            let shown = format!("{principal:?} {request:?} {options:?}");
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(!serde_json::to_string(&principal).unwrap().contains("hunter2"));
        }
    }
}
