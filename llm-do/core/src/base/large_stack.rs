//! Threads with a large stack, for work that recurses deeper than the stack of an async thread allows.

use std::{io, thread};

/// Runs `work` on a new thread with a stack of `bytes`, and waits for it; the inner error is the payload of a panic.
///
/// # Errors
///
/// Returns an error if the thread cannot be started.
pub(crate) fn on_large_stack<T: Send>(
    name: &str,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> io::Result<thread::Result<T>> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name(name.to_owned()).stack_size(bytes).spawn_scoped(scope, work)?;
        Ok(thread.join())
    })
}
