//! A command as a process group, which does not outlive the call.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process, kill_process_group, setpriority_process};
use tokio::process::Child;

use super::fault::Fault;
use super::output::Output;
use super::sandbox::{Confinement, Launch};
#[cfg(unix)]
use super::tree;
use super::watch::{self, Exceeded};
use crate::base::delay::within;

/// How long the output of a process that left the group is waited for, after the command ended.
const GRACE: Duration = Duration::from_millis(500);

/// The lowest priority of a process: see `setpriority(2)`.
#[cfg(unix)]
const LOWEST: i32 = 19;

/// How a command ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Exited(ExitStatus),
    TimedOut,
    Exceeded(Exceeded),
}

/// What a command did.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) end: End,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command to its end or to its timeout; all processes of its group are killed then, or when this is dropped.
pub(super) async fn run(
    launch: &Launch<'_>,
    confinement: Option<&Confinement>,
    timeout: Duration,
) -> Result<Finished, Fault> {
    let (settings, program) = (launch.settings, &launch.words[0]);
    let started = launch.start(confinement, |command| {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
    });
    let mut child = started.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Fault::NotFound(program.clone()),
        _ => Fault::Start { program: program.clone(), source },
    })?;
    let group = Group::of(&child);
    let (stdout, stderr) = (Output::new(settings.max_output), Output::new(settings.max_output));
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (leader, has_namespace) = (child.id(), matches!(confinement, Some(Confinement::Bwrap(_))));
    let end = {
        let reading = async { tokio::join!(stdout.read(out), stderr.read(err)) };
        let mut reading = std::pin::pin!(reading);
        let ended = async {
            let exited = async {
                tokio::select! {
                    status = child.wait() => (status, false),
                    _ = &mut reading => (child.wait().await, true),
                }
            };
            tokio::select! {
                biased;
                (status, is_read) = exited => (status.map(End::Exited), is_read),
                exceeded = watch::exceeded(leader, has_namespace, settings.limits) => (Ok(End::Exceeded(exceeded)), false),
            }
        };
        let (end, is_read) = within(timeout, ended).await.unwrap_or((Ok(End::TimedOut), false));
        // Processes that the command left behind may hold its output open.
        drop(group);
        if !is_read {
            within(GRACE, &mut reading).await;
        }
        end.map_err(Fault::Wait)?
    };
    Ok(Finished { end, stdout: stdout.text(), stderr: stderr.text() })
}

/// How many processes are killed one by one; those of a namespace end with the first of it.
#[cfg(unix)]
const KILLED: usize = 16;

/// A process group with the nearest descendants of its leader, killed when this is dropped.
#[derive(Debug)]
struct Group {
    #[cfg(unix)]
    leader: Option<u32>,
}

impl Group {
    /// Returns the group of a command that has started, and lowers its priority, so that the processes that watch it get time.
    fn of(child: &Child) -> Self {
        #[cfg(unix)]
        if let Some(leader) = child.id().and_then(pid) {
            // An error means that it has ended.
            let _ = setpriority_process(Some(leader), LOWEST);
        }
        #[cfg(not(unix))]
        let _ = child;
        Self {
            #[cfg(unix)]
            leader: child.id(),
        }
    }
}

#[cfg(unix)]
fn pid(id: u32) -> Option<Pid> {
    Pid::from_raw(id.try_into().ok()?)
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        let Some(leader) = self.leader else { return };
        // Before the leader is killed, while they are its descendants. The first process of a sandbox has a session of its own, and
        // survives the end of `bwrap` if it has not asked yet to be killed with it.
        let family = tree::descendants(leader, KILLED);
        // An error means that no process is left.
        if let Some(leader) = pid(leader) {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        for process in family.iter().filter_map(|process| pid(process.id)) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}
