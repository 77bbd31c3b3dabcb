//! Timeouts that work in every async runtime.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_timer::Delay;
use futures_util::future::{Either, pending, select};

/// Waits for `future` for at most `limit` of real time; returns `None` if it takes longer.
///
/// It does not use tokio's timers, which a runtime may not have enabled, or its threads, which may all be busy.
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let late = async {
        match Instant::now().checked_add(limit) {
            Some(_) => Delay::new(limit).await,
            // The limit is longer than the clock can represent.
            None => pending().await,
        }
    };
    match select(pin!(future), pin!(late)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

/// Waits for `delay` of real time.
pub(crate) async fn sleep(delay: Duration) {
    Delay::new(delay).await;
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::within;

    #[test]
    fn a_timeout_works_without_tokio_timers() {
        let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(tokio.block_on(within(Duration::from_millis(1), pending::<()>())), None);
        assert_eq!(tokio.block_on(within(Duration::ZERO, ready(1))), Some(1));
        assert_eq!(tokio.block_on(within(Duration::MAX, tokio::task::yield_now())), Some(()));
    }
}
