//! The error of a call.

use std::time::Duration;
use std::{fmt, io};

use jiff::Timestamp;
use llm_do_providers::ProviderError;

use super::{BoxError, Fault, chain};
use crate::base::usage::Exceeded;

/// Why a call on the tool plane failed.
///
/// An error has two texts. `Display` and [`chain`] are for operators and logs: they contain no key, prompt, argument or
/// answer, except what a tool puts into its own error or panic. [`model_message`](Self::model_message) is for a model: it
/// quotes the invalid arguments that the model gave, and leaves out advice on how to set up the session.
///
/// `Debug` writes the error with its causes, as [`chain`] does, since it is printed by a test that fails with `?`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments do not match the tool's schema; nothing ran.
    #[error("invalid arguments for `{tool}`: {message}")]
    InvalidArguments {
        /// The tool's registered name.
        tool: String,
        /// What is wrong and where.
        message: Fault,
    },

    /// No tool, worker or entry of this name is registered.
    #[error("unknown tool `{tool}`: {hint}")]
    NotFound {
        /// The name in the call.
        tool: String,
        /// Similar names, and advice.
        hint: String,
    },

    /// The caller's toolsets do not contain the tool.
    #[error("`{caller}` may not call `{tool}`: add it to the `toolsets` of `{caller}`")]
    NotDeclared {
        /// The name in the call.
        tool: String,
        /// The registered name of the caller.
        caller: String,
    },

    /// The call was not approved; nothing ran.
    #[error("call to `{tool}` denied: {reason}")]
    Denied {
        /// The tool's registered name.
        tool: String,
        /// The reason, in a form that may be shown to a model.
        reason: String,
        /// Whether the denial ends the run instead of being returned to a model: by decision of the approver, or without a decision.
        stops: bool,
    },

    /// A rule blocks every such call, so that no approval is possible; nothing ran.
    #[error("`{tool}` is blocked: {reason}")]
    Blocked {
        /// The tool's registered name.
        tool: String,
        /// The reason, in a form that may be shown to a model.
        reason: String,
    },

    /// A guard refused the call or its result, or a worker's model request or response.
    #[error("the guard `{guard}` refused `{tool}`: {reason}")]
    Refused {
        /// The registered name of the tool, worker or entry.
        tool: String,
        /// The guard's name.
        guard: String,
        /// The reason, in a form that may be shown to a model.
        reason: String,
        /// Whether the refusal ends the run instead of being returned to a model.
        stops: bool,
    },

    /// The call would exceed the maximum worker nesting depth; nothing ran.
    #[error(
        "`{caller}` at depth {depth} may not call the worker `{tool}`: the maximum depth is {limit}; raise `max_depth`"
    )]
    Depth {
        /// The worker's registered name.
        tool: String,
        /// The registered name of the caller.
        caller: String,
        /// The caller's depth.
        depth: u32,
        /// The limit.
        limit: u32,
    },

    /// The call would exceed the maximum nesting of calls of any kind, which is 300; nothing ran.
    #[error("call nesting limit {limit} reached at `{tool}`; possible infinite recursion")]
    Nesting {
        /// The tool's registered name.
        tool: String,
        /// The limit.
        limit: u32,
    },

    /// A worker was called with the same arguments as one of its callers; nothing ran.
    #[error("infinite recursion: `{tool}` calls itself with the same arguments")]
    Cycle {
        /// The worker's registered name.
        tool: String,
    },

    /// The call timed out and was stopped.
    #[error("`{tool}` timed out after {after:?}; raise its `timeout`, or the run's deadline")]
    Timeout {
        /// The registered name of the call that has the timeout: this call, or one of its callers.
        tool: String,
        /// The timeout.
        after: Duration,
    },

    /// A limit of the run or of a worker is reached; nothing ran.
    #[error("`{tool}` reached a limit: {exceeded}")]
    Limit {
        /// The registered name of the call that has the limit.
        tool: String,
        /// The limit, and the usage so far.
        exceeded: Exceeded,
    },

    /// `block_on` was called inside an async runtime; nothing ran.
    #[error("`block_on` cannot run `{tool}` inside an async runtime: use `run(..).await`")]
    Blocking {
        /// The registered name of the root call.
        tool: String,
    },

    /// The call asked the user, but the runtime has no input handler.
    #[error("`{tool}` asks the user, but no user can answer: set `input_handler` of the runtime")]
    NoInput {
        /// The registered name of the caller.
        tool: String,
    },

    /// A root call of a tool or entry was given a message history, which only workers accept; nothing ran.
    #[error("only workers accept a message history, and `{tool}` is of kind `{kind}`: call it without a history")]
    NoHistory {
        /// The registered name of the root call.
        tool: String,
        /// Its kind: `tool` or `entry`.
        kind: &'static str,
    },

    /// A worker was called in a thread that is open in a call above it, or in one that waits for it; nothing ran.
    #[error(
        "`{tool}` cannot continue the thread `{thread}`, which is in use by a call that waits for this one: use another thread"
    )]
    ThreadOpen {
        /// The worker's registered name.
        tool: String,
        /// The name of the thread.
        thread: String,
    },

    /// The call would change something or need approval, and the run is a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html): the call is in the plan, and
    /// nothing ran.
    #[error("`{tool}` did not run, since this is a dry run; the call is in the plan")]
    DryRun {
        /// The registered name of the tool, or the name of the [effect](crate::plane::context::CallContext::effect).
        tool: String,
    },

    /// No worker could be selected for a subtask.
    #[error("no worker for the subtask of `{tool}`: {message}")]
    NoWorker {
        /// The registered name of the caller.
        tool: String,
        /// The reason, and what to do.
        message: String,
    },

    /// The journal could not record an effect of the call, or has a different record in its place.
    #[error("the journal of `{tool}` failed")]
    Journal {
        /// The registered name of the call with this effect.
        tool: String,
        /// What is wrong.
        source: BoxError,
    },

    /// The run was cancelled.
    #[error("`{tool}` was cancelled")]
    Cancelled {
        /// The tool's registered name.
        tool: String,
    },

    /// The call began before, and its outcome is unknown: it may have had its effect. It is not repeated.
    ///
    /// Only calls of tools that are neither `read_only` nor `idempotent` have this error: when a run is resumed whose process died in
    /// such a call, and after a connection was lost on which such a call was sent. See
    /// [`OnUnknown`](crate::declare::tool::OnUnknown).
    #[error("the outcome of `{tool}` is unknown: {reason}; the call began at {began}, and may have had its effect")]
    OutcomeUnknown {
        /// The tool's registered name.
        tool: String,
        /// When the call began last.
        began: Timestamp,
        /// The reason that its outcome is unknown, in a form that may be shown to a model.
        reason: String,
    },

    /// The tool panicked.
    #[error("`{tool}` panicked: {message}")]
    Panicked {
        /// The tool's registered name.
        tool: String,
        /// The panic message.
        message: String,
    },

    /// The tool abstained: it ran, and does not know the answer.
    #[error("`{tool}` is unsure: {reason}")]
    Unsure {
        /// The tool's registered name.
        tool: String,
        /// The reason that it gave, by [`Unsure`](crate::base::error::Unsure).
        reason: String,
    },

    /// The tool, worker or entry ran and failed.
    #[error("`{tool}` failed")]
    Failed {
        /// The tool's registered name.
        tool: String,
        /// The error that it returned.
        source: BoxError,
    },

    /// A worker has no model, or its model cannot be built.
    ///
    /// A root call fails before anything runs if its declared toolsets lead to a worker without a model.
    #[error("no model for the worker `{worker}`: {message}")]
    NoModel {
        /// The worker's registered name.
        worker: String,
        /// The reason, or what to do.
        message: String,
    },

    /// The worker needs a feature that its model does not support; no request was sent.
    #[error("`{model}` cannot run the worker `{worker}`: {message}")]
    UnfitModel {
        /// The worker's registered name.
        worker: String,
        /// The model, `provider:model`.
        model: String,
        /// What the model does not support.
        message: String,
    },

    /// A request to the worker's model failed.
    #[error("the model of `{worker}` failed")]
    Model {
        /// The worker's registered name.
        worker: String,
        /// The provider's error.
        source: ProviderError,
    },

    /// The worker's model gave no valid answer within the worker's retries.
    #[error("`{worker}` gave up: {message}")]
    GaveUp {
        /// The worker's registered name.
        worker: String,
        /// What was wrong with its last answer, or the limit that it reached.
        message: String,
    },

    /// The result does not match the type that the caller expects.
    #[error("the result of `{tool}` does not match the expected type: {message}")]
    Result {
        /// The tool's registered name.
        tool: String,
        /// The mismatch.
        message: String,
    },

    /// An error of another type, such as an [`io::Error`](std::io::Error), which `?` or [`other`](Self::other) converted.
    ///
    /// A function may return it; callers of that function get [`Failed`](Self::Failed), with the error as its source.
    #[error(transparent)]
    Other(BoxError),
}

impl CallError {
    /// Converts an error of any type, for functions that return a [`CallError`]: `number.parse().map_err(CallError::other)?`.
    ///
    /// A [`CallError`] stays unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::CallError;
    ///
    /// fn count(text: &str) -> Result<u32, CallError> {
    ///     text.parse().map_err(CallError::other)
    /// }
    ///
    /// assert_eq!(count("x").unwrap_err().to_string(), "invalid digit found in string");
    /// ```
    pub fn other(error: impl Into<BoxError>) -> Self {
        let error: BoxError = error.into();
        error.downcast::<Self>().map_or_else(Self::Other, |error| *error)
    }

    /// Returns the error of a call to `tool` whose function returned `source`.
    pub(crate) fn failed(tool: impl Into<String>, source: BoxError) -> Self {
        let source = match source.downcast::<Self>() {
            Ok(error) => match *error {
                Self::Other(source) => source,
                error => error.into(),
            },
            Err(source) => source,
        };
        Self::Failed { tool: tool.into(), source }
    }
}

/// For functions that return a [`CallError`]; other errors are converted by [`CallError::other`].
impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        Self::other(error)
    }
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(self))
    }
}
