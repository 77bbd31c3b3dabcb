//! One client: warms up, makes its runs so many at a time, and tells what CPU time each took.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::by_hand;
use crate::ours::{self, Place};

/// Whose runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Way {
    /// By hand.
    ByHand,
    /// By hand, with answers streamed.
    ByHandStreamed,
    /// By hand, the tool off the async threads.
    ByHandOffThread,
    /// llm-do, its tool inline.
    Ours,
    /// llm-do, its tool inline and answers streamed.
    OursStreamed,
    /// llm-do, its tool async.
    OursAsync,
    /// llm-do, its tool off the async threads.
    OursOffThread,
}

impl Way {
    /// The way by hand to compare this one with.
    pub(crate) fn opponent(self) -> Self {
        match self {
            Self::ByHandStreamed | Self::OursStreamed => Self::ByHandStreamed,
            Self::ByHandOffThread | Self::OursOffThread => Self::ByHandOffThread,
            Self::ByHand | Self::Ours | Self::OursAsync => Self::ByHand,
        }
    }
}

/// What one client does.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Load {
    /// How many runs a client makes in a round, after a tenth as many to warm up.
    #[arg(long, default_value_t = 6400)]
    pub(crate) runs: u32,
    /// How many of them at a time.
    #[arg(long, default_value_t = 64)]
    pub(crate) at_a_time: u32,
    /// How many threads the client's runtime has; of one, no time goes to looking for work.
    #[arg(long, default_value_t = 1)]
    pub(crate) threads: usize,
}

/// One side of the comparison, ready to run.
#[derive(Clone, Debug)]
pub(crate) enum Session {
    ByHand(Arc<by_hand::Session>),
    Ours(llm_do::prelude::Runtime, Place),
}

impl Session {
    /// Returns a session that asks the server at `base_url`.
    pub(crate) fn new(way: Way, base_url: &str) -> Self {
        let streaming = way.opponent() == Way::ByHandStreamed;
        let place = match way {
            Way::ByHand | Way::ByHandStreamed | Way::ByHandOffThread => {
                let off_thread = way == Way::ByHandOffThread;
                return Self::ByHand(by_hand::Session::new(base_url, streaming, off_thread));
            }
            Way::Ours | Way::OursStreamed => Place::Inline,
            Way::OursAsync => Place::Async,
            Way::OursOffThread => Place::OffThread,
        };
        Self::Ours(ours::session(base_url, streaming), place)
    }

    /// Makes one run.
    pub(crate) async fn run(&self) {
        let answer = match self {
            Self::ByHand(session) => session.run().await,
            Self::Ours(session, place) => ours::run(session, *place).await,
        };
        assert_eq!(answer, "The sum of all of them is 42.");
    }
}

/// Returns the CPU time of a run, in microseconds, user and system.
pub(crate) fn measure(way: Way, base_url: &str, load: &Load) -> f64 {
    let mut builder = match load.threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let tokio = builder.worker_threads(load.threads).enable_all().build().expect("a runtime of tokio");
    tokio.block_on(async {
        let session = Session::new(way, base_url);
        make(&session, load.runs / 10, load.at_a_time).await;
        let begun = cpu_time();
        make(&session, load.runs, load.at_a_time).await;
        (cpu_time().saturating_sub(begun) / load.runs).as_secs_f64() * 1e6
    })
}

/// Makes `runs`, so many `at_a_time`.
async fn make(session: &Session, runs: u32, at_a_time: u32) {
    let left = Arc::new(AtomicU32::new(runs));
    let mut tasks = JoinSet::new();
    for _ in 0..at_a_time {
        let (session, left) = (session.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                session.run().await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a run");
    }
}

/// The CPU time that this process took so far, in all threads.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().expect("a time since the start")
}
