//! Accepts connections, with limits on their number in total and per address, and on the times for sending a request
//! and reading an answer.

mod address;
mod connections;
mod request;
mod write_timeout;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use self::connections::{Connections, OpenConnection};
pub use self::request::ClientConnection;
use self::request::Tracked;
use self::write_timeout::WriteTimeout;

/// The timeout of the head of a request, so that slow senders do not occupy all connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum time for which a client may not read an answer, so that it does not occupy a connection.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// The time for open requests to finish when the service stops.
const DRAIN: Duration = Duration::from_secs(5);
/// The number of connections that are closed when the process has no free file descriptor.
const CLOSED_AT_ONCE: usize = 16;

/// The maximum numbers of open connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// The maximum in total.
    pub total: usize,
    /// The maximum for one address, unless it belongs to this machine.
    pub per_address: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { total: 1024, per_address: 256 }
    }
}

/// Serves a router until `shutdown` is cancelled; `ended` then ends streams that would keep requests open.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
    ended: impl FnOnce() + Send,
) {
    let (graceful, connections) = (GracefulShutdown::new(), Arc::new(Connections::new(limits)));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            // A connection is rejected, and so closed, only if every open one answers an authorized client.
            Ok((stream, peer)) => {
                if let Some(open) = connections.admit(peer.ip()) {
                    tokio::spawn(connection(stream, router.clone(), open, &graceful));
                }
            }
            Err(error) => pause_after(&error, &connections).await,
        }
    }
    ended();
    // Ignored: longer requests are aborted.
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}

/// Serves one connection, until it ends or is closed to make room for another.
fn connection(
    stream: TcpStream,
    router: Router,
    open: OpenConnection,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + use<> {
    // Events are small and sent immediately; an event must not wait for the acknowledgement of the previous one.
    // Ignored: the connection may already be broken.
    _ = stream.set_nodelay(true);
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    let OpenConnection { entry, closed } = open;
    let served = Tracked::new(router, &entry);
    let connection = http.serve_connection(TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)), served);
    let connection = graceful.watch(connection);
    async move {
        tokio::select! {
            // Ignored: the client has disconnected, or did not speak HTTP.
            _ = connection => {}
            _ = closed => {}
        }
        drop(entry);
    }
}

/// Waits if the process has no free file descriptor: other connections may end, and some that wait for their client are
/// closed.
async fn pause_after(error: &io::Error, connections: &Connections) {
    let is_of_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if is_of_connection {
        return;
    }
    let closed = (0..CLOSED_AT_ONCE).take_while(|_| connections.close_one()).count();
    let pause = if closed > 0 { Duration::from_millis(20) } else { Duration::from_secs(1) };
    tokio::time::sleep(pause).await;
}
