//! The metadata of a protected resource (RFC 9728): names the servers that issue tokens.

use axum::body::Body;
use http::{HeaderValue, Method, Request, Response, header};
use serde_json::json;

use super::ServeError;
use super::http::{HttpOptions, PATH};

/// The path of the metadata, to which the path of the service is appended.
pub(super) const PREFIX: &str = "/.well-known/oauth-protected-resource";

impl HttpOptions {
    /// Returns the metadata of the service if a request asks for it. It needs no token.
    pub(super) fn description<B>(&self, request: &Request<B>) -> Option<Response<Body>> {
        let path = request.uri().path().strip_prefix(PREFIX)?;
        if request.method() != Method::GET || self.authorization_servers.is_empty() {
            return None;
        }
        let description = json!({
            "resource": self.url(request, if path.is_empty() { PATH } else { path }),
            "authorization_servers": self.authorization_servers,
            "bearer_methods_supported": ["header"],
        });
        let mut response = Response::new(Body::from(description.to_string()));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Some(response)
    }

    /// Returns the header `www-authenticate` of a refused request.
    pub(super) fn challenge<B>(&self, request: &Request<B>) -> HeaderValue {
        let bearer = HeaderValue::from_static("Bearer");
        if self.authorization_servers.is_empty() {
            return bearer;
        }
        let url = self.url(request, request.uri().path());
        let start = url.find("://").map_or(0, |scheme| scheme + 3);
        let (origin, path) = url.split_at(url[start..].find('/').map_or(url.len(), |path| start + path));
        let path = if path == "/" { "" } else { path };
        HeaderValue::from_str(&format!("Bearer resource_metadata=\"{origin}{PREFIX}{path}\"")).unwrap_or(bearer)
    }

    /// Returns the URL under which a client reaches the service.
    fn url<B>(&self, request: &Request<B>, path: &str) -> String {
        let is_host = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).filter(is_host);
        let of_request = || format!("http://{}{path}", host.unwrap_or("localhost"));
        self.public_url.clone().unwrap_or_else(of_request)
    }

    /// Checks that the public URL is valid.
    pub(super) fn check_url(&self) -> Result<(), ServeError> {
        let Some(url) = &self.public_url else { return Ok(()) };
        let is_valid = url.parse::<http::Uri>().is_ok_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some_and(|host| !host.is_empty())
        });
        let fault = || ServeError::new(format!("invalid public URL `{url}`: expected `https://HOST/PATH`"));
        is_valid.then_some(()).ok_or_else(fault)
    }
}
