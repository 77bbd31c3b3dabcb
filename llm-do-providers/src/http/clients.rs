//! The HTTP client of each async runtime, with its connection pool.
//!
//! A connection is driven by a task of the runtime that opened it. If it were shared with another runtime, such as another
//! test's, its requests would fail when the first runtime ends, and hang while the first is not polled:
//! <https://github.com/seanmonstar/reqwest/issues/1148>.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};
use tokio::runtime::{Handle, Id};

use super::CONNECT;
use crate::error::{ErrorKind, ProviderError};

/// The interval of HTTP/2 keep-alive pings on a connection with requests in flight.
const ALIVE: Duration = Duration::from_secs(20);
/// The maximum number of runtimes with a client. The end of a runtime cannot be observed, so the client of the least
/// recently used one is dropped. A client takes about 100 KiB.
const KEPT: usize = 16;

/// The header `user-agent`, if the program set it.
static USER_AGENT: OnceLock<String> = OnceLock::new();
const DEFAULT_USER_AGENT: &str = concat!("llm-do/", env!("CARGO_PKG_VERSION"));

/// The clients, from the least to the most recently used.
static CLIENTS: Mutex<Vec<(Id, Client)>> = Mutex::new(Vec::new());

/// Returns the client of the current runtime.
pub(super) fn client(provider: &str) -> Result<Client, ProviderError> {
    let runtime = Handle::current().id();
    if let Some(client) = used(&mut clients(), runtime) {
        return Ok(client);
    }
    // Built without the lock, since it reads the certificates of the system.
    let client = build(provider)?;
    let mut clients = clients();
    // Another thread of the runtime may have inserted one first; its connections are shared.
    if let Some(client) = used(&mut clients, runtime) {
        return Ok(client);
    }
    clients.push((runtime, client.clone()));
    let excess = clients.len().saturating_sub(KEPT);
    clients.drain(..excess);
    Ok(client)
}

fn clients() -> MutexGuard<'static, Vec<(Id, Client)>> {
    CLIENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the client of `runtime`, if any, and marks it as the most recently used.
fn used(clients: &mut [(Id, Client)], runtime: Id) -> Option<Client> {
    let place = clients.iter().rposition(|(id, _)| *id == runtime)?;
    clients[place..].rotate_left(1);
    clients.last().map(|(_, client)| client.clone())
}

fn build(provider: &str) -> Result<Client, ProviderError> {
    build_with(provider, |builder| {
        // All requests to a server share one HTTP/2 connection, which a router may have dropped silently.
        builder.http2_keep_alive_interval(ALIVE).http2_keep_alive_timeout(CONNECT)
    })
}

/// Sets the header `user-agent` of all requests of this process, unless it is set.
pub fn set_user_agent(name: String) {
    // An error means that it is already set.
    let _ = USER_AGENT.set(name);
}

/// Builds a client that follows no redirect: a redirect would carry prompts, or a key, to an address that is not configured.
pub(super) fn build_with(
    provider: &str,
    configure: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ProviderError> {
    let builder = Client::builder()
        .user_agent(USER_AGENT.get().map_or(DEFAULT_USER_AGENT, String::as_str))
        .connect_timeout(CONNECT)
        .redirect(redirect::Policy::none());
    configure(builder).build().map_err(|error| {
        let text = format!("cannot set up HTTP and TLS on this machine; check its certificates: {error}");
        ProviderError::new(provider, ErrorKind::Configuration, text)
    })
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::{KEPT, client, clients};

    #[test]
    fn clients_of_runtimes_that_ended_do_not_pile_up() {
        for _ in 0..=KEPT {
            let runtime = Builder::new_current_thread().build().unwrap();
            runtime.block_on(async { client("test").unwrap() });
        }
        assert_eq!(clients().len(), KEPT);
    }
}
