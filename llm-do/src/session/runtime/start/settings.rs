//! What one run has in place of what its runtime has, or besides it: one runtime serves many users.

use std::any::TypeId;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Start;
use crate::base::usage::Limits;
use crate::observe::event::{self, Callback, Event, EventSink};
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approver, ByFunction, Decision};
use crate::plane::user_input::InputHandler;

/// Settings of this run; what is not set here is the runtime's.
impl<T, C> Start<T, C> {
    /// Reports the events of this run to `sink`, besides the sinks of the runtime.
    ///
    /// It is called on a thread of its own, unless it says otherwise, as [a sink of the runtime](crate::event::EventSink) is. The
    /// run waits at most 50 milliseconds for it when it ends. It sees no event after that, and is dropped once it has
    /// handled those that it took; dropping the last clone of the runtime waits for this at most 2 seconds.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
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
    /// let runtime = Runtime::builder().build()?;
    /// let (sink, mut events) = llm_do::event::event_channel(256);
    /// runtime.start(add { a: 1, b: 2 }).sink(sink).await?;
    /// let mut count = 0;
    /// while events.recv().await.is_some() {
    ///     count += 1;
    /// }
    /// assert!(count > 0, "the channel ends with the run");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Reports the events of this run to a sink that is kept for later, such as a file to be closed.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        let capacity = self.root.plane.sink_capacity;
        self.root.settings.sinks.push(event::delivered(sink, capacity));
        self
    }

    /// Calls `f` with each event of this run, on a thread of its own: a [`sink`](Self::sink) that is a closure.
    pub fn on_event<F>(self, f: F) -> Self
    where
        F: FnMut(&Arc<Event>) + Send + 'static,
    {
        self.sink(Callback::new(f))
    }

    /// Asks `approver` about the calls of this run, in place of the runtime's approver.
    ///
    /// It has a queue of its own. It is not told of decisions that the runtime's approver made, and what it approves for
    /// the session holds for this run only.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::approval::Decision;
    ///
    /// /// Delete a file.
    /// #[tool(effect = destructive)]
    /// fn delete(path: String) -> String {
    ///     format!("deleted {path}")
    /// }
    ///
    /// /// Cleans up.
    /// #[entry(toolsets = [delete])]
    /// async fn clean(ctx: &CallContext<clean>) -> Result<String> {
    ///     Ok(ctx.call(delete { path: "old.txt".into() }).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let anns = runtime.start(clean {}).approve_with(|_| async { Decision::approve() });
    /// let bobs = runtime.start(clean {}).approve_with(|_| async { Decision::deny("not now") });
    /// assert_eq!(anns.await?, "deleted old.txt");
    /// assert!(bobs.await.unwrap_err().is_denied());
    /// # Ok(())
    /// # }
    /// ```
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.root.settings.approver = Some(Arc::new(approver));
        self
    }

    /// Asks `approve` about the calls of this run, as [`approver`](Self::approver) does; it takes one call at a time.
    pub fn approve_with<F, D>(self, approve: F) -> Self
    where
        F: Fn(ApprovalRequest) -> D + Send + Sync + 'static,
        D: Future<Output = Decision> + Send + 'static,
    {
        self.approver(ByFunction(approve))
    }

    /// Sets how calls of this run that need approval are decided, in place of the runtime's mode.
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.root.settings.approval_mode = Some(mode);
        self
    }

    /// Asks `handler` what the tools of this run ask the user, in place of the runtime's handler.
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.root.settings.input_handler = Some(Arc::new(handler));
        self
    }

    /// Limits what this run may use. The runtime's limits hold too: of each limit, the lower one.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.root.settings.limits = Some(limits);
        self
    }

    /// Sets the folder below which this run reads the files of prompts, in place of the runtime's folder.
    pub fn project_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.root.settings.project_root = Some(path.into());
        self
    }

    /// Gives this run's tools that take a `State<S>` this value, in place of the runtime's value of that type.
    ///
    /// What a registered tool takes must be given to the runtime all the same, as a default for runs that set nothing.
    pub fn state<S: Send + Sync + 'static>(mut self, value: S) -> Self {
        self.root.settings.state.insert(TypeId::of::<S>(), Arc::new(value));
        self
    }

    /// Cancels this run once `token` is cancelled. The runtime's token and [`RunHandle::cancel`](super::RunHandle::cancel)
    /// cancel it too.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.root.settings.cancellation = Some(token);
        self
    }
}
