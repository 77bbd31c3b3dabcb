//! Whether the database of a service can be written: for load balancers, and for the operator.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the file could recently be read and written.
#[derive(Debug, Default)]
pub(super) struct Health {
    is_failing: AtomicBool,
}

impl Health {
    /// Records an error of the file. With the feature `tracing`, the first error is reported, until the file works
    /// again.
    pub(super) fn note<T, E: Error + 'static>(&self, result: &Result<T, E>) {
        if let Err(error) = result
            && !self.is_failing.swap(true, Ordering::Relaxed)
        {
            report(error);
        }
    }

    /// Records that the file was written.
    pub(super) fn note_written(&self) {
        self.is_failing.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }
}

#[cfg(feature = "tracing")]
fn report(error: &(dyn Error + 'static)) {
    tracing::error!("the service cannot work with its file: {}", llm_do_core::base::error::chain(error));
}

#[cfg(not(feature = "tracing"))]
fn report(_: &(dyn Error + 'static)) {}
