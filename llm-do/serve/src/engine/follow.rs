//! One run in Restate: started there, and followed until it ends.

mod replay;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use llm_do_core::base::usage::RunUsage;
use llm_do_core::observe::journal::{Journal, JournalError, PromiseSpec, SqliteRun};
use serde_json::{Value, json};
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::Instant;

use self::replay::LiveReplay;
use super::Shared;
use super::active::RunSlot;
use crate::restate::{EngineError, EngineWatch, Invocation, LogReader, OpenQuestion};
use crate::store::{Outcome, RunRow, StoreError};

/// How long to wait after an error of the engine, or of the file.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The prefix of the id of a run that was started at the engine, and not here.
const INVOCATION: &str = "inv_";

/// The outcome and the usage of a run.
type Ended = (Outcome, RunUsage);

/// The questions of a run, with the answers of people.
struct Asked {
    journal: SqliteRun,
    open: HashMap<String, AbortHandle>,
    answers: JoinSet<Option<Value>>,
    /// Whether the file may list further questions, because not all of them were withdrawn.
    may_list_more: bool,
}

impl Shared {
    /// Follows a run until it ends, or until this process ends.
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
        let Some((outcome, usage)) = ended else { return self.store.requeue(&run.id, fence, None).await };
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
            self.retried(|| engine.client.start(&run.id, (&run.entry, &run.tenant), &run.arguments, run.source.label()))
                .await
        };
        let mut watched = engine.watch(id.clone());
        let mut asked = Asked::new(journal.clone(), run.attempts > 1);
        let (mut size, mut is_cancelling) = (None, false);
        let (mut replay, mut last_growth): (Option<LiveReplay>, _) = (None, Instant::now());
        loop {
            let seen = Arc::clone(&watched.seen.borrow_and_update());
            let invocation = seen.runs.get(&id);
            // Earlier data may lack the questions of this run.
            if invocation.is_some() {
                asked.update(seen.questions.get(&id).map(Vec::as_slice).unwrap_or_default()).await;
            }
            if let Some(invocation) = invocation
                && (invocation.journal_size != size || invocation.is_completed())
            {
                (size, last_growth) = (invocation.journal_size, Instant::now());
                let mut live = self.grown(engine, run, &id, journal, replay.take()).await;
                if invocation.is_completed() {
                    let is_whole = live.end().await;
                    if !is_whole {
                        live = self.grown(engine, run, &id, journal, None).await;
                        live.end().await;
                    }
                    return ended(invocation, live.log());
                }
                replay = Some(live);
            }
            tokio::select! {
                _ = watched.seen.changed() => {}
                () = tokio::time::sleep_until(last_growth + self.options.park_after), if replay.is_some() => {
                    // The replay would take memory while the run waits.
                    if let Some(live) = replay.take() {
                        live.stop().await;
                    }
                }
                () = slot.cancellation.cancelled(), if !is_cancelling => {
                    is_cancelling = true;
                    self.retried(|| engine.client.cancel(&id)).await;
                }
                Some(task) = asked.answers.join_next() => {
                    if let Some(answer) = asked.answer_of(task) {
                        self.retried(|| engine.client.answer(&answer)).await;
                    }
                }
            }
        }
    }

    /// Continues a replay with the appended records. Starts a new replay if it is missing, or if the current one
    /// diverged from the run.
    async fn grown(
        &self,
        engine: &EngineWatch,
        run: &RunRow,
        id: &str,
        journal: &SqliteRun,
        mut replay: Option<LiveReplay>,
    ) -> LiveReplay {
        if replay.as_mut().is_some_and(LiveReplay::is_astray)
            && let Some(astray) = replay.take()
        {
            astray.stop().await;
        }
        let mut live = replay.unwrap_or_else(|| LiveReplay::start(self, run, id, journal.fence()));
        let appended = self.retried(|| engine.client.log(id, live.log())).await;
        live.extend(&appended);
        live
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
}

fn ended(invocation: &Invocation, log: &LogReader) -> Ended {
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
    /// After a restart, the file may contain questions that the run no longer asks.
    fn new(journal: SqliteRun, is_restarted: bool) -> Self {
        Self { journal, open: HashMap::new(), answers: JoinSet::new(), may_list_more: is_restarted }
    }

    /// Stores the current questions of the run, and withdraws those that it no longer asks.
    async fn update(&mut self, questions: &[OpenQuestion]) {
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
        if self.may_list_more {
            let open = self.open.keys().cloned().collect();
            // After an error, the next update withdraws them.
            self.may_list_more = self.journal.withdraw_except(open).await.is_err();
        }
    }

    /// Returns the answer of a task that ended; `None` if its question is no longer asked.
    fn answer_of(&mut self, task: Result<Option<Value>, JoinError>) -> Option<Value> {
        // Checked only now, since an aborted task may store its question until it ends.
        self.may_list_more |= task.is_err();
        task.ok().flatten()
    }
}

/// Waits for the answer of a person; returns the value for the inbox, or `None` if another process has the run.
async fn answer(journal: SqliteRun, OpenQuestion { id, asked, .. }: OpenQuestion) -> Option<Value> {
    // After an invalid answer, the key of the step stays the same and the engine's id is new, so that the key alone
    // would find the invalid answer again. After a restart, the id is unchanged too, so that an answer that was not
    // sent is found.
    let spec = PromiseSpec::new(id.as_str(), asked.kind, asked.shown);
    let answer = loop {
        match stored_answer(&journal, spec.clone()).await {
            Ok(answer) => break answer?,
            Err(JournalError::TakenOver { .. }) => return None,
            // A retry may succeed.
            Err(_) => tokio::time::sleep(BACK_OFF).await,
        }
    };
    let mut body = if answer.is_object() { answer } else { json!({ "answer": answer }) };
    body["id"] = json!(id);
    body["digest"] = json!(asked.digest);
    Some(body)
}

async fn stored_answer(journal: &SqliteRun, asked: PromiseSpec) -> Result<Option<Value>, JournalError> {
    match journal.promise(asked).await? {
        Some(promise) => promise.answer.await.map(Some),
        None => Ok(None),
    }
}
