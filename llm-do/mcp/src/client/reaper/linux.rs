//! Both sides of a reaper: the command that starts it, and its process.

mod process;

use std::env;
use std::ffi::OsStr;
use std::io::{self, PipeWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use tokio::process::Command;

use llm_do_core::base::inherited_files;

/// The variable with the number of the pipe, which makes a process a reaper.
const VARIABLE: &str = "LLM_DO_REAPER";
/// This program, also after its file was replaced.
const PROGRAM: &str = "/proc/self/exe";
/// What a reaper calls itself, so that ending all processes with this program's name spares it.
const NAME: &str = "mcp-reaper";
/// The exit code of a reaper that cannot start the program, as that of a shell.
const NOT_STARTED: i32 = 127;
/// Where programs are found without `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Whether this program can be started as a reaper.
static IS_PREPARED: AtomicBool = AtomicBool::new(false);

/// Keeps a server running until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Lease {
    _open: PipeWriter,
}

/// Becomes a reaper if the process was started as one.
pub(super) fn run() {
    let Some(number) = env::var_os(VARIABLE) else {
        IS_PREPARED.store(true, Ordering::Relaxed);
        return;
    };
    let code = process::reap(Path::new(&number)).unwrap_or_else(|error| {
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "cannot start the program: {error}");
        NOT_STARTED
    });
    std::process::exit(code)
}

/// Returns the command of a server's program, with a reaper if this program can be one.
pub(in super::super) fn command(program: &OsStr) -> Command {
    if !is_available() {
        return Command::new(program);
    }
    let mut command = Command::new(PROGRAM);
    command.arg0(NAME).arg(program);
    command
}

/// Lets the reaper of a complete command run as long as the result is kept; `None` if it has none.
///
/// # Errors
///
/// Returns an error if the program does not exist or cannot be executed: only the reaper would notice.
pub(in super::super) fn lease(command: &mut Command) -> io::Result<Option<Lease>> {
    if !is_available() {
        return Ok(None);
    }
    check_program(command.as_std())?;
    let (read, write) = io::pipe()?;
    let number = inherited_files::limit(command.as_std_mut(), Some(OwnedFd::from(read).into()))?;
    let number = number.ok_or_else(|| io::Error::other("the pipe of the reaper is not open"))?;
    command.env(VARIABLE, number.to_string());
    Ok(Some(Lease { _open: write }))
}

fn is_available() -> bool {
    IS_PREPARED.load(Ordering::Relaxed) && Path::new(PROGRAM).exists()
}

/// Checks that the first argument is a program, found as `execvp` finds it.
fn check_program(command: &std::process::Command) -> io::Result<()> {
    let Some(program) = command.get_args().next() else { return Ok(()) };
    let mut fault = Errno::NOENT;
    for candidate in candidates(command, program) {
        match access(&candidate, Access::EXEC_OK) {
            Ok(()) if !candidate.is_dir() => return Ok(()),
            Ok(()) | Err(Errno::ACCESS) => fault = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(fault.into())
}

/// Returns where a program may be: in the folders of `PATH`, if its name is one word.
fn candidates(command: &std::process::Command, program: &OsStr) -> Vec<PathBuf> {
    let folder = command.get_current_dir().unwrap_or(Path::new(""));
    if program.as_bytes().contains(&b'/') {
        return vec![folder.join(program)];
    }
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let folders = env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH)));
    folders.map(|part| folder.join(part).join(program)).collect()
}
