//! Threads with a large stack: the parser, the checker and the interpreter follow nested source by recursion.

use std::thread;

use super::limits::STACK;

/// Runs `work` on a thread with a large stack, and waits for it; a panic is an error.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("script".to_owned()).stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| format!("cannot start a thread for the script: {error}"))?;
        thread.join().map_err(|_| "the script could not be read: its reader panicked".to_owned())
    })
}
