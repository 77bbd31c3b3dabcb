//! How often and how long a server is asked.

use std::time::Duration;

/// How often and how long a server is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// How often a request is tried again.
    pub(crate) retries: u32,
    /// How long the head and each further piece of a streamed answer may take.
    pub(crate) idle: Duration,
    /// How long a streamed answer may take from connecting to its last piece.
    pub(crate) stream: Duration,
    /// How long an unstreamed answer may take from connecting to its last byte.
    pub(crate) whole: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            retries: 2,
            idle: Duration::from_secs(120),
            stream: Duration::from_secs(3600),
            whole: Duration::from_secs(600),
        }
    }
}
