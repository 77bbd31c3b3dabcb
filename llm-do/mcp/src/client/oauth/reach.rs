//! Which addresses a login may reach: a server elsewhere cannot lead it into this machine or a private network.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use llm_do_core::base::public_address::is_public;

/// The variables that name proxies, which resolve the names of servers themselves.
const PROXIES: [&str; 6] = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Which addresses a login at a server may reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// Public addresses only.
    Public,
    /// Private networks too, for a server whose URL has such an address.
    Private,
    /// This machine too, for a server on it.
    Loopback,
}

impl Reach {
    /// Returns what the logins at a server may reach.
    pub(super) fn new(server: &Url) -> Self {
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

    /// Checks that a login may use a URL.
    pub(super) fn check(self, url: &Url) -> Result<(), String> {
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

/// Returns the origin of a URL as text.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Describes an address that may not be reached.
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
pub(super) struct Resolver {
    pub(super) reach: Reach,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let name = name.as_str();
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name, 0)).await?.collect();
            let refused = addresses.iter().find(|address| !reach.allows(address.ip()));
            match refused.filter(|_| !is_proxy(name)) {
                Some(refused) => Err(private(name, refused.ip()).into()),
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
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn is_allowed(server: &str, target: &str) -> bool {
        Reach::new(&url(server)).check(&url(target)).is_ok()
    }

    /// URLs that a login at a server elsewhere may not reach.
    pub(in super::super) const ELSEWHERE: [&str; 16] = [
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
}
