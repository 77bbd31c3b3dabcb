//! Who sees what happens: sinks, the clock of events, shadows.

use std::sync::Arc;

use super::RuntimeBuilder;
use crate::base::clock::Clock;
use crate::observe::event::{Callback, Event, EventSink};
use crate::plane::dispatch::Shadow;

impl RuntimeBuilder {
    /// Adds a sink, which receives all events.
    ///
    /// It is called on a thread of its own, unless it chooses otherwise, so runs do not wait for it: see
    /// [`EventSink`]. Dropping the last clone of the runtime waits until the sink has processed its events, at most 2
    /// seconds.
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Adds a sink that the program also keeps, such as a file to close later.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Adds a closure as a sink: calls `f` with each event, on a thread of its own.
    ///
    /// ```standalone_crate
    /// use std::sync::{Arc, Mutex};
    ///
    /// use llm_do::event::EventKind;
    /// use llm_do::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(effect = read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let called = Arc::new(Mutex::new(Vec::new()));
    /// let names = called.clone();
    /// let builder = Runtime::builder().on_event(move |event| {
    ///     if matches!(event.kind, EventKind::CallStarted { .. }) {
    ///         names.lock().unwrap().push(event.name.clone());
    ///     }
    /// });
    /// let runtime = builder.build()?;
    /// runtime.run(add { a: 1, b: 2 }).await?;
    /// runtime.flush().await;
    /// assert_eq!(*called.lock().unwrap(), ["add".into()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_event(self, f: impl FnMut(&Arc<Event>) + Send + 'static) -> Self {
        self.sink(Callback::new(f))
    }

    /// Sets whether events have the content of requests to models: messages, instructions, definitions of tools, and files.
    /// Default: false, since content may be personal, secret and long.
    ///
    /// Each [`ModelRequest`](crate::event::EventKind::ModelRequest) has what is new to the model; see
    /// [`RequestContent`](crate::event::RequestContent). Arguments, results and answers are in events in any case.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::event::JsonLines;
    /// use llm_do::prelude::*;
    ///
    /// let log = JsonLines::new(Vec::new());
    /// let runtime = Runtime::builder().sink(log).content(true).build()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn content(mut self, yes: bool) -> Self {
        self.config.content = yes;
        self
    }

    /// Sets how many events may wait for a sink that is called on a thread of its own. Default: 4,096.
    ///
    /// Once as many wait, new events are dropped until half of the queue is free; an
    /// [`EventKind::Dropped`](crate::event::EventKind::Dropped) reports how many are missing.
    pub fn sink_capacity(mut self, events: usize) -> Self {
        self.config.sink_capacity = events;
        self
    }

    /// Sets the clock of events and of [`CallContext::now`](crate::CallContext::now). Default: the system clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.config.clock = Arc::new(clock);
        self
    }

    /// Lets code answer the calls of a worker that it is sure of: `tool` is called first, and `worker` answers where the tool
    /// fails or abstains by [`Unsure`](crate::error::Unsure). Default: none.
    ///
    /// Callers call the worker as before, by type or by name. The tool takes the worker's arguments, and its result must be one
    /// that the worker may return: any other is a failure. Both names are registered names.
    ///
    /// - The tool's call is a call on the plane below the worker's: by its own rules it may need approval, and it is limited,
    ///   journaled and reported. [`EventKind::Hybrid`](crate::event::EventKind::Hybrid) reports whether it answered.
    /// - What ends a run ends it here too: a denial, a limit, a cancellation. The worker needs a model in any case.
    /// - A call whose outcome is [unknown](crate::CallError::OutcomeUnknown) fails with that error: the worker does not answer, since it may
    ///   make an effect again.
    /// - In a thread, or with earlier messages, the worker answers without asking the tool, since the answer depends on more than the
    ///   arguments. An answer of code is not added to the history of a root call.
    /// - A [shadow](Self::shadow) of the tool runs the worker itself, so that `Shadow::of(tool, worker)` checks the answers of code.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::error::Unsure;
    /// use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    ///
    /// /// Return the age of the person in a note.
    /// #[worker]
    /// async fn age(note: String) -> u32;
    ///
    /// /// Return the age of the person in a note.
    /// #[tool(effect = read_only)]
    /// fn age_by_rule(note: &str) -> Result<u32> {
    ///     let digits: String = note.chars().filter(char::is_ascii_digit).collect();
    ///     Ok(digits.parse().map_err(|_| Unsure::new("the note has no digits"))?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let builder = Runtime::builder().hybrid("age", "age_by_rule");
    /// # let builder = builder.force_model(TestModel::new().output(llm_do::json!({ "result": 40 })));
    /// let runtime = builder.build()?;
    /// assert_eq!(runtime.run(age { note: "Ann is 30.".into() }).await?, 30, "by code");
    /// assert_eq!(runtime.run(age { note: "Bob is forty.".into() }).await?, 40, "by the model");
    /// # Ok(())
    /// # }
    /// ```
    pub fn hybrid(mut self, worker: impl Into<String>, tool: impl Into<String>) -> Self {
        self.hybrids.push((worker.into(), tool.into()));
        self
    }

    /// Adds a shadow, which runs a worker alongside a tool in the background and reports whether they agree. Default:
    /// none.
    pub fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadows.push(shadow);
        self
    }
}
