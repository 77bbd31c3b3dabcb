//! How often and how long a server is asked, and the setters of every provider's builder for it.

use std::time::Duration;

/// How often and how long a server is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How often a request is tried again.
    pub(crate) retries: u32,
    /// How long the head and each further piece of a streamed answer may take.
    pub(crate) idle: Duration,
    /// How long an unstreamed answer may take from connecting to its last byte.
    pub(crate) whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { retries: 2, idle: Duration::from_secs(120), whole: Duration::from_secs(600) }
    }
}

/// Makes the setters of a builder that has a `patience`.
macro_rules! patience_setters {
    () => {
        /// Tries again up to `retries` times after failures that may pass. Default: 2, so 3 tries in all.
        pub fn retries(mut self, retries: u32) -> Self {
            self.patience.retries = retries;
            self
        }

        /// Waits at most this long for the beginning and for each further piece of a streamed answer. Default: 120 s.
        pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.patience.idle = timeout;
            self
        }

        /// Waits at most this long for an answer that is not streamed, each try anew. Default: 600 s.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.patience.whole = timeout;
            self
        }
    };
}

pub(crate) use patience_setters;
