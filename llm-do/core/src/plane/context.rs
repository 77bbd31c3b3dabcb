//! The context of a running tool, worker or entry, which is passed down the call tree.

mod acted;
mod ask;
mod callers;
mod dry_run;
mod frame;
mod given;
mod host;
mod inject;
mod journaled;
mod metered;
mod origins;
mod requests;
mod spawn;
mod thread;
mod time;
mod tool_context;

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_do_providers::SettingWarning;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::ask::Ask;
pub(crate) use self::ask::QUESTION;
pub(crate) use self::frame::{CallExtras, CallFrame, Variant};
pub(crate) use self::given::GivenArguments;
pub(crate) use self::host::Host;
pub use self::inject::{FromContext, State, StateKey};
pub(crate) use self::journaled::{JournalMethod, NO_RESULT, StepOutcome};
pub(crate) use self::metered::{ReservedCall, ReservedRequest};
pub(crate) use self::origins::has_files;
pub use self::spawn::CallHandle;
pub use self::thread::Thread;
pub(crate) use self::time::Deadline;
pub use self::tool_context::ToolContext;
use crate::base::error::CallError;
use crate::declare::prompt::Attached;
use crate::declare::tool::{FromReturn, Tool, ToolReturn, check_round_trip, from_result, to_arguments};
use crate::declare::toolset::{Anything, Declares};
use crate::observe::event::{Caller, EventKind, ShownContent};
use crate::plane::call_stream::{CallStream, Pieces};
use crate::plane::declared::{Callee, Declared};
use crate::plane::instance::{CloseTasks, TypeKey};

/// The context of one call: what tools, workers and entries use to call each other.
///
/// `S` is the item whose declared toolsets the compiler checks [`call`](Self::call) against: an entry with `toolsets
/// = [..]` takes `&CallContext<its own name>`. A plain `CallContext` may call everything that is registered. Cloning
/// is cheap.
pub struct CallContext<S = Anything> {
    scope: Arc<Scope>,
    /// Whether the context was given to a guard: it may call every item, and no guard sees those calls.
    is_for_guard: bool,
    /// The named instance whose state it finds, if its call is one of such an instance.
    instance: Option<&'static str>,
    declaration: PhantomData<fn() -> S>,
}

/// The shared data of a context.
pub(crate) struct Scope {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) frame: CallFrame,
    /// The context of the caller; `None` for the root.
    parent: Option<CallContext>,
}

impl CallContext {
    /// Returns the context of the user, who makes the root call.
    pub(crate) fn root(host: Arc<dyn Host>, frame: CallFrame) -> Self {
        Self::new(Scope { host, frame, parent: None })
    }

    #[inline]
    fn new(scope: Scope) -> Self {
        Self { scope: Arc::new(scope), is_for_guard: false, instance: None, declaration: PhantomData }
    }

    /// Sets the named instance whose state it finds, if any.
    pub(crate) fn inside(self, instance: Option<&'static str>) -> Self {
        Self { instance, ..self }
    }

    /// Returns the context of a call that this one makes; `frame` returns the data of the call, given this context.
    #[inline]
    pub(crate) fn into_child(self, frame: impl FnOnce(&Self) -> CallFrame) -> Self {
        // The frame is large, so it is built directly in its final struct.
        Self::new(Scope { frame: frame(&self), host: Arc::clone(&self.scope.host), parent: Some(self) })
    }

    /// Returns the context of a call that a nested run makes for this one.
    #[inline]
    pub(crate) fn into_child_of(self, host: Arc<dyn Host>, frame: CallFrame) -> Self {
        Self::new(Scope { host, frame, parent: Some(self) })
    }
}

impl<S> CallContext<S> {
    /// Calls a tool, worker or entry: `ctx.call(read_file { path }).await?`.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] if the call could not run, or if the callee failed.
    pub fn call<T>(&self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
        S: Declares<T>,
    {
        Box::pin(async move {
            let arguments = GivenArguments::Typed(self.written(call)?);
            from_result::<T>(self.dispatch(Callee::Item(T::NAME), arguments, Caller::Code).await?)
        })
    }

    /// Calls a worker, or an entry that passes one on, whose result arrives in parts: `ctx.stream(review { path })`.
    ///
    /// As [`call`](Self::call), but the stream has [`Partial`](crate::declare::partial::Partial)s of the result before it.
    pub fn stream<T>(&self, call: T) -> CallStream<'_, T::Output>
    where
        T: Tool<Output: FromReturn>,
        S: Declares<T>,
    {
        let pieces = Arc::<Pieces>::default();
        CallStream::new(self.call_in_pieces(call, Some(Arc::clone(&pieces))), pieces)
    }

    /// Calls a worker, and passes the parts of its result on to the caller that streams this call: its result is that of this call.
    ///
    /// As [`call`](Self::call) if the caller does not stream this call.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`call`](Self::call).
    pub fn pass_on<T>(&self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
        S: Declares<T>,
    {
        self.call_in_pieces(call, self.frame().pieces().cloned())
    }

    fn call_in_pieces<T>(&self, call: T, pieces: Option<Arc<Pieces>>) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
    {
        Box::pin(async move {
            let arguments = GivenArguments::Typed(self.written(call)?);
            let callee = Callee::typed(T::NAME, pieces.as_ref());
            from_result::<T>(self.dispatch(callee, arguments, Caller::Code).await?)
        })
    }

    /// Calls a tool, worker or entry by name, with arguments as JSON.
    ///
    /// The toolsets of the caller are checked at run time. `name` is the name that a model would see, such as
    /// `fs_read_file` for `prefixed("fs_", read_file)`. A caller that declares no toolsets uses registered names.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`call`](Self::call), and [`CallError::NotFound`] for an unknown name.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        Ok(self.dispatch(Callee::Shown(name), GivenArguments::Value(arguments), Caller::Code).await?.into_value())
    }

    /// Calls a tool, worker or entry by name, with arguments as JSON text, and returns the result as JSON text.
    ///
    /// As [`call_tool`](Self::call_tool), but faster for a tool with plain arguments: they are decoded from the text, and the result is
    /// written as text, without a JSON value between. An empty text means no arguments.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] like [`call_tool`](Self::call_tool); text that is not JSON is an invalid argument.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(effect = read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// /// Passes on what another program sent.
    /// #[entry]
    /// async fn forward(ctx: &CallContext, name: String, arguments: String) -> Result<String> {
    ///     Ok(ctx.call_tool_json(&name, &arguments).await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// let sum = runtime.run(forward { name: "add".into(), arguments: r#"{"a": 20, "b": 22}"#.into() }).await?;
    /// assert_eq!(sum, "42");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call_tool_json(&self, name: &str, arguments: &str) -> Result<String, CallError> {
        Ok(self.dispatch(Callee::Shown(name), GivenArguments::Text(arguments), Caller::Code).await?.into_json())
    }

    /// Writes the arguments of a typed call, unless they would be decoded as different values.
    fn written<T: Tool>(&self, call: T) -> Result<Value, CallError> {
        let arguments = to_arguments(call)?;
        if self.scope.host.may_skip_fields(T::NAME)? {
            check_round_trip::<T>(&arguments)?;
        }
        Ok(arguments)
    }

    pub(crate) fn dispatch<'a>(
        &'a self,
        callee: Callee<'a>,
        arguments: GivenArguments<'a>,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        self.scope.host.call(self.declaring(), callee, arguments, by)
    }

    /// Returns how many workers the call is nested in: 0 in an entry, 1 in a worker that it calls.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.scope.frame.depth
    }

    /// Returns the id of the run.
    pub(crate) fn run_id(&self) -> &str {
        self.scope.host.run()
    }

    /// Returns the registered name of the item that this context belongs to.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.scope.frame.name
    }

    /// Returns the application's state of type `T`, if the runtime has it.
    ///
    /// In a call of a [named instance](crate::declare::toolset::NamedInstance), it is the state of that instance.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        State::from_any(self.scope.host.state(TypeKey::of::<T>(self.instance))?)
    }

    /// Returns the named instance of which the call is one, if any.
    pub(crate) fn instance(&self) -> Option<&'static str> {
        self.instance
    }

    /// Returns the files in the call's arguments, at any depth: those of each [`Prompt`](crate::declare::prompt::Prompt), and each
    /// [`Attached`] and [`Attachment`](llm_do_providers::Attachment).
    ///
    /// Files of the callers are not included. A file that is given as a path is not read yet:
    /// [`attachment`](Self::attachment) reads it.
    #[must_use]
    pub fn attachments(&self) -> &[Attached] {
        self.frame().extras().and_then(|extras| extras.attached.get()).map_or(&[], Vec::as_slice)
    }

    /// Stores the files that the call's arguments contain.
    #[inline]
    pub(crate) fn attach(&self, files: Vec<Attached>) {
        if !files.is_empty() {
            // Arguments are decoded once for each call, so nothing is set yet.
            drop(self.frame().extras_or_default().attached.set(files));
        }
    }

    /// Returns the folder that the files of prompts must be in.
    #[must_use]
    pub fn project_root(&self) -> &Path {
        self.scope.host.project_root()
    }

    /// Returns the folder that tools of the working directory use.
    #[doc(hidden)]
    #[must_use]
    pub fn working_folder(&self) -> &Path {
        self.scope.host.working_folder()
    }

    /// Reports the progress of the call to the user, as an event; the command line shows it immediately.
    pub fn progress(&self, text: impl Into<String>) {
        self.emit(|| EventKind::Progress { text: text.into() });
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.token().cancelled().await;
    }

    /// Returns whether the run is cancelled, for sync tools with long loops.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // The nearest token is a child of all tokens above it, so this check is sufficient.
        self.frames().find_map(|frame| frame.cancellation.get()).is_some_and(CancellationToken::is_cancelled)
    }

    /// Returns the token that is cancelled when the call finishes.
    #[doc(hidden)]
    #[must_use]
    pub fn token(&self) -> &CancellationToken {
        let parent = || self.caller().map_or_else(CancellationToken::new, |caller| caller.token().child_token());
        self.frame().cancellation.token(parent)
    }

    /// Returns a guard that cancels the call's token when it is dropped, to stop tasks that the call left running.
    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop<'_> {
        CancelOnDrop(&self.scope)
    }

    pub(crate) fn frame(&self) -> &CallFrame {
        &self.scope.frame
    }

    /// Returns the content of requests that the run's events already have, if content is enabled.
    pub(crate) fn shown_content(&self) -> Option<&ShownContent> {
        self.scope.host.shown_content()
    }

    /// Returns whether a sink receives events.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        // A run gets its sinks before its calls, so it stays unobserved.
        !self.frame().is_unobserved && self.scope.host.is_observed()
    }

    /// Returns whether the tool or worker with the name `shown` for this call is read-only.
    pub(crate) fn is_read_only(&self, shown: &str) -> bool {
        self.scope.host.is_read_only(&self.declaring(), shown)
    }

    /// Returns whether the model of this call may start calls in the background of the tool that it sees as `shown`.
    pub(crate) fn may_run_in_background(&self, shown: &str) -> bool {
        self.scope.host.may_run_in_background(&self.declaring(), shown)
    }

    /// Returns the maximum number of concurrent bytes the model of this call gets of a result of the tool that it sees as `shown`, if the tool sets it.
    pub(crate) fn max_result(&self, shown: &str) -> Option<u64> {
        self.scope.host.max_result(&self.declaring(), shown)
    }

    /// Returns how many read-only calls of one caller.
    pub(crate) fn max_concurrent_calls(&self) -> usize {
        self.scope.host.max_concurrent_calls()
    }

    /// Returns this context for use by a guard, which belongs to the application and not to a named instance.
    pub(crate) fn for_guard(&self) -> CallContext {
        CallContext { is_for_guard: true, instance: None, ..self.declaring() }
    }

    /// Returns whether calls through this context skip the guards.
    pub(crate) fn is_unguarded(&self) -> bool {
        self.is_for_guard || self.frame().is_unguarded
    }

    /// Returns the callees of this context; `None` if every item may be called.
    pub(crate) fn declared(&self) -> Option<&Declared> {
        self.frame().declared.as_deref().filter(|_| !self.is_for_guard)
    }

    /// Returns the handle that closes the run's instances of stateful toolsets.
    pub(crate) fn close_tasks(&self) -> CloseTasks {
        self.scope.host.close_tasks().clone()
    }

    /// Emits an event of the call, if a sink receives events.
    #[inline]
    pub(crate) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if self.is_observed() {
            let frame = self.frame();
            let caller = self.caller().filter(|_| frame.by != Caller::User);
            self.scope.host.emit(frame, caller.map(|caller| caller.frame().call), kind());
        }
    }

    /// Reports settings that were changed or left out for `model`, if a sink receives events.
    pub(crate) fn warn(&self, model: &Arc<str>, warnings: &[SettingWarning]) {
        if warnings.is_empty() || !self.scope.host.is_observed() {
            return;
        }
        for warning in warnings {
            self.scope.host.warn(&self.declaring(), model, warning);
        }
    }

    /// Returns the same context with another declaration type.
    pub(crate) fn declaring<D>(&self) -> CallContext<D> {
        CallContext {
            scope: Arc::clone(&self.scope),
            is_for_guard: self.is_for_guard,
            instance: self.instance,
            declaration: PhantomData,
        }
    }
}

/// Cancels the token of a call when dropped.
pub(crate) struct CancelOnDrop<'a>(&'a Arc<Scope>);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.frame.cancellation.cancel(Arc::strong_count(self.0) > 1);
    }
}

impl<S> Clone for CallContext<S> {
    fn clone(&self) -> Self {
        self.declaring()
    }
}

impl<S> fmt::Debug for CallContext<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallContext").field(&self.scope.frame).finish()
    }
}
