//! The trait of tools, the types that they return, and how their functions run.

mod direct_call;
mod on_unknown;
mod returned;
mod tool_return;
mod typed_error;
mod worker_output;

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::direct_call::{CalledDirectly, DirectCall};
pub use self::on_unknown::OnUnknown;
pub use self::returned::{
    Failure, NotResult, ReturnProbe, Returned, ReturnsError, ReturnsNested, ReturnsSource, ReturnsText, ReturnsValue,
    Yields,
};
pub use self::tool_return::{FromReturn, ToolOutput, ToolReturn};
pub use self::typed_error::{ErrorProbe, NoErrorType, TypedError, assert_fallible};
pub use self::worker_output::WorkerOutput;
use crate::base::error::{CallError, Fault};
use crate::declare::argument::{self, Arguments};
use crate::declare::{nesting, schema};

/// The arguments of a tool, worker or entry: the struct that the macros generate for each function, under the same name.
///
/// Implemented by `#[tool]`, `#[worker]` and `#[entry]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool, worker or entry",
    label = "not annotated with `#[tool]`, `#[worker]` or `#[entry]`",
    note = "pass the argument struct, which has the name of the function: `ctx.call(name {{ argument }})`"
)]
pub trait Tool: Arguments + Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The registered name.
    const NAME: &'static str;

    /// The type of a successful result: `T` for a function that returns `T` or `Result<T, E>`.
    type Output;
}

/// A call that can continue a conversation: a typed call of a worker, or a call by name.
///
/// Implemented by `#[worker]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a worker, so it has no conversation to continue",
    label = "not annotated with `#[worker]`",
    note = "pass the arguments of a worker, whose requests and answers make up the conversation",
    note = "to run a tool or an entry, use `runtime.run(..)`, or `runtime.start(..)` without a history"
)]
pub trait TakesHistory {}

/// Encodes a typed call's arguments as JSON.
pub(crate) fn to_arguments<T: Tool>(call: T) -> Result<Value, CallError> {
    argument::write(&call).map_err(|fault| {
        if fault.is_too_deep() {
            nesting::discard(call);
        }
        CallError::invalid(T::NAME, fault)
    })
}

/// Rejects a typed call whose arguments change when they are encoded and decoded.
pub(crate) fn check_round_trip<T: Tool>(arguments: &Value) -> Result<(), CallError> {
    // Arguments that cannot be decoded are rejected later, where the call decodes them.
    let Ok((read, _)) = argument::read::<T>(arguments.clone()) else { return Ok(()) };
    let again = argument::write(&read).map_err(|fault| CallError::invalid(T::NAME, fault))?;
    argument::lost_field(arguments, &again).map_or(Ok(()), |field| {
        let fault = format!(
            "`{field}` changes when it is serialized and deserialized, so a typed call would run with another value; let \
             `skip_serializing_if` skip only the default value, or call by name with JSON"
        );
        Err(CallError::invalid(T::NAME, fault))
    })
}

/// Decodes a call's result as the output type of the tool.
pub(crate) fn from_result<T: Tool<Output: FromReturn>>(returned: ToolReturn) -> Result<T::Output, CallError> {
    T::Output::from_return(returned)
        .map_err(|error| CallError::Result { tool: T::NAME.to_owned(), message: Fault::reading(&error).to_string() })
}

/// The effect of a call of a tool; by default it determines whether a call needs approval.
///
/// A tool declares its effect. The effect of a worker follows from its tools, as does the effect of a script that
/// declares none. The consequences for approval, concurrency, resumed runs and clients are listed at
/// [`#[tool]`](macro@llm_do_macros::tool#effects).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// A call changes nothing; it runs without approval.
    ReadOnly,
    /// A call changes something, and repeating it changes nothing more, such as setting a value; it needs approval.
    Idempotent,
    /// A call changes something that cannot be undone, such as deleting, sending or paying; it needs approval.
    Destructive,
    /// The tool declares no effect, or none of the other variants applies, such as appending a line; it needs approval.
    #[default]
    Undeclared,
}

impl Effect {
    /// Returns the name of the effect, as in JSON.
    #[doc(hidden)]
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::Idempotent => "idempotent",
            Self::Undeclared => "undeclared",
            Self::Destructive => "destructive",
        }
    }

    /// Returns the severity of an effect: of several effects, the highest covers all.
    #[doc(hidden)]
    #[must_use]
    pub const fn severity(self) -> u8 {
        match self {
            Self::ReadOnly => 0,
            Self::Idempotent => 1,
            Self::Undeclared => 2,
            Self::Destructive => 3,
        }
    }

    /// Returns the combined effect.
    pub(crate) fn union(self, other: Self) -> Self {
        if other.severity() > self.severity() { other } else { self }
    }
}

/// The schema of a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct TypeSchema {
    pub(crate) schema: fn() -> Value,
    /// Returns whether a value may have untrusted parts.
    pub(crate) has_untrusted: fn() -> bool,
}

/// Finds the schema of `T` at compile time, if it implements `JsonSchema`: an inherent constant takes precedence.
#[doc(hidden)]
#[derive(Debug)]
pub struct SchemaProbe<T>(PhantomData<T>);

impl<T: JsonSchema> SchemaProbe<T> {
    #[doc(hidden)]
    pub const SCHEMA: Option<TypeSchema> =
        Some(TypeSchema { schema: schema::of::<T>, has_untrusted: schema::has_untrusted::<T> });
}

/// The fallback of [`SchemaProbe`] for types without a schema.
#[doc(hidden)]
pub trait NoSchema {
    #[doc(hidden)]
    const SCHEMA: Option<TypeSchema> = None;
}

impl<T> NoSchema for SchemaProbe<T> {}

type BlockingBody = Box<dyn FnOnce() -> Result<ToolReturn, Failure> + Send>;

/// A function with its arguments, ready to run.
#[doc(hidden)]
pub struct Running(pub(crate) Body);

/// The body of a function, by how it runs.
pub(crate) enum Body {
    Blocking(BlockingBody),
    /// The result of a function that has already run.
    Inline(Result<ToolReturn, Failure>),
    Future(Pin<Box<dyn Future<Output = Result<ToolReturn, Failure>> + Send>>),
    Failed(CallError),
}

#[doc(hidden)]
impl Running {
    /// Runs `body` on a blocking thread.
    pub fn blocking(body: impl FnOnce() -> Result<ToolReturn, Failure> + Send + 'static) -> Self {
        Self(Body::Blocking(Box::new(body)))
    }

    /// Runs `body` in place.
    pub fn inline(body: impl FnOnce() -> Result<ToolReturn, Failure>) -> Self {
        Self(Body::Inline(body()))
    }

    /// Runs `body` by polling it.
    pub fn future(body: impl Future<Output = Result<ToolReturn, Failure>> + Send + 'static) -> Self {
        Self(Body::Future(Box::pin(body)))
    }

    /// Fails without running the function.
    #[must_use]
    pub fn failed(error: CallError) -> Self {
        Self(Body::Failed(error))
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}
