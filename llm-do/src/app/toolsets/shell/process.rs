//! A command as a process group, which does not outlive the call.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

use super::fault::Fault;
use super::output::Output;
use crate::base::delay::within;

/// How long the output of a process that left the group is waited for, after the command ended.
const GRACE: Duration = Duration::from_millis(500);

/// What a command did: without a status, it was killed after its timeout.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: Option<ExitStatus>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end or to its timeout; all processes of its group are killed then, or when this is dropped.
pub(super) async fn run(
    mut command: Command,
    program: &Path,
    timeout: Duration,
    max_output: usize,
) -> Result<Finished, Fault> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Fault::NotFound(program.display().to_string()),
        _ => Fault::Start { program: program.display().to_string(), source },
    })?;
    let group = Group::of(&child);
    let (stdout, stderr) = (Output::new(max_output), Output::new(max_output));
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let status = {
        let reading = async { tokio::join!(stdout.read(out), stderr.read(err)) };
        let mut reading = std::pin::pin!(reading);
        let ended = async {
            tokio::select! {
                status = child.wait() => (status, false),
                _ = &mut reading => (child.wait().await, true),
            }
        };
        let ended = within(timeout, ended).await;
        // Processes that the command left behind may hold its output open.
        drop(group);
        if !matches!(ended, Some((_, true))) {
            within(GRACE, &mut reading).await;
        }
        ended.map(|(status, _)| status).transpose().map_err(Fault::Wait)?
    };
    Ok(Finished { status, stdout: stdout.text(), stderr: stderr.text() })
}

/// A process group, killed when this is dropped.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    fn of(child: &Child) -> Self {
        #[cfg(not(unix))]
        let _ = child;
        Self {
            #[cfg(unix)]
            leader: child.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?)),
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            // An error means that no process is left.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
