//! The processes of a command, where the system lists them.

/// A process of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) id: u32,
    /// In bytes.
    pub(super) memory: u64,
}

/// Returns descendants of a process, itself included: at most `limit`, nearest first. None where the system does not list them.
///
/// Those whose parents have ended are missing, unless the process has its own namespace of processes.
#[cfg(not(target_os = "linux"))]
pub(super) fn descendants(_: u32, _: usize) -> Vec<Process> {
    Vec::new()
}

/// Returns the processes of a group, and their descendants.
#[cfg(not(target_os = "linux"))]
pub(super) fn group(_: u32) -> Vec<Process> {
    Vec::new()
}

/// Returns whether a process runs; false where the system does not list them.
#[cfg(not(target_os = "linux"))]
pub(super) fn runs(_: u32) -> bool {
    false
}

/// Returns the number of threads of the system; 0 where it is unknown.
#[cfg(not(target_os = "linux"))]
pub(super) fn threads_of_system() -> usize {
    0
}

/// Stops the processes of a group until [`resume`].
#[cfg(not(target_os = "linux"))]
pub(super) fn stop(_: u32) {}

#[cfg(not(target_os = "linux"))]
pub(super) fn resume(_: u32) {}

#[cfg(target_os = "linux")]
pub(super) use self::linux::{descendants, group, resume, runs, stop, threads_of_system};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::fs;

    use rustix::process::{Pid, Signal, kill_process_group};

    use super::Process;

    pub(in super::super) fn descendants(leader: u32, limit: usize) -> Vec<Process> {
        let mut found = vec![leader];
        let mut next = 0;
        // Stops early: a fork bomb has more than can be read.
        while next < found.len() && found.len() < limit {
            let id = found[next];
            let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
            next += 1;
        }
        found.truncate(limit);
        found.into_iter().filter_map(|id| Some(listed(id)?.process)).collect()
    }

    /// A process with its place in the tree.
    struct Listed {
        process: Process,
        parent: u32,
        group: u32,
    }

    pub(in super::super) fn group(leader: u32) -> Vec<Process> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut rest: Vec<_> = entries.filter_map(|entry| listed(entry.file_name().to_str()?.parse().ok()?)).collect();
        let (mut known, mut family) = (BTreeSet::from([leader]), Vec::new());
        loop {
            let is_member =
                |it: &Listed| it.group == leader || known.contains(&it.process.id) || known.contains(&it.parent);
            let (members, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_member);
            if members.is_empty() {
                return family;
            }
            known.extend(members.iter().map(|member| member.process.id));
            family.extend(members.into_iter().map(|member| member.process));
            rest = others;
        }
    }

    pub(in super::super) fn runs(id: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    }

    /// Reads `/proc/loadavg`: see `proc_loadavg(5)`.
    pub(in super::super) fn threads_of_system() -> usize {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let threads = text.split_whitespace().nth(3).and_then(|field| field.split_once('/')?.1.parse().ok());
        threads.unwrap_or_default()
    }

    pub(in super::super) fn stop(leader: u32) {
        signal(leader, Signal::STOP);
    }

    pub(in super::super) fn resume(leader: u32) {
        signal(leader, Signal::CONT);
    }

    fn signal(leader: u32, signal: Signal) {
        if let Some(leader) = leader.try_into().ok().and_then(Pid::from_raw) {
            // An error means that no process is left.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Reads `/proc/PID/stat`: see `proc_pid_stat(5)`.
    fn listed(id: u32) -> Option<Listed> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name may contain spaces and brackets.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let [parent, group, pages] = [number(1)?, number(2)?, number(21)?];
        let memory = pages * u64::try_from(rustix::param::page_size()).ok()?;
        let process = Process { id, memory };
        Some(Listed { process, parent: u32::try_from(parent).ok()?, group: u32::try_from(group).ok()? })
    }
}
