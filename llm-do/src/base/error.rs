//! Why a call failed.

mod cause;
mod failure;
mod fault;
mod id;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use llm_do_providers::ProviderError;

use self::cause::cause;
pub use self::cause::chain;
pub(crate) use self::cause::panic_text;
pub(crate) use self::failure::Failure;
pub use self::fault::Fault;
pub(crate) use self::id::ErrorId;
use crate::base::usage::Exceeded;

/// Any error that may cross threads.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A result whose error may be any: what entries and tools usually return.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;

/// Why a call on the tool plane failed.
///
/// It has two texts. What it shows, itself and with its causes as [`chain`] writes them, is for operators and logs: no key,
/// no prompt, no argument and no answer is in it, but for what a tool says in an error or a panic of its own.
/// [`told`](Self::told) is for a model: what was wrong with the arguments that it gave, quoted, and no advice on how to
/// set up the session.
///
/// `Debug` shows the error with its causes, as [`chain`] writes them, since a test that fails by `?` prints it.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The arguments do not follow the tool's schema; nothing ran.
    #[error("invalid arguments for `{tool}`: {message}")]
    InvalidArguments {
        /// The tool's registered name.
        tool: String,
        /// What is wrong and where.
        message: Fault,
    },

    /// Nothing of that name is registered.
    #[error("no tool `{tool}`: {hint}")]
    NotFound {
        /// The name that was asked for.
        tool: String,
        /// Names near it, and what to do.
        hint: String,
    },

    /// The caller's toolsets do not hold the tool.
    #[error("`{caller}` may not call `{tool}`: add it to the `toolsets` of `{caller}`")]
    NotDeclared {
        /// The name that was asked for.
        tool: String,
        /// Who asked.
        caller: String,
    },

    /// The call was not approved; nothing ran.
    #[error("call to `{tool}` denied: {reason}")]
    Denied {
        /// The tool's registered name.
        tool: String,
        /// Why, in words fit to show to a model.
        reason: String,
    },

    /// A rule refuses every such call, whoever would approve it; nothing ran.
    #[error("`{tool}` is blocked: {reason}")]
    Blocked {
        /// The tool's registered name.
        tool: String,
        /// Why, in words fit to show to a model.
        reason: String,
    },

    /// A guard refused the call or its result, or what a worker asks of its model or gets from it.
    #[error("the guard `{guard}` refuses `{tool}`: {reason}")]
    Refused {
        /// The registered name of the tool, worker or entry.
        tool: String,
        /// The guard's name.
        guard: String,
        /// Why, in words fit to show to a model.
        reason: String,
        /// Whether it ends the run, so that no model is told.
        stops: bool,
    },

    /// One more worker would exceed the limit on nested workers; nothing ran.
    #[error("`{caller}` at depth {depth} may not call the worker `{tool}`: the limit is {limit}; raise `max_depth`")]
    Depth {
        /// The worker's registered name.
        tool: String,
        /// Who asked.
        caller: String,
        /// The caller's depth.
        depth: u32,
        /// The limit.
        limit: u32,
    },

    /// One more call of any kind would exceed the limit on calls in one another; nothing ran.
    #[error("`{tool}` would be call {limit} in one another: does it call itself without an end?")]
    Nesting {
        /// The tool's registered name.
        tool: String,
        /// The limit.
        limit: u32,
    },

    /// A worker would be called with the same arguments as one that it is below of; nothing ran.
    #[error("`{tool}` would call itself with the same arguments, without an end")]
    Cycle {
        /// The worker's registered name.
        tool: String,
    },

    /// The call took longer than it may, and was stopped.
    #[error("`{tool}` took longer than {after:?}; give it more time by its `timeout`, or the run's deadline")]
    Timeout {
        /// The registered name of the call that has the limit: the one that was made, or one that it is below of.
        tool: String,
        /// The limit.
        after: Duration,
    },

    /// A limit of the run, or of a worker, is met; nothing ran.
    #[error("`{tool}` has met a limit: {exceeded}")]
    Limit {
        /// The registered name of the call that has the limit.
        tool: String,
        /// The limit, and what is used.
        exceeded: Exceeded,
    },

    /// `block_on` was called where async code runs; nothing ran.
    #[error("`{tool}` cannot be waited for by `block_on` inside an async runtime: use `run(..).await`")]
    Blocking {
        /// The registered name of the root call.
        tool: String,
    },

    /// The call asked the user, and there is nobody who answers.
    #[error("`{tool}` asks the user, but nobody answers: give the runtime an `input_handler`")]
    NoInput {
        /// The registered name of who asked.
        tool: String,
    },

    /// A root call by name was to continue a conversation, and is of a tool or an entry, which have none; nothing ran.
    #[error("`{tool}` is of kind `{kind}`, and only a worker continues a conversation: call it without a history")]
    NoHistory {
        /// The registered name of the root call.
        tool: String,
        /// What it is: `tool` or `entry`.
        kind: &'static str,
    },

    /// No worker is the best for a subtask.
    #[error("no worker for the subtask of `{tool}`: {message}")]
    NoWorker {
        /// The registered name of who asked.
        tool: String,
        /// Why, and what to do.
        message: String,
    },

    /// The journal could not keep an effect of the call, or holds another at its place.
    #[error("the journal of `{tool}` failed")]
    Journal {
        /// The registered name of whose effect it is.
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

    /// The tool panicked.
    #[error("`{tool}` panicked: {message}")]
    Panicked {
        /// The tool's registered name.
        tool: String,
        /// The panic's text.
        message: String,
    },

    /// The tool, worker or entry ran and failed.
    #[error("`{tool}` failed")]
    Failed {
        /// The tool's registered name.
        tool: String,
        /// What it returned.
        source: BoxError,
    },

    /// A worker has no model, or its model cannot be set up.
    ///
    /// A root call that may come to call a worker without a model, by what it declares, is refused before anything runs.
    #[error("no model for the worker `{worker}`: {message}")]
    NoModel {
        /// The worker's registered name.
        worker: String,
        /// What to do.
        message: String,
    },

    /// The worker asks for what its model cannot do; nothing was asked of it.
    #[error("`{model}` cannot run the worker `{worker}`: {message}")]
    UnfitModel {
        /// The worker's registered name.
        worker: String,
        /// The model, `provider:model`.
        model: String,
        /// What it cannot do.
        message: String,
    },

    /// The worker's model could not be asked.
    #[error("the model of `{worker}` failed")]
    Model {
        /// The worker's registered name.
        worker: String,
        /// What the provider says.
        source: ProviderError,
    },

    /// The worker's model answered, but never as it should.
    #[error("`{worker}` gave up: {message}")]
    GaveUp {
        /// The worker's registered name.
        worker: String,
        /// What was wrong with its last answer, or which limit it met.
        message: String,
    },

    /// The result does not fit the type that the caller expects.
    #[error("the result of `{tool}` does not fit the type expected of it: {message}")]
    Result {
        /// The tool's registered name.
        tool: String,
        /// What does not fit.
        message: String,
    },
}

impl fmt::Debug for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&chain(self))
    }
}

impl CallError {
    /// Returns whether a model may be told of this error and try something else.
    ///
    /// False for refusals and limits, also where they are the cause of a tool's failure.
    #[must_use]
    pub fn is_mendable(&self) -> bool {
        // Of a provider: it has been tried again already, and what it refuses it will refuse.
        !matches!(
            self.innermost(),
            Self::Model { .. }
                | Self::NoModel { .. }
                | Self::UnfitModel { .. }
                | Self::Denied { .. }
                | Self::Blocked { .. }
                | Self::Refused { stops: true, .. }
                | Self::Depth { .. }
                | Self::Nesting { .. }
                | Self::Cycle { .. }
                | Self::Limit { .. }
                | Self::Journal { .. }
                | Self::Cancelled { .. }
        )
    }

    /// Returns the text for a model that made the call: it may quote the arguments that the model gave.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::error::Fault;
    /// use llm_do::CallError;
    ///
    /// let message = Fault::new("`age`: expected u8").telling("`age`: expected u8, not \"ten\"");
    /// let error = CallError::InvalidArguments { tool: "greet".into(), message };
    /// assert_eq!(error.to_string(), "invalid arguments for `greet`: `age`: expected u8");
    /// assert_eq!(error.told(), "invalid arguments for `greet`: `age`: expected u8, not \"ten\"");
    /// ```
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::InvalidArguments { tool, message } => format!("invalid arguments for `{tool}`: {}", message.told()),
            Self::Timeout { tool, after } => format!("`{tool}` took longer than {after:?}, and was stopped"),
            Self::NoInput { tool } => format!("`{tool}` asks the user, but nobody answers"),
            // What is below it was called by others, with what they gave.
            _ => chain(self),
        }
    }

    /// Returns the error of a call whose arguments are none of its tool's.
    pub(crate) fn invalid(tool: &str, fault: impl Into<Fault>) -> Self {
        Self::InvalidArguments { tool: tool.to_owned(), message: fault.into() }
    }

    /// Returns whether the call, or one below it, was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self.innermost(), Self::Cancelled { .. })
    }

    /// Returns whether the call, or one below it, took longer than it may.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.innermost(), Self::Timeout { .. })
    }

    /// Returns whether the call, or one below it, was not approved, or is blocked.
    ///
    /// An operating system's refusal, such as of a file that may not be read, is a failure of the tool and none of these.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.innermost(), Self::Denied { .. } | Self::Blocked { .. })
    }

    /// Returns whether the call, or one below it, is blocked, so that no approval would help.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        matches!(self.innermost(), Self::Blocked { .. })
    }

    /// Returns whether a guard refused the call, or one below it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.innermost(), Self::Refused { .. })
    }

    /// Returns whether the plane itself ended the call, or one below it, such as by a limit, a denial or a cancellation.
    pub(crate) fn is_of_plane(&self) -> bool {
        !self.is_mendable() && !matches!(self.innermost(), Self::Model { .. } | Self::Refused { .. })
    }

    /// Returns the same of `name`, if it is the error of a call to `tool` and not of one below it.
    pub(crate) fn renamed(mut self, tool: &str, name: &str) -> Self {
        match &mut self {
            Self::InvalidArguments { tool: called, .. }
            | Self::Denied { tool: called, .. }
            | Self::Blocked { tool: called, .. }
            | Self::Refused { tool: called, .. }
            | Self::Panicked { tool: called, .. }
            | Self::Failed { tool: called, .. }
            | Self::GaveUp { worker: called, .. }
                if called == tool =>
            {
                name.clone_into(called);
            }
            _ => {}
        }
        self
    }

    /// Follows the failures of calls to the one that failed first.
    fn innermost(&self) -> &Self {
        match self {
            Self::Failed { source, .. } => cause(source.as_ref()).map_or(self, Self::innermost),
            _ => self,
        }
    }
}
