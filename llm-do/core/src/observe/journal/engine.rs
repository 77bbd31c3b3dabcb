//! The journal of a run whose log a durable execution engine keeps; a task of the engine appends the records.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use super::shared::{SharedReplay, read_replay};
use super::{
    Journal, JournalError, JournalOutcome, LocalOutcome, Promise, PromiseSpec, Record, StepFuture, StepKind, StepSpec,
};
use crate::base::mutex::IgnorePoison;

/// The maximum size of a record in the engine's log, in bytes: 32 MiB for a message, minus its other fields.
pub(crate) const MAX_RECORD: usize = (32 << 20) - (64 << 10);

/// A request of a run to the task that appends to the engine's log.
#[derive(Debug)]
pub(crate) enum EngineRequest {
    /// Begins an effect while the log waits. The confirmation means that the engine does not end the attempt during the
    /// effect.
    Begin(oneshot::Sender<()>),
    /// An effect has ended, recorded or not, while the log waits.
    End,
    /// Appends a record in JSON, and confirms it; without confirmation it may be appended together with the next request.
    Record(Box<RawValue>, Option<oneshot::Sender<()>>),
    /// Appends that the records with these keys are forgotten.
    Forget(Vec<Arc<str>>, oneshot::Sender<()>),
    /// Sleeps in the engine.
    Sleep(Arc<str>, Duration, oneshot::Sender<()>),
    /// Runs the call with this key as a separate invocation, and returns its recorded value; `None` if the call must
    /// run here.
    Call(Arc<str>, oneshot::Sender<Option<Value>>),
    /// Asks a person; returns the id of the question first, and the answer later.
    Ask(PromiseSpec, oneshot::Sender<Arc<str>>, oneshot::Sender<Value>),
    /// Withdraws the question with this id.
    Withdraw(Arc<str>),
}

/// The journal of one attempt of a run.
///
/// Clones share it. The engine may end the attempt at any time; the run is then dropped.
#[derive(Clone)]
pub(crate) struct EngineJournal(Arc<Attempt>);

struct Attempt {
    replay: SharedReplay,
    effects: Mutex<EffectsInFlight>,
    requests: mpsc::UnboundedSender<EngineRequest>,
    /// The calls that an earlier attempt started as separate invocations.
    left: Mutex<HashSet<Arc<str>>>,
    /// Returns whether calls with this name may run as separate invocations.
    may_leave: Box<dyn Fn(&str) -> bool + Send + Sync>,
    part: Option<Part>,
}

/// The only call that runs here, in a separate invocation: the other calls of the run only replay.
struct Part {
    /// The key of the call.
    call: Arc<str>,
    value: Mutex<Option<oneshot::Sender<Value>>>,
}

/// The effects in flight in this process. They must end before the log waits, since the engine may end an attempt that
/// waits.
///
/// While nothing waits, effects begin without a request to the engine.
#[derive(Debug, Default)]
struct EffectsInFlight {
    count: usize,
    /// Whether the log waits, or will wait once no effect is in flight.
    log_waits: bool,
}

/// A guard: an effect is in flight until the guard is dropped.
struct EffectGuard<'a>(&'a Attempt);

impl Drop for EffectGuard<'_> {
    fn drop(&mut self) {
        let mut effects = self.0.effects.lock().ignore_poison();
        effects.count -= 1;
        if effects.log_waits {
            // If this fails, the engine has ended the attempt.
            drop(self.0.requests.send(EngineRequest::End));
        }
    }
}

/// Withdraws a question whose answer is no longer needed.
struct WithdrawOnDrop {
    requests: mpsc::UnboundedSender<EngineRequest>,
    id: Option<Arc<str>>,
}

impl Drop for WithdrawOnDrop {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            // If this fails, the engine has ended the attempt, and the next attempt asks again.
            drop(self.requests.send(EngineRequest::Withdraw(id)));
        }
    }
}

impl EngineJournal {
    /// Creates the journal of an attempt, before its log is read.
    pub(crate) fn new(
        requests: mpsc::UnboundedSender<EngineRequest>,
        may_leave: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::with_part(requests, may_leave, None)
    }

    /// Creates the journal of an invocation that runs one call only; returns the receiver of its recorded value.
    pub(crate) fn of_call(
        call: Arc<str>,
        requests: mpsc::UnboundedSender<EngineRequest>,
        may_leave: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> (Self, oneshot::Receiver<Value>) {
        let (sender, receiver) = oneshot::channel();
        let part = Part { call, value: Mutex::new(Some(sender)) };
        (Self::with_part(requests, may_leave, Some(part)), receiver)
    }

    fn with_part(
        requests: mpsc::UnboundedSender<EngineRequest>,
        may_leave: impl Fn(&str) -> bool + Send + Sync + 'static,
        part: Option<Part>,
    ) -> Self {
        let (replay, effects, left) = (SharedReplay::default(), Mutex::default(), Mutex::default());
        Self(Arc::new(Attempt { replay, effects, requests, left, may_leave: Box::new(may_leave), part }))
    }

    /// Records whether the log waits for something; returns whether it may wait now, since no effect is in flight.
    pub(crate) fn may_wait(&self, log_waits: bool) -> bool {
        let mut effects = self.0.effects.lock().ignore_poison();
        effects.log_waits = log_waits;
        log_waits && effects.count == 0
    }

    /// Loads a record of the log, before the run begins.
    pub(crate) fn load(&self, record: Record) {
        self.0.replay.lock().load(record);
    }

    /// Loads that the call with this key became a separate invocation.
    pub(crate) fn load_call(&self, key: &Arc<str>) {
        self.0.left.lock().ignore_poison().insert(Arc::clone(key));
    }

    /// Loads that a step with this key asked a person.
    pub(crate) fn load_question(&self, kind: StepKind, key: &str) {
        self.0.replay.lock().questions.add(kind, key);
    }

    /// Loads that records were forgotten.
    pub(crate) fn load_forgotten(&self, keys: &[Arc<str>]) {
        self.0.replay.lock().forget(keys);
        self.0.left.lock().ignore_poison().retain(|key| !keys.contains(key));
    }
}

impl Attempt {
    /// Makes a request and waits for its answer; never returns if the engine has ended the attempt, which drops the run.
    async fn request<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> EngineRequest) -> T {
        let (sender, receiver) = oneshot::channel();
        drop(self.requests.send(request(sender)));
        match receiver.await {
            Ok(answer) => answer,
            Err(_) => std::future::pending().await,
        }
    }

    /// Begins an effect. The result of a run contains the whole run, whose effects begin separately.
    async fn begin(&self, step: &StepSpec) -> Option<EffectGuard<'_>> {
        if step.kind == StepKind::Result {
            return None;
        }
        let log_waits = {
            let mut effects = self.effects.lock().ignore_poison();
            effects.count += 1;
            effects.log_waits
        };
        let in_flight = EffectGuard(self);
        if log_waits {
            self.request(EngineRequest::Begin).await;
        }
        Some(in_flight)
    }

    /// Never returns for a step that another invocation performs.
    async fn wait_unless_own(&self, step: &StepSpec) {
        let Some(Part { call, .. }) = &self.part else { return };
        let inside = step.key.strip_prefix(&**call);
        let is_own = inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !is_own && step.kind != StepKind::Result {
            std::future::pending::<()>().await;
        }
    }

    async fn record(&self, step: StepSpec, value: Value) -> Result<Value, JournalError> {
        let (described, kind) = (step.to_string(), step.kind);
        let record = Record::new(step, value)?;
        let invalid = |message: String| JournalError::InvalidValue { step: described.clone(), message };
        let text = to_raw_value(&record).map_err(|error| invalid(error.to_string()))?;
        if text.get().len() > MAX_RECORD {
            return Err(invalid(format!(
                "its record takes {} bytes, and the engine accepts at most {MAX_RECORD}; return a reference to the data, such \
                 as the path of a file that all machines reach",
                text.get().len()
            )));
        }
        if matches!(kind, StepKind::Run | StepKind::Result) {
            // Both records follow from the invocation and the other records, so they need not be durable alone.
            drop(self.requests.send(EngineRequest::Record(text, None)));
        } else {
            self.request(|done| EngineRequest::Record(text, Some(done))).await;
        }
        Ok(self.replay.record(record))
    }

    /// Returns the recorded value of a step; never returns for a step that another invocation performs.
    async fn replayed(&self, step: &StepSpec) -> Result<Option<Value>, JournalError> {
        let recorded = self.replay.look_up(step).await?;
        if recorded.is_none() {
            self.wait_unless_own(step).await;
        }
        Ok(recorded)
    }

    /// Runs and records a step.
    async fn perform(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        match local.await {
            LocalOutcome::Record(value) => self.record(step, value).await.map(JournalOutcome::Recorded),
            LocalOutcome::Skip(unrecorded) => Ok(JournalOutcome::Unrecorded(unrecorded)),
        }
    }

    /// Runs a call as a separate invocation, if another call is in flight with it; returns its value.
    async fn perform_apart(&self, step: &StepSpec) -> Option<Value> {
        // In this attempt, the concurrent calls may be recorded, so that nothing overlaps this call.
        let has_left = self.left.lock().ignore_poison().contains(&step.key);
        let may_leave = has_left || (step.is_overlapped() && (self.may_leave)(&step.name));
        if !may_leave {
            return None;
        }
        let key = Arc::clone(&step.key);
        self.request(|done| EngineRequest::Call(key, done)).await
    }
}

impl Part {
    /// Runs the call of this invocation, and sends its value.
    async fn perform(&self, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        let value = match local.await {
            LocalOutcome::Record(value) => value,
            LocalOutcome::Skip(unrecorded) => return Ok(JournalOutcome::Unrecorded(unrecorded)),
        };
        if let Some(sender) = self.value.lock().ignore_poison().take() {
            drop(sender.send(value));
        }
        // The invocation ends and drops the rest of the run.
        std::future::pending().await
    }
}

#[async_trait]
impl Journal for EngineJournal {
    async fn step(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(value) = self.0.replayed(&step).await? {
            return Ok(JournalOutcome::Replayed(value));
        }
        // The effect stays in flight until it is recorded, since the engine may end the attempt when nothing is in
        // flight.
        let _in_flight = self.0.begin(&step).await;
        self.0.perform(step, local).await
    }

    async fn call(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        if let Some(value) = self.0.replayed(&step).await? {
            return Ok(JournalOutcome::Replayed(value));
        }
        if let Some(part) = self.0.part.as_ref().filter(|part| part.call == step.key) {
            return part.perform(local).await;
        }
        match self.0.perform_apart(&step).await {
            Some(value) => self.0.record(step, value).await.map(JournalOutcome::Replayed),
            None => self.0.perform(step, local).await,
        }
    }

    async fn decision(&self, step: StepSpec, local: StepFuture) -> Result<JournalOutcome, JournalError> {
        match self.0.replayed(&step).await? {
            Some(value) => Ok(JournalOutcome::Replayed(value)),
            None => self.0.perform(step, local).await,
        }
    }

    async fn promise(&self, asked: PromiseSpec) -> Result<Option<Promise>, JournalError> {
        let (sender, answer) = oneshot::channel();
        let id = self.0.request(|id| EngineRequest::Ask(asked, id, sender)).await;
        let withdraw = WithdrawOnDrop { requests: self.0.requests.clone(), id: Some(Arc::clone(&id)) };
        let answer = async move {
            let mut withdraw = withdraw;
            match answer.await {
                Ok(answer) => {
                    withdraw.id = None;
                    Ok(answer)
                }
                Err(_) => std::future::pending().await,
            }
        };
        Ok(Some(Promise::new(id, Box::pin(answer))))
    }

    async fn sleep(&self, step: StepSpec, duration: Duration) -> Result<(), JournalError> {
        if self.0.replayed(&step).await?.is_some() {
            return Ok(());
        }
        let key = Arc::clone(&step.key);
        self.0.request(|done| EngineRequest::Sleep(key, duration, done)).await;
        self.0.record(step, Value::Null).await.map(drop)
    }

    async fn recorded(&self, key: &str) -> Option<Value> {
        self.0.replay.lock().get(key).map(|record| record.value.clone())
    }

    async fn forget(&self, keys: Vec<Arc<str>>) -> Result<(), JournalError> {
        if keys.is_empty() {
            return Ok(());
        }
        let forgotten = keys.clone();
        self.0.request(|done| EngineRequest::Forget(keys, done)).await;
        self.load_forgotten(&forgotten);
        Ok(())
    }

    /// Returns false: what follows a run in another process does not know at which turn a result will join.
    fn allows_background(&self) -> bool {
        false
    }

    read_replay!(self => self.0.replay.lock());
}

impl fmt::Debug for EngineJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineJournal").field("records", &self.0.replay.lock().records().count()).finish()
    }
}
