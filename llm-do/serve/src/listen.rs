//! Listens for clients, and checks the address.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::ServiceError;
use super::engine::Shared;

/// Serves a router until `shutdown` is cancelled; calls `ready` once connections are accepted.
pub(super) async fn serve(
    listener: TcpListener,
    shared: &Arc<Shared>,
    router: Router,
    shutdown: CancellationToken,
    ready: impl FnOnce() + Send,
) -> Result<(), ServiceError> {
    let address = listener.local_addr().map_err(|error| ServiceError::new(error.to_string()))?;
    check_address(shared, address)?;
    ready();
    // On shutdown, streams of events end.
    llm_do_listen::serve(listener, router, shared.options.connections, shutdown, || shared.shutdown.cancel()).await;
    Ok(())
}

/// Checks that an address may be listened on.
fn check_address(shared: &Shared, address: SocketAddr) -> Result<(), ServiceError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    if shared.options.clients.is_empty() && !shared.options.is_open {
        let text = format!(
            "{address} is reachable from other machines: add clients with tokens (`--service`), or allow requests \
             without one (`--unauthenticated`)"
        );
        return Err(ServiceError::new(text));
    }
    if shared.options.hosts.is_empty() {
        return Err(ServiceError::new(format!(
            "{address} is reachable from other machines: set the accepted hosts (`--host`, or `hosts` in the \
             service file)"
        )));
    }
    Ok(())
}
