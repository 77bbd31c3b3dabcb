//! Watches the number of processes and the memory of a command, since the system has no limit for a tree of processes.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_timer::Delay;
use llm_do_core::base::delay::within;

use super::tree::{self, CommandProcess};

/// The interval between counts of the processes of a namespace, which are fast.
const OFTEN: Duration = Duration::from_millis(20);

/// The interval between searches of all processes for those of a command.
const SELDOM: Duration = Duration::from_millis(100);

/// The interval between counts of the threads of the system, which are faster.
const GLANCE: Duration = Duration::from_millis(10);

/// The interval between checks of killed processes.
const ENDING: Duration = Duration::from_millis(2);

/// The maximum number of threads for each permitted process.
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

/// Waits until the processes of a command exceed a limit; forever if they cannot be counted.
///
/// `has_namespace` is whether they have their own process namespace, which they cannot leave.
pub(super) async fn exceeded(leader: Option<u32>, has_namespace: bool, limits: Limits) -> Exceeded {
    let Some(leader) = leader.filter(|_| cfg!(target_os = "linux")) else { return std::future::pending().await };
    let files = AtomicU64::new(0);
    tokio::select! {
        exceeded = count(leader, has_namespace, limits, &files) => exceeded,
        never = measure_files(leader, has_namespace, limits, &files) => match never {},
    }
}

/// Measures the in-memory files that a command has open, separately, since many open files take long to read.
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

/// Waits until the next search of the processes of a group. If the system has many more threads meanwhile, the wait
/// ends early and the group is stopped, since multiplying processes would be faster than the search.
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
pub(super) async fn family(leader: Option<u32>, has_namespace: bool, limit: usize) -> Vec<CommandProcess> {
    let Some(leader) = leader else { return Vec::new() };
    let list = move || if has_namespace { tree::descendants(leader, limit) } else { tree::group(leader) };
    tokio::task::spawn_blocking(list).await.unwrap_or_default()
}

/// Waits until processes have ended, except for zombies; for at most `at_most`.
pub(super) async fn ended(family: Vec<CommandProcess>, at_most: Duration) {
    let all_ended = async {
        while family.iter().any(|process| tree::runs(process.id)) {
            Delay::new(ENDING).await;
        }
    };
    within(at_most, all_ended).await;
}
