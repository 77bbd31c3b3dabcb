//! Accepts connections: how many, and how long clients may take to send a head and to read an answer.

mod write_timeout;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use self::write_timeout::WriteTimeout;

/// How long the head of a request may take: slow senders would occupy all connections.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may read nothing of an answer: the connections of those who never read would be occupied too.
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// The maximum number of open connections.
const MAX_CONNECTIONS: usize = 1024;
/// How long open requests have to finish when the service ends.
const DRAIN: Duration = Duration::from_secs(5);

/// Serves a router until `shutdown` is cancelled; `ended` then ends what would keep requests open.
pub(in crate::app) async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    ended: impl FnOnce() + Send,
) {
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
        // Events are small and sent as they happen: one must not wait for the acknowledgement of the last. Ignored: a connection
        // that is broken already.
        _ = stream.set_nodelay(true);
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
        let connection = http.serve_connection(
            TokioIo::new(WriteTimeout::new(stream, WRITE_TIMEOUT)),
            TowerToHyperService::new(router.clone()),
        );
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Ignored: the client is gone, or did not speak HTTP.
            let _ = connection.await;
            drop(permit);
        });
    }
    ended();
    // Ignored: requests that take longer are cut off.
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
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
