//! For tests of what is built on llm-do: models that need no network, and a record of events.

mod call_log;

use std::sync::{Arc, Mutex, PoisonError};

pub use llm_do_providers::{FunctionModel, TestModel};

pub use self::call_log::CallLog;
use crate::event::{Delivery, Event, EventKind, EventSink};

/// Keeps every event of its runs, in order, from the moment it happens. Clones keep the same events.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Vec<Arc<Event>>>>);

impl Recorder {
    /// Returns a recorder without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|event| Event::clone(event)).collect()
    }

    /// Returns what happened, without when and where.
    #[must_use]
    pub fn kinds(&self) -> Vec<EventKind> {
        self.events().into_iter().map(|event| event.kind).collect()
    }

    /// Returns what happened to the calls that root calls made, and those below them, whoever decided to make them.
    #[must_use]
    pub fn call_log(&self) -> CallLog {
        CallLog::of(&self.events())
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: &Arc<Event>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(event));
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}
