//! Slow work on blocking threads.

use std::future::pending;
use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio_util::task::AbortOnDropHandle;

/// Runs `work` on a blocking thread, or in place outside a tokio runtime.
///
/// `work` receives a function that returns whether its result is still wanted. Once the future is dropped, that function
/// returns false, and work that has not started never runs.
pub(crate) async fn run_blocking<T: Send + 'static>(work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static) -> T {
    if Handle::try_current().is_err() {
        return work(&|| true);
    }
    let caller = Arc::new(());
    let is_wanted = Arc::downgrade(&caller);
    let done = AbortOnDropHandle::new(spawn_blocking(move || work(&|| is_wanted.strong_count() > 0))).await;
    drop(caller);
    match done {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The runtime is shutting down and will not poll this future again.
        Err(_) => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use futures_util::poll;

    use super::*;

    #[tokio::test]
    async fn work_sees_that_its_future_was_dropped() {
        let (started, has_started) = channel();
        let (resume, resumed) = channel();
        let (report, reported) = channel();
        let mut working = Box::pin(run_blocking(move |is_wanted| {
            started.send(is_wanted()).expect("the test receives");
            resumed.recv().expect("the test resumes the work");
            report.send(is_wanted()).expect("the test receives");
        }));
        assert!(poll!(&mut working).is_pending());
        assert_eq!(has_started.recv(), Ok(true));
        drop(working);
        resume.send(()).expect("the work receives");
        assert_eq!(reported.recv(), Ok(false));
    }

    #[test]
    fn work_is_done_in_place_without_tokio() {
        assert_eq!(futures_util::FutureExt::now_or_never(run_blocking(|is_wanted| is_wanted())), Some(true));
    }
}
