//! Threads with a large stack: the parser, the checker and the interpreter follow nested source by recursion.

use super::limits::STACK;
use crate::base::large_stack;

/// Runs `work` on a thread with a large stack, and waits for it; a panic is an error.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let result = large_stack::on_large_stack("script", STACK, work);
    let result = result.map_err(|error| format!("cannot start a thread for the script: {error}"))?;
    result.map_err(|_| "the script could not be read: its reader panicked".to_owned())
}
