//! What time it is.

use std::fmt::Debug;

use jiff::Timestamp;

/// Tells the time of events, and of [`CallContext::now`](crate::CallContext::now). Timeouts have a clock of their own.
pub trait Clock: Debug + Send + Sync {
    /// Returns the time.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still: for tests.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}
