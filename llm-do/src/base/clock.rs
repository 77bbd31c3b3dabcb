//! The clock of events.

use std::fmt::Debug;
use std::sync::Arc;

use jiff::Timestamp;

/// The source of the time in events and in [`CallContext::now`](crate::CallContext::now). It does not affect
/// timeouts.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// A clock that several own.
impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A fixed time, for tests.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}
