//! Where the effects of runs are recorded, so that a finished one is replayed and not repeated.

mod error;
mod expected;
mod file;
mod memory;
mod place;
mod record;
mod replay;
mod shared;
mod step;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::error::{Interrupted, JournalError};
pub use self::file::{FileJournal, Records};
pub use self::memory::MemoryJournal;
#[cfg(feature = "cli")]
pub(crate) use self::place::name as called;
pub(crate) use self::place::{Coming, Places, Visit, digest};
pub use self::record::Record;
pub(crate) use self::record::too_deep;
pub use self::step::{StepKind, StepSpec};

/// What an effect does here and now, if it is not recorded yet.
///
/// `Err(Interrupted)` says that it came to no end worth recording, such as a cancelled call: it runs again on resume.
/// A failure that its caller may handle, of a tool, a model or an effect, is an end, and a value.
pub type StepFuture = BoxFuture<'static, Result<Value, Interrupted>>;

/// Where the effects of runs are recorded, so that a finished one is replayed and not repeated.
///
/// A journal is a map from a step's [`key`](StepSpec::key) to its value. Whatever is recorded is returned, in the process
/// that recorded it and in each one after it; an effect that broke off before it was recorded runs again: at least once,
/// and once if nothing breaks off. Only [`step`](Self::step) and [`is_replaying`](Self::is_replaying) have to be
/// written. There are two here, [`MemoryJournal`] and [`FileJournal`]; an engine for durable execution can be a third.
///
/// A failure that code or a model may handle is recorded as any result, since what follows depends on it. If the run itself
/// ends in an error, the failures that led to it are tried again when it is started again: see [`forget`](Self::forget).
/// Those are the failures that its error came from, even if code kept them while it went on, and those after which no other
/// step began.
///
/// Code between effects must do the same again when it is replayed: what it learns from elsewhere, such as which of two
/// timers was first, has to be an effect too.
///
/// # Examples
///
/// A journal of one's own:
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use llm_do::journal::{Journal, JournalError, StepFuture, StepKind, StepSpec};
/// use llm_do::{Value, async_trait, json};
///
/// #[derive(Debug, Default)]
/// struct Values(Mutex<HashMap<Arc<str>, Value>>);
///
/// #[async_trait]
/// impl Journal for Values {
///     async fn step(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
///         let recorded = self.0.lock().unwrap().get(&step.key).cloned();
///         if let Some(value) = recorded {
///             return Ok(value);
///         }
///         let value = local.await?;
///         self.0.lock().unwrap().insert(step.key, value.clone());
///         Ok(value)
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
/// assert_eq!(journal.step(step.clone(), Box::pin(async { Ok(json!(4)) })).await?, 4);
/// assert_eq!(journal.step(step, Box::pin(async { unreachable!("it is recorded") })).await?, 4);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Journal: Debug + Send + Sync + 'static {
    /// An effect of its own: a model's answer, the body of a tool that makes no calls.
    ///
    /// If it is recorded, its value is returned and `local` is never polled. Else `local` runs, and its value is recorded
    /// before it is returned.
    ///
    /// The journals here also wait, with what is not recorded, until the recorded concurrent calls of the same parent have
    /// begun: if they do not come, the program is not the one that was recorded, and a recorded effect could run a second
    /// time under another key. `local` is then never polled. They wait for 1 second, or for 10 seconds while some of the
    /// missing calls may still begin.
    ///
    /// # Errors
    ///
    /// Returns [`JournalError::Interrupted`] if `local` did, [`JournalError::Diverged`] if something else is recorded
    /// at its place, and other errors if nothing could be recorded.
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError>;

    /// A nested call whose inside makes effects of its own: a worker, a tool with a context.
    ///
    /// An engine may make it an invocation of its own. Default: as [`step`](Self::step), so that once its result is
    /// recorded its inside is not run.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        self.step(step, local).await
    }

    /// Something that someone decides or answers, perhaps much later: an approval, a user's answer.
    ///
    /// An approval by a mode or a rule is not recorded: `local` then ends as interrupted, and the call goes on. A denial by one
    /// is recorded if a model is told of it, or once code begins another step after it.
    ///
    /// `local` asks here and now. Default: as [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn promise(&self, step: StepSpec, local: StepFuture) -> Result<Value, JournalError> {
        self.step(step, local).await
    }

    /// Waits for `duration`, once: a recorded wait is not waited again.
    ///
    /// Default: a [`step`](Self::step); if it is interrupted, it waits from the start again.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step).
    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        let local = async move {
            tokio::time::sleep(duration).await;
            Ok(Value::Null)
        };
        self.step(step, Box::pin(local)).await.map(drop)
    }

    /// Returns the time, as it was when it was first asked for: `now`, unless one is recorded.
    ///
    /// Default: a [`step`](Self::step).
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step), and [`JournalError::Unfit`] if what is recorded is no time.
    async fn now(&self, step: StepSpec, now: Timestamp) -> Result<Timestamp, JournalError> {
        let what = step.to_string();
        let value = self.step(step, Box::pin(async move { Ok(json!(now)) })).await?;
        serde_json::from_value(value).map_err(|error| JournalError::Unfit {
            step: what,
            message: format!("what is recorded is no time: {error}"),
        })
    }

    /// Returns whether recorded effects are left that this process has not come to yet.
    ///
    /// Those inside a call whose result is replayed count as come to.
    fn is_replaying(&self) -> bool;

    /// Returns whether a value is recorded under a step's key, without replaying it.
    ///
    /// Nobody is asked about a call whose result is recorded, and no rule is applied to it.
    ///
    /// Default: as [`recorded`](Self::recorded). If that returns nothing, a mode or rule decides again on resume about calls
    /// whose effects are recorded.
    fn is_recorded(&self, key: &str) -> bool {
        self.recorded(key).is_some()
    }

    /// Returns the value recorded under a step's key, without replaying it.
    ///
    /// Default: none. A run that ended in an error then ends in the same error when it is resumed.
    fn recorded(&self, key: &str) -> Option<Value> {
        let _ = key;
        None
    }

    /// Forgets what is recorded under these keys, so that those steps run again; what is inside them stays.
    ///
    /// Asked before anything of a run is made that ended in an error: the keys are those of its result and of the failures
    /// that led to it. Asked at the end of a run whose result is not recorded, such as one that a guard refused, if failures
    /// led to that. All of the keys are forgotten durably, or none is. Default: does nothing.
    ///
    /// The run may take another way after a step that is forgotten: the journals here no longer expect the steps of the same
    /// parent that began after its end. They are still found by their keys.
    ///
    /// # Errors
    ///
    /// Returns a [`JournalError`] if that could not be recorded.
    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        let _ = keys;
        Ok(())
    }

    /// Finds a recorded call below `parent` that this process never made: asked when `parent` has run to its end.
    ///
    /// This is how concurrent calls, which may come in any order, are seen to diverge. One that was under way with others
    /// may have been given up for them, so the journals here miss it only where another was made that they had not
    /// recorded. Default: none.
    fn unused(&self, parent: &str) -> Option<JournalError> {
        let _ = parent;
        None
    }
}
