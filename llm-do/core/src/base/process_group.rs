//! A program as a process group, which does not outlive its owner.

use std::num::NonZeroU32;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How many processes are killed one by one, besides the group.
#[cfg(unix)]
const KILLED: usize = 16;

/// How many threads are searched for children.
#[cfg(target_os = "linux")]
const MAX_THREADS: usize = 10_000;

/// A process group with the nearest descendants of its leader, killed when this is dropped.
///
/// Does nothing where there are no process groups.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    #[cfg_attr(not(unix), expect(dead_code, reason = "groups are killed on Unix alone"))]
    leader: Option<NonZeroU32>,
}

impl ProcessGroup {
    /// Takes the group of a process that was started as its leader.
    pub(crate) fn of(leader: Option<u32>) -> Self {
        Self { leader: leader.and_then(NonZeroU32::new) }
    }

    /// Returns the leader.
    #[cfg(unix)]
    pub(crate) fn leader(&self) -> Option<Pid> {
        Pid::from_raw(self.leader?.get().try_into().ok()?)
    }

    /// Asks all processes of the group to end.
    #[cfg(all(unix, feature = "mcp"))]
    pub(crate) fn terminate(&self) {
        if let Some(leader) = self.leader() {
            // An error means that no process is left.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let Some(leader) = self.leader() else { return };
        // Before the leader is killed, while they are its descendants: some of them may have left the group.
        let family = descendants(leader, KILLED);
        // An error means that no process is left.
        let _ = kill_process_group(leader, Signal::KILL);
        for process in family {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Returns descendants of a process, itself included: at most `limit`, nearest first. None where the system does not list them.
#[cfg(target_os = "linux")]
pub(crate) fn descendants(leader: Pid, limit: usize) -> Vec<Pid> {
    let mut found = vec![leader];
    let (mut next, mut threads) = (0, 0);
    // Stops early: a fork bomb has more than can be read.
    while next < found.len() && found.len() < limit && threads < MAX_THREADS {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", found[next].as_raw_nonzero()));
        // Each thread has children of its own.
        for task in tasks.into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)));
            threads += 1;
        }
        next += 1;
    }
    found.truncate(limit);
    found
}

#[cfg(all(unix, not(target_os = "linux")))]
fn descendants(_: Pid, _: usize) -> Vec<Pid> {
    Vec::new()
}
