//! A closure as an event sink.

use std::fmt;
use std::sync::{Arc, Mutex};

use super::{Event, EventSink};
use crate::base::mutex::IgnorePoison;

/// Calls a closure with each event on a separate thread; see
/// [`RuntimeBuilder::on_event`](crate::session::runtime::RuntimeBuilder::on_event).
pub struct Callback<F>(Mutex<F>);

impl<F: FnMut(&Arc<Event>) + Send> Callback<F> {
    /// Returns a sink that calls `f`.
    pub fn new(f: F) -> Self {
        Self(Mutex::new(f))
    }
}

impl<F: FnMut(&Arc<Event>) + Send> EventSink for Callback<F> {
    fn emit(&self, event: &Arc<Event>) {
        self.0.lock().ignore_poison()(event);
    }
}

impl<F> fmt::Debug for Callback<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callback").finish_non_exhaustive()
    }
}
