//! One run that lives in Restate: started there, and followed until it ends.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::Shared;
use super::active::RunSlot;
use crate::app::serve::ask::Absent;
use crate::app::serve::recorder::Recorder;
use crate::app::serve::restate::{EngineError, EngineWatch, Invocation, OpenQuestion, StoredLog, may_leave};
use crate::app::serve::store::{Outcome, RunRow, StoreError};
use crate::base::usage::RunUsage;
use crate::observe::journal::{EngineJournal, EngineRequest, Journal, PromiseSpec, SqliteRun};

/// How long a replay may have no new event before it is dropped: it only waits for effects that its log does not have.
const QUIET: Duration = Duration::from_millis(200);
/// How long is waited after an error of the engine.
const BACK_OFF: Duration = Duration::from_secs(1);
/// How the id of a run begins that was started at the engine, and not here.
const INVOCATION: &str = "inv_";

/// How a run ended, and what it used.
type Ended = (Outcome, RunUsage);

/// What a run asks, with the answers of people.
struct Asked {
    journal: SqliteRun,
    open: HashMap<String, AbortHandle>,
    answers: JoinSet<Option<Value>>,
}

impl Shared {
    /// Follows a run until it ends, or this process does.
    pub(super) async fn follow(
        &self,
        engine: &EngineWatch,
        run: RunRow,
        journal: &SqliteRun,
        slot: &RunSlot,
    ) -> Result<(), StoreError> {
        let fence = journal.fence();
        let is_started = run.attempts > 1 || run.id.starts_with(INVOCATION);
        if run.is_cancelled && !is_started {
            return self.store.finish(&run.id, fence, Outcome::Cancelled, run.usage, None, self.now()).await.map(drop);
        }
        if run.is_cancelled {
            slot.cancellation.cancel();
        }
        let ended = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => None,
            ended = self.until_end(engine, &run, journal, slot) => Some(ended),
        };
        let Some((outcome, usage)) = ended else { return self.store.requeue(&run.id, fence).await };
        let state = outcome.state();
        if self.store.finish(&run.id, fence, outcome, usage, None, self.now()).await? {
            self.count(&run, state, &usage);
        }
        Ok(())
    }

    async fn until_end(&self, engine: &EngineWatch, run: &RunRow, journal: &SqliteRun, slot: &RunSlot) -> Ended {
        let id = if run.id.starts_with(INVOCATION) {
            run.id.clone()
        } else {
            self.retried(|| engine.client.start(&run.id, &run.entry, &run.arguments)).await
        };
        let mut watched = engine.watch(id.clone());
        let mut asked = Asked { journal: journal.clone(), open: HashMap::new(), answers: JoinSet::new() };
        let (mut size, mut is_cancelling) = (None, false);
        loop {
            let seen = Arc::clone(&watched.seen.borrow_and_update());
            asked.update(seen.questions.get(&id).map(Vec::as_slice).unwrap_or_default());
            if let Some(invocation) = seen.runs.get(&id)
                && (invocation.journal_size != size || invocation.is_completed())
            {
                size = invocation.journal_size;
                let log = self.retried(|| engine.client.log(&id)).await;
                self.replay(run, &id, &log, journal).await;
                if invocation.is_completed() {
                    return ended(invocation, &log);
                }
            }
            tokio::select! {
                _ = watched.seen.changed() => {}
                () = slot.cancellation.cancelled(), if !is_cancelling => {
                    is_cancelling = true;
                    self.retried(|| engine.client.cancel(&id)).await;
                }
                Some(answer) = asked.answers.join_next() => {
                    if let Ok(Some(answer)) = answer {
                        self.retried(|| engine.client.answer(&answer)).await;
                    }
                }
            }
        }
    }

    /// Repeats a request until the engine answers.
    async fn retried<T, F: Future<Output = Result<T, EngineError>>>(&self, request: impl Fn() -> F) -> T {
        loop {
            let answer = request().await;
            self.health.note(&answer);
            if let Ok(value) = answer {
                return value;
            }
            tokio::time::sleep(BACK_OFF).await;
        }
    }

    /// Replays a run and stores its events. An effect that the log does not have does not start.
    async fn replay(&self, run: &RunRow, id: &str, log: &StoredLog, journal: &SqliteRun) {
        let (sender, mut requests) = mpsc::unbounded_channel();
        let (runtime, dropped) = (self.runtime.clone(), self.metrics.dropped_events.clone());
        let leaves = move |name: &str| may_leave(&runtime, name);
        let replayed = EngineJournal::new(sender, leaves);
        log.load(&replayed);
        let recorder = Recorder::start(self.store.clone(), run.id.clone(), journal.fence(), true, dropped);
        let start = self.runtime.start_named(&run.entry, run.arguments.clone()).with_id(id);
        let start =
            start.journal(replayed).approver(Absent).input_handler(Absent).shared_sink(Arc::clone(&recorder) as _);
        {
            let mut running = start.into_future();
            // What the run asks of the engine, kept without an answer.
            let mut kept = Vec::new();
            loop {
                tokio::select! {
                    biased;
                    Some(request) = requests.recv() => kept.extend(unanswered(request)),
                    _ = &mut running => break,
                    () = tokio::time::sleep(QUIET) => break,
                }
            }
            recorder.close();
        }
        recorder.stored().await;
    }
}

/// Confirms what follows from the log, and returns other requests.
fn unanswered(request: EngineRequest) -> Option<EngineRequest> {
    match request {
        EngineRequest::Record(_, done) => {
            // Of a call whose steps are recorded: no other step begins. Ignored: the call may have been dropped.
            if let Some(done) = done {
                let _ = done.send(());
            }
            None
        }
        EngineRequest::End => None,
        request => Some(request),
    }
}

fn ended(invocation: &Invocation, log: &StoredLog) -> Ended {
    let usage = log.outcome().map(|outcome| outcome.usage).unwrap_or_default();
    let outcome = match log.outcome().map(|outcome| outcome.end.clone()) {
        Some(end) => end.into(),
        None => {
            Outcome::Error(invocation.completion_failure.clone().unwrap_or_else(|| "ended by the engine".to_owned()))
        }
    };
    (outcome, usage)
}

impl Asked {
    /// Asks people what the run asks now, and withdraws what it no longer asks.
    fn update(&mut self, questions: &[OpenQuestion]) {
        self.open.retain(|id, asking| {
            let is_open = questions.iter().any(|question| question.id == *id);
            if !is_open {
                asking.abort();
            }
            is_open
        });
        for question in questions {
            if !self.open.contains_key(&question.id) {
                let asking = self.answers.spawn(answer(self.journal.clone(), question.clone()));
                self.open.insert(question.id.clone(), asking);
            }
        }
    }
}

/// Waits for the answer of a person; returns what the inbox gets.
async fn answer(journal: SqliteRun, OpenQuestion { id, asked, .. }: OpenQuestion) -> Option<Value> {
    let promise = journal.promise(PromiseSpec::new(asked.key, asked.kind, asked.shown)).await.ok()??;
    let answer = promise.answer.await.ok()?;
    let mut body = if answer.is_object() { answer } else { json!({ "answer": answer }) };
    body["id"] = json!(id);
    body["digest"] = json!(asked.digest);
    Some(body)
}
