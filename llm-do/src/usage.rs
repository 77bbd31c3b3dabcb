//! What a call used, and everything below it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use llm_do_providers::Usage;
use serde::{Deserialize, Serialize};

/// What a call and all calls below it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunUsage {
    /// Calls of tools and workers that ran, the call itself not counted.
    pub tool_calls: u64,
    /// Requests to models and their tokens.
    #[serde(flatten)]
    pub model: Usage,
}

/// The meter of one call; its callers' are told as well.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    tool_calls: AtomicU64,
    model: Mutex<Usage>,
}

impl Meter {
    /// Adds one request to a model.
    pub(crate) fn add_request(&self, usage: Usage) {
        *self.model() += usage;
    }

    /// Adds one call of a tool.
    pub(crate) fn add_tool_call(&self) {
        self.tool_calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns what was used so far.
    pub(crate) fn used(&self) -> RunUsage {
        RunUsage { tool_calls: self.tool_calls.load(Ordering::Relaxed), model: *self.model() }
    }

    fn model(&self) -> MutexGuard<'_, Usage> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
