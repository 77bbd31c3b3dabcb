//! Runs candle on a single thread.
//!
//! candle distributes every matrix product over a pool with one thread per core, and these threads meet at spin
//! barriers: on a busy machine they wait longer than they compute, and a token can take a second. The number of
//! threads can only be set in the environment, which safe code cannot change. On a thread of that pool, however,
//! candle computes in place, and so does rayon in a pool with one thread; so the work runs there.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use candle_core::utils::barrier_pool;

/// The environment variables for candle's number of threads. If one is set, it is respected.
const THREAD_VARIABLES: [&str; 2] = ["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"];

/// Runs `work` and waits for it; returns the panic message if it panics.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let run_caught = || catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(panic.as_ref()));
    if THREAD_VARIABLES.iter().any(|name| std::env::var_os(name).is_some()) {
        return run_caught();
    }
    if barrier_pool().n_workers() == 0 {
        enter_single_thread_pool();
        return run_caught();
    }
    run_in_pool(run_caught)
}

/// Runs `work`, which must not panic, on the first thread of candle's pool; this thread sleeps meanwhile.
fn run_in_pool<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let pool = barrier_pool();
    let (done, finished) = channel();
    let task = Mutex::new(Some((work, done)));
    let finished = Mutex::new(finished);
    let outcome = Mutex::new(None);
    pool.execute(|thread| {
        if thread == 0 {
            run_task(&task, &outcome);
        } else if thread == pool.n_workers() {
            wait_for(&finished);
        }
    });
    outcome.into_inner().ok().flatten().unwrap_or_else(|| Err("the worker thread did not run the task".to_owned()))
}

/// Takes the work, runs it, and drops the sender that the caller waits for.
fn run_task<T, W: FnOnce() -> T>(task: &Mutex<Option<(W, Sender<()>)>>, outcome: &Mutex<Option<T>>) {
    let taken = task.lock().ok().and_then(|mut task| task.take());
    let Some((work, done)) = taken else { return };
    enter_single_thread_pool();
    let value = work();
    if let Ok(mut outcome) = outcome.lock() {
        *outcome = Some(value);
    }
    drop(done);
}

/// Sleeps until the work is done; the pool itself would spin.
fn wait_for(finished: &Mutex<Receiver<()>>) {
    if let Ok(finished) = finished.lock() {
        let _ = finished.recv();
    }
}

/// Makes this thread a rayon pool of its own, once.
fn enter_single_thread_pool() {
    if rayon::current_thread_index().is_none() {
        // On failure rayon's global pool stays in use: slower on a busy machine, but correct.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    }
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn the_result_is_returned() {
        assert_eq!(run(|| 3), Ok(3));
    }

    #[test]
    fn a_panic_is_an_error_and_leaves_the_pool_usable() {
        assert_eq!(run(|| panic!("{}", "division by zero")), Err::<(), _>("division by zero".to_owned()));
        assert_eq!(run(|| 4), Ok(4));
    }

    #[test]
    fn rayon_has_one_thread() {
        assert_eq!(run(rayon::current_num_threads), Ok(1));
    }
}
