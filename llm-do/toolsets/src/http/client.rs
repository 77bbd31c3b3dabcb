//! The HTTP clients: connections to public addresses only, or also to private ones.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use llm_do_core::base::public_address::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

use super::fault::Fault;
use super::host;
use super::settings::Http;

/// The clients of an application.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    public: Client,
    private: Client,
}

impl Clients {
    /// Returns the client for a URL.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL has a non-public address, and the settings do not allow it.
    pub(super) async fn for_url<'c>(settings: &'c Http, url: &Url) -> Result<&'c Client, Fault> {
        let clients = settings.clients.get_or_try_init(|| Self::build(settings)).await?;
        if settings.may_be_private(url)? {
            return Ok(&clients.private);
        }
        let host = host::name(url);
        // A URL with an address needs no lookup.
        match host.parse::<IpAddr>() {
            Ok(address) if !is_public(address) => Err(Fault::Private(host)),
            _ => Ok(&clients.public),
        }
    }

    async fn build(settings: &Http) -> Result<Self, Fault> {
        let settings = settings.clone();
        // Building reads the certificates of the system.
        let built = tokio::task::spawn_blocking(move || {
            let client = |is_public_only| {
                let addresses = settings.addresses.clone();
                let resolver = Resolver { addresses, is_public_only, lookup: Arc::new(by_system) };
                client(&settings.user_agent, resolver)
            };
            Ok(Self { public: client(true)?, private: client(false)? })
        });
        built.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

fn client(user_agent: &str, resolver: Resolver) -> Result<Client, Fault> {
    let builder = Client::builder()
        .user_agent(user_agent)
        .dns_resolver(Arc::new(resolver))
        // A proxy would resolve names itself.
        .no_proxy()
        // Each redirect is checked by the caller, since it may need approval.
        .redirect(Policy::none())
        .referer(false)
        .pool_max_idle_per_host(0);
    builder.build().map_err(Fault::Client)
}

type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Resolves hosts, and drops non-public addresses.
struct Resolver {
    addresses: BTreeMap<String, Vec<SocketAddr>>,
    is_public_only: bool,
    lookup: Arc<dyn Fn(String) -> Lookup + Send + Sync>,
}

/// The lookup of the system.
fn by_system(host: String) -> Lookup {
    Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().trim_end_matches('.').to_ascii_lowercase();
        let (known, is_public_only, lookup) =
            (self.addresses.get(&host).cloned(), self.is_public_only, Arc::clone(&self.lookup));
        Box::pin(async move {
            let mut addresses = match known {
                Some(addresses) => addresses,
                None => {
                    lookup(host.clone()).await.map_err(|source| Unresolved::NotFound { host: host.clone(), source })?
                }
            };
            if is_public_only {
                // Connections use the returned addresses, so a second lookup cannot return different ones.
                addresses.retain(|address| is_public(address.ip()));
                if addresses.is_empty() {
                    return Err(Unresolved::Private { host }.into());
                }
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// The reason that a host has no usable address.
#[derive(Debug)]
enum Unresolved {
    Private { host: String },
    NotFound { host: String, source: io::Error },
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Private { host } => write!(f, "`{host}` has no public address"),
            Self::NotFound { host, source } => write!(f, "cannot find the host `{host}`: {source}"),
        }
    }
}

impl Error for Unresolved {}

/// Returns the fault of a failed request.
pub(super) fn fault(error: reqwest::Error, url: &Url, settings: &Http) -> Fault {
    if error.is_timeout() {
        return Fault::Timeout { url: url.to_string(), after: settings.timeout };
    }
    let sources = std::iter::successors(error.source(), |source| (*source).source());
    for source in sources {
        match source.downcast_ref() {
            Some(Unresolved::Private { host }) => return Fault::Private(host.clone()),
            Some(Unresolved::NotFound { host, source }) => {
                let source = io::Error::new(source.kind(), source.to_string());
                return Fault::Lookup { host: host.clone(), source };
            }
            None => {}
        }
    }
    // The message already has the URL.
    Fault::Request { url: url.to_string(), source: error.without_url() }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A resolver whose lookups have these answers, in order; the last one repeats.
    fn resolver(answers: &[&[&str]]) -> (Resolver, Arc<Mutex<usize>>) {
        let answers: Vec<Vec<SocketAddr>> = answers
            .iter()
            .map(|answer| answer.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect())
            .collect();
        let lookups = Arc::new(Mutex::new(0));
        let count = Arc::clone(&lookups);
        let lookup = move |_: String| -> Lookup {
            let mut count = count.lock().unwrap();
            let answer = answers[(*count).min(answers.len() - 1)].clone();
            *count += 1;
            Box::pin(async { Ok(answer) })
        };
        let resolver = Resolver { addresses: BTreeMap::new(), is_public_only: true, lookup: Arc::new(lookup) };
        (resolver, lookups)
    }

    async fn resolved(resolver: &Resolver) -> Result<Vec<String>, String> {
        let found = resolver.resolve("rebind.test".parse().unwrap()).await;
        found.map(|found| found.map(|found| found.ip().to_string()).collect()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_that_is_rebound_to_a_private_address_is_refused_when_it_changes() {
        let (resolver, lookups) = resolver(&[&["93.184.216.34"], &["127.0.0.1"]]);
        assert_eq!(resolved(&resolver).await.unwrap(), ["93.184.216.34"]);
        assert_eq!(*lookups.lock().unwrap(), 1, "the checked addresses are the ones that are connected to");
        assert_eq!(resolved(&resolver).await.unwrap_err(), "`rebind.test` has no public address");
    }

    #[tokio::test]
    async fn of_mixed_addresses_only_the_public_ones_are_used() {
        let (resolver, _) = resolver(&[&["10.0.0.1", "93.184.216.34", "::1", "::ffff:192.168.0.1"]]);
        assert_eq!(resolved(&resolver).await.unwrap(), ["93.184.216.34"]);
    }

    #[tokio::test]
    async fn a_request_to_a_private_name_fails_with_that_reason() {
        let (resolver, lookups) = resolver(&[&["169.254.169.254"]]);
        let client = client("test", resolver).unwrap();
        let url = Url::parse("http://rebind.test/latest/meta-data").unwrap();
        let error = client.get(url.clone()).send().await.unwrap_err();
        let fault = fault(error, &url, &Http::new());
        assert!(matches!(&fault, Fault::Private(host) if host == "rebind.test"), "{fault}");
        assert_eq!(*lookups.lock().unwrap(), 1);
    }
}
