//! Watches how many processes and how much memory a command uses: no limit of the system holds for a tree of processes.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_timer::Delay;

use super::tree::{self, Process};
use crate::base::delay::within;

/// How often the processes of a namespace are counted, which is quick.
const OFTEN: Duration = Duration::from_millis(20);

/// How often all processes are searched for those of a command.
const SELDOM: Duration = Duration::from_millis(100);

/// How often the threads of the whole system are counted, which is quicker.
const GLANCE: Duration = Duration::from_millis(10);

/// How often killed processes are looked for.
const ENDING: Duration = Duration::from_millis(2);

/// How many threads a command may have for each process that it may have.
const THREADS: usize = 8;

/// The limits of a command with all its processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) processes: usize,
    /// In bytes.
    pub(super) memory: u64,
}

/// A limit that a command exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    Processes(usize),
    Threads(usize),
    Memory(u64),
}

/// Waits until the processes of a command exceed a limit; forever where they cannot be counted.
///
/// `has_namespace` is whether they have their own namespace of processes, which none leaves.
pub(super) async fn exceeded(leader: Option<u32>, has_namespace: bool, limits: Limits) -> Exceeded {
    let Some(leader) = leader.filter(|_| cfg!(target_os = "linux")) else { return std::future::pending().await };
    let files = AtomicU64::new(0);
    tokio::select! {
        exceeded = count(leader, has_namespace, limits, &files) => exceeded,
        never = measure_files(leader, has_namespace, limits, &files) => match never {},
    }
}

/// Keeps the size of the files in memory that a command has open: apart, since many open files take long to read.
async fn measure_files(leader: u32, has_namespace: bool, limits: Limits, files: &AtomicU64) -> Infallible {
    loop {
        let start = Instant::now();
        let family = family(Some(leader), has_namespace, limits.processes.saturating_add(1)).await;
        let size = tokio::task::spawn_blocking(move || tree::files_in_memory(&family)).await;
        files.store(size.unwrap_or_default(), Ordering::Relaxed);
        Delay::new(SELDOM.max(start.elapsed())).await;
    }
}

async fn count(leader: u32, has_namespace: bool, limits: Limits, files: &AtomicU64) -> Exceeded {
    let most_threads = limits.processes.saturating_mul(THREADS);
    loop {
        let family = family(Some(leader), has_namespace, limits.processes.saturating_add(1)).await;
        if family.len() > limits.processes {
            return Exceeded::Processes(limits.processes);
        }
        if family.iter().map(|process| process.threads).sum::<usize>() > most_threads {
            return Exceeded::Threads(most_threads);
        }
        let used = family.iter().map(|process| process.memory).sum::<u64>();
        if used.saturating_add(files.load(Ordering::Relaxed)) > limits.memory {
            return Exceeded::Memory(limits.memory);
        }
        if has_namespace {
            Delay::new(OFTEN).await;
        } else {
            tree::resume(leader);
            pause(leader, limits.processes).await;
        }
    }
}

/// Waits until the processes of a group are searched for again. If the system has many more meanwhile, this ends early and the
/// group is stopped: processes that multiply would be faster than the search.
async fn pause(leader: u32, most: usize) {
    let before = tree::threads_of_system();
    let mut left = SELDOM;
    while !left.is_zero() {
        Delay::new(GLANCE).await;
        left = left.saturating_sub(GLANCE);
        if tree::threads_of_system() > before.saturating_add(most) {
            return tree::stop(leader);
        }
    }
}

/// Returns the processes of a command: with a namespace, at most `limit`.
pub(super) async fn family(leader: Option<u32>, has_namespace: bool, limit: usize) -> Vec<Process> {
    let Some(leader) = leader else { return Vec::new() };
    let list = move || if has_namespace { tree::descendants(leader, limit) } else { tree::group(leader) };
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// Waits until processes have ended, but for those that nothing waits for; at most for some time.
pub(super) async fn ended(family: Vec<Process>, at_most: Duration) {
    let all_ended = async {
        while family.iter().any(|process| tree::runs(process.id)) {
            Delay::new(ENDING).await;
        }
    };
    within(at_most, all_ended).await;
}
