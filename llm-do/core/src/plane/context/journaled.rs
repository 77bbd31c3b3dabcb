//! Effects of a call that are recorded in the session's journal, if there is one.

mod denials;
mod destructive;
mod positions;
mod recorded;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) use self::destructive::NO_RESULT;
use self::recorded::Recorded;
use super::CallContext;
use crate::base::error::{CallError, ErrorTypes, Failure, Fault};
use crate::declare::nesting;
use crate::observe::journal::{
    Journal, JournalError, JournalOutcome, LocalOutcome, StepFuture, StepKind, StepSpec, Unrecorded,
};

/// The name of the steps that record which code changes a call uses.
const VERSION: &str = "version";

/// The journal method that records an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JournalMethod {
    Step,
    Call,
    Decision,
}

/// The result of an effect, and whether it came from the journal.
#[derive(Debug)]
pub(crate) struct StepOutcome<T> {
    pub(crate) value: T,
    pub(crate) is_replayed: bool,
}

impl<S> CallContext<S> {
    /// Runs an effect once: if the journal has recorded it, returns the recorded result. For tools and entries that
    /// make calls.
    ///
    /// An interrupted effect runs again when its run is resumed. For an effect that must not run twice,
    /// see [`destructive_effect`](Self::destructive_effect).
    ///
    /// Without a journal, `effect` just runs. With one, its value or its error is recorded: the text of the error, and
    /// its type if a journal [keeps](https://docs.rs/llm-do/latest/llm_do/attr.tool.html#errors) it. A caller may handle
    /// the error and continue. If the error fails the run, the effect runs again when the run is resumed.
    /// `name` and `input` identify the effect among the effects of the call. The input must have a stable order: the
    /// items of a `HashSet` have a different order in each process, those of a `BTreeSet` do not; the keys of maps are
    /// sorted.
    ///
    /// In a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html), the effect is only noted in the plan, unless the call is one of a tool that only reads.
    ///
    /// # Errors
    ///
    /// Returns the error of `effect` as [`CallError::Failed`], [`CallError::Journal`] if the journal cannot record it,
    /// and [`CallError::DryRun`] in a dry run.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// /// Draws a number.
    /// #[entry]
    /// async fn draw(ctx: &CallContext) -> Result<u32> {
    ///     // Drawn only once, even if the run is resumed.
    ///     Ok(ctx.effect("draw", (), async { Ok(4) }).await?)
    /// }
    /// ```
    pub async fn effect<T>(
        &self,
        name: &str,
        input: impl Serialize,
        effect: impl Future<Output = crate::base::error::Result<T>> + Send + 'static,
    ) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let tool = self.name().to_owned();
        let input = nesting::into_value(input)
            .map_err(|fault| CallError::invalid(&tool, fault.within(&format!("the input of the effect `{name}`"))))?;
        if let Some(planned) = self.plan_effect(name, &input) {
            return planned;
        }
        let local = async move { effect.await.map_err(|source| CallError::failed(tool, source)) };
        Ok(self.step(JournalMethod::Step, StepKind::Effect, name, || input, |_| local).await?.value)
    }

    /// Returns the current time of the session's clock. With a journal, the time is recorded, and each replay
    /// returns the recorded time.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal cannot record it.
    pub async fn now(&self) -> Result<Timestamp, CallError> {
        let Some(journal) = self.journal() else { return Ok(self.scope.host.now()) };
        let (step, _in_flight) = self.next_step(StepKind::Now, "now", Value::Null);
        self.record_denials().await?;
        journal.now(step, self.scope.host.now()).await.map_err(|source| self.journal_error(source))
    }

    /// Returns the time of the session's clock, without recording it.
    #[doc(hidden)]
    #[must_use]
    pub fn clock_time(&self) -> Timestamp {
        self.scope.host.now()
    }

    /// Returns whether this call uses a change of the code. For changes that are deployed while runs are in flight.
    ///
    /// Returns false for a call that passed this place before the change: it must repeat its recorded calls, so it uses
    /// the old code until it ends. Returns true for all other calls, also when they are resumed. `change` is the name
    /// of the change, unique in the code. The old code can be deleted once the runs that began before the change have
    /// ended.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal cannot record it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// # /// Charge.
    /// # #[tool(effect = idempotent)]
    /// # fn charge(cents: u64) -> u64 { cents }
    /// # /// Charge, with a receipt.
    /// # #[tool(effect = idempotent)]
    /// # fn charge_with_receipt(cents: u64) -> u64 { cents }
    /// /// Charges a customer.
    /// #[entry(toolsets = [charge, charge_with_receipt])]
    /// async fn bill(ctx: &CallContext<bill>, cents: u64) -> Result<u64> {
    ///     if ctx.version("receipts").await? {
    ///         Ok(ctx.call(charge_with_receipt { cents }).await?)
    ///     } else {
    ///         Ok(ctx.call(charge { cents }).await?)
    ///     }
    /// }
    /// ```
    pub async fn version(&self, change: &str) -> Result<bool, CallError> {
        let Some(journal) = self.journal() else { return Ok(true) };
        let (parent, steps) = self.own_steps();
        if let Some(is_known) = steps.version(change) {
            return Ok(is_known);
        }
        let input = || Value::from(change);
        let key = StepSpec::new(Arc::clone(&parent), 0, StepKind::Effect, VERSION, input()).key;
        let is_known = journal.is_recorded(&key) || !journal.has_later_steps(&parent);
        if is_known {
            self.step(JournalMethod::Step, StepKind::Effect, VERSION, input, |_| async { Ok(true) }).await?;
        }
        steps.set_version(change, is_known);
        Ok(is_known)
    }

    /// Sleeps once: a sleep that the journal has recorded is skipped on a replay.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal cannot record it.
    pub async fn sleep(&self, duration: Duration) -> Result<(), CallError> {
        let Some(journal) = self.journal() else {
            tokio::time::sleep(duration).await;
            return Ok(());
        };
        // Saturates at 584 million years.
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let (step, _in_flight) = self.next_step(StepKind::Sleep, "sleep", json!(millis));
        self.record_denials().await?;
        journal.sleep(step, duration).await.map_err(|source| self.journal_error(source))
    }

    /// Returns a key that is unique to this call, and is the same when a resumed run repeats the call.
    ///
    /// An interrupted effect may run again when its run is resumed: see [`Policy`](crate::plane::approval::Policy#resumed-runs). A
    /// service that receives this key can detect the repetition. In the tool of `reconcile`, it is the key of the call that the tool
    /// finds out about.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let caller = self.caller().and_then(|caller| caller.frame().extras());
        if let Some(key) = caller.and_then(|extras| extras.reconciled.get()) {
            return key.clone();
        }
        match self.frame().step.get() {
            Some(step) => format!("{}/{}", self.scope.host.run(), step.key),
            None => format!("{}/{}", self.scope.host.run(), self.frame().call),
        }
    }

    /// Runs an effect of this call once; `local` takes its step, which is `None` without a journal.
    pub(crate) async fn step<T, L>(
        &self,
        method: JournalMethod,
        kind: StepKind,
        name: &str,
        input: impl FnOnce() -> Value,
        local: impl FnOnce(Option<StepSpec>) -> L,
    ) -> Result<StepOutcome<T>, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        L: Future<Output = Result<T, CallError>> + Send + 'static,
    {
        if self.journal().is_none() {
            return Ok(StepOutcome { value: local(None).await?, is_replayed: false });
        }
        let journaled = Box::pin(async {
            let (step, in_flight) = self.next_step(kind, name, input());
            self.record_denials().await?;
            let tool = self.name().to_owned();
            let host = Arc::clone(&self.scope.host);
            let local = local(Some(step.clone()));
            let local = async move {
                match local.await {
                    Ok(value) => Recorded::written(value, &tool),
                    Err(error) => Failure::from_error(error, &*host).map(Recorded::Failure),
                }
            };
            // A recorded value that cannot be decoded does not mean that the effect failed, so the effect must not run
            // again.
            let StepOutcome { value, is_replayed } = self.recorded(method, step, local).await?;
            match value {
                Recorded::Value(value) => {
                    let value = serde_json::from_value(value).map_err(|error| self.undecodable_record(&error))?;
                    Ok(StepOutcome { value, is_replayed })
                }
                Recorded::Failure(failure) => {
                    let error = failure.into_error(self.name(), self.error_types());
                    in_flight.fail(&error);
                    Err(error)
                }
            }
        });
        journaled.await
    }

    /// Runs the effect of `step` once. An error of `local` is not recorded.
    pub(crate) fn recorded<T>(
        &self,
        method: JournalMethod,
        step: StepSpec,
        local: impl Future<Output = Result<T, CallError>> + Send + 'static,
    ) -> impl Future<Output = Result<StepOutcome<T>, CallError>>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        self.recorded_if(method, step, local, |_| true)
    }

    /// Runs the effect of `step` once, unless its value must not be recorded; then the effect runs again on each
    /// replay.
    pub(crate) async fn recorded_if<T>(
        &self,
        method: JournalMethod,
        step: StepSpec,
        local: impl Future<Output = Result<T, CallError>> + Send + 'static,
        is_recorded: impl Fn(&T) -> bool + Send + 'static,
    ) -> Result<StepOutcome<T>, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some(journal) = self.journal() else {
            return Ok(StepOutcome { value: local.await?, is_replayed: false });
        };
        let tool = self.name().to_owned();
        let local: StepFuture = Box::pin(async move {
            let unwritten = match local.await {
                Ok(value) if is_recorded(&value) => match serde_json::to_value(value) {
                    Ok(value) => return LocalOutcome::Record(value),
                    Err(error) => Err(CallError::Result { tool, message: Fault::writing(&error).to_string() }),
                },
                unrecorded => unrecorded,
            };
            LocalOutcome::Skip(Unrecorded::of::<Result<T, CallError>>(unwritten))
        });
        let outcome = match method {
            JournalMethod::Step => journal.step(step, local),
            JournalMethod::Call => journal.call(step, local),
            JournalMethod::Decision => journal.decision(step, local),
        };
        let interrupted = || CallError::Cancelled { tool: self.name().to_owned() };
        let (value, is_replayed) = match outcome.await {
            Ok(JournalOutcome::Replayed(value)) => (value, true),
            Ok(JournalOutcome::Recorded(value)) => (value, false),
            Ok(JournalOutcome::Unrecorded(unrecorded)) => {
                let value = unrecorded.take::<Result<T, CallError>>().ok_or_else(interrupted)??;
                return Ok(StepOutcome { value, is_replayed: false });
            }
            Err(JournalError::Interrupted) => return Err(interrupted()),
            Err(source) => return Err(self.journal_error(source)),
        };
        let value = serde_json::from_value(value).map_err(|error| self.undecodable_record(&error))?;
        Ok(StepOutcome { value, is_replayed })
    }

    /// Returns the error of a recorded value that cannot be decoded.
    fn undecodable_record(&self, error: &serde_json::Error) -> CallError {
        CallError::Result { tool: self.name().to_owned(), message: Fault::reading(error).to_string() }
    }

    /// Adds an approval with a longer scope than one call to all callers of this call.
    pub(crate) fn add_approval(&self, approval: &Value) {
        for frame in self.frames().skip(1) {
            let mut approved = frame.extras_or_default().effects.approved.get_or_default();
            if !approved.contains(approval) {
                approved.push(approval.clone());
            }
        }
    }

    /// Returns an error if the journal contains a call made by this one that this process did not make.
    pub(crate) fn check_all_replayed(&self) -> Result<(), CallError> {
        let unused = self.journal().and_then(|journal| journal.unused(&self.key()));
        unused.map_or(Ok(()), |source| Err(self.journal_error(source)))
    }

    /// Returns the resolver of the types of tools' errors.
    pub(crate) fn error_types(&self) -> &dyn ErrorTypes {
        &*self.scope.host
    }

    pub(crate) fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.scope.host.journal().filter(|_| !self.frame().is_shadow)
    }

    pub(crate) fn journal_error(&self, source: JournalError) -> CallError {
        CallError::Journal { tool: self.name().to_owned(), source: source.into() }
    }
}
