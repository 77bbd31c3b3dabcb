//! The clock of events.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// The source of the time in events and in [`CallContext::now`](crate::plane::context::CallContext::now). It does not affect
/// timeouts.
pub trait Clock: Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// A shared clock.
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
        // Equal to `Timestamp::now`, but faster.
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let time = since_1970.and_then(|since| {
            let seconds = i64::try_from(since.as_secs()).ok()?;
            Timestamp::new(seconds, since.subsec_nanos().cast_signed()).ok()
        });
        time.unwrap_or_else(Timestamp::now)
    }
}

/// A fixed time, for tests.
impl Clock for Timestamp {
    fn now(&self) -> Timestamp {
        *self
    }
}
