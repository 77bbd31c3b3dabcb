//! Stateful toolsets: a type whose methods are tools, with an instance for each call that declares it.

use std::convert::identity;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt, TryFutureExt};
use tokio_util::task::AbortOnDropHandle;

use crate::base::error::{BoxError, CallError};
use crate::plane::context::{CallContext, FromContext, StateKey};
use crate::plane::instance::{Close, CloseTasks, Opened, Slot, TypeKey};

/// A type whose methods are tools; implemented by `#[tool]` on an `impl`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no instances",
    label = "not a type with `#[tool]` on an `impl`",
    note = "`instance(..)` takes a type whose methods are tools, so that each instance has its own state"
)]
pub trait Stateful: Send + Sync + Sized + 'static {
    /// The toolset's registered name.
    const NAME: &'static str;

    /// The types of state that `open` takes.
    const STATE: &'static [fn() -> StateKey] = &[];

    /// Starts to open an instance for the call of `ctx`.
    fn open(ctx: &CallContext) -> Opening<Self>;

    /// Starts to close the instance.
    fn close(self) -> Closing;
}

/// An instance that is being opened.
#[doc(hidden)]
pub struct Opening<T>(OpenTask<T>);

enum OpenTask<T> {
    Future(BoxFuture<'static, Result<T, BoxError>>),
    Blocking(Box<dyn FnOnce() -> Result<T, BoxError> + Send>),
    Failed(CallError),
}

#[doc(hidden)]
impl<T: Stateful> Opening<T> {
    /// Waits for `open`.
    pub fn future(open: impl Future<Output = Result<T, BoxError>> + Send + 'static) -> Self {
        Self(OpenTask::Future(open.boxed()))
    }

    /// Runs `open` on a thread for blocking code.
    pub fn blocking(open: impl FnOnce() -> Result<T, BoxError> + Send + 'static) -> Self {
        Self(OpenTask::Blocking(Box::new(open)))
    }

    /// Fails without running anything.
    #[must_use]
    pub fn failed(error: CallError) -> Self {
        Self(OpenTask::Failed(error))
    }

    /// Waits for the instance. An instance is closed even if the future is dropped after it was opened.
    fn opened(
        self,
        instance: Option<&'static str>,
        tasks: CloseTasks,
    ) -> BoxFuture<'static, Result<Opened, CallError>> {
        let held = move |value| Opened::new(value, instance, |value: T| value.close().0, tasks);
        let failed = move |source| failed::<T>(instance, source);
        match self.0 {
            OpenTask::Future(open) => open.map_ok(held).map_err(failed).boxed(),
            OpenTask::Blocking(open) => {
                // If it is dropped before a thread is free, `open` never starts.
                let opening = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || open().map(held)));
                async move { opening.await.map_err(BoxError::from).and_then(identity).map_err(failed) }.boxed()
            }
            OpenTask::Failed(error) => ready(Err(error)).boxed(),
        }
    }
}

impl<T> fmt::Debug for Opening<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}

/// An instance that is being closed.
#[doc(hidden)]
pub struct Closing(Close);

#[doc(hidden)]
impl Closing {
    /// Waits for `close`.
    pub fn future(close: impl Future<Output = Result<(), BoxError>> + Send + 'static) -> Self {
        Self(close.boxed())
    }

    /// Runs `close` on a thread for blocking code.
    pub fn blocking(close: impl FnOnce() -> Result<(), BoxError> + Send + 'static) -> Self {
        // Not aborted on drop: if no thread is free, `close` runs later.
        Self::future(async { tokio::task::spawn_blocking(close).await? })
    }

    /// Drops the instance.
    pub fn dropping<T>(instance: T) -> Self {
        drop(instance);
        Self(ready(Ok(())).boxed())
    }
}

impl fmt::Debug for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closing").finish_non_exhaustive()
    }
}

fn failed<T: Stateful>(instance: Option<&'static str>, source: BoxError) -> CallError {
    CallError::failed(instance.unwrap_or(T::NAME), source)
}

/// Checks that a type has instances.
#[doc(hidden)]
pub const fn assert_stateful<T: Stateful>() {}

/// Opens a toolset without its own `open`, using `Default`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `open` function and does not implement `Default`",
    label = "an instance cannot be created",
    note = "add `async fn open(..) -> Self` to the `impl`, or derive `Default`"
)]
pub trait OpenByDefault: Sized {
    #[doc(hidden)]
    fn open_by_default() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> OpenByDefault for T {
    fn open_by_default() -> Self {
        T::default()
    }
}

/// The receiver of a method that is a tool.
#[doc(hidden)]
pub struct Instance<T: Stateful>(Arc<Slot<T>>);

impl<T: Stateful> Deref for Instance<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.value()
    }
}

impl<T: Stateful> fmt::Debug for Instance<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").finish_non_exhaustive()
    }
}

impl<T: Stateful> FromContext for Instance<T> {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        let receiver = ctx.frame().instances.receiver().and_then(Opened::slot);
        receiver.map(Self).ok_or_else(|| failed::<T>(ctx.instance(), "the call has no instance of this toolset".into()))
    }
}

/// The functions that open an instance of a type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstanceDef {
    /// The named instance, if it is one.
    pub(crate) name: Option<&'static str>,
    /// The registered name of the type's toolset.
    pub(crate) toolset: &'static str,
    key: fn(Option<&'static str>) -> TypeKey,
    pub(crate) state: &'static [fn() -> StateKey],
    open: fn(&CallContext) -> BoxFuture<'static, Result<Opened, CallError>>,
}

impl InstanceDef {
    pub(super) const fn new<T: Stateful>() -> Self {
        let open = |ctx: &CallContext| T::open(ctx).opened(ctx.instance(), ctx.close_tasks());
        Self { name: None, toolset: T::NAME, key: TypeKey::of::<T>, state: T::STATE, open }
    }

    /// Returns the functions for a named instance.
    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Returns the key of the type, without a named instance.
    pub(crate) fn type_key(&self) -> TypeKey {
        (self.key)(None)
    }

    /// Returns the key of the type and of the named instance.
    pub(crate) fn key(&self) -> TypeKey {
        (self.key)(self.name)
    }

    /// Opens an instance for the call of `ctx`.
    pub(crate) async fn open(&self, ctx: &CallContext) -> Result<Opened, CallError> {
        let opening = (self.open)(&ctx.clone().inside(self.name));
        opening.await
    }
}
