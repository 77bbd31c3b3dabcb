//! The reaper of a server's program: this program again, as the parent of all that the server starts.
//!
//! It holds one end of a pipe whose other end its owner has. When that is closed, also because the owner was killed, it ends the
//! server with all descendants, also those in groups and sessions of their own. A signal at the parent's death, which the kernel can
//! send too, reaches the server alone, and depends on the thread that started it.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use self::linux::{Lease, command, lease};

/// Runs this process as the reaper of an MCP server's program, if it was started as one; it does not return then.
///
/// Call it first in `main`, before threads and output: then, on Linux, no server that is a program, and nothing that it has
/// started, outlives this process, even if this process is killed (`SIGKILL`). The program starts itself once more for each such
/// server. `llm_do::cli::main` calls it. Without it, a server ends with the connection, and a killed process leaves
/// those that ignore the end of their input. On other systems this does nothing.
///
/// # Examples
///
/// ```no_run,standalone_crate
/// llm_do::mcp::reaper_process();
/// // The program begins here.
/// ```
pub fn reaper_process() {
    #[cfg(target_os = "linux")]
    linux::run();
}

#[cfg(not(target_os = "linux"))]
pub(super) use self::other::{Lease, command, lease};

#[cfg(not(target_os = "linux"))]
mod other {
    use std::ffi::OsStr;
    use std::io;

    use tokio::process::Command;

    /// Keeps a reaper running, on Linux.
    #[derive(Debug)]
    pub(in super::super) enum Lease {}

    pub(in super::super) fn command(program: &OsStr) -> Command {
        Command::new(program)
    }

    #[expect(clippy::unnecessary_wraps, reason = "as on Linux")]
    pub(in super::super) fn lease(_: &mut Command) -> io::Result<Option<Lease>> {
        Ok(None)
    }
}
