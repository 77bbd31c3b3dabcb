//! The HTTP client, and so the pool of connections, of each async runtime.
//!
//! A connection is driven by a task of the runtime that opened it. Were it shared with another runtime, such as another
//! test's, the requests of that one would break off when the first ends, and wait in vain while the first is not polled:
//! <https://github.com/seanmonstar/reqwest/issues/1148>.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};
use tokio::runtime::{Handle, Id};

use super::CONNECT;
use crate::error::{ErrorKind, ProviderError};

/// How often a shared connection with requests on it is asked whether it is alive.
const ALIVE: Duration = Duration::from_secs(20);
/// How many runtimes keep their client, as nobody says when one ends; one that asked longer ago than these connects anew. A
/// client takes some 100 KiB, and some milliseconds to be made.
const KEPT: usize = 16;

/// The clients, of which the last was used last.
static CLIENTS: Mutex<Vec<(Id, Client)>> = Mutex::new(Vec::new());

/// Returns the client of the runtime that this is called in.
pub(super) fn client(provider: &str) -> Result<Client, ProviderError> {
    let runtime = Handle::current().id();
    if let Some(client) = used(&mut clients(), runtime) {
        return Ok(client);
    }
    // Without the lock, since the certificates of the system are read here.
    let client = build(provider)?;
    let mut clients = clients();
    // Another thread of the runtime may have come first; its connections are to be shared.
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

/// Returns the client of `runtime`, if it has one, and puts it last.
fn used(clients: &mut [(Id, Client)], runtime: Id) -> Option<Client> {
    let place = clients.iter().rposition(|(id, _)| *id == runtime)?;
    clients[place..].rotate_left(1);
    clients.last().map(|(_, client)| client.clone())
}

fn build(provider: &str) -> Result<Client, ProviderError> {
    made(provider, |builder| {
        // All requests to a server share one connection of HTTP/2, which a router may have dropped in silence.
        builder.http2_keep_alive_interval(ALIVE).http2_keep_alive_timeout(CONNECT)
    })
}

/// Makes a client that follows no redirect: one would carry prompts, or a key, to an address that nobody configured.
pub(super) fn made(
    provider: &str,
    configure: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Result<Client, ProviderError> {
    let builder = Client::builder()
        .user_agent(concat!("llm-do/", env!("CARGO_PKG_VERSION")))
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
