//! The limits of a script.

use std::time::Duration;

use monty_types::ResourceLimits;

/// The maximum size of a script, in bytes: within it, no source overflows the stack of its thread.
pub(crate) const MAX_SOURCE: usize = 64 * 1024;
/// The stack of the threads on which scripts are read, checked and run, in bytes; only the used part takes memory.
pub(super) const STACK: usize = 64 * 1024 * 1024;
/// The maximum time that the interpreter works for one call, without the calls that it waits for.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(10);
/// The maximum size of one value of a script, and the maximum growth of the process while the interpreter works, in
/// bytes.
pub(super) const MAX_MEMORY: usize = 512 * 1024 * 1024;
/// The maximum size of the process that runs the code of models, in bytes.
pub(super) const MAX_PROCESS: u64 = 768 * 1024 * 1024;
/// The maximum number of calls that one call of a script makes.
pub(super) const MAX_CALLS: usize = 1000;
/// The maximum depth of nested functions of a script.
pub(super) const MAX_RECURSION: usize = 200;
/// The maximum size of the output of one call of a script, in bytes.
pub(super) const MAX_PRINTED: usize = 256 * 1024;
/// The maximum size of the result as JSON, in bytes.
pub(super) const MAX_RESULT: usize = 16 * 1024 * 1024;

/// The maximum size of the arguments of one call, as JSON, in bytes.
pub(super) const MAX_ARGUMENTS: usize = 16 * 1024 * 1024;
/// The maximum size of one message of the process that runs the code of models, in bytes: the pending calls, or the
/// result.
pub(super) const MAX_LINE: usize = 20 * 1024 * 1024;

/// Returns the limits that the interpreter checks.
pub(super) fn of_interpreter() -> ResourceLimits {
    ResourceLimits::default()
        .max_duration(MAX_TIME)
        .max_memory(MAX_MEMORY)
        .max_recursion_depth(MAX_RECURSION)
        .max_suspensions(MAX_CALLS)
}
