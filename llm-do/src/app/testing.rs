//! For tests of what is built on llm-do: models that need no network, and a record of events.
//!
//! [`TestModel`] calls each tool once and makes up what fits the schemas. For a model that says what a test wants it to say,
//! [`ScriptedModel`] takes the answers, in order, and keeps what it was asked:
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
//! let script = ScriptedModel::new().call("add", json!({ "a": 2, "b": 3 })).call("final_result", json!({ "result": 5 }));
//! let runtime = Runtime::builder().force_model(script.clone()).build()?;
//! assert_eq!(runtime.run(clerk { input: "2 + 3".into() }).await?, 5);
//! assert_eq!(script.requests()[1].last_text(), "5", "what `add` came to");
//! script.assert_over();
//! # Ok(())
//! # }
//! ```
//!
//! A worker whose output is no text gives it through the tool `final_result`, under `result` if it is no object; with a
//! [`profile`](ScriptedModel::profile) that has structured output, as JSON in its text. A [`FunctionModel`] makes each
//! answer from what it is asked, for workers that run at the same time; a [`ReplayModel`] has the answers of a real model
//! in a file.

mod call_log;

use std::sync::{Arc, Mutex, PoisonError};

pub use llm_do_providers::{AskedRequest, FunctionModel, ReplayModel, ScriptedModel, TestModel, forbid_requests};

pub use self::call_log::CallLog;
use crate::observe::event::{Delivery, Event, EventKind, EventSink};

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
