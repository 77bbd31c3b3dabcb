//! The processes of a command, if the system lists them.

/// A process of a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandProcess {
    pub(super) id: u32,
    pub(super) threads: usize,
    /// In bytes.
    pub(super) memory: u64,
}

/// Returns descendants of a process, including the process: at most `limit`, nearest first. Empty if the system does
/// not list them.
///
/// Descendants whose parents have ended are missing, unless the process has its own process namespace.
#[cfg(not(target_os = "linux"))]
pub(super) fn descendants(_: u32, _: usize) -> Vec<CommandProcess> {
    Vec::new()
}

/// Returns the processes of a group, and their descendants.
#[cfg(not(target_os = "linux"))]
pub(super) fn group(_: u32) -> Vec<CommandProcess> {
    Vec::new()
}

/// Returns the size of the in-memory files that processes have open, in bytes, each file once; 0 if it is unknown.
#[cfg(not(target_os = "linux"))]
pub(super) fn files_in_memory(_: &[CommandProcess]) -> u64 {
    0
}

/// Returns whether a process runs; `false` if the system does not list processes.
#[cfg(not(target_os = "linux"))]
pub(super) fn runs(_: u32) -> bool {
    false
}

/// Returns the number of threads of the system; 0 if it is unknown.
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
pub(super) use self::linux::{descendants, files_in_memory, group, resume, runs, stop, threads_of_system};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    use std::path::PathBuf;

    use llm_do_core::base::process_group;
    use rustix::process::{Pid, Signal, kill_process_group};

    use super::CommandProcess;

    /// The unit of the blocks of a file, in bytes.
    const BLOCK: u64 = 512;

    pub(in super::super) fn descendants(leader: u32, limit: usize) -> Vec<CommandProcess> {
        let Some(leader) = leader.try_into().ok().and_then(Pid::from_raw) else { return Vec::new() };
        let ids = process_group::descendants(leader, limit).into_iter();
        ids.filter_map(|id| Some(listed(id.as_raw_nonzero().get().try_into().ok()?)?.process)).collect()
    }

    /// A process with its place in the tree.
    struct TreeEntry {
        process: CommandProcess,
        parent: u32,
        group: u32,
    }

    pub(in super::super) fn group(leader: u32) -> Vec<CommandProcess> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut rest: Vec<_> = entries.filter_map(|entry| listed(entry.file_name().to_str()?.parse().ok()?)).collect();
        let (mut known, mut family) = (BTreeSet::from([leader]), Vec::new());
        loop {
            let is_member =
                |it: &TreeEntry| it.group == leader || known.contains(&it.process.id) || known.contains(&it.parent);
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
        let has_ended = stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
        // Other threads may continue after the main thread has ended.
        !has_ended || listed(id).is_some_and(|listed| listed.process.threads > 1)
    }

    pub(in super::super) fn files_in_memory(family: &[CommandProcess]) -> u64 {
        let mut found = BTreeMap::new();
        for process in family {
            // The main thread has no open files once it has ended.
            let tasks = threads(process.id).map(|task| fs::read_dir(task.join("fd")).into_iter().flatten().flatten());
            let files = tasks.map(Iterator::collect::<Vec<_>>).find(|files| !files.is_empty());
            for file in files.into_iter().flatten().map(|file| file.path()) {
                let is_memory = |name: PathBuf| name.as_os_str().as_bytes().starts_with(b"/memfd:");
                // The size of other files is not read, since a server may have to be asked for it.
                if fs::read_link(&file).is_ok_and(is_memory)
                    && let Ok(facts) = fs::metadata(&file)
                {
                    found.insert((facts.dev(), facts.ino()), facts.blocks() * BLOCK);
                }
            }
        }
        found.values().sum()
    }

    /// Returns the folders of the threads of a process, the main thread first.
    fn threads(id: u32) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten().map(|task| task.path())
    }

    /// Returns the pages of a process whose main thread has ended, from another thread, which shares them.
    fn pages_of_threads(id: u32) -> Option<u64> {
        threads(id).find_map(|task| {
            let statm = fs::read_to_string(task.join("statm")).ok()?;
            statm.split_whitespace().nth(1)?.parse().ok().filter(|pages| *pages > 0)
        })
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
    fn listed(id: u32) -> Option<TreeEntry> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name may contain spaces and brackets.
        let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let [parent, group, threads, pages] = [number(1)?, number(2)?, number(17)?, number(21)?];
        let pages = if pages == 0 && threads > 1 { pages_of_threads(id).unwrap_or_default() } else { pages };
        let memory = pages * u64::try_from(rustix::param::page_size()).ok()?;
        let process = CommandProcess { id, threads: usize::try_from(threads).ok()?, memory };
        Some(TreeEntry { process, parent: u32::try_from(parent).ok()?, group: u32::try_from(group).ok()? })
    }
}
