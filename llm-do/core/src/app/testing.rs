//! Test support: models that need no network, and a recorder of events.
//!
//! [`TestModel`] calls each tool once and generates values that fit the schemas. [`ScriptedModel`] returns answers that
//! the test defines, in order, and records the requests:
//!
//! ```standalone_crate
//! use llm_do::prelude::*;
//! use llm_do::json;
//! use llm_do::testing::ScriptedModel;
//!
//! /// Add two numbers.
//! #[tool(effect = read_only)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// Do sums.
//! #[worker(toolsets = [add])]
//! async fn clerk(input: String) -> i64;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let script = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).output(5);
//! let runtime = Runtime::builder().force_model(script.clone()).build()?;
//! assert_eq!(runtime.run(clerk { input: "2 + 3".into() }).await?, 5);
//! assert_eq!(script.requests()[1].last_text(), "5", "the result of `add`");
//! script.assert_finished();
//! # Ok(())
//! # }
//! ```
//!
//! [`output`](ScriptedModel::output) gives the value that the worker returns, in the form that the request asks for. In requests
//! and events, structured output is a call of the tool `final_result`, in `result` if it is not an object; with a
//! [`profile`](ScriptedModel::profile) that supports structured output, it is JSON text. A [`FunctionModel`]
//! computes each answer from the request, for concurrent workers, or follows rules
//! ([`answering`](FunctionModel::answering)); a [`ReplayModel`] returns a real model's answers from a file.

mod call_log;

use std::sync::{Arc, Mutex};

pub use llm_do_providers::{
    Answer, FunctionModel, RecordedRequest, ReplayModel, ScriptedModel, TestModel, forbid_requests,
};

pub use self::call_log::CallLog;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{Delivery, Event, EventKind, EventSink};

/// A sink that records every event, in order and without a queue. Clones share their events.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Arc<Mutex<Vec<Arc<Event>>>>);

impl Recorder {
    /// Returns an empty recorder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the events so far.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().ignore_poison().iter().map(|event| Event::clone(event)).collect()
    }

    /// Returns the kinds of the events so far.
    #[must_use]
    pub fn kinds(&self) -> Vec<EventKind> {
        self.events().into_iter().map(|event| event.kind).collect()
    }

    /// Returns a log of the nested calls, independent of whether code or models made them.
    #[must_use]
    pub fn call_log(&self) -> CallLog {
        CallLog::new(&self.events())
    }
}

impl EventSink for Recorder {
    fn emit(&self, event: &Arc<Event>) {
        self.0.lock().ignore_poison().push(Arc::clone(event));
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}
