//! Saying what is waited for: a pipe that nobody reads or writes is no reason to stand still in silence.

use std::future::Future;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tokio::time::timeout;

use crate::base::printable::printable_line;

/// How long something may take before the user is told what is waited for.
const SILENCE: Duration = Duration::from_secs(1);

/// Does something, and says what is waited for if that takes longer than a second.
pub(super) fn announced<T>(what: &str, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, doing) = channel::<()>();
        scope.spawn(move || {
            if doing.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                announce(what);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Waits for something, and says so if it takes longer than a second.
pub(super) async fn awaited<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(result) = timeout(SILENCE, work.as_mut()).await {
        return result;
    }
    announce(what);
    work.await
}

/// Says what is waited for.
fn announce(what: &str) {
    // Nobody is there to be told if standard error is gone.
    let _ = writeln!(io::stderr(), "waiting for {}", printable_line(what));
}
