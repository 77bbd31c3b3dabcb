//! Accepts connections: from where, and how long the head of a request may take.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::ServiceError;
use super::engine::Shared;

/// How long the head of a request may take: slow senders would occupy all connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of open connections.
const MAX_CONNECTIONS: usize = 1024;
/// How long open requests have to finish when the service ends.
const DRAIN: Duration = Duration::from_secs(5);

/// Serves a router until `shutdown` is cancelled.
pub(super) async fn serve(
    listener: TcpListener,
    shared: &Arc<Shared>,
    router: Router,
    shutdown: CancellationToken,
) -> Result<(), ServiceError> {
    let address = listener.local_addr().map_err(|error| ServiceError::new(error.to_string()))?;
    check_address(shared, address)?;
    let (graceful, connections) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    loop {
        let accepted = async {
            let permit = Arc::clone(&connections).acquire_owned().await.map_err(io::Error::other)?;
            Ok((listener.accept().await?.0, permit))
        };
        let accepted = tokio::select! {
            accepted = accepted => accepted,
            () = shutdown.cancelled() => break,
        };
        let (stream, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Ignored: the client is gone, or did not speak HTTP.
            let _ = connection.await;
            drop(permit);
        });
    }
    // Streams of events end.
    shared.shutdown.cancel();
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
    Ok(())
}

/// Waits if the process has no file descriptor left: other connections may end.
async fn pause_after(error: &io::Error) {
    let is_of_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !is_of_connection {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Checks that an address may be listened on.
fn check_address(shared: &Shared, address: SocketAddr) -> Result<(), ServiceError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    if shared.options.clients.is_empty() && !shared.options.is_open {
        let text = format!(
            "{address} is reachable from other machines: add clients with tokens, or allow requests without one"
        );
        return Err(ServiceError::new(text));
    }
    if shared.options.hosts.is_empty() {
        return Err(ServiceError::new(format!("{address} is reachable by other names: name the hosts to accept")));
    }
    Ok(())
}
