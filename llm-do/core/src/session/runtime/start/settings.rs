//! Settings of one run, which override or extend those of its runtime.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Start;
use crate::base::usage::Limits;
use crate::declare::toolset::NamedInstance;
use crate::observe::event::{self, Callback, Event, EventSink, Label};
use crate::observe::journal::Journal;
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approver, ByFunction, Decision};
use crate::plane::instance::TypeKey;
use crate::plane::plan::{DryRun, PlannedCall};
use crate::plane::user_input::InputHandler;

/// Settings of this run; unset ones come from the runtime.
impl<T, C> Start<T, C> {
    /// Adds a sink that receives the events of this run, in addition to the sinks of the runtime.
    ///
    /// It is called on a separate thread, unless it chooses otherwise, like [a sink of the
    /// runtime](crate::observe::event::EventSink). The run waits for it for at most 50 milliseconds when it finishes, if it is
    /// [awaited](crate::observe::event::EventSink::is_awaited). It receives no events after that, and is dropped once it has
    /// processed its events; dropping the last clone of the runtime waits for this for at most 2 seconds.
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
    /// assert!(count > 0, "the channel closes with the run");
    /// # Ok(())
    /// # }
    /// ```
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Adds a sink for this run that the program also keeps, such as a file to close later.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        let capacity = self.root.plane.config.sink_capacity;
        self.root.settings.sinks.push(event::delivered(sink, capacity));
        self
    }

    /// Adds a closure as a sink of this run: calls `f` with each event, on a separate thread.
    pub fn on_event<F>(self, f: F) -> Self
    where
        F: FnMut(&Arc<Event>) + Send + 'static,
    {
        self.sink(Callback::new(f))
    }

    /// Sets whether the events of this run have the content of requests to models, replacing the runtime's
    /// [setting](crate::session::runtime::RuntimeBuilder::content).
    ///
    /// All sinks receive it, including those of the runtime. A nested run has content if the outer run has.
    pub fn content(mut self, yes: bool) -> Self {
        self.root.settings.content = Some(yes);
        self
    }

    /// Sets the approver of this run, replacing the runtime's.
    ///
    /// It has its own queue. It does not see decisions of the runtime's approver, and its approvals for the session
    /// apply to this run only.
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

    /// Sets a function that decides about the calls of this run, one at a time; see [`approver`](Self::approver).
    pub fn approve_with<F, D>(self, approve: F) -> Self
    where
        F: Fn(ApprovalRequest) -> D + Send + Sync + 'static,
        D: Future<Output = Decision> + Send + 'static,
    {
        self.approver(ByFunction(approve))
    }

    /// Sets how calls of this run that need approval are decided, replacing the runtime's mode.
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.root.settings.approval_mode = Some(mode);
        self
    }

    /// Requires approval of the root call too, by the rules for calls that models or code make. Default: the user's
    /// call needs no approval.
    ///
    /// For a call from outside of the program, such as from a client of a server.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// /// Delete a file.
    /// #[tool(effect = destructive)]
    /// fn delete(path: String) -> String {
    ///     format!("deleted {path}")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let start = runtime.start_named("delete", llm_do::json!({ "path": "old.txt" })).gated();
    /// assert!(start.await.unwrap_err().is_denied(), "no approver is configured");
    /// # Ok(())
    /// # }
    /// ```
    pub fn gated(mut self) -> Self {
        self.root.settings.gates_root = true;
        self
    }

    /// Sets whose text the arguments of the root call may carry, where a [source](crate::plane::approval::Policy::source) is declared.
    /// Default: they are the user's words, and trusted; of a [gated](Self::gated) call, the policy's label for
    /// [clients](crate::plane::approval::Policy::clients).
    ///
    /// For a run about what someone else has written, such as a mail that has come. A number is at most bounded.
    pub fn source(mut self, label: Label) -> Self {
        self.root.settings.source = Some(label);
        self
    }

    /// Makes the root call of a worker return its prompt, as a list of [`UserPart`](llm_do_providers::UserPart), instead of asking
    /// its model.
    #[doc(hidden)]
    pub fn prompt_only(mut self) -> Self {
        self.root.settings.renders_only = true;
        self
    }

    /// Makes the run a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html): calls that only read run; every other call is noted in the
    /// [plan](super::RunHandle::plan) and fails with [`CallError::DryRun`](crate::base::error::CallError::DryRun).
    ///
    /// The approver is not asked, and the journal is neither written nor read, including the one set by
    /// [`journal`](Self::journal) or the runtime.
    ///
    /// # Examples
    ///
    /// See [`dry_run`](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html).
    pub fn dry_run(mut self) -> Self {
        self.root.settings.dry_run = Some(Arc::default());
        self
    }

    /// Makes the run a [dry run](Self::dry_run) in which a function returns the results of planned calls, such as for a test.
    ///
    /// A call for which it returns `None` fails with [`CallError::DryRun`](crate::base::error::CallError::DryRun). A server-side tool has no result:
    /// the worker works without it.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::json;
    ///
    /// /// Send a message, and return its number.
    /// #[tool(effect = destructive)]
    /// fn send(to: String) -> Result<u32> {
    ///     Err(format!("no message to {to} in an example").into())
    /// }
    ///
    /// /// Sends a message to Ann.
    /// #[entry(toolsets = [send])]
    /// async fn greet(ctx: &CallContext<greet>) -> Result<u32> {
    ///     Ok(ctx.call(send { to: "Ann".into() }).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let start = runtime.start(greet {}).dry_run_with(|call| (&*call.name == "send").then(|| json!(17)));
    /// let handle = start.handle();
    /// assert_eq!(start.await?, 17);
    /// assert_eq!(handle.plan().calls[0].arguments, json!({ "to": "Ann" }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn dry_run_with<F>(mut self, answer: F) -> Self
    where
        F: Fn(&PlannedCall) -> Option<Value> + Send + Sync + 'static,
    {
        self.root.settings.dry_run = Some(Arc::new(DryRun::answered_by(Box::new(answer))));
        self
    }

    /// Sets the handler of questions that the tools of this run ask the user, replacing the runtime's.
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.root.settings.input_handler = Some(Arc::new(handler));
        self
    }

    /// Limits the usage of this run. The runtime's limits apply too: the lower one of each limit.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.root.settings.limits = Some(limits);
        self
    }

    /// Sets how long earlier processes worked on a run that is resumed. Default: no time.
    ///
    /// The [wall time limit](Limits::wall_time) of the run and the timeout of its root call end earlier by this time. A
    /// service sets it.
    pub fn time_spent(mut self, time: Duration) -> Self {
        self.root.settings.time_spent = time;
        self
    }

    /// Sets the tenant of the run, for a program that serves several parties. Default: not set.
    ///
    /// The files of workers that its models create are written to a folder of the tenant, `.tenants/NAME` inside the
    /// [store](crate::session::runtime::RuntimeBuilder::worker_store), so that the names of one tenant are neither taken nor
    /// visible for other tenants. [`worker_dir`](crate::session::runtime::RuntimeBuilder::worker_dir) of the store does not load
    /// them. A nested run has the tenant of the outer run. A service sets it.
    pub fn tenant(mut self, name: impl Into<Arc<str>>) -> Self {
        self.root.settings.tenant = Some(name.into());
        self
    }

    /// Records the effects of this run in a separate journal, in place of the
    /// [runtime's](super::super::RuntimeBuilder::journal).
    ///
    /// One journal holds one run: to resume it, perhaps in another process, start an equal call with that journal. The
    /// result of a finished run is returned again, and nothing runs. A run [under](Self::under) another is recorded in
    /// the journal of that run instead.
    ///
    /// The id of the run is unknown until it starts, since a resumed run keeps its id; call this before
    /// [`handle`](Self::handle).
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::journal::MemoryJournal;
    ///
    /// /// Draws a number.
    /// #[entry]
    /// async fn draw(ctx: &CallContext) -> Result<u128> {
    ///     Ok(ctx.effect("draw", (), async { Ok(std::time::UNIX_EPOCH.elapsed()?.as_nanos()) }).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let journal = MemoryJournal::new();
    /// let drawn = runtime.start(draw {}).journal(journal.clone()).await?;
    /// assert_eq!(runtime.start(draw {}).journal(journal.replayed()).await?, drawn);
    /// assert_ne!(runtime.start(draw {}).journal(MemoryJournal::new()).await?, drawn);
    /// # Ok(())
    /// # }
    /// ```
    pub fn journal(self, journal: impl Journal) -> Self {
        self.shared_journal(Arc::new(journal))
    }

    /// Records the effects of this run in a journal that the program also keeps; see [`journal`](Self::journal).
    pub fn shared_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.root.settings.journal = Some(journal);
        if self.root.under.is_none() {
            // Existing handles have the right id, unless the journal has the run.
            let known = self.root.id.get().cloned();
            self.root.settings.id = self.root.settings.id.or(known);
            self.set_id(OnceLock::new());
        }
        self
    }

    /// Sets the id of the run, such as one that a service has given it. Default: a new UUID of version 7.
    ///
    /// A run that is resumed from a journal keeps the id that is recorded there, and a run [under](Self::under) another
    /// has the id of that run. The id of each run must be unique.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// /// Greets a person.
    /// #[entry]
    /// async fn greet(ctx: &CallContext, name: String) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let start = runtime.start(greet { name: "Ann".into() }).with_id("order-17");
    /// assert_eq!(start.id(), Some("order-17"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        let id = id.into();
        if self.root.under.is_none() && self.root.id.get().is_some() {
            self.set_id(OnceLock::from(Arc::clone(&id)));
        }
        self.root.settings.id = Some(id);
        self
    }

    fn set_id(&mut self, id: OnceLock<Arc<str>>) {
        let id = Arc::new(id);
        self.handle.id = Arc::clone(&id);
        self.root.id = id;
    }

    /// Sets the folder that this run reads files of prompts from, replacing the runtime's.
    pub fn project_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.root.settings.project_root = Some(path.into());
        self
    }

    /// Sets the value for this run's tools with a `State<S>` parameter, replacing the runtime's value of that type.
    ///
    /// State of registered tools must also be set on the runtime, as a default for other runs.
    pub fn state<S: Send + Sync + 'static>(mut self, value: S) -> Self {
        self.root.settings.state.insert(TypeKey::of::<S>(None), Arc::new(value));
        self
    }

    /// Sets the value for this run's tools of a [named instance](NamedInstance), as [`state`](Self::state) does for other tools.
    pub fn state_for<I: NamedInstance>(mut self, value: impl Send + Sync + 'static) -> Self {
        self.root.settings.state.insert(TypeKey::of_value(&value, I::NAME), Arc::new(value));
        self
    }

    /// Cancels this run once `token` is cancelled, in addition to the runtime's token and
    /// [`RunHandle::cancel`](super::RunHandle::cancel).
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.root.settings.cancellation = Some(token);
        self
    }
}
