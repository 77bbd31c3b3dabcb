//! Timers that can be paused, such as while a person is asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::mutex::IgnorePoison;

/// A timeout that is longer than any run, in place of one that the clock cannot represent.
const FAR_AWAY: Duration = Duration::from_secs(1 << 30);

/// The total time of pauses; pauses that overlap count once.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    state: Mutex<PausesState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct PausesState {
    /// The number of pauses that have not ended.
    open: usize,
    /// When the first open pause began.
    since: Option<Instant>,
    /// The total of the ended pauses.
    ended: Duration,
}

/// A guard: dropping it ends the pause.
#[derive(Debug)]
#[must_use = "the pause ends when this is dropped"]
pub struct Pause(Arc<Pauses>);

impl Pauses {
    /// Begins a pause.
    pub(crate) fn begin(self: &Arc<Self>) -> Pause {
        {
            let mut state = self.state.lock().ignore_poison();
            state.open += 1;
            state.since.get_or_insert_with(Instant::now);
        }
        self.changed.notify_waiters();
        Pause(Arc::clone(self))
    }

    /// Returns the total of all pauses so far.
    pub(crate) fn total(&self) -> Duration {
        let state = self.state.lock().ignore_poison();
        state.ended + state.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn is_open(&self) -> bool {
        self.state.lock().ignore_poison().open > 0
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let Self(pauses) = self;
        {
            let mut state = pauses.state.lock().ignore_poison();
            state.open -= 1;
            if state.open == 0 {
                let ended = state.since.take().map(|since| since.elapsed()).unwrap_or_default();
                state.ended += ended;
            }
        }
        pauses.changed.notify_waiters();
    }
}

/// A timer that is paused during pauses.
#[derive(Debug)]
pub struct PausableTimer {
    /// When the timer expires without further pauses.
    end: Instant,
    pauses: Arc<Pauses>,
}

impl PausableTimer {
    /// Starts a timer.
    #[must_use]
    pub fn new(after: Duration) -> Self {
        let now = Instant::now();
        Self { end: now.checked_add(after).unwrap_or_else(|| now + FAR_AWAY), pauses: Arc::default() }
    }

    /// Pauses the timer until the returned guard is dropped.
    pub fn pause(&self) -> Pause {
        self.pauses.begin()
    }

    /// Returns when the timer expires if the pauses end now.
    pub(crate) fn end(&self) -> Instant {
        self.end + self.pauses.total()
    }

    /// Returns whether the timer has expired.
    pub(crate) fn is_over(&self) -> bool {
        self.end() <= Instant::now()
    }

    /// Waits until the timer has expired.
    pub async fn expired(&self) {
        loop {
            // Registered before the state is read, so that no change is missed.
            let changed = self.pauses.changed.notified();
            if self.pauses.is_open() {
                changed.await;
                continue;
            }
            let end = self.end();
            tokio::select! {
                () = sleep_until(end) => {
                    if !self.pauses.is_open() && self.is_over() {
                        return;
                    }
                }
                () = changed => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::{PausableTimer, Pauses};

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn pauses_that_overlap_count_once() {
        let pauses = Arc::new(Pauses::default());
        let first = pauses.begin();
        sleep(SECOND).await;
        let second = pauses.begin();
        drop(first);
        sleep(SECOND).await;
        drop(second);
        sleep(SECOND).await;
        assert_eq!(pauses.total(), SECOND * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_stands_still_during_pauses() {
        let (timer, start) = (PausableTimer::new(SECOND * 3), Instant::now());
        let paused = async {
            for _ in 0..2 {
                sleep(SECOND).await;
                let _pause = timer.pause();
                sleep(SECOND * 60).await;
                assert!(!timer.is_over());
            }
        };
        tokio::join!(timer.expired(), paused);
        assert_eq!(start.elapsed().as_secs(), 123);
        assert!(timer.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_beyond_the_clock_is_never_over() {
        assert!(!PausableTimer::new(Duration::MAX).is_over());
    }
}
