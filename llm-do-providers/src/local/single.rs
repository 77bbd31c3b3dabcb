//! Candle on one thread.
//!
//! candle splits every product over a pool of as many threads as there are cores, which meet at spin barriers: on a
//! busy machine they wait for each other longer than they work, and a token takes a second. How many threads there
//! are can only be set in the environment, which safe code cannot change. But on a thread of that pool candle
//! computes in place, and so does rayon in a pool of one; there the work is put.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use candle_core::utils::barrier_pool;

/// The variables by which candle's number of threads is set; whoever sets one gets what they ask for.
const THREADS: [&str; 2] = ["CANDLE_NUM_THREADS", "RAYON_NUM_THREADS"];

/// Runs `work` and waits for it; returns what it panicked with, if it did.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    let caught = || catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words(panic.as_ref()));
    if THREADS.iter().any(|name| std::env::var_os(name).is_some()) {
        return caught();
    }
    if barrier_pool().n_workers() == 0 {
        enter_pool_of_one();
        return caught();
    }
    in_place(caught)
}

/// Runs `work`, which must not panic, on the first thread of candle's pool while this one sleeps.
fn in_place<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let pool = barrier_pool();
    let (done, finished) = channel();
    let task = Mutex::new(Some((work, done)));
    let finished = Mutex::new(finished);
    let outcome = Mutex::new(None);
    pool.execute(|thread| {
        if thread == 0 {
            perform(&task, &outcome);
        } else if thread == pool.n_workers() {
            sleep_until(&finished);
        }
    });
    outcome.into_inner().ok().flatten().unwrap_or_else(|| Err("the work was not done".to_owned()))
}

/// Takes the work, does it, and lets go of the sender that the caller sleeps on.
fn perform<T, W: FnOnce() -> T>(task: &Mutex<Option<(W, Sender<()>)>>, outcome: &Mutex<Option<T>>) {
    let taken = task.lock().ok().and_then(|mut task| task.take());
    let Some((work, done)) = taken else { return };
    enter_pool_of_one();
    let value = work();
    if let Ok(mut outcome) = outcome.lock() {
        *outcome = Some(value);
    }
    drop(done);
}

/// Sleeps until the work is done; the pool itself would spin.
fn sleep_until(finished: &Mutex<Receiver<()>>) {
    if let Ok(finished) = finished.lock() {
        let _ = finished.recv();
    }
}

/// Makes this thread a rayon pool of its own, once.
fn enter_pool_of_one() {
    if rayon::current_thread_index().is_none() {
        // A failure leaves rayon's global pool in use: slower on a busy machine, and otherwise the same.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    }
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn what_is_returned_comes_back() {
        assert_eq!(run(|| 3), Ok(3));
    }

    #[test]
    fn a_panic_is_an_error_and_leaves_the_pool_usable() {
        assert_eq!(run(|| panic!("{}", "dividing by nothing")), Err::<(), _>("dividing by nothing".to_owned()));
        assert_eq!(run(|| 4), Ok(4));
    }

    #[test]
    fn rayon_has_one_thread_in_it() {
        assert_eq!(run(rayon::current_num_threads), Ok(1));
    }
}
