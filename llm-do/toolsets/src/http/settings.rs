//! The settings of the tool.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use llm_do_core::plane::registry::Application;
use reqwest::Url;
use tokio::sync::OnceCell;

use super::client::Clients;
use super::fault::Fault;
use super::host::HostPattern;

/// The settings of the tool, for [`RuntimeBuilder::state`](llm_do_core::session::runtime::RuntimeBuilder::state).
///
/// A host is written as `docs.rs`, `*.example.com` for all subdomains, or `*` for all hosts; with a port if it is not
/// the default of the scheme: `localhost:8080`. Without settings, the defaults apply.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use llm_do::Runtime;
/// use llm_do::toolsets::http::Http;
///
/// # fn main() -> llm_do::Result<()> {
/// let http = Http::new().allow("docs.rs").allow("*.rust-lang.org").deny("ads.example.com").timeout(Duration::from_secs(10));
/// let runtime = Runtime::builder().state(http).build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "give the settings to `RuntimeBuilder::state`"]
pub struct Http {
    allowed: Vec<String>,
    denied: Vec<String>,
    private: Vec<String>,
    pub(super) addresses: BTreeMap<String, Vec<SocketAddr>>,
    pub(super) timeout: Duration,
    pub(super) max_size: usize,
    pub(super) max_redirects: u32,
    pub(super) user_agent: String,
    /// Built on first use, and shared by clones.
    pub(super) clients: Arc<OnceCell<Clients>>,
}

impl Http {
    /// Creates settings with the defaults.
    pub fn new() -> Self {
        Self {
            allowed: Vec::new(),
            denied: Vec::new(),
            private: Vec::new(),
            addresses: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            max_size: 2 << 20,
            max_redirects: 5,
            user_agent: Application::current().user_agent(),
            clients: Arc::default(),
        }
    }

    /// Approves all URLs of a host. Default: each URL needs approval.
    ///
    /// A model that reads untrusted text may send its data to an approved host, in the URL.
    pub fn allow(mut self, host: impl Into<String>) -> Self {
        self.allowed.push(host.into());
        self
    }

    /// Refuses all URLs of a host, even approved ones. Default: nothing is refused.
    pub fn deny(mut self, host: impl Into<String>) -> Self {
        self.denied.push(host.into());
        self
    }

    /// Allows a host to have a local or private address, such as `localhost:8080`. Default: none.
    ///
    /// This does not approve URLs: see [`allow`](Self::allow).
    pub fn allow_private(mut self, host: impl Into<String>) -> Self {
        self.private.push(host.into());
        self
    }

    /// Sets the addresses of a host, in place of those from DNS. Port 0 stands for the port of the URL.
    pub fn resolve(mut self, host: impl Into<String>, addresses: impl IntoIterator<Item = SocketAddr>) -> Self {
        self.addresses.insert(host.into().to_ascii_lowercase(), addresses.into_iter().collect());
        self.changed()
    }

    /// Sets the maximum time of one call, with its redirects. Default: 30 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum number of bytes that are read of a response. Default: 2 MiB.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.max_size = bytes;
        self
    }

    /// Sets the maximum number of followed redirects. Default: 5.
    pub fn max_redirects(mut self, count: u32) -> Self {
        self.max_redirects = count;
        self
    }

    /// Sets the header `user-agent`. Default: the application, as named by its command line, and `llm-do/` with the
    /// version.
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self.changed()
    }

    /// Resets the clients, which may have been built with other settings.
    fn changed(mut self) -> Self {
        self.clients = Arc::default();
        self
    }

    /// Returns whether the settings approve a URL.
    pub(super) fn is_allowed(&self, url: &Url) -> Result<bool, Fault> {
        matches(&self.allowed, url)
    }

    /// Returns whether the settings refuse a URL.
    pub(super) fn is_denied(&self, url: &Url) -> Result<bool, Fault> {
        matches(&self.denied, url)
    }

    /// Returns whether a URL may have a local or private address.
    pub(super) fn may_be_private(&self, url: &Url) -> Result<bool, Fault> {
        matches(&self.private, url)
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new()
    }
}

fn matches(patterns: &[String], url: &Url) -> Result<bool, Fault> {
    for pattern in patterns {
        let parsed = HostPattern::parse(pattern).ok_or_else(|| Fault::Pattern(pattern.clone()))?;
        if parsed.matches(url) {
            return Ok(true);
        }
    }
    Ok(false)
}
