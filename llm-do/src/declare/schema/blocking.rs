//! Work that may take long, off the async threads.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio_util::task::AbortOnDropHandle;

/// Does `work` on a thread for blocking code, and in place where tokio has none.
///
/// Once the future is dropped, work that has not begun never does, and the function that `work` is given returns false.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static) -> T {
    if Handle::try_current().is_err() {
        return work(&|| true);
    }
    let waiting = Arc::new(());
    let waits = Arc::downgrade(&waiting);
    let done = AbortOnDropHandle::new(spawn_blocking(move || work(&|| waits.strong_count() > 0))).await;
    drop(waiting);
    match done {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The runtime shuts down: nothing is polled again.
        Err(_) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn work_learns_that_nobody_waits_for_it() {
        let (begun, has_begun) = channel();
        let (go_on, goes_on) = channel();
        let (tell, told) = channel();
        let mut working = Box::pin(apart(move |is_wanted| {
            begun.send(is_wanted()).expect("the test waits");
            goes_on.recv().expect("the test goes on");
            tell.send(is_wanted()).expect("the test waits");
        }));
        assert!(poll!(&mut working).is_pending());
        assert_eq!(has_begun.recv(), Ok(true));
        drop(working);
        go_on.send(()).expect("the work waits");
        assert_eq!(told.recv(), Ok(false));
    }

    #[test]
    fn work_is_done_in_place_without_tokio() {
        assert_eq!(futures_util::FutureExt::now_or_never(apart(|is_wanted| is_wanted())), Some(true));
    }
}
