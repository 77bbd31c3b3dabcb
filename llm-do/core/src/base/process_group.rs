//! Process groups of programs that must not outlive their owner.

use std::num::NonZeroU32;

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The maximum number of processes that are killed one by one, in addition to the group.
#[cfg(unix)]
const KILLED: usize = 16;

/// The maximum number of threads that are searched for children.
#[cfg(target_os = "linux")]
const MAX_THREADS: usize = 10_000;

/// A process group with the nearest descendants of its leader, killed when this is dropped.
///
/// Without effect on systems without process groups.
#[derive(Debug)]
pub struct ProcessGroup {
    #[cfg_attr(not(unix), expect(dead_code, reason = "groups are killed on Unix alone"))]
    leader: Option<NonZeroU32>,
}

impl ProcessGroup {
    /// Takes ownership of the group of a process that was started as its leader.
    pub fn led_by(leader: Option<u32>) -> Self {
        Self { leader: leader.and_then(NonZeroU32::new) }
    }

    /// Returns the leader.
    #[cfg(unix)]
    pub(crate) fn leader(&self) -> Option<Pid> {
        Pid::from_raw(self.leader?.get().try_into().ok()?)
    }

    /// Requests all processes of the group to exit.
    #[cfg(unix)]
    pub fn terminate(&self) {
        if let Some(leader) = self.leader() {
            // An error means that all processes have ended.
            let _ = kill_process_group(leader, Signal::TERM);
        }
    }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let Some(leader) = self.leader() else { return };
        // Searched before the leader is killed, while they are its descendants; some may have left the group.
        let family = descendants(leader, KILLED);
        // An error means that all processes have ended.
        let _ = kill_process_group(leader, Signal::KILL);
        for process in family {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

/// Returns the nearest descendants of a process, including itself, at most `limit`. Empty if the system does not list
/// them.
#[cfg(target_os = "linux")]
#[must_use]
pub fn descendants(leader: Pid, limit: usize) -> Vec<Pid> {
    let mut found = vec![leader];
    let (mut next, mut threads) = (0, 0);
    // Limited, since a fork bomb has more processes than can be read.
    while next < found.len() && found.len() < limit && threads < MAX_THREADS {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", found[next].as_raw_nonzero()));
        // Each thread has its own children.
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
