//! The load of a client, and its measurement.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::figures::{Figures, cpu_time, peak_memory};

/// The load of a client.
#[derive(Clone, Debug, clap::Args)]
pub struct Load {
    /// Number of operations in a round, after a tenth of that number as warm-up. The default takes about a second.
    #[arg(long)]
    pub count: Option<u32>,
    /// Number of concurrent operations.
    #[arg(long, default_value_t = 64)]
    pub concurrency: u32,
    /// Number of threads of the client's runtime; with 1, it is a current-thread runtime, without work stealing.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Make the operations without warm-up and without reading clocks, for a tool that counts.
    #[arg(long, hide = true)]
    pub untimed: bool,
}

impl Load {
    /// Returns the command-line options of this load.
    #[must_use]
    pub fn args(&self) -> Vec<String> {
        let Self { count, concurrency, threads, untimed } = self;
        let count = count.map(|count| format!("--count={count}"));
        let untimed = untimed.then(|| "--untimed".to_owned());
        let fixed = [format!("--concurrency={concurrency}"), format!("--threads={threads}")];
        count.into_iter().chain(fixed).chain(untimed).collect()
    }
}

/// Measures `work`: runs it `default_count` times, or as often as the load sets, and returns the CPU time of one operation.
///
/// # Panics
///
/// Panics if the work panics, or if no runtime can be built.
pub fn measure<W, F>(load: &Load, default_count: u32, prepare: impl FnOnce() -> W) -> Figures
where
    W: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let mut builder = match load.threads {
        1 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let tokio = builder.worker_threads(load.threads).enable_all().build().expect("a tokio runtime");
    tokio.block_on(async {
        let (work, count) = (prepare(), load.count.unwrap_or(default_count));
        if load.untimed {
            repeat(&work, count, load.concurrency).await;
            return Figures { cpu: f64::NAN, peak: f64::NAN };
        }
        repeat(&work, count / 10, load.concurrency).await;
        let begun = cpu_time();
        repeat(&work, count, load.concurrency).await;
        let cpu = cpu_time().saturating_sub(begun).as_secs_f64() * 1e6 / f64::from(count);
        Figures { cpu, peak: peak_memory() }
    })
}

/// Runs `work` `count` times, with at most `concurrency` operations in flight.
async fn repeat<W, F>(work: &W, count: u32, concurrency: u32)
where
    W: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let left = Arc::new(AtomicU32::new(count));
    let mut tasks = JoinSet::new();
    for _ in 0..concurrency {
        let (work, left) = (work.clone(), Arc::clone(&left));
        tasks.spawn(async move {
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
                work().await;
            }
        });
    }
    while let Some(finished) = tasks.join_next().await {
        finished.expect("an operation without a panic");
    }
}
