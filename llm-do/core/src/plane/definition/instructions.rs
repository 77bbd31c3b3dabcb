//! Instructions of a worker that a function computes.
//!
//! The macro knows only the path of the function, so traits determine its parameters and its return type.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio_util::task::AbortOnDropHandle;

use crate::base::error::{BoxError, CallError, panic_text};
use crate::plane::context::{CallContext, FromContext, StateKey, ToolContext};

/// A function that computes the instructions of a worker, as named in the attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComputedInstructions {
    pub(super) function: &'static str,
    pub(super) parameters: fn() -> Vec<Option<StateKey>>,
    pub(super) compute: fn(CallContext) -> Computing,
}

/// The function failed.
#[derive(Debug, thiserror::Error)]
#[error("`{function}` could not compute the instructions")]
struct ComputeError {
    function: &'static str,
    source: BoxError,
}

impl ComputedInstructions {
    /// Lists the state that the function takes.
    pub(crate) fn state(&self) -> impl Iterator<Item = StateKey> {
        (self.parameters)().into_iter().flatten()
    }

    /// Returns whether the function can make calls: it takes something other than state.
    pub(crate) fn may_call(&self) -> bool {
        (self.parameters)().iter().any(Option::is_none)
    }

    /// Computes the instructions for a call of the worker.
    pub(crate) async fn text(&self, ctx: &CallContext) -> Result<String, CallError> {
        let Self { function, compute, .. } = *self;
        let text = compute(ctx.clone()).text().await;
        text.map_err(|source| CallError::failed(ctx.name(), ComputeError { function, source }.into()))
    }
}

/// Instructions that are being computed.
#[doc(hidden)]
pub struct Computing(ComputeTask);

enum ComputeTask {
    Future(BoxFuture<'static, Result<String, BoxError>>),
    Blocking(Box<dyn FnOnce() -> Result<String, BoxError> + Send>),
}

#[doc(hidden)]
impl Computing {
    /// Waits for an async function.
    pub fn future(text: impl Future<Output = Result<String, BoxError>> + Send + 'static) -> Self {
        Self(ComputeTask::Future(text.boxed()))
    }

    /// Runs a sync function on a thread for blocking code.
    pub fn blocking(text: impl FnOnce() -> Result<String, BoxError> + Send + 'static) -> Self {
        Self(ComputeTask::Blocking(Box::new(text)))
    }

    async fn text(self) -> Result<String, BoxError> {
        let text = match self.0 {
            ComputeTask::Future(text) => AssertUnwindSafe(text).catch_unwind().await,
            ComputeTask::Blocking(text) => match AbortOnDropHandle::new(tokio::task::spawn_blocking(text)).await {
                Ok(text) => Ok(text),
                Err(error) => Err(error.try_into_panic()?),
            },
        };
        text.unwrap_or_else(|payload| Err(format!("panicked: {}", panic_text(payload.as_ref())).into()))
    }
}

impl fmt::Debug for Computing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computing").finish_non_exhaustive()
    }
}

/// A parameter of the function, which is filled in from the context `'c`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a function that computes instructions",
    label = "does not implement `FromContext`",
    note = "take `State<T>` by value, `&CallContext`, `&dyn ToolContext` or a type that implements `FromContext`"
)]
pub trait InjectedFrom<'c>: Sized {
    /// Returns the key of the state; `None` if the type is not state.
    fn state() -> Option<StateKey>;

    /// Gets the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing.
    fn get(ctx: &'c CallContext) -> Result<Self, CallError>;
}

#[diagnostic::do_not_recommend]
impl<'c, T: FromContext> InjectedFrom<'c> for T {
    fn state() -> Option<StateKey> {
        T::state_key()
    }

    fn get(ctx: &'c CallContext) -> Result<Self, CallError> {
        T::from_context(ctx)
    }
}

#[diagnostic::do_not_recommend]
impl<'c> InjectedFrom<'c> for &'c CallContext {
    fn state() -> Option<StateKey> {
        None
    }

    fn get(ctx: &'c CallContext) -> Result<Self, CallError> {
        Ok(ctx)
    }
}

#[diagnostic::do_not_recommend]
impl<'c> InjectedFrom<'c> for &'c (dyn ToolContext + 'c) {
    fn state() -> Option<StateKey> {
        None
    }

    fn get(ctx: &'c CallContext) -> Result<Self, CallError> {
        Ok(ctx)
    }
}

/// A function whose parameters, the types in the tuple `P`, can be injected.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot compute the instructions of a worker",
    label = "not a function of at most 8 injected parameters",
    note = "take `State<T>` by value, `&CallContext`, `&dyn ToolContext` or types that implement `FromContext`"
)]
pub trait Computes<'c, P> {
    /// The return type of the function.
    type Returned;

    /// Returns the key of each parameter that is state.
    fn parameters() -> Vec<Option<StateKey>>;

    /// Calls the function.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter cannot be injected.
    fn call(self, ctx: &'c CallContext) -> Result<Self::Returned, CallError>;
}

macro_rules! computes {
    ($($parameter:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<'c, F, R, $($parameter),*> Computes<'c, ($($parameter,)*)> for F
        where
            F: FnOnce($($parameter),*) -> R,
            $($parameter: InjectedFrom<'c>,)*
        {
            type Returned = R;

            fn parameters() -> Vec<Option<StateKey>> {
                vec![$($parameter::state()),*]
            }

            #[allow(unused_variables, reason = "without parameters, the context is not read")]
            fn call(self, ctx: &'c CallContext) -> Result<R, CallError> {
                Ok(self($($parameter::get(ctx)?),*))
            }
        }
    };
}

computes!();
computes!(A);
computes!(A B);
computes!(A B C);
computes!(A B C D);
computes!(A B C D E);
computes!(A B C D E G);
computes!(A B C D E G H);
computes!(A B C D E G H I);

/// Marks the return type of a sync function.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returns;

/// Marks the return type of an async function.
#[doc(hidden)]
#[derive(Debug)]
pub struct Awaits;

/// A return type of a function that computes instructions; `K` is [`Returns`] or [`Awaits`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a function that computes instructions returns `String`, not `{Self}`",
    label = "not a text",
    note = "return `String`, or `Result<String, E>` with an error that `?` converts; a future of an `async fn` must be `Send`"
)]
pub trait InstructionsText<K>: Sized {
    /// Whether the function must be awaited.
    const IS_FUTURE: bool;

    /// Returns the text that a sync function returned.
    ///
    /// # Errors
    ///
    /// Returns the function's error.
    fn returned(self) -> Result<String, BoxError>;

    /// Waits for the text.
    fn awaited<'f>(self) -> BoxFuture<'f, Result<String, BoxError>>
    where
        Self: 'f,
    {
        ready(self.returned()).boxed()
    }
}

#[diagnostic::do_not_recommend]
impl InstructionsText<Returns> for String {
    const IS_FUTURE: bool = false;

    fn returned(self) -> Result<String, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> InstructionsText<Returns> for Result<String, E> {
    const IS_FUTURE: bool = false;

    fn returned(self) -> Result<String, BoxError> {
        self.map_err(Into::into)
    }
}

#[diagnostic::do_not_recommend]
impl<F> InstructionsText<Awaits> for F
where
    F: Future<Output: InstructionsText<Returns>> + Send,
{
    const IS_FUTURE: bool = true;

    fn returned(self) -> Result<String, BoxError> {
        Err("an async function was not awaited".into())
    }

    fn awaited<'f>(self) -> BoxFuture<'f, Result<String, BoxError>>
    where
        Self: 'f,
    {
        Box::pin(async move { self.await.returned() })
    }
}

/// Returns the key of each parameter that is state.
#[doc(hidden)]
#[must_use]
pub fn instructions_parameters<'c, F, P>(_: F) -> Vec<Option<StateKey>>
where
    F: Computes<'c, P>,
{
    F::parameters()
}

/// Returns whether the function is async.
#[doc(hidden)]
#[must_use]
pub fn instructions_are_awaited<'c, F, P, R, K>(_: F) -> bool
where
    F: Computes<'c, P, Returned = R>,
    R: InstructionsText<K>,
{
    R::IS_FUTURE
}

/// Calls a sync function.
///
/// # Errors
///
/// Returns the function's error, or the reason why a parameter cannot be injected.
#[doc(hidden)]
pub fn returned_instructions<'c, F, P, R, K>(function: F, ctx: &'c CallContext) -> Result<String, BoxError>
where
    F: Computes<'c, P, Returned = R>,
    R: InstructionsText<K>,
{
    function.call(ctx)?.returned()
}

/// Calls an async function.
#[doc(hidden)]
pub fn awaited_instructions<'c, F, P, R, K>(
    function: F,
    ctx: &'c CallContext,
) -> BoxFuture<'c, Result<String, BoxError>>
where
    F: Computes<'c, P, Returned = R>,
    R: InstructionsText<K> + 'c,
{
    match function.call(ctx) {
        Ok(text) => text.awaited(),
        Err(error) => ready(Err(error.into())).boxed(),
    }
}
