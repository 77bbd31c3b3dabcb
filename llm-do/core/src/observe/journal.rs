//! Durable execution: journals record the effects of runs and replay them on resume.

mod changed;
mod check;
#[cfg(feature = "restate")]
mod engine;
mod error;
mod expected;
mod file;
#[cfg(feature = "restate")]
mod follow;
mod key;
mod memory;
mod outcome;
mod promise;
mod questions;
mod record;
mod replay;
mod settlement;
mod shared;
#[cfg(feature = "serve")]
mod sqlite;
mod step;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::changed::{ChangedReplay, Difference, DifferenceKind, ReplayRules, Replayed};
pub use self::check::{Checked, ReplayCheck};
#[doc(hidden)]
#[cfg(feature = "restate")]
pub use self::engine::EngineJournal;
#[doc(hidden)]
#[cfg(feature = "restate")]
pub use self::engine::EngineRequest;
pub use self::error::JournalError;
pub use self::file::{FileJournal, RecordingJournal, Records};
#[doc(hidden)]
#[cfg(feature = "restate")]
pub use self::follow::FollowJournal;
pub use self::key::digest;
pub use self::key::name as called;
pub(crate) use self::key::{AnnouncedCall, ChildSteps, InFlightStep, REVIEW, digest_of_text};
pub use self::key::{is_in_chat, run_of};
pub use self::memory::MemoryJournal;
pub use self::outcome::{JournalOutcome, LocalOutcome, Unrecorded};
pub(crate) use self::promise::CONTEXT;
pub use self::promise::{Promise, PromiseFuture, PromiseSpec};
pub use self::record::Record;
pub(crate) use self::record::too_deep;
pub(crate) use self::settlement::begun_step;
pub use self::settlement::{Settlement, UnknownCall};
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::Fence;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::RecordList;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::delete_run;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::lease;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::promises;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::read_values;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::sqlite::tables as sqlite_tables;
#[cfg(feature = "serve")]
pub use self::sqlite::{Expired, JournalFile, OpenPromise, Retention, RunRecords, SqliteJournal, SqliteRun};
pub use self::step::{StepKind, StepSpec};

/// The future that performs an effect that is not recorded yet.
pub type StepFuture = BoxFuture<'static, LocalOutcome>;

/// Records the effects of runs, and replays a recorded effect instead of repeating it.
///
/// A journal is a map from a step's [`key`](StepSpec::key) to its value. A recorded value is returned in the process that
/// recorded it and in each later one. An effect that is interrupted before it is recorded runs again: effects run at least
/// once, and exactly once if none is interrupted. But before a tool starts that is neither `read_only` nor `idempotent`, a step of the
/// kind [`Begun`](StepKind::Begun) is recorded: if the call then has no result, it may have had its effect, and is not made again
/// unless the [setting](crate::declare::tool::OnUnknown) of its tool or the answer of a person has it made. Only [`step`](Self::step) and [`is_replaying`](Self::is_replaying) are
/// required. The crate provides [`MemoryJournal`], [`FileJournal`] for one run, and `SqliteJournal` (feature `serve`) for many; a
/// durable execution engine can implement this trait.
///
/// A failure that code or a model may handle is recorded like a result, since the following steps depend on it. If the run
/// itself ends in an error, the failures that led to it are retried when the run is resumed: see [`forget`](Self::forget).
/// Those are the failures that the run's error came from, even if code kept them and returned them later, and the failures
/// after which no other step began.
///
/// Code between effects must be deterministic. External information, such as which of two timers fired first, has to be
/// read through an effect.
///
/// # Errors of calls
///
/// Code gets the same error of a call live and in a resumed run: the same variant of [`CallError`](crate::base::error::CallError), with the same
/// text. Without a journal, its sources are what the tool returned. With any journal, they are:
///
/// | The call failed with | Sources of the error |
/// |---|---|
/// | an error of a type that its tool, or a tool around it, [declares](https://docs.rs/llm-do/latest/llm_do/attr.tool.html#errors) | that error, read from JSON, and the texts of the errors around it; [`downcast_ref`](crate::base::error::CallError::downcast_ref) finds it |
/// | a timeout, a failed model, an abstention or an unknown outcome of a nested call | the text; methods such as [`is_timeout`](crate::base::error::CallError::is_timeout) find the cause |
/// | a denial, a limit, a cancellation or another error that ends the run | what the tool returned: the error is not recorded |
/// | another error | the text |
///
/// # Examples
///
/// A custom journal:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use llm_do::journal::{Journal, JournalError, JournalOutcome, LocalOutcome, StepFuture, StepKind, StepSpec};
/// use llm_do::{Value, async_trait, json};
///
/// #[derive(Debug, Default)]
/// struct Values(Mutex<HashMap<Arc<str>, Value>>);
///
/// #[async_trait]
/// impl Journal for Values {
///     async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
///         let recorded = self.0.lock().unwrap().get(&step.key).cloned();
///         if let Some(value) = recorded {
///             return Ok(JournalOutcome::Replayed(value));
///         }
///         match local.await {
///             LocalOutcome::Record(value) => {
///                 self.0.lock().unwrap().insert(step.key, value.clone());
///                 Ok(JournalOutcome::Recorded(value))
///             }
///             LocalOutcome::Skip(unrecorded) => Ok(JournalOutcome::Unrecorded(unrecorded)),
///         }
///     }
///
///     fn is_replaying(&self) -> bool {
///         false
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), JournalError> {
/// let journal = Values::default();
/// let step = StepSpec::new("main", 0, StepKind::Tool, "roll", json!({ "sides": 6 }));
/// assert_eq!(journal.step(step.clone(), Box::pin(async { LocalOutcome::Record(json!(4)) })).await?, 4);
/// assert_eq!(journal.step(step, Box::pin(async { unreachable!("it is recorded") })).await?, 4);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Journal: Debug + Send + Sync + 'static {
    /// Replays or performs a single effect: a model's answer, or the body of a tool that makes no calls.
    ///
    /// If the step is recorded, its value is returned and `local` is never polled. Otherwise `local` runs; its outcome
    /// is [recorded](LocalOutcome::Record) before it is returned, or [only returned](LocalOutcome::Skip).
    ///
    /// [`MemoryJournal`] and [`FileJournal`] delay an unrecorded step until the recorded concurrent calls of the same parent
    /// have begun. If those calls are not made, the program has changed, and a recorded effect could run a second time under
    /// another key: the step fails, and `local` is never polled. The timeout is 1 second, or 10 seconds while some of the
    /// missing calls may still begin.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Diverged`] if another step is recorded at this position, and other errors if the value could
    /// not be recorded.
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError>;

    /// Replays or performs a nested call that has steps of its own: a worker, or a tool with a context.
    ///
    /// An engine may run it as a separate invocation. Default: [`step`](Self::step), so that its body does not run once its
    /// result is recorded.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.step(step, local).await
    }

    /// Replays or records the decision or the answer of a person, which may take long: an approval, or a user's input.
    ///
    /// An approval by a mode or a rule is not recorded: `local` [skips](LocalOutcome::Skip) it. A denial by a mode or a rule
    /// is recorded if it is sent to a model, or once code begins another step after it.
    ///
    /// `local` asks, and checks the answer. The question is first stored with [`promise`](Self::promise). Default:
    /// [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        self.step(step, local).await
    }

    /// Stores the question of a step to a person, before the approver or the input handler is asked; returns the
    /// promise of the answer.
    ///
    /// The answer may be given later, in any process, under the [id](Promise::id) of the promise, which the request has
    /// in [`ApprovalRequest::promise`](crate::plane::approval::ApprovalRequest::promise) or
    /// [`InputRequest::promise`](crate::plane::user_input::InputRequest::promise). The first answer holds, whether it answers the
    /// promise or comes from the approver or handler; if the promise already has an answer, they are not asked. A
    /// resumed run asks again with the same key, and receives an answer that was given meanwhile. If its request
    /// differs in more than the description of the tool, that answer does not count, and the promise may have another
    /// id.
    ///
    /// An answer is JSON. To an approval: `{"decision": "approve"}`, if needed with a `"scope"` of `"call"`, `"caller"` or
    /// `"run"`; `{"decision": "edit", "arguments": {..}}`; or `{"decision": "deny", "reason": ".."}`. To a question: a text, as
    /// [`InputHandler::answer`](crate::plane::user_input::InputHandler::answer) returns. Invalid arguments and answers are asked for again.
    ///
    /// Default: `None`, and answers are given in this process only, as in [`MemoryJournal`] and [`FileJournal`].
    ///
    /// # Errors
    ///
    /// Returns a [`JournalError`] if it could not be stored. The approver or handler is not asked then.
    async fn promise(&self, asked: PromiseSpec) -> Result<Option<Promise>, JournalError> {
        let _ = asked;
        Ok(None)
    }

    /// Waits for `duration`; a recorded wait returns immediately.
    ///
    /// Default: a [`step`](Self::step); an interrupted wait starts from the beginning. `SqliteJournal` waits for the rest only.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        let local = async move {
            tokio::time::sleep(duration).await;
            LocalOutcome::Record(Value::Null)
        };
        self.step(step, Box::pin(local)).await.map(drop)
    }

    /// Returns the recorded time, or records and returns `now`.
    ///
    /// Default: a [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step), and [`JournalError::InvalidValue`] if the recorded value is not a timestamp.
    async fn now(&self, step: StepSpec, now: Timestamp) -> Result<Timestamp, JournalError> {
        let described = step.to_string();
        let outcome = self.step(step, Box::pin(async move { LocalOutcome::Record(json!(now)) })).await?;
        let value = outcome.into_value().ok_or(JournalError::Interrupted)?;
        serde_json::from_value(value).map_err(|error| JournalError::InvalidValue {
            step: described,
            message: format!("the recorded value is not a timestamp: {error}"),
        })
    }

    /// Returns whether this process still has recorded effects to replay.
    ///
    /// Effects inside a call whose result is replayed count as replayed.
    fn is_replaying(&self) -> bool;

    /// Returns whether models may start calls in the [background](https://docs.rs/llm-do/latest/llm_do/attr.worker.html#background-calls) in
    /// runs with this journal.
    ///
    /// Default: `true`. It needs [`is_recorded`](Self::is_recorded) and [`has_later_steps`](Self::has_later_steps), since a resumed run joins
    /// each result at the turn at which it joined before.
    fn allows_background(&self) -> bool {
        true
    }

    /// Returns whether a value is recorded under a step's key, without replaying it.
    ///
    /// A call whose result is recorded needs no approval, and no rule applies to it. A worker looks here for a
    /// [message](StepKind::Message) before each of its requests.
    ///
    /// Called in async code, so it must not read a file. Default: `false`. On resume, a mode or rule then decides again
    /// about calls whose effects are recorded, a call that began and has no result is refused, and messages to a run are not replayed.
    fn is_recorded(&self, key: &str) -> bool {
        let _ = key;
        false
    }

    /// Returns the value recorded under a step's key, without replaying it.
    ///
    /// Default: `None`. A run that ended in an error then ends in the same error when it is resumed.
    async fn recorded(&self, key: &str) -> Option<Value> {
        let _ = key;
        None
    }

    /// Returns whether steps inside the call of a key are recorded, or have asked a person, other than decisions about the call itself.
    ///
    /// The approver cannot edit the arguments of such a call, since it has run in part. If its tool may act both itself
    /// and in its steps, the call is replayed through its steps without a question. Default: `false`; edits are not
    /// refused.
    fn has_recorded_steps(&self, key: &str) -> bool {
        let _ = key;
        false
    }

    /// Returns whether calls of `parent` are recorded that this process has not made yet.
    ///
    /// If so, the run has passed this place before, with code from before a [version](crate::plane::context::CallContext::version) that
    /// is not recorded. Default: [`is_replaying`](Self::is_replaying).
    fn has_later_steps(&self, parent: &str) -> bool {
        let _ = parent;
        self.is_replaying()
    }

    /// Forgets the records of these keys, so that those steps run again; records of steps inside them stay.
    ///
    /// Called when a run that ended in an error is resumed, before its first step: the keys are those of its result and of
    /// the failures that led to the error. Also called at the end of a run whose result is not recorded, such as one that a
    /// guard refused, if failures led to that. All keys are forgotten durably, or none is. Default: does nothing.
    ///
    /// A run may make other calls after a forgotten step: [`MemoryJournal`] and [`FileJournal`] no longer expect the steps of
    /// the same parent that began after the forgotten step ended. Those steps are still replayed if they are made.
    ///
    /// # Errors
    ///
    /// Returns a [`JournalError`] if this could not be recorded.
    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        let _ = keys;
        Ok(())
    }

    /// Returns the error of a recorded call in `parent` that this process did not make; called when `parent` has finished.
    ///
    /// This detects divergence of concurrent calls, which may begin in any order. A concurrent call may have been cancelled
    /// when another finished, so [`MemoryJournal`] and [`FileJournal`] report it only if an unrecorded call was made in
    /// `parent`. Default: `None`.
    fn unused(&self, parent: &str) -> Option<JournalError> {
        let _ = parent;
        None
    }
}
