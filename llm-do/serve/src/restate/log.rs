//! The log of a run: an attempt reads the entries of earlier attempts, and appends the next ones of the run.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llm_do_core::observe::journal::{EngineJournal, EngineRequest, PromiseSpec, Record};
use restate_sdk::context::RunFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::HandlerError;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::entry::{Batch, Entry, Outcome, ShownRequest};
use super::names::Names;
use super::self_waking::{SelfWaking, Wakes};
use super::waits::{WaitId, Waiter, Waits};

/// The name of the engine's commands that append to a log. It is the same for all entries, so that an attempt can read
/// the log before it knows the next step of the run.
const APPEND: &str = "append";
/// The maximum size in bytes of requests that are appended together.
const BATCH_BYTES: usize = 1 << 20;
/// The maximum size in bytes of the records for a call that runs as a separate invocation.
const MAX_CALL_BYTES: usize = 8 << 20;

/// The input of an invocation.
#[derive(Clone, Debug)]
pub(super) struct Invoked {
    /// The id of the run.
    pub(super) run: String,
    /// The input that starts the run again, to replay it.
    pub(super) start: Value,
    /// The records of the run before this invocation, if the invocation is for one call.
    pub(super) earlier: Vec<Box<RawValue>>,
}

/// The log of one invocation, in one attempt.
pub(super) struct Log<'c> {
    ctx: &'c ContextInternal,
    names: &'c Names,
    invoked: Invoked,
    journal: EngineJournal,
    requests: mpsc::UnboundedReceiver<EngineRequest>,
    waits: Waits<'c>,
    /// The records so far, for invocations of single calls.
    steps: Vec<Box<RawValue>>,
    step_bytes: usize,
    outcome: Option<Outcome>,
    /// How often a step was given an invalid answer in this attempt.
    repeats: HashMap<Arc<str>, u32>,
    /// The entries to append together with the next request.
    held: Appended,
    /// The wakes of the run that is served.
    wakes: Arc<Wakes>,
    pub(super) cancellation: CancellationToken,
}

/// Entries to append together, with their callbacks.
#[derive(Default)]
struct Appended {
    entries: Vec<Entry>,
    bytes: usize,
    done: Vec<Done>,
}

enum Done {
    Confirmed(oneshot::Sender<()>),
    /// Receives the id of the question of a wait.
    Asked(WaitId, oneshot::Sender<Arc<str>>),
    Waits(WaitId, Waiter),
}

impl<'c> Log<'c> {
    /// Reads the log into the journal.
    pub(super) async fn read(
        ctx: &'c ContextInternal,
        names: &'c Names,
        invoked: Invoked,
        journal: EngineJournal,
        requests: mpsc::UnboundedReceiver<EngineRequest>,
    ) -> Result<Self, HandlerError> {
        let waits = Waits::new(ctx, names);
        let earlier = invoked.earlier.clone();
        let mut log = Self {
            ctx,
            names,
            invoked,
            journal,
            requests,
            waits,
            steps: Vec::new(),
            step_bytes: 0,
            outcome: None,
            repeats: HashMap::new(),
            held: Appended::default(),
            wakes: Arc::default(),
            cancellation: CancellationToken::new(),
        };
        earlier.into_iter().try_for_each(|step| log.load(step))?;
        // After an outcome, the handler returns.
        while log.outcome.is_none() && log.read_batch().await? {}
        Ok(log)
    }

    /// Reads the next batch; returns false at the end of the log, and stores that it is reached.
    async fn read_batch(&mut self) -> Result<bool, HandlerError> {
        let is_end = AtomicBool::new(false);
        let end = || {
            is_end.store(true, Ordering::Relaxed);
            ready(Ok(Batch("[]".to_owned())))
        };
        match self.ctx.run(end).name(APPEND).await {
            Ok(Batch(text)) => {
                for entry in serde_json::from_str::<Vec<Entry>>(&text)? {
                    if let Entry::Step(step) = entry {
                        self.load(step)?;
                    } else {
                        match &entry {
                            Entry::Forget(keys) => self.journal.load_forgotten(keys),
                            Entry::Call(key) => self.journal.load_call(key),
                            Entry::Ask(asked) => self.journal.load_question(asked.kind, &asked.key),
                            _ => {}
                        }
                        self.follow(entry);
                    }
                }
            }
            // This is the only error of a command that does not return an error itself.
            Err(_) => self.cancellation.cancel(),
        }
        Ok(!is_end.into_inner())
    }

    fn load(&mut self, step: Box<RawValue>) -> Result<(), HandlerError> {
        self.journal.load(serde_json::from_str::<Record>(step.get())?);
        self.keep(step);
        Ok(())
    }

    fn keep(&mut self, step: Box<RawValue>) {
        self.step_bytes += step.get().len();
        if self.step_bytes <= MAX_CALL_BYTES {
            self.steps.push(step);
        } else {
            self.steps = Vec::new();
        }
    }

    /// Forgets records, so that a separate invocation of the call does not load them.
    fn forget_steps(&mut self, keys: &[Arc<str>]) {
        #[derive(Deserialize)]
        struct Keyed {
            key: Arc<str>,
        }

        if self.step_bytes > MAX_CALL_BYTES {
            return;
        }
        self.steps.retain(|step| !serde_json::from_str::<Keyed>(step.get()).is_ok_and(|step| keys.contains(&step.key)));
        self.step_bytes = self.steps.iter().map(|step| step.get().len()).sum();
    }

    /// Performs the command after an entry, which is the same in each attempt.
    fn follow(&mut self, entry: Entry) {
        match entry {
            Entry::Step(step) => self.keep(step),
            Entry::Sleep { key, millis } => self.waits.sleep(key, Duration::from_millis(millis)),
            Entry::Ask(asked) => self.waits.ask(&self.invoked.run, &asked),
            Entry::Call(key) => {
                let input = json!({
                    "run": &self.invoked.run, "start": &self.invoked.start, "call": &key, "steps": &self.steps
                });
                self.waits.call(key, self.names.call(), input);
            }
            Entry::Withdraw(questions) => self.waits.withdraw(&questions),
            Entry::Outcome(outcome) => self.outcome = Some(outcome),
            Entry::Forget(keys) => {
                self.waits.forget(&keys);
                self.forget_steps(&keys);
            }
        }
    }

    /// Returns the outcome of the run, if it has ended.
    pub(super) fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// Serves the run until `run` returns.
    pub(super) async fn serve<T>(&mut self, run: impl Future<Output = T> + Unpin) -> T {
        let mut run = SelfWaking::new(run);
        self.wakes = run.wakes();
        loop {
            // Waiting in the engine may suspend the invocation, which would interrupt effects in flight.
            let may_wait = self.journal.may_wait(!self.waits.is_empty());
            tokio::select! {
                biased;
                // Polled before its requests, so that new requests are handled without a wake.
                result = &mut run => {
                    while let Ok(request) = self.requests.try_recv() {
                        self.handle(request).await;
                    }
                    return result;
                }
                Some(request) = self.requests.recv() => self.handle(request).await,
                waited = self.waits.next(), if may_wait => {
                    if waited.is_err() {
                        self.cancel().await;
                    }
                }
            }
        }
    }

    /// Cancels the run.
    ///
    /// The next attempt learns of it from the command after the existing ones, whose result it does not receive.
    async fn cancel(&mut self) {
        self.cancellation.cancel();
        drop(self.ctx.run(|| ready(Ok(Batch("[]".to_owned())))).name(APPEND).await);
    }

    /// Handles a request, together with other pending ones.
    async fn handle(&mut self, request: EngineRequest) {
        let mut appended = std::mem::take(&mut self.held);
        self.add(request, &mut appended);
        while appended.bytes < BATCH_BYTES {
            let Ok(request) = self.requests.try_recv() else { break };
            self.add(request, &mut appended);
        }
        if appended.done.is_empty() {
            self.held = appended;
        } else {
            self.append(appended).await;
        }
    }

    /// Appends the outcome of the run, and withdraws its questions.
    pub(super) async fn end(&mut self, outcome: Outcome) {
        let mut appended = std::mem::take(&mut self.held);
        let open = self.waits.open_questions();
        appended.entries.extend((!open.is_empty()).then_some(Entry::Withdraw(open)));
        appended.entries.push(Entry::Outcome(outcome));
        self.append(appended).await;
    }

    async fn append(&mut self, Appended { entries, done, .. }: Appended) {
        if !entries.is_empty() {
            // Entries were parsed from JSON, so they can be serialized.
            let batch = Batch(serde_json::to_string(&entries).unwrap_or_default());
            // After the cancellation, the engine refuses one command, and accepts the following ones.
            while self.ctx.run(|| ready(Ok(batch.clone()))).name(APPEND).await.is_err() {
                self.cancellation.cancel();
            }
            for entry in entries {
                self.follow(entry);
            }
        }
        // The run is polled next.
        self.wakes.hold();
        for done in done {
            match done {
                // Fails if the call that made the request has been dropped.
                Done::Confirmed(sender) => drop(sender.send(())),
                Done::Asked(id, sender) => {
                    if let Some(question) = self.waits.question(&id) {
                        drop(sender.send(question.into()));
                    }
                }
                Done::Waits(id, waiter) => self.waits.set_waiter(&id, waiter),
            }
        }
    }

    fn add(&mut self, request: EngineRequest, appended: &mut Appended) {
        let (entry, done) = match request {
            EngineRequest::Begin(confirmed) => {
                // Fails if the call has been dropped.
                let _ = confirmed.send(());
                return;
            }
            // The next iteration takes it into account.
            EngineRequest::End => return,
            EngineRequest::Record(step, done) => {
                appended.bytes += step.get().len();
                (Some(Entry::Step(step)), done.map(Done::Confirmed))
            }
            EngineRequest::Forget(keys, done) => (Some(Entry::Forget(keys)), Some(Done::Confirmed(done))),
            EngineRequest::Sleep(key, time, done) => {
                let id = WaitId::Time(Arc::clone(&key));
                let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                let entry = (!self.waits.has(&id)).then_some(Entry::Sleep { key, millis });
                (entry, Some(Done::Waits(id, Waiter::Time(done))))
            }
            EngineRequest::Ask(asked, id, answer) => {
                let asked = self.asked(asked);
                appended.bytes += asked.shown.to_string().len();
                let wait = WaitId::of_question(&asked);
                appended.done.push(Done::Asked(wait.clone(), id));
                ((!self.waits.has(&wait)).then_some(Entry::Ask(asked)), Some(Done::Waits(wait, Waiter::Answer(answer))))
            }
            EngineRequest::Withdraw(id) => (Some(Entry::Withdraw(vec![id.to_string()])), None),
            EngineRequest::Call(key, done) => {
                let id = WaitId::Call(Arc::clone(&key));
                if !self.waits.has(&id) && self.step_bytes > MAX_CALL_BYTES {
                    drop(done.send(None));
                    return;
                }
                ((!self.waits.has(&id)).then_some(Entry::Call(key)), Some(Done::Waits(id, Waiter::Call(done))))
            }
        };
        appended.entries.extend(entry);
        appended.done.extend(done);
    }

    /// Counts the invalid answers; each attempt asks for these again.
    fn asked(&mut self, asked: PromiseSpec) -> ShownRequest {
        let digest = asked.digest();
        let PromiseSpec { key, kind, request: shown, is_repeated, .. } = asked;
        let repeats = self.repeats.entry(Arc::clone(&key)).or_default();
        *repeats = if is_repeated { *repeats + 1 } else { 0 };
        ShownRequest { key, kind, repeats: *repeats, digest, shown }
    }
}
