//! Steps of a call: replayed from or recorded in the journal, if the session has one.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::de::{self, DeserializeOwned};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::{Value, json};

use super::CallContext;
use crate::base::error::{CallError, Failure, Fault};
use crate::declare::nesting;
use crate::observe::journal::{Interrupted, Journal, JournalError, Places, StepFuture, StepKind, StepSpec, Visit};

/// The part of a root call's key below which the steps after its result are recorded.
const AFTER: &str = "after";

/// The method of [`Journal`] for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Step,
    Call,
    Promise,
}

/// The value of a step, and whether it was replayed.
#[derive(Debug)]
pub(crate) struct Came<T> {
    pub(crate) value: T,
    pub(crate) is_replayed: bool,
}

impl<S> CallContext<S> {
    /// Performs an effect, or returns its recorded outcome: for side effects of a tool or entry that also makes calls.
    ///
    /// Without a journal, `effect` just runs. With one, its outcome is recorded: the value, or the text of the error, which
    /// the caller may handle. If the error ends the run, the effect is retried when the run is resumed. `name` and `input`
    /// identify the effect among those of the call. The input must have the same order in each process: use a `BTreeSet`
    /// instead of a `HashSet`; the order of maps does not matter.
    ///
    /// # Errors
    ///
    /// Returns the error of `effect` as [`CallError::Failed`], and [`CallError::Journal`] if the journal fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// /// Draws a number.
    /// #[entry]
    /// async fn draw(ctx: &CallContext) -> Result<u32> {
    ///     // Drawn once, even if the run is resumed several times.
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
        let local = async move { effect.await.map_err(|source| CallError::Failed { tool, source }) };
        self.step(Way::Step, StepKind::Effect, name, || input, local).await
    }

    /// Returns the current time, as recorded in the journal on the first run; without a journal, the session's clock.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal fails.
    pub async fn now(&self) -> Result<Timestamp, CallError> {
        let Some(journal) = self.journal() else { return Ok(self.scope.host.now()) };
        let (step, _in_flight) = self.next_step(StepKind::Now, "now", Value::Null);
        self.record_denials().await?;
        journal.now(step, self.scope.host.now()).await.map_err(|source| self.unjournaled(source))
    }

    /// Waits for `duration`; a wait that is recorded in the journal returns immediately.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal fails.
    pub async fn sleep(&self, duration: Duration) -> Result<(), CallError> {
        let Some(journal) = self.journal() else {
            tokio::time::sleep(duration).await;
            return Ok(());
        };
        // Saturates at u64::MAX milliseconds, longer than any wait.
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let (step, _in_flight) = self.next_step(StepKind::Sleep, "sleep", json!(millis));
        self.record_denials().await?;
        journal.sleep(step, duration).await.map_err(|source| self.unjournaled(source))
    }

    /// Returns a key that is unique to this call, and the same when a resumed run repeats the call.
    ///
    /// An interrupted effect runs again when a run is resumed; send this key along so that a service can detect the repeat.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        match self.frame().step.get() {
            Some(step) => format!("{}/{}", self.scope.host.run(), step.key),
            None => format!("{}/{}", self.scope.host.run(), self.frame().call),
        }
    }

    /// Performs or replays a step of this call; its failure is recorded as well.
    pub(crate) async fn step<T>(
        &self,
        method: Way,
        kind: StepKind,
        name: &str,
        input: impl FnOnce() -> Value,
        local: impl Future<Output = Result<T, CallError>> + Send + 'static,
    ) -> Result<T, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        if self.journal().is_none() {
            return local.await;
        }
        let (step, in_flight) = self.next_step(kind, name, input());
        self.record_denials().await?;
        let tool = self.name().to_owned();
        let local = async move {
            match local.await {
                Ok(value) => RecordedOutcome::from_value(value, &tool),
                Err(error) => Failure::of(error).map(RecordedOutcome::Failure),
            }
        };
        // An unreadable record is not reported as a failed step: the effect was performed, and is not retried.
        match self.recorded(method, step, local).await?.value {
            RecordedOutcome::Value(value) => serde_json::from_value(value).map_err(|error| self.unfit(&error)),
            RecordedOutcome::Failure(failure) => {
                let error = failure.into_error(self.name());
                in_flight.fail(&error);
                Err(error)
            }
        }
    }

    /// Performs or replays `step`. An error of `local` is not recorded.
    pub(crate) async fn recorded<T>(
        &self,
        method: Way,
        step: StepSpec,
        local: impl Future<Output = Result<T, CallError>> + Send + 'static,
    ) -> Result<Came<T>, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some(journal) = self.journal() else {
            return Ok(Came { value: local.await?, is_replayed: false });
        };
        let state = Arc::new(LocalState::default());
        let local_state = Arc::clone(&state);
        let tool = self.name().to_owned();
        let local: StepFuture = Box::pin(async move {
            local_state.has_run.store(true, Ordering::Relaxed);
            let json = local.await.and_then(|value| {
                serde_json::to_value(value)
                    .map_err(|error| CallError::Result { tool, message: Fault::writing(&error).to_string() })
            });
            json.map_err(|error| local_state.interrupt(error))
        });
        let recorded = match method {
            Way::Step => journal.step(step, local),
            Way::Call => journal.call(step, local),
            Way::Promise => journal.promise(step, local),
        };
        let value = match recorded.await {
            Ok(value) => value,
            Err(JournalError::Interrupted) => {
                let cancelled = || CallError::Cancelled { tool: self.name().to_owned() };
                return Err(state.take_error().unwrap_or_else(cancelled));
            }
            Err(source) => return Err(self.unjournaled(source)),
        };
        let is_replayed = !state.has_run.load(Ordering::Relaxed);
        Ok(Came { value: serde_json::from_value(value).map_err(|error| self.unfit(&error))?, is_replayed })
    }

    /// Returns the error of a recorded value that cannot be deserialized.
    fn unfit(&self, error: &serde_json::Error) -> CallError {
        CallError::Result { tool: self.name().to_owned(), message: Fault::reading(error).to_string() }
    }

    /// Begins a step of this call; it counts as in flight until the guard is dropped.
    pub(crate) fn next_step(&self, kind: StepKind, name: impl Into<Arc<str>>, input: Value) -> (StepSpec, Visit) {
        let frame = self.frame();
        let (step, in_flight) = match frame.after.get().map(AsRef::as_ref) {
            Some((parent, places)) => places.next(parent, kind, name, input),
            None => frame.places.next(&self.key(), kind, name, input),
        };
        let step = match frame.step.get() {
            Some(own) => step.called_by(own),
            None => step,
        };
        (step, in_flight)
    }

    /// Remembers that a call made by this one was denied, in case this one continues after that.
    pub(crate) fn add_denial(&self, approval: StepSpec, answer: Value) {
        self.frame().denials.get_or_default().push((approval, answer));
    }

    /// Records the denials after which this call continues: a replay in another mode must see the same denials.
    pub(crate) async fn record_denials(&self) -> Result<(), CallError> {
        for (step, answer) in self.take_denials() {
            Box::pin(self.recorded(Way::Promise, step, async { Ok(answer) })).await?;
        }
        Ok(())
    }

    /// Passes the denials on to the caller, since this call ends with an error that is not recorded.
    pub(crate) fn pass_on_denials(&self) {
        let Some(caller) = self.caller() else { return };
        let denials = self.take_denials();
        if !denials.is_empty() {
            caller.frame().denials.get_or_default().extend(denials);
        }
    }

    fn take_denials(&self) -> Vec<(StepSpec, Value)> {
        self.frame().denials.get().map(|mut denials| std::mem::take(&mut *denials)).unwrap_or_default()
    }

    /// Adds an approval with a longer scope than one call to all callers of this call.
    pub(crate) fn add_approval(&self, approval: &Value) {
        for frame in self.frames().skip(1) {
            let mut approved = frame.approved.get_or_default();
            if !approved.contains(approval) {
                approved.push(approval.clone());
            }
        }
    }

    /// Puts further steps below a separate key, since a replay of the call's result skips the steps inside the call.
    ///
    /// `result` is a digest of the result: after another result, other steps may follow.
    pub(crate) fn begin_after(&self, result: &str) {
        let parent = CallContext::key_after(&self.key(), result);
        drop(self.frame().after.set(Box::new((parent, Places::default()))));
    }

    /// Returns the steps after the result of the call, if [`begin_after`](Self::begin_after) was called.
    pub(crate) fn places_after(&self) -> Option<&Places> {
        self.frame().after.get().map(|after| &after.1)
    }

    /// Returns an error if the journal contains a call of this one that this process did not make.
    pub(crate) fn all_used(&self) -> Result<(), CallError> {
        let unused = self.journal().and_then(|journal| journal.unused(&self.key()));
        unused.map_or(Ok(()), |source| Err(self.unjournaled(source)))
    }

    /// Returns the key of this call; the keys of its steps are below it.
    pub(crate) fn key(&self) -> Arc<str> {
        self.frame().step.get().map(|step| Arc::clone(&step.key)).unwrap_or_default()
    }

    pub(crate) fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.scope.host.journal().filter(|_| !self.frame().is_shadow)
    }

    pub(crate) fn unjournaled(&self, source: JournalError) -> CallError {
        CallError::Journal { tool: self.name().to_owned(), source: source.into() }
    }
}

impl CallContext {
    /// Returns the key below which the steps after a root call are recorded; `result` is a digest of its result.
    pub(crate) fn key_after(call: &str, result: &str) -> Arc<str> {
        format!("{call}/{AFTER}:{result}").into()
    }
}

/// The recorded outcome of a step: a plain value, or a failure as an object with the single field `failure`.
///
/// A value that is an object with the single field `failure` or `value` is wrapped in an object with the field `value`.
enum RecordedOutcome {
    Value(Value),
    Failure(Failure),
}

impl RecordedOutcome {
    /// Serializes a value. A value that is nested too deep is recorded as a failure, so that the effect is not repeated.
    fn from_value<T: Serialize + 'static>(value: T, tool: &str) -> Result<Self, CallError> {
        let fault = match nesting::to_value(&value) {
            Ok(json) => return Ok(Self::Value(json)),
            Err(fault) => fault,
        };
        if fault.is_of_depth() {
            nesting::discard(value);
            return Ok(Self::Failure(Failure::Failed(format!("the result: {fault}"))));
        }
        Err(CallError::Result { tool: tool.to_owned(), message: fault.to_string() })
    }
}

fn is_single_field(value: &Value, fields: &[&str]) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && fields.iter().any(|field| object.contains_key(*field)))
}

impl Serialize for RecordedOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) if is_single_field(value, &["failure", "value"]) => {
                json!({ "value": value }).serialize(serializer)
            }
            Self::Value(value) => value.serialize(serializer),
            Self::Failure(failure) => {
                let failure = serde_json::to_value(failure).map_err(ser::Error::custom)?;
                json!({ "failure": failure }).serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RecordedOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        if is_single_field(&value, &["failure"]) {
            return serde_json::from_value(value["failure"].take()).map(Self::Failure).map_err(de::Error::custom);
        }
        if is_single_field(&value, &["value"]) {
            value = value["value"].take();
        }
        Ok(Self::Value(value))
    }
}

/// What is known of the local future of a step besides its value.
#[derive(Default)]
struct LocalState {
    has_run: AtomicBool,
    error: Mutex<Option<CallError>>,
}

impl LocalState {
    fn interrupt(&self, error: CallError) -> Interrupted {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Interrupted
    }

    fn take_error(&self) -> Option<CallError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
