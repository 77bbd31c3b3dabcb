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

    /// Adds a shadow, which runs a worker alongside a tool in the background and reports whether they agree. Default:
    /// none.
    pub fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadows.push(shadow);
        self
    }
}
