//! What a running tool, worker or entry may reach: the context that flows down the call tree.

mod inject;

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use self::inject::{FromContext, State, StateKey};
use crate::declared::{Callee, Declared};
use crate::error::CallError;
use crate::event::{Caller, EventKind};
use crate::instance::Instances;
use crate::tool::{FromReturn, Tool, ToolReturn, from_result, to_arguments};
use crate::toolset::{Anything, Declares};
use crate::usage::{Meter, RunUsage};

/// The context of one call: how tools, workers and entries call others.
///
/// `S` is the item whose declared toolsets the compiler holds [`call`](Self::call) to: an entry with
/// `toolsets = [..]` takes `&CallContext<its own name>`. A plain `CallContext` may call whatever is registered.
/// Cloning is cheap.
pub struct CallContext<S = Anything> {
    scope: Arc<Scope>,
    declaration: PhantomData<fn() -> S>,
}

/// What a context is made of.
pub(crate) struct Scope {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) frame: CallFrame,
}

/// The facts of one call.
#[derive(Clone, Debug)]
pub(crate) struct CallFrame {
    pub(crate) call: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) depth: u32,
    /// How many calls of any kind it is inside of.
    pub(crate) nesting: u32,
    pub(crate) name: Arc<str>,
    /// What it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<Declared>>,
    pub(crate) meter: Meter,
    /// What it opened, and what it was opened for.
    pub(crate) instances: Arc<Instances>,
    pub(crate) cancellation: CancellationToken,
}

/// Arguments as JSON, or why they are none.
pub(crate) type Given = Result<Value, String>;

/// The plane, as a context sees it: the one place where the order of modules turns round, since calls nest.
#[async_trait]
pub(crate) trait Host: Send + Sync {
    /// Makes the call of `caller` to `whom`.
    ///
    /// `arguments` may be a text that is no JSON, and then says why not: such a call is refused and reported like any.
    async fn call(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        arguments: Given,
        by: Caller,
    ) -> Result<ToolReturn, CallError>;

    /// Reports what happened in the call of `frame`.
    fn emit(&self, frame: &CallFrame, kind: EventKind);

    /// Returns the folder below which files are read.
    fn project_root(&self) -> &Path;

    /// Finds the application's state of a type.
    fn state(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>>;
}

impl CallContext {
    pub(crate) fn new(host: Arc<dyn Host>, frame: CallFrame) -> Self {
        Self { scope: Arc::new(Scope { host, frame }), declaration: PhantomData }
    }

    /// Returns the context of a call that this one makes.
    pub(crate) fn child(&self, frame: CallFrame) -> Self {
        Self::new(Arc::clone(&self.scope.host), frame)
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

    /// Returns what the call and all calls below it used so far.
    #[must_use]
    pub fn usage(&self) -> RunUsage {
        self.scope.frame.meter.used()
    }

    /// Returns the application's state of type `T`, if the runtime was given one.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        State::from_any(self.scope.host.state(TypeId::of::<T>())?)
    }

    /// Returns the folder below which the files of prompts are read.
    #[must_use]
    pub fn project_root(&self) -> &Path {
        self.scope.host.project_root()
    }

    /// Tells the user how far the call is, as an event; the command line shows it at once.
    pub fn progress(&self, text: impl Into<String>) {
        self.emit(EventKind::Progress { text: text.into() });
    }

    /// Waits until the run is cancelled.
    pub async fn cancelled(&self) {
        self.scope.frame.cancellation.cancelled().await;
    }

    /// Returns whether the run is cancelled: for sync tools with long loops.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.scope.frame.cancellation.is_cancelled()
    }

    pub(crate) fn frame(&self) -> &CallFrame {
        &self.scope.frame
    }

    pub(crate) fn emit(&self, kind: EventKind) {
        self.scope.host.emit(&self.scope.frame, kind);
    }

    /// Returns the same context under another declaration.
    fn declaring<D>(&self) -> CallContext<D> {
        CallContext { scope: Arc::clone(&self.scope), declaration: PhantomData }
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

/// What a tool asks of a context, as a trait: take `&dyn ToolContext` to unit-test a tool with a stub.
#[async_trait]
pub trait ToolContext: Send + Sync {
    /// Calls a tool, worker or entry by name.
    ///
    /// # Errors
    ///
    /// As [`CallContext::call_tool`].
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError>;

    /// Returns how many workers deep the call is.
    fn depth(&self) -> u32;

    /// Returns what the call and all calls below it used so far.
    fn usage(&self) -> RunUsage;

    /// Returns whether the run is cancelled.
    fn is_cancelled(&self) -> bool;
}

#[async_trait]
impl<S> ToolContext for CallContext<S> {
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.call_tool(name, arguments).await
    }

    fn depth(&self) -> u32 {
        self.depth()
    }

    fn usage(&self) -> RunUsage {
        self.usage()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }
}
