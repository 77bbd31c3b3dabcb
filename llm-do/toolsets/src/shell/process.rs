//! A command as a process group, which ends with the call.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::FusedFuture;
use llm_do_core::base::delay::within;
#[cfg(target_os = "linux")]
use llm_do_core::base::process_group;
use llm_do_core::base::process_group::ProcessGroup;
#[cfg(unix)]
use rustix::process::{Pid, setpriority_process};
use tokio::process::Child;

use super::fault::Fault;
use super::output::Output;
use super::sandbox::{Confinement, Launch, Started};
use super::watch::{self, Exceeded};

/// The maximum wait for output of processes that left the group, after the command ended.
const GRACE: Duration = Duration::from_millis(500);

/// The maximum number of killed processes that are awaited, and the maximum wait.
const MAX_AWAITED: usize = 1024;
const AWAITED: Duration = Duration::from_secs(2);

/// The lowest priority of a process: see `setpriority(2)`.
#[cfg(unix)]
const LOWEST: i32 = 19;
/// The maximum number of processes of a command whose priority is lowered at its start.
#[cfg(target_os = "linux")]
const MAX_EARLY: usize = 64;

/// The end of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandEnd {
    Exited(ExitStatus),
    TimedOut,
    Exceeded(Exceeded),
}

/// The result of a command.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) end: CommandEnd,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a command until it ends or times out. All processes of its group are killed then, or on drop.
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
    let Started { mut child, leader: waiting } = started.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Fault::NotFound(program.clone()),
        _ => Fault::Start { program: program.clone(), source },
    })?;
    let leader = waiting.as_ref().unwrap_or(&child).id();
    let group = lowered(&child, leader);
    let (stdout, stderr) = (Output::new(settings.max_output), Output::new(settings.max_output));
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let has_namespace = matches!(confinement, Some(Confinement::Bwrap(_)));
    let end = {
        // A command may close its streams long before it ends.
        let reading = async { tokio::join!(stdout.read(out), stderr.read(err)) }.fuse();
        let mut reading = std::pin::pin!(reading);
        let ended = async {
            let exited = async {
                tokio::select! {
                    status = child.wait() => status,
                    _ = &mut reading => child.wait().await,
                }
            };
            tokio::select! {
                biased;
                status = exited => status.map(CommandEnd::Exited),
                exceeded = watch::exceeded(leader, has_namespace, settings.limits) => Ok(CommandEnd::Exceeded(exceeded)),
            }
        };
        let end = within(timeout, ended).await.unwrap_or(Ok(CommandEnd::TimedOut));
        // Once they are killed, the processes of a namespace no longer belong to its leader.
        let mut family = if has_namespace { watch::family(leader, true, MAX_AWAITED).await } else { Vec::new() };
        // Remaining processes of the command may keep its output open.
        drop(group);
        if confinement.is_some() && !has_namespace {
            // Only now, since this searches the whole system, in which multiplying processes would be faster.
            family = watch::family(leader, false, MAX_AWAITED).await;
        }
        // A killed process may still finish a system call.
        watch::ended(family, AWAITED).await;
        if !reading.is_terminated() {
            within(GRACE, &mut reading).await;
        }
        end.map_err(Fault::Wait)?
    };
    Ok(Finished { end, stdout: stdout.text(), stderr: stderr.text() })
}

/// Returns the group of a started command, and lowers its priority, so that the processes that watch it get time.
fn lowered(child: &Child, leader: Option<u32>) -> ProcessGroup {
    #[cfg(unix)]
    if let Some(child) = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?)) {
        let _ = setpriority_process(Some(child), LOWEST);
        // It may have started processes before.
        #[cfg(target_os = "linux")]
        for descendant in process_group::descendants(child, MAX_EARLY) {
            let _ = setpriority_process(Some(descendant), LOWEST);
        }
    }
    ProcessGroup::led_by(leader)
}
