//! How much work a client does, and doing it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::figures::{Figures, cpu_time, peak_memory};

/// How much work a client does.
#[derive(Clone, Debug, clap::Args)]
pub struct Load {
    /// How many pieces of work a client does in a round, after a tenth as many to warm up. Default: what takes a second or so.
    #[arg(long)]
    pub count: Option<u32>,
    /// How many of them at a time.
    #[arg(long, default_value_t = 64)]
    pub at_a_time: u32,
    /// How many threads the client's runtime has; of one, no time goes to looking for work.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
}

impl Load {
    /// The options that say the same.
    #[must_use]
    pub fn args(&self) -> Vec<String> {
        let Self { count, at_a_time, threads } = self;
        let count = count.map(|count| format!("--count={count}"));
        count.into_iter().chain([format!("--at-a-time={at_a_time}"), format!("--threads={threads}")]).collect()
    }
}

/// Returns what `work` took: its CPU time for each, `usual` of them unless the load says how many.
///
/// # Panics
///
/// Panics if the work does, or if there can be no runtime.
pub fn measure<W, F>(load: &Load, usual: u32, prepare: impl FnOnce() -> W) -> Figures
where
    W: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut builder = match load.threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let tokio = builder.worker_threads(load.threads).enable_all().build().expect("a runtime of tokio");
    tokio.block_on(async {
        let (work, count) = (prepare(), load.count.unwrap_or(usual));
        repeat(&work, count / 10, load.at_a_time).await;
        let begun = cpu_time();
        repeat(&work, count, load.at_a_time).await;
        let cpu = cpu_time().saturating_sub(begun).as_secs_f64() * 1e6 / f64::from(count);
        Figures { cpu, peak: peak_memory() }
    })
}

/// Does `work` `count` times, so many `at_a_time`.
async fn repeat<W, F>(work: &W, count: u32, at_a_time: u32)
where
    W: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let left = Arc::new(AtomicU32::new(count));
    let mut tasks = JoinSet::new();
    for _ in 0..at_a_time {
        let (work, left) = (work.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                work().await;
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.expect("a piece of work");
    }
}
