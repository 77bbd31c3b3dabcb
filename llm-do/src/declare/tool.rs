//! What a tool is to the compiler: its arguments, its result, and how its function runs.

mod returned;
mod tool_return;
mod worker_output;

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::returned::{
    Failure, NotResult, ReturnProbe, Returned, ReturnsError, ReturnsNested, ReturnsSource, ReturnsText, ReturnsValue,
    Yields,
};
pub use self::tool_return::{FromReturn, ToolOutput, ToolReturn};
pub use self::worker_output::WorkerOutput;
use crate::base::error::{CallError, Fault};
use crate::declare::argument::{self, Arguments};
use crate::declare::nesting;

/// The arguments of a tool, worker or entry: the type that the macros put beside each function, of the same name.
///
/// Not implemented by hand: `#[tool]`, `#[worker]` and `#[entry]` do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, worker or entry",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`",
    note = "pass the argument struct, which has the name of the function: `ctx.call(name {{ argument }})`"
)]
pub trait Tool: Arguments + Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The registered name.
    const NAME: &'static str;

    /// What a call yields: `T` for a function that returns `T` or `Result<T, E>`.
    type Output;
}

/// A call that can continue a conversation: that of a worker, by type, or a call by name.
///
/// Not implemented by hand: `#[worker]` does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a worker, so it has no conversation to continue",
    label = "not annotated with `#[worker]`",
    note = "pass the arguments of a worker, whose requests and answers make up the conversation",
    note = "to run a tool or an entry, use `runtime.run(..)`, or `runtime.start(..)` without a history"
)]
pub trait TakesHistory {}

/// Writes a typed call's arguments as JSON.
pub(crate) fn to_arguments<T: Tool>(call: T) -> Result<Value, CallError> {
    argument::write(&call).map_err(|fault| {
        if fault.is_too_deep() {
            nesting::discard(call);
        }
        CallError::invalid(T::NAME, fault)
    })
}

/// Refuses a typed call whose arguments are not read as the value that was written.
pub(crate) fn refuse_lost<T: Tool>(arguments: &Value) -> Result<(), CallError> {
    // What cannot be read is refused where it is decoded.
    let Ok((read, _)) = argument::read::<T>(arguments.clone()) else { return Ok(()) };
    let again = argument::write(&read).map_err(|fault| CallError::invalid(T::NAME, fault))?;
    argument::lost(arguments, &again).map_or(Ok(()), |field| {
        let fault = format!(
            "`{field}` is not read as it was written, so that a typed call would run with another value; let the value that \
             `skip_serializing_if` skips be the `default`, or call by name with JSON"
        );
        Err(CallError::invalid(T::NAME, fault))
    })
}

/// Reads a call's result as the type that the tool yields.
pub(crate) fn from_result<T: Tool<Output: FromReturn>>(returned: ToolReturn) -> Result<T::Output, CallError> {
    T::Output::from_return(returned)
        .map_err(|error| CallError::Result { tool: T::NAME.to_owned(), message: Fault::reading(&error).to_string() })
}

/// What a call of a tool changes; by default it decides whether the approver is asked before the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// A call changes nothing; it runs without approval.
    ReadOnly,
    /// A call changes something, and the same call again changes nothing more, as when it sets a value; it needs approval.
    Idempotent,
    /// A call changes something that cannot be undone, as when it deletes, sends or pays; it needs approval.
    Destructive,
    /// The tool declares no effect, or a call is none of the others, as when it appends a line; it needs approval.
    #[default]
    Undeclared,
}

/// Finds at compile time the schema of `T`, if it has one, in the same way.
#[doc(hidden)]
#[derive(Debug)]
pub struct SchemaProbe<T>(PhantomData<T>);

impl<T: JsonSchema> SchemaProbe<T> {
    #[doc(hidden)]
    pub const SCHEMA: Option<fn() -> Value> = Some(crate::declare::schema::of::<T>);
}

/// The other half of [`SchemaProbe`].
#[doc(hidden)]
pub trait NoSchema {
    #[doc(hidden)]
    const SCHEMA: Option<fn() -> Value> = None;
}

impl<T> NoSchema for SchemaProbe<T> {}

type Body = Box<dyn FnOnce() -> Result<ToolReturn, Failure> + Send>;

/// A function that has its arguments and waits to be run.
#[doc(hidden)]
pub struct Running(pub(crate) Way);

/// How a function runs.
pub(crate) enum Way {
    Blocking(Body),
    /// It has run already.
    Inline(Result<ToolReturn, Failure>),
    Future(Pin<Box<dyn Future<Output = Result<ToolReturn, Failure>> + Send>>),
    Failed(CallError),
}

#[doc(hidden)]
impl Running {
    /// Runs `body` off the async threads.
    pub fn blocking(body: impl FnOnce() -> Result<ToolReturn, Failure> + Send + 'static) -> Self {
        Self(Way::Blocking(Box::new(body)))
    }

    /// Runs `body` in place.
    pub fn inline(body: impl FnOnce() -> Result<ToolReturn, Failure>) -> Self {
        Self(Way::Inline(body()))
    }

    /// Polls `body`.
    pub fn future(body: impl Future<Output = Result<ToolReturn, Failure>> + Send + 'static) -> Self {
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
