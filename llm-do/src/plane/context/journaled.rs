//! Effects of a call that a journal keeps, if the session has one.

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
use crate::observe::event::Caller;
use crate::observe::journal::{
    Coming, Interrupted, Journal, JournalError, Places, StepFuture, StepKind, StepSpec, Visit,
};

/// The part of a root call's key below which the effects after its result are recorded.
const AFTER: &str = "after";

/// How an effect is journaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Step,
    Call,
    Promise,
}

/// What came of an effect, and whether it was recorded before.
#[derive(Debug)]
pub(crate) struct Came<T> {
    pub(crate) value: T,
    pub(crate) is_replayed: bool,
}

impl<S> CallContext<S> {
    /// Does an effect of a tool or entry that makes calls besides, once: the journal replays what it recorded.
    ///
    /// Without a journal, `effect` just runs. With one, what it comes to is recorded: its value, or the text of its error,
    /// which a caller may handle and go on from. If the error ends the run, the effect is tried again when the run is
    /// started again. `name` and `input` are what tells it from the call's other effects. Give an input that has an order:
    /// the items of a `HashSet` come in another order in each process, those of a `BTreeSet` do not; maps are no concern.
    ///
    /// # Errors
    ///
    /// Returns the error of `effect`, as [`CallError::Failed`], and [`CallError::Journal`] if the journal cannot keep it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// /// Takes a number and keeps it.
    /// #[entry]
    /// async fn draw(ctx: &CallContext) -> Result<u32> {
    ///     // Drawn once, however often the run is resumed.
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

    /// Returns the time of the session's clock, as it was when the journal was first asked for it; now, without one.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal cannot keep it.
    pub async fn now(&self) -> Result<Timestamp, CallError> {
        let Some(journal) = self.journal() else { return Ok(self.scope.host.now()) };
        let (step, _visit) = self.next_step(StepKind::Now, "now", Value::Null);
        self.record_denials().await?;
        journal.now(step, self.scope.host.now()).await.map_err(|source| self.unjournaled(source))
    }

    /// Waits, once: a wait that the journal recorded is not waited again.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Journal`] if the journal cannot keep it.
    pub async fn sleep(&self, duration: Duration) -> Result<(), CallError> {
        let Some(journal) = self.journal() else {
            tokio::time::sleep(duration).await;
            return Ok(());
        };
        // JSON has no more milliseconds, which are longer than any wait.
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let (step, _visit) = self.next_step(StepKind::Sleep, "sleep", json!(millis));
        self.record_denials().await?;
        journal.sleep(step, duration).await.map_err(|source| self.unjournaled(source))
    }

    /// Returns a text that is the same each time this call is made again for the same purpose, and of no other call.
    ///
    /// An effect that broke off runs again when a run is resumed; a service that is given this key with it can tell.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        match self.frame().step.get() {
            Some(step) => format!("{}/{}", self.scope.host.run(), step.key),
            None => format!("{}/{}", self.scope.host.run(), self.frame().call),
        }
    }

    /// Does an effect of this call, once.
    pub(crate) async fn step<T>(
        &self,
        way: Way,
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
        let (step, visit) = self.next_step(kind, name, input());
        self.record_denials().await?;
        let tool = self.name().to_owned();
        let local = async move {
            match local.await {
                Ok(value) => Kept::written(value, &tool),
                Err(error) => Failure::of(error).map(Kept::Failure),
            }
        };
        // What is recorded but cannot be read has not failed: it is not to be done again.
        match self.recorded(way, step, local).await?.value {
            Kept::Value(value) => serde_json::from_value(value).map_err(|error| self.unfit(&error)),
            Kept::Failure(failure) => {
                let error = failure.into_error(self.name());
                visit.fail(&error);
                Err(error)
            }
        }
    }

    /// Does the effect of `step`, once. What has no end worth recording is an error of `local`.
    pub(crate) async fn recorded<T>(
        &self,
        way: Way,
        step: StepSpec,
        local: impl Future<Output = Result<T, CallError>> + Send + 'static,
    ) -> Result<Came<T>, CallError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
    {
        let Some(journal) = self.journal() else {
            return Ok(Came { value: local.await?, is_replayed: false });
        };
        let left = Arc::new(Left::default());
        let running = Arc::clone(&left);
        let tool = self.name().to_owned();
        let local: StepFuture = Box::pin(async move {
            running.is_run.store(true, Ordering::Relaxed);
            let written = local.await.and_then(|value| {
                serde_json::to_value(value)
                    .map_err(|error| CallError::Result { tool, message: Fault::writing(&error).to_string() })
            });
            written.map_err(|error| running.leave(error))
        });
        let came = match way {
            Way::Step => journal.step(step, local),
            Way::Call => journal.call(step, local),
            Way::Promise => journal.promise(step, local),
        };
        let value = match came.await {
            Ok(value) => value,
            Err(JournalError::Interrupted) => {
                let cancelled = || CallError::Cancelled { tool: self.name().to_owned() };
                return Err(left.take().unwrap_or_else(cancelled));
            }
            Err(source) => return Err(self.unjournaled(source)),
        };
        let is_replayed = !left.is_run.load(Ordering::Relaxed);
        Ok(Came { value: serde_json::from_value(value).map_err(|error| self.unfit(&error))?, is_replayed })
    }

    /// Returns the error of a recorded value that cannot be read.
    fn unfit(&self, error: &serde_json::Error) -> CallError {
        CallError::Result { tool: self.name().to_owned(), message: Fault::reading(error).to_string() }
    }

    /// Begins an effect of this call: returns its step, and what keeps it in flight until dropped.
    pub(crate) fn next_step(&self, kind: StepKind, name: impl Into<Arc<str>>, input: Value) -> (StepSpec, Visit) {
        self.begin_step(None, kind, name, input)
    }

    /// The same, of a call that was coming.
    pub(crate) fn begin_step(
        &self,
        coming: Option<Coming>,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: Value,
    ) -> (StepSpec, Visit) {
        let frame = self.frame();
        let (parent, places) = match frame.after.get().map(AsRef::as_ref) {
            Some((parent, places)) => (Arc::clone(parent), places),
            None => (self.key(), &frame.places),
        };
        let (step, visit) = places.begin(StepSpec::new(parent, 0, kind, name, input), coming, self.is_guards);
        let step = match frame.step.get() {
            Some(own) => step.called_by(own),
            None => step,
        };
        (step, visit)
    }

    /// Notes that this call is made, if it gets a place in the journal later.
    pub(crate) fn coming(&self) -> Option<Coming> {
        let caller = self.caller().filter(|caller| !caller.is_guards)?;
        if self.journal().is_none() || self.frame().by == Caller::User {
            return None;
        }
        Some(caller.places_after().unwrap_or(&caller.frame().places).coming())
    }

    /// Notes that a call of this one was denied, in case this one goes on from that.
    pub(crate) fn add_denial(&self, approval: StepSpec, answer: Value) {
        self.frame().denials.get_or_default().push((approval, answer));
    }

    /// Records the denials that this call goes on from: a replay must go on in the same way, whatever mode it is in.
    pub(crate) async fn record_denials(&self) -> Result<(), CallError> {
        for (step, answer) in self.take_denials() {
            Box::pin(self.recorded(Way::Promise, step, async { Ok(answer) })).await?;
        }
        Ok(())
    }

    /// Leaves the denials to the caller, since this call ends with an error that is not recorded.
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

    /// Keeps an approval that holds for longer than one call with all calls that it was given in.
    pub(crate) fn add_approval(&self, approval: &Value) {
        for frame in self.frames().skip(1) {
            let mut approved = frame.approved.get_or_default();
            if !approved.contains(approval) {
                approved.push(approval.clone());
            }
        }
    }

    /// Keeps the effects that follow apart from those inside the call, which a replay of its result does not run.
    ///
    /// `result` is a digest of it: after another result, other effects may follow.
    pub(crate) fn begin_after(&self, result: &str) {
        let parent = CallContext::key_after(&self.key(), result);
        drop(self.frame().after.set(Box::new((parent, Places::default()))));
    }

    /// Returns the places of the effects that follow those inside the call, if they are kept apart.
    pub(crate) fn places_after(&self) -> Option<&Places> {
        self.frame().after.get().map(|after| &after.1)
    }

    /// Refuses to go on if the journal holds a call of this one that it never made.
    pub(crate) fn all_used(&self) -> Result<(), CallError> {
        let unused = self.journal().and_then(|journal| journal.unused(&self.key()));
        unused.map_or(Ok(()), |source| Err(self.unjournaled(source)))
    }

    /// Returns the key of this call, below which its effects are kept.
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
    /// Returns the key below which the effects that follow a root call are recorded; `result` is a digest of its result.
    pub(crate) fn key_after(call: &str, result: &str) -> Arc<str> {
        format!("{call}/{AFTER}:{result}").into()
    }
}

/// What a step came to, as it is recorded: a value as it is, a failure as an object with the one field `failure`.
///
/// A value that looks like that, or like this, is recorded as an object with the one field `value`.
enum Kept {
    Value(Value),
    Failure(Failure),
}

impl Kept {
    /// Writes a value. One that is nested too deep is recorded as a failure: what was done for it is not to be done again.
    fn written<T: Serialize + 'static>(value: T, tool: &str) -> Result<Self, CallError> {
        let fault = match nesting::to_value(&value) {
            Ok(written) => return Ok(Self::Value(written)),
            Err(fault) => fault,
        };
        if fault.is_of_depth() {
            nesting::discard(value);
            return Ok(Self::Failure(Failure::Failed(format!("the result: {fault}"))));
        }
        Err(CallError::Result { tool: tool.to_owned(), message: fault.to_string() })
    }
}

fn is_alone(value: &Value, fields: &[&str]) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && fields.iter().any(|field| object.contains_key(*field)))
}

impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) if is_alone(value, &["failure", "value"]) => {
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

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        if is_alone(&value, &["failure"]) {
            return serde_json::from_value(value["failure"].take()).map(Self::Failure).map_err(de::Error::custom);
        }
        if is_alone(&value, &["value"]) {
            value = value["value"].take();
        }
        Ok(Self::Value(value))
    }
}

/// What an effect leaves beside its value.
#[derive(Default)]
struct Left {
    is_run: AtomicBool,
    error: Mutex<Option<CallError>>,
}

impl Left {
    fn leave(&self, error: CallError) -> Interrupted {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        Interrupted
    }

    fn take(&self) -> Option<CallError> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
