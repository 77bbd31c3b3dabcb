//! What a running tool, worker or entry may reach: the context that flows down the call tree.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::error::{BoxError, CallError};
use crate::event::{Caller, EventKind};
use crate::tool::Tool;
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
    /// The names that it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<[Arc<str>]>>,
    pub(crate) meter: Meter,
    pub(crate) cancellation: CancellationToken,
}

/// Arguments as JSON, or why they are none.
pub(crate) type Arguments = Result<Value, String>;

/// The plane, as a context sees it: the one place where the order of modules turns round, since calls nest.
#[async_trait]
pub(crate) trait Host: Send + Sync {
    /// Calls the tool `name` for `caller`.
    ///
    /// `arguments` may be a text that is no JSON, and then says why not: such a call is refused and reported like any.
    async fn call(
        &self,
        caller: &CallContext,
        name: &str,
        arguments: Arguments,
        by: Caller,
    ) -> Result<Value, CallError>;

    /// Reports what happened in the call of `frame`.
    fn emit(&self, frame: &CallFrame, kind: EventKind);

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
    pub fn call<T, Index>(&self, call: T) -> BoxFuture<'_, Result<T::Output, CallError>>
    where
        T: Tool<Output: DeserializeOwned>,
        S: Declares<T, Index>,
    {
        Box::pin(async move {
            let arguments = serde_json::to_value(&call).map_err(|error| CallError::InvalidArguments {
                tool: T::NAME.to_owned(),
                message: error.to_string(),
            })?;
            let result = self.dispatch(T::NAME, Ok(arguments), Caller::Code).await?;
            serde_json::from_value(result)
                .map_err(|error| CallError::Result { tool: T::NAME.to_owned(), message: error.to_string() })
        })
    }

    /// Calls a tool, worker or entry by its registered name, with arguments as JSON.
    ///
    /// Held to the caller's declared toolsets too, when it runs.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] as [`call`](Self::call) does, and [`CallError::NotFound`] for an unknown name.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.dispatch(name, Ok(arguments), Caller::Code).await
    }

    pub(crate) async fn dispatch(&self, name: &str, arguments: Arguments, by: Caller) -> Result<Value, CallError> {
        self.scope.host.call(&self.undeclared(), name, arguments, by).await
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
        let state = self.scope.host.state(TypeId::of::<T>())?;
        state.downcast().ok().map(State)
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

    fn undeclared(&self) -> CallContext {
        CallContext { scope: Arc::clone(&self.scope), declaration: PhantomData }
    }
}

impl<S> Clone for CallContext<S> {
    fn clone(&self) -> Self {
        Self { scope: Arc::clone(&self.scope), declaration: PhantomData }
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
    /// Calls a tool, worker or entry by its registered name.
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

/// The application's state of type `T`, given to the runtime once and to every tool that takes a `State<T>`.
pub struct State<T>(Arc<T>);

impl<T> State<T> {
    /// Wraps a value, to call a tool's function directly, as a test does.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for State<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

/// A parameter type that the plane fills in and no model sees.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "not a context",
    note = "injected are `&CallContext<..>`, `&dyn ToolContext`, `State<T>` and types that implement `FromContext`"
)]
pub trait FromContext: Sized + Send + 'static {
    /// Takes the value out of the context of the call.
    ///
    /// # Errors
    ///
    /// Returns an error that ends the call if there is no such value.
    fn from_context(ctx: &CallContext) -> Result<Self, CallError>;
}

impl<S: 'static> FromContext for CallContext<S> {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        Ok(Self { scope: Arc::clone(&ctx.scope), declaration: PhantomData })
    }
}

impl<T: Send + Sync + 'static> FromContext for State<T> {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        ctx.state().ok_or_else(|| {
            let text = format!("no state of type `{}`: give it to `Runtime::builder().state(..)`", name_of::<T>());
            CallError::Failed { tool: ctx.name().to_owned(), source: BoxError::from(text) }
        })
    }
}

/// A type of state that a tool needs.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateKey {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl StateKey {
    /// Returns the key of `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: name_of::<T>() }
    }
}

fn name_of<T>() -> &'static str {
    std::any::type_name::<T>()
}
