//! What a running tool, worker or entry may reach: the context that flows down the call tree.

mod ask;
mod inject;
mod journaled;
mod metered;
mod requests;
mod tool_context;

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::ask::Ask;
pub use self::inject::{FromContext, State, StateKey};
pub(crate) use self::journaled::Way;
pub use self::tool_context::ToolContext;
use crate::cancellation::Cancellation;
use crate::declared::{Callee, Declared};
use crate::error::{BoxError, CallError};
use crate::event::{Caller, EventKind};
use crate::instance::Instances;
use crate::journal::{Journal, Places, StepSpec};
use crate::prompt::Attached;
use crate::subtask::SubtaskRequest;
use crate::tool::{FromReturn, Tool, ToolReturn, from_result, to_arguments};
use crate::toolset::{Anything, Declares};
use crate::usage::{Limits, Meter, UsageRecorder};
use crate::user_input::InputHandler;
use crate::worker_spec::WorkerSpec;

/// The context of one call: how tools, workers and entries call others.
///
/// `S` is the item whose declared toolsets the compiler holds [`call`](Self::call) to: an entry with
/// `toolsets = [..]` takes `&CallContext<its own name>`. A plain `CallContext` may call whatever is registered.
/// Cloning is cheap.
pub struct CallContext<S = Anything> {
    scope: Arc<Scope>,
    /// Whether a guard holds it: then it may call everything, and guards see none of that.
    is_guards: bool,
    declaration: PhantomData<fn() -> S>,
}

/// What a context is made of.
pub(crate) struct Scope {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) frame: CallFrame,
    /// The caller's; none for the root.
    parent: Option<CallContext>,
}

/// The facts of one call.
#[derive(Debug)]
pub(crate) struct CallFrame {
    pub(crate) call: u64,
    pub(crate) depth: u32,
    /// How many calls of any kind it is inside of.
    pub(crate) nesting: u32,
    pub(crate) name: Arc<str>,
    pub(crate) by: Caller,
    /// What it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<Declared>>,
    pub(crate) meter: Meter,
    /// What it opened, and what it was opened for.
    pub(crate) instances: Instances,
    pub(crate) cancellation: Cancellation,
    /// When it must have ended; known once it starts, since its time does not run while somebody decides about it.
    pub(crate) deadline: OnceLock<Deadline>,
    /// What it and the calls below it may use.
    pub(crate) limits: Option<Arc<Limits>>,
    /// Who used what; made for those that use something.
    pub(crate) recorder: OnceLock<UsageRecorder>,
    pub(crate) is_worker: bool,
    /// Whether it is asked alongside a tool: it asks nobody, and is in no journal.
    pub(crate) is_shadow: bool,
    /// Whether a guard made it, or a call that it is below of.
    pub(crate) is_unguarded: bool,
    /// What a worker was called with: to be called again with the same below itself is a cycle.
    pub(crate) arguments: OnceLock<Value>,
    /// The files that came with its prompt.
    pub(crate) attached: OnceLock<Vec<Attached>>,
    /// What the user said meanwhile: for a worker's conversation, and for the record of a call below it.
    pub(crate) heard: Heard,
    /// Where a journal keeps it.
    pub(crate) step: OnceLock<StepSpec>,
    /// Where a journal keeps what it does.
    pub(crate) places: Places,
}

/// What was said while a worker's tools ran.
#[derive(Debug, Default)]
pub(crate) struct Heard(Mutex<Vec<String>>);

impl Heard {
    pub(crate) fn add(&self, said: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// When a call must have ended, and by whose limit.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The registered name of the call that has the limit.
    pub(crate) of: Arc<str>,
    /// The limit.
    pub(crate) after: Duration,
}

impl Deadline {
    /// Returns whether it has passed.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// Returns the error of a call that met it.
    pub(crate) fn error(&self) -> CallError {
        CallError::Timeout { tool: self.of.to_string(), after: self.after }
    }
}

/// Arguments as JSON, or why they are none.
pub(crate) type Given = Result<Value, String>;

/// The plane, as a context sees it: the one place where the order of modules turns round, since calls nest.
pub(crate) trait Host: Send + Sync {
    /// Makes the call of `caller` to `whom`.
    ///
    /// `arguments` may be a text that is no JSON, and then says why not: such a call is refused and reported like any.
    fn call<'a>(
        &'a self,
        caller: &'a CallContext,
        whom: Callee<'a>,
        arguments: Given,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>>;

    /// Returns whether anybody listens to events.
    fn is_observed(&self) -> bool;

    /// Reports what happened in a call.
    fn emit(&self, ctx: &CallContext, kind: EventKind);

    /// Gives a task to the worker that is best for it.
    fn subtask<'a>(
        &'a self,
        caller: &'a CallContext,
        request: SubtaskRequest,
    ) -> BoxFuture<'a, Result<Value, CallError>>;

    /// Makes a worker for the caller of `ctx`; returns its name, and what it may call.
    #[cfg_attr(not(feature = "workers"), expect(dead_code, reason = "only the tools of that feature make workers"))]
    fn make_worker<'a>(&'a self, ctx: &'a CallContext, spec: WorkerSpec) -> BoxFuture<'a, Result<Value, BoxError>>;

    /// Calls a worker that was made.
    #[cfg_attr(not(feature = "workers"), expect(dead_code, reason = "only the tools of that feature call them"))]
    fn call_made<'a>(
        &'a self,
        caller: &'a CallContext,
        worker: &'a str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> BoxFuture<'a, Result<Value, CallError>>;

    /// Returns the id of the run.
    fn run(&self) -> &str;

    /// Returns the time.
    fn now(&self) -> Timestamp;

    /// Returns the session's journal, if it has one.
    fn journal(&self) -> Option<&Arc<dyn Journal>>;

    /// Returns whether what the caller sees by this name changes nothing.
    fn is_read_only(&self, caller: &CallContext, shown: &str) -> bool;

    /// Returns who answers for the user, if anybody does.
    fn input_handler(&self) -> Option<&Arc<dyn InputHandler>>;

    /// Returns the folder below which files are read.
    fn project_root(&self) -> &Path;

    /// Finds the application's state of a type.
    fn state(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>>;
}

impl CallContext {
    /// Returns the context of the user, who makes the root call.
    pub(crate) fn root(host: Arc<dyn Host>, frame: CallFrame) -> Self {
        Self { scope: Arc::new(Scope { host, frame, parent: None }), is_guards: false, declaration: PhantomData }
    }

    /// Returns the context of a call that this one makes.
    pub(crate) fn child(&self, frame: CallFrame) -> Self {
        let (host, parent) = (Arc::clone(&self.scope.host), Some(self.clone()));
        Self { scope: Arc::new(Scope { host, frame, parent }), is_guards: false, declaration: PhantomData }
    }
}

impl<S> CallContext<S> {
    /// Calls a tool, worker or entry: `ctx.call(read_file { path }).await?`.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] that says why nothing ran, or what the callee failed with.
    pub fn call<T>(&self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: FromReturn>,
        S: Declares<T>,
    {
        Box::pin(async move {
            let arguments = to_arguments(&call)?;
            from_result::<T>(self.dispatch(Callee::Item(T::NAME), Ok(arguments), Caller::Code).await?)
        })
    }

    /// Calls a tool, worker or entry by name, with arguments as JSON.
    ///
    /// Held to the caller's declared toolsets too, when it runs: the name is the one that a model would see, such as
    /// `fs_read_file` of `prefixed("fs_", read_file)`. A caller that declares nothing calls by registered names.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] as [`call`](Self::call) does, and [`CallError::NotFound`] for an unknown name.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        Ok(self.dispatch(Callee::Shown(name), Ok(arguments), Caller::Code).await?.value)
    }

    pub(crate) async fn dispatch(
        &self,
        whom: Callee<'_>,
        arguments: Given,
        by: Caller,
    ) -> Result<ToolReturn, CallError> {
        self.scope.host.call(&self.declaring(), whom, arguments, by).await
    }

    /// Returns the frame of this call, and those of its callers up to the user's.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &CallFrame> {
        let scopes = std::iter::successors(Some(&self.scope), |scope| Some(&scope.parent.as_ref()?.scope));
        scopes.map(|scope| &scope.frame)
    }

    /// Returns the caller's context; none for the user's.
    pub(crate) fn caller(&self) -> Option<&CallContext> {
        self.scope.parent.as_ref()
    }

    /// Returns how many workers deep the call is: 0 in an entry, 1 in a worker that it calls.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.scope.frame.depth
    }

    /// Returns the registered name of the callee: of the item that this context was given to.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.scope.frame.name
    }

    /// Returns the application's state of type `T`, if the runtime was given one.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        State::from_any(self.scope.host.state(TypeId::of::<T>())?)
    }

    /// Returns the files that came with the call's prompt: those of each argument that is a [`Prompt`](crate::Prompt).
    ///
    /// They are those of this call alone, not of one that it is below of. A path among them is not read yet:
    /// [`attachment`](Self::attachment) reads it.
    #[must_use]
    pub fn attachments(&self) -> &[Attached] {
        self.frame().attached.get().map_or(&[], Vec::as_slice)
    }

    /// Keeps the files that came with the call's prompt.
    pub(crate) fn attach(&self, files: Vec<Attached>) {
        if !files.is_empty() {
            // A call is decoded once, so that there are none yet.
            drop(self.frame().attached.set(files));
        }
    }

    /// Returns the folder below which the files of prompts are read.
    #[must_use]
    pub fn project_root(&self) -> &Path {
        self.scope.host.project_root()
    }

    /// Tells the user how far the call is, as an event; the command line shows it at once.
    pub fn progress(&self, text: impl Into<String>) {
        self.emit(|| EventKind::Progress { text: text.into() });
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.token().cancelled().await;
    }

    /// Returns whether the run is cancelled: for sync tools with long loops.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // A token is a child of all above it, so that the nearest one knows.
        self.frames().find_map(|frame| frame.cancellation.made()).is_some_and(CancellationToken::is_cancelled)
    }

    /// Returns the token that this call's end cancels.
    pub(crate) fn token(&self) -> &CancellationToken {
        let parent = || self.caller().map_or_else(CancellationToken::new, |caller| caller.token().child_token());
        self.frame().cancellation.token(parent)
    }

    /// Cancels what the call left behind once the guard is dropped.
    pub(crate) fn cancel_on_drop(&self) -> CancelOnDrop<'_> {
        CancelOnDrop(&self.scope)
    }

    pub(crate) fn frame(&self) -> &CallFrame {
        &self.scope.frame
    }

    /// Returns whether anybody listens to events.
    pub(crate) fn is_observed(&self) -> bool {
        self.scope.host.is_observed()
    }

    /// Returns whether what this call sees by a name changes nothing.
    pub(crate) fn is_read_only(&self, shown: &str) -> bool {
        self.scope.host.is_read_only(&self.declaring(), shown)
    }

    /// Returns the same context, for a guard to call by.
    pub(crate) fn for_guard(&self) -> CallContext {
        CallContext { is_guards: true, ..self.declaring() }
    }

    /// Returns whether guards see nothing of what is called by this context.
    pub(crate) fn is_unguarded(&self) -> bool {
        self.is_guards || self.frame().is_unguarded
    }

    /// Returns what may be called by this context; none for whatever is registered.
    pub(crate) fn declared(&self) -> Option<&Declared> {
        self.frame().declared.as_deref().filter(|_| !self.is_guards)
    }

    /// Returns when the call must have ended: its own time begins when it runs, its callers' have begun already.
    pub(crate) fn deadline(&self) -> Option<&Deadline> {
        // A call's is never later than its caller's, so that the nearest is the earliest.
        self.frames().find_map(|frame| frame.deadline.get())
    }

    /// Returns the call's own deadline, if it has one that is earlier than its caller's.
    fn own_deadline(&self) -> Option<&Deadline> {
        let callers = self.caller().and_then(CallContext::deadline);
        self.frame().deadline.get().filter(|own| callers.is_none_or(|callers| own.at < callers.at))
    }

    /// Waits until the call has taken longer than it may itself: for ever, if it has no time of its own.
    pub(crate) async fn out_of_own_time(&self) -> CallError {
        let Some(deadline) = self.own_deadline() else { return std::future::pending().await };
        tokio::time::sleep_until(deadline.at).await;
        deadline.error()
    }

    /// Waits until the call is cancelled, or has taken too long; returns which it is.
    pub(crate) async fn stopped(&self) -> CallError {
        self.stopped_by(self.deadline()).await
    }

    /// Waits until the call is cancelled, or its caller has taken too long.
    pub(crate) async fn stopped_from_above(&self) -> CallError {
        self.stopped_by(self.caller().and_then(CallContext::deadline)).await
    }

    async fn stopped_by(&self, deadline: Option<&Deadline>) -> CallError {
        let cancelled = async {
            self.cancelled().await;
            CallError::Cancelled { tool: self.name().to_owned() }
        };
        let Some(deadline) = deadline else { return cancelled.await };
        tokio::select! {
            error = cancelled => error,
            () = tokio::time::sleep_until(deadline.at) => deadline.error(),
        }
    }

    /// Reports what happened in the call, if anybody listens.
    pub(crate) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if self.scope.host.is_observed() {
            self.scope.host.emit(&self.declaring(), kind());
        }
    }

    /// Returns the same context under another declaration.
    fn declaring<D>(&self) -> CallContext<D> {
        CallContext { scope: Arc::clone(&self.scope), is_guards: self.is_guards, declaration: PhantomData }
    }
}

/// Tells whoever still holds a call's context that the call is over.
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
