//! The requests of a login: where they may go, how long they take, and how large their answers are.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use serde_json::Value;
use tokio::time::timeout;

use super::challenge::metadata_urls;
use crate::base::mutex::IgnorePoison;
use crate::base::public_address::is_public;

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How large an answer may be, in bytes.
const MAX_ANSWER: usize = 256 << 10;
/// The variables that name proxies, which resolve the names of servers themselves.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// Where an authorization server has its metadata.
const METADATA: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
/// The fields of that metadata with addresses that are used.
const ENDPOINTS: [&str; 3] = ["authorization_endpoint", "token_endpoint", "registration_endpoint"];

/// Which addresses a login at a server may reach.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reach {
    /// Those of the internet.
    Public,
    /// Those of private networks too, for a server that is named by such an address.
    Private,
    /// Those of this machine too, for a server on it.
    Loopback,
}

/// Why a request was refused, or an answer is.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// The requests of the logins at one server.
#[derive(Debug)]
pub(super) struct Network {
    server: Url,
    reach: Reach,
    client: reqwest::Client,
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
        let reach = Reach::of(&server);
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .dns_resolver(Arc::new(Resolver { reach }))
            .build()?;
        Ok(Self { server, reach, client, fault })
    }

    /// Checks that a login may use an address.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        self.reach.check(url)
    }

    async fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request)?;
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
        let mut answer = http::Response::new(body);
        *answer.status_mut() = response.status();
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
                *self.fault.0.lock().ignore_poison() = Some(root(&**error));
            }
            answered
        })
    }
}

/// Checks that a server names metadata of its own origin only.
pub(super) fn check_challenges(headers: &HeaderMap, server: &Url) -> Result<(), String> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    challenges.into_iter().try_for_each(|challenge| check_challenge(challenge, server))
}

/// Checks that a challenge names metadata of the server's own origin only.
pub(super) fn check_challenge(challenge: &str, server: &Url) -> Result<(), String> {
    for named in metadata_urls(challenge) {
        let url = server.join(&named).map_err(|_| format!("`resource_metadata` is not a URL: {named}"))?;
        if url.origin() != server.origin() {
            return Err(format!(
                "the server names metadata of another origin, {}: only {} describes it",
                origin(&url),
                origin(server)
            ));
        }
    }
    Ok(())
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn root(error: &(dyn std::error::Error + 'static)) -> String {
    super::text::root(error)
}

impl Reach {
    fn of(server: &Url) -> Self {
        match host(server) {
            Some(Host::Address(address)) if address.is_loopback() => Self::Loopback,
            Some(Host::Address(address)) if is_private(address) => Self::Private,
            Some(Host::Name(name)) if is_local(&name) => Self::Loopback,
            _ => Self::Public,
        }
    }

    /// Returns whether an address may be reached.
    fn allows(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        match self {
            _ if is_public(address) => true,
            Self::Public => false,
            Self::Private => is_private(address),
            Self::Loopback => address.is_loopback(),
        }
    }

    fn check(self, url: &Url) -> Result<(), String> {
        let shown = origin(url);
        let is_local = match host(url) {
            Some(Host::Address(address)) if !self.allows(address) => return Err(private(&shown, address)),
            Some(Host::Address(address)) => address.is_loopback(),
            Some(Host::Name(name)) if is_local(&name) && self != Self::Loopback => {
                return Err(format!("{shown} is this machine, which a login at another server may not reach"));
            }
            Some(Host::Name(name)) => is_local(&name),
            None => return Err(format!("{shown} has no host")),
        };
        if url.scheme() != "https" && !(is_local && url.scheme() == "http") {
            return Err(format!("{shown} is not encrypted: a login needs `https`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(format!("the URL at {shown} contains a user or a password"));
        }
        Ok(())
    }
}

fn private(name: &str, address: impl fmt::Display) -> String {
    format!("{name} is at {address}, which is not a public address: a login at a server elsewhere may not reach it")
}

/// The host of a URL.
enum Host {
    Name(String),
    Address(IpAddr),
}

fn host(url: &Url) -> Option<Host> {
    let host = url.host_str()?;
    let address = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    Some(address.map_or_else(|| Host::Name(host.to_owned()), |address: IpAddr| Host::Address(address.to_canonical())))
}

/// Returns whether a name is one of this machine.
fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// Returns whether an address is of a private network.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    }
}

/// Resolves names, and refuses those with an address that may not be reached.
#[derive(Debug)]
struct Resolver {
    reach: Reach,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let name = name.as_str();
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            let refused = addresses.iter().find(|address| !reach.allows(address.ip()));
            match refused.filter(|_| !is_proxy(name)) {
                Some(refused) => Err(Refused(private(name, refused.ip())).into()),
                None => Ok(Box::new(addresses.into_iter()) as Addrs),
            }
        })
    }
}

/// Returns whether a host is a proxy of the user, which may be at a private address.
fn is_proxy(name: &str) -> bool {
    PROXIES.iter().filter_map(|variable| std::env::var(variable).ok()).any(|proxy| {
        let url = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
        url.parse::<Url>().is_ok_and(|url| url.host_str().is_some_and(|host| host.eq_ignore_ascii_case(name)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn is_allowed(server: &str, target: &str) -> bool {
        Reach::of(&url(server)).check(&url(target)).is_ok()
    }

    const ELSEWHERE: [&str; 16] = [
        "https://127.0.0.1/token",
        "https://127.1/token",
        "https://2130706433/token",
        "https://0x7f000001/token",
        "https://[::1]/token",
        "https://[::ffff:127.0.0.1]/token",
        "https://localhost/token",
        "https://LOCALHOST./token",
        "https://login.localhost/token",
        "https://10.0.0.1/token",
        "https://192.168.1.1:8443/token",
        "https://169.254.169.254/latest/meta-data",
        "https://[fe80::1]/token",
        "https://[fd00::1]/token",
        "https://[64:ff9b::a9fe:a9fe]/token",
        "https://0.0.0.0/token",
    ];

    #[test]
    fn a_public_server_has_its_logins_at_public_addresses_only() {
        for target in ELSEWHERE {
            assert!(!is_allowed("https://mcp.example.org/mcp", target), "{target}");
            assert!(!is_allowed("https://93.184.215.14/mcp", target), "{target}");
        }
        assert!(is_allowed("https://mcp.example.org/mcp", "https://login.example.com/token"));
        assert!(is_allowed("https://mcp.example.org/mcp", "https://93.184.215.14/token"));
    }

    #[test]
    fn a_server_of_this_machine_may_use_it_and_nothing_private_besides() {
        for server in
            ["http://127.0.0.1:80/mcp", "http://localhost:1/mcp", "http://[::1]/mcp", "http://a.localhost/mcp"]
        {
            assert!(is_allowed(server, "http://localhost:9/token") && is_allowed(server, "http://127.0.0.1:9/token"));
            assert!(is_allowed(server, "https://login.example.com/token"));
            for target in ["https://10.0.0.1/", "https://169.254.169.254/", "http://login.example.com/"] {
                assert!(!is_allowed(server, target), "{server} {target}");
            }
        }
        assert!(is_allowed("https://10.0.0.5/mcp", "https://10.0.0.9/token"));
        assert!(!is_allowed("https://10.0.0.5/mcp", "https://127.0.0.1/token"));
        assert!(!is_allowed("https://10.0.0.5/mcp", "https://169.254.169.254/token"));
    }

    #[test]
    fn a_login_is_encrypted_unless_it_stays_on_this_machine() {
        for target in ["http://login.example.com/token", "ftp://login.example.com/", "http://10.0.0.9/token"] {
            assert!(!is_allowed("https://mcp.example.org/mcp", target), "{target}");
            assert!(!is_allowed("http://10.0.0.5/mcp", target), "{target}");
        }
        assert!(!is_allowed("https://mcp.example.org/mcp", "https://user:pw@login.example.com/"));
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_refused_for_a_server_elsewhere() {
        let name = || "localhost".parse::<Name>().unwrap();
        let refused = Resolver { reach: Reach::Public }.resolve(name()).await.err().unwrap().to_string();
        assert!(refused.contains("localhost is at ") && refused.contains("not a public address"), "{refused}");
        assert!(Resolver { reach: Reach::Loopback }.resolve(name()).await.is_ok());
    }

    #[test]
    fn metadata_of_another_origin_is_refused_with_its_name() {
        let server = url("https://mcp.example.org/mcp");
        for named in [
            "https://evil.example.com/.well-known/oauth-protected-resource",
            "https://mcp.example.org:8443/m",
            "http://mcp.example.org/m",
            "https://mcp.example.org.evil.example.com/m",
            "//evil.example.com/m",
            "https://mcp.example.org@evil.example.com/m",
        ] {
            for challenge in [
                format!("Bearer resource_metadata=\"{named}\""),
                format!("Bearer error=\"invalid_token\", Resource_Metadata = \"{named}\", scope=\"a\""),
                format!("Basic realm=\"x\", Bearer resource_metadata={named}"),
                format!("Bearer resource_metadata=\"/m\", resource_metadata=\"{named}\""),
            ] {
                let fault = check_challenge(&challenge, &server).unwrap_err();
                assert!(
                    fault.contains("metadata of another origin") && fault.contains("mcp.example.org"),
                    "{challenge}"
                );
            }
        }
        for own in ["https://mcp.example.org/m", "/m", "https://mcp.example.org:443/m"] {
            check_challenge(&format!("Bearer resource_metadata=\"{own}\""), &server).unwrap();
        }
        check_challenge("Bearer realm=\"resource_metadata=https://evil.example.com/\"", &server).unwrap();
    }

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
