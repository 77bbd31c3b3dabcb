//! The requests of a login, which are bounded in time and in size and sent to allowed addresses only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use reqwest::Url;
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::Value;
use tokio::time::timeout;

use super::challenge::check_challenges;
use super::reach::{Reach, Resolver, origin};
use super::resource::Resource;
use super::text;

/// The timeout of one request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum size of an answer, in bytes.
const MAX_ANSWER: usize = 256 << 10;
/// The paths of the metadata of an authorization server.
const METADATA: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
/// The fields of that metadata with the URLs that a login uses.
const ENDPOINTS: [&str; 3] = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];

/// Why a request or an answer is refused.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// The requests of the logins at one server.
#[derive(Debug)]
pub(super) struct Network {
    server: Url,
    reach: Reach,
    client: reqwest::Client,
    resource: Resource,
    fault: Fault,
}

/// The last request that was refused: the library does not report why a token was not issued.
#[derive(Clone, Debug, Default)]
pub(super) struct Fault(Arc<Mutex<Option<String>>>);

impl Fault {
    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().ignore_poison().take()
    }
}

impl Network {
    pub(super) fn new(server: Url, fault: Fault) -> reqwest::Result<Self> {
        let reach = Reach::new(&server);
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .dns_resolver(Arc::new(Resolver { reach }))
            .build()?;
        Ok(Self { resource: Resource::new(server.clone()), server, reach, client, fault })
    }

    /// Checks that a login may use a URL.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        self.reach.check(url)
    }

    /// Returns the address of a login page, which names the server as its metadata do.
    pub(super) fn named(&self, login: Url, text: String) -> (Url, String) {
        match self.resource.named(&login) {
            Some(named) => (named.clone(), named.into()),
            None => (login, text),
        }
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let (head, body) = request.into_parts();
        let body = self.resource.named_form(&body).unwrap_or(body);
        let request = reqwest::Request::try_from(http::Request::from_parts(head, body))?;
        let url = request.url().clone();
        self.check(&url).map_err(Refused)?;
        let mut response = self.client.execute(request).await?;
        check_challenges(response.headers(), &self.server).map_err(Refused)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER {
                return Err(Refused(format!("the answer of {} has more than {MAX_ANSWER} bytes", origin(&url))).into());
            }
            body.extend_from_slice(&chunk);
        }
        if response.status().is_success() && METADATA.iter().any(|path| url.path().contains(path)) {
            self.check_metadata(&url, &body).map_err(Refused)?;
        }
        let mut answer = http::Response::new(self.resource.renamed(&body).unwrap_or(body));
        *answer.status_mut() = response.status();
        if url == self.server && response.status().is_server_error() {
            // It is asked for a challenge alone, by a method that it may not know: the other places are tried too.
            *answer.status_mut() = http::StatusCode::METHOD_NOT_ALLOWED;
        }
        *answer.headers_mut() = std::mem::take(response.headers_mut());
        Ok(answer)
    }

    /// Checks the metadata of an authorization server, if the body is metadata.
    fn check_metadata(&self, url: &Url, body: &[u8]) -> Result<(), String> {
        let Ok(Value::Object(metadata)) = serde_json::from_slice(body) else { return Ok(()) };
        if !metadata.contains_key("token_endpoint") {
            return Ok(());
        }
        for field in ENDPOINTS {
            let Some(endpoint) = metadata.get(field).and_then(Value::as_str) else { continue };
            let parsed = endpoint.parse().map_err(|_| "it is not a URL".to_owned());
            parsed
                .and_then(|endpoint| self.check(&endpoint))
                .map_err(|fault| format!("`{field}` of the authorization server at {}: {fault}", origin(url)))?;
        }
        let methods = metadata.get("code_challenge_methods_supported").and_then(Value::as_array);
        if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
            return Err(format!("the authorization server at {} does not support PKCE with `S256`", origin(url)));
        }
        Ok(())
    }
}

impl OAuthHttpClient for Network {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let url = request.request.uri().to_string();
            let late = |_| Refused(format!("no answer of {url} within {TIMEOUT:?}"));
            let answered = timeout(TIMEOUT, self.send(request.request)).await;
            let answered = answered.map_err(late).map_err(Into::into).and_then(|answered| answered);
            if let Err(error) = &answered {
                *self.fault.0.lock().ignore_poison() = Some(text::root(&**error));
            }
            answered
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::reach::tests::{ELSEWHERE, url};
    use super::*;

    #[test]
    fn metadata_with_endpoints_elsewhere_or_without_s256_are_refused() {
        let network = Network::new(url("https://mcp.example.org/mcp"), Fault::default()).unwrap();
        let at = url("https://login.example.com/.well-known/oauth-authorization-server");
        let check = |field: &str, value: Value| {
            let mut metadata = serde_json::json!({
                "issuer": "https://login.example.com",
                "authorization_endpoint": "https://login.example.com/authorize",
                "token_endpoint": "https://login.example.com/token",
                "code_challenge_methods_supported": ["S256"],
            });
            metadata[field] = value;
            network.check_metadata(&at, metadata.to_string().as_bytes())
        };
        check("issuer", "https://login.example.com".into()).unwrap();
        for field in ENDPOINTS {
            for target in ELSEWHERE {
                let fault = check(field, target.into()).unwrap_err();
                assert!(fault.contains(field) && fault.contains("https://login.example.com"), "{fault}");
            }
        }
        for methods in [Value::Null, serde_json::json!([]), serde_json::json!(["plain"]), "S256".into()] {
            assert!(check("code_challenge_methods_supported", methods).unwrap_err().contains("PKCE"));
        }
    }
}
