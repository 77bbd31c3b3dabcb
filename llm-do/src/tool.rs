//! What a tool is to the compiler: its arguments, its result, and how its function runs.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{BoxError, CallError};

/// The arguments of a tool, worker or entry: the type that the macros put beside each function, of the same name.
///
/// Not implemented by hand: `#[tool]`, `#[worker]` and `#[entry]` do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, worker or entry",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`"
)]
pub trait Tool: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The registered name.
    const NAME: &'static str;

    /// What a call yields: `T` for a function that returns `T` or `Result<T, E>`.
    type Output;
}

/// Writes a typed call's arguments as JSON.
pub(crate) fn to_arguments<T: Tool>(call: &T) -> Result<Value, CallError> {
    serde_json::to_value(call)
        .map_err(|error| CallError::InvalidArguments { tool: T::NAME.to_owned(), message: error.to_string() })
}

/// Reads a call's result as the type that the tool yields.
pub(crate) fn from_result<T: Tool<Output: DeserializeOwned>>(result: Value) -> Result<T::Output, CallError> {
    serde_json::from_value(result)
        .map_err(|error| CallError::Result { tool: T::NAME.to_owned(), message: error.to_string() })
}

/// What a call of a tool may change; it decides whether anybody is asked before the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Changes nothing: runs without asking.
    ReadOnly,
    /// Changes something, but twice is like once: asks.
    Idempotent,
    /// Changes something for good: asks.
    Destructive,
    /// Says nothing: asks.
    #[default]
    Undeclared,
}

/// What a tool's function may return: a value that serialises, or a `Result` of one.
///
/// `FALLIBLE` tells the two apart by type, so that any alias of `Result` counts as one.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "neither a value that serialises nor a `Result` of one",
    note = "derive `serde::Serialize` for the value, and let the error be one that converts into \
            `Box<dyn std::error::Error + Send + Sync>`"
)]
pub trait Returns<const FALLIBLE: bool> {
    #[doc(hidden)]
    fn into_value(self) -> Result<Value, Failure>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> Returns<false> for T {
    fn into_value(self) -> Result<Value, Failure> {
        serde_json::to_value(self).map_err(|error| Failure(error.into()))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize, E: Into<BoxError>> Returns<true> for Result<T, E> {
    fn into_value(self) -> Result<Value, Failure> {
        match self {
            Ok(value) => value.into_value(),
            Err(error) => Err(Failure(error.into())),
        }
    }
}

/// What a call yields when it succeeds; it asks nothing of the type, so that what is wrong with one is told once, by
/// [`Returns`].
#[doc(hidden)]
pub trait Yields<const FALLIBLE: bool> {
    #[doc(hidden)]
    type Output;
}

impl<T> Yields<false> for T {
    type Output = T;
}

impl<T, E> Yields<true> for Result<T, E> {
    type Output = T;
}

/// What an argument can be.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool, worker or entry cannot take `{Self}` as an argument",
    label = "no model can write this",
    note = "derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` for it, \
            or mark the parameter `#[ctx]` if no caller gives it"
)]
pub trait Argument: Serialize + DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// Compiles if `T` can be an argument.
#[doc(hidden)]
pub const fn assert_argument<T: Argument>() {}

/// What a model can return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a worker cannot return `{Self}`",
    label = "no model can write this",
    note = "derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` for it"
)]
pub trait WorkerOutput: Serialize + DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> WorkerOutput for T {}

/// What a text as a default can become: `String`, `PathBuf`, and whatever else is made from a `&str`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "the default of a `{Self}` cannot be a text", label = "a text")]
pub trait FromText {
    #[doc(hidden)]
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// Turns what a function returned into what the plane passes on.
#[doc(hidden)]
pub fn returned<R: Returns<FALLIBLE>, const FALLIBLE: bool>(value: R) -> Result<Value, Failure> {
    value.into_value()
}

/// Tells at compile time whether `R` is a `Result`: an inherent constant goes before a trait's.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReturnProbe<R>(PhantomData<R>);

impl<T, E> ReturnProbe<Result<T, E>> {
    #[doc(hidden)]
    pub const FALLIBLE: bool = true;
}

/// The other half of [`ReturnProbe`].
#[doc(hidden)]
pub trait NotResult {
    #[doc(hidden)]
    const FALLIBLE: bool = false;
}

impl<R> NotResult for ReturnProbe<R> {}

/// Finds at compile time the schema of `T`, if it has one, in the same way.
#[doc(hidden)]
#[derive(Debug)]
pub struct SchemaProbe<T>(PhantomData<T>);

impl<T: JsonSchema> SchemaProbe<T> {
    #[doc(hidden)]
    pub const SCHEMA: Option<fn() -> Value> = Some(crate::schema::of::<T>);
}

/// The other half of [`SchemaProbe`].
#[doc(hidden)]
pub trait NoSchema {
    #[doc(hidden)]
    const SCHEMA: Option<fn() -> Value> = None;
}

impl<T> NoSchema for SchemaProbe<T> {}

/// What a function failed with.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failure(pub(crate) BoxError);

type Body = Box<dyn FnOnce() -> Result<Value, Failure> + Send>;

/// A function that has its arguments and waits to be run.
#[doc(hidden)]
pub struct Running(pub(crate) Way);

/// How a function runs.
pub(crate) enum Way {
    Blocking(Body),
    Inline(Body),
    Future(Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>),
    Failed(CallError),
}

#[doc(hidden)]
impl Running {
    /// Runs `body` off the async threads.
    pub fn blocking(body: impl FnOnce() -> Result<Value, Failure> + Send + 'static) -> Self {
        Self(Way::Blocking(Box::new(body)))
    }

    /// Runs `body` in place.
    pub fn inline(body: impl FnOnce() -> Result<Value, Failure> + Send + 'static) -> Self {
        Self(Way::Inline(Box::new(body)))
    }

    /// Polls `body`.
    pub fn future(body: impl Future<Output = Result<Value, Failure>> + Send + 'static) -> Self {
        Self(Way::Future(Box::pin(body)))
    }

    /// Fails before anything ran.
    #[must_use]
    pub fn failed(error: CallError) -> Self {
        Self(Way::Failed(error))
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}
