//! Saying what is waited for: a pipe that nobody reads or writes is no reason to stand still in silence.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::printable::printable_line;

/// How long something may take before the user is told what is waited for.
pub(super) const SILENCE: Duration = Duration::from_secs(1);

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

/// Says what is waited for.
pub(super) fn announce(what: &str) {
    // Nobody is there to be told if standard error is gone.
    let _ = writeln!(io::stderr(), "waiting for {}", printable_line(what));
}
