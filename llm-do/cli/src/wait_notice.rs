//! Notices on standard error about long waits, such as for a pipe without a reader or writer.

use std::future::Future;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use tokio::time::timeout;

use llm_do_core::base::printable::printable_line;

/// The time before a wait is reported.
const NOTICE_AFTER: Duration = Duration::from_secs(1);

/// Runs `work`, and reports the wait if it takes longer than a second.
pub(super) fn with_wait_notice<T>(what: &str, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, working) = channel::<()>();
        scope.spawn(move || {
            if working.recv_timeout(NOTICE_AFTER) == Err(RecvTimeoutError::Timeout) {
                report_wait(what);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Awaits `work`, and reports the wait if it takes longer than a second.
pub(super) async fn await_with_notice<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    if let Ok(result) = timeout(NOTICE_AFTER, work.as_mut()).await {
        return result;
    }
    report_wait(what);
    work.await
}

/// Reports a wait.
fn report_wait(what: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "waiting for {}", printable_line(what));
}
