//! What a running tool, worker or entry may reach: the context that flows down the call tree.

mod ask;
mod frame;
mod host;
mod inject;
mod journaled;
mod metered;
mod requests;
mod time;
mod tool_context;

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use llm_do_providers::SettingWarning;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::ask::Ask;
pub(crate) use self::frame::{CallFrame, Variant};
pub(crate) use self::host::{Given, Host};
pub use self::inject::{FromContext, State, StateKey};
pub(crate) use self::journaled::{Came, Way};
pub(crate) use self::metered::RequestUnderWay;
pub(crate) use self::time::Deadline;
pub use self::tool_context::ToolContext;
use crate::base::error::CallError;
use crate::declare::prompt::Attached;
use crate::declare::tool::{FromReturn, Tool, ToolReturn, check_round_trip, from_result, to_arguments};
use crate::declare::toolset::{Anything, Declares};
use crate::observe::event::{Caller, EventKind};
use crate::plane::declared::{Callee, Declared};
use crate::plane::instance::Closings;

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

impl CallContext {
    /// Returns the context of the user, who makes the root call.
    pub(crate) fn root(host: Arc<dyn Host>, frame: CallFrame) -> Self {
        Self { scope: Arc::new(Scope { host, frame, parent: None }), is_guards: false, declaration: PhantomData }
    }

    /// Returns the context of a call that this one makes.
    #[inline]
    pub(crate) fn into_child(self, frame: CallFrame) -> Self {
        let host = Arc::clone(&self.scope.host);
        let scope = Scope { host, frame, parent: Some(self) };
        Self { scope: Arc::new(scope), is_guards: false, declaration: PhantomData }
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
            let arguments = to_arguments(call)?;
            if self.scope.host.may_skip_fields(T::NAME)? {
                check_round_trip::<T>(&arguments)?;
            }
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

    pub(crate) fn dispatch<'a>(
        &'a self,
        whom: Callee<'a>,
        arguments: Given,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        self.scope.host.call(self.declaring(), whom, arguments, by)
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

    /// Returns the id of the run.
    pub(crate) fn run_id(&self) -> &str {
        self.scope.host.run()
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

    /// Returns the files among the call's arguments: those of each [`Prompt`](crate::Prompt), and each
    /// [`Attached`] and [`Attachment`](crate::Attachment), at any depth.
    ///
    /// They are those of this call alone, not of one that it is below of. A path among them is not read yet:
    /// [`attachment`](Self::attachment) reads it.
    #[must_use]
    pub fn attachments(&self) -> &[Attached] {
        self.frame().attached.get().map_or(&[], Vec::as_slice)
    }

    /// Keeps the files that were among the call's arguments.
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

    /// Returns what closes the instances of the run.
    pub(crate) fn closings(&self) -> Closings {
        self.scope.host.closings().clone()
    }

    /// Reports what happened in the call, if anybody listens.
    pub(crate) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if self.scope.host.is_observed() {
            self.scope.host.emit(&self.declaring(), kind());
        }
    }

    /// Reports the settings that `model` was not sent as they were set, if anybody listens.
    pub(crate) fn warn(&self, model: &Arc<str>, warnings: &[SettingWarning]) {
        if warnings.is_empty() || !self.scope.host.is_observed() {
            return;
        }
        for warning in warnings {
            self.scope.host.warn(&self.declaring(), model, warning);
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
