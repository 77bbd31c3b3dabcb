//! Limits of time that do not depend on a tokio runtime.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_timer::Delay;
use futures_util::future::{Either, pending, select};

/// Waits for `future` for at most `limit` of the system's time; returns nothing if it takes longer.
///
/// It needs no timers of tokio, which not every runtime has, and no thread of it, which all may be taken.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let late = async {
        match Instant::now().checked_add(limit) {
            Some(_) => Delay::new(limit).await,
            // Longer than clocks count.
            None => pending().await,
        }
    };
    match select(pin!(future), pin!(late)).await {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::time::Duration;

    use super::within;

    #[test]
    fn a_limit_holds_without_timers_of_tokio() {
        let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(tokio.block_on(within(Duration::from_millis(1), pending::<()>())), None);
        assert_eq!(tokio.block_on(within(Duration::ZERO, ready(1))), Some(1));
        assert_eq!(tokio.block_on(within(Duration::MAX, tokio::task::yield_now())), Some(()));
    }
}
