//! One run that lives in Restate: started there, and followed until it ends.

mod replay;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use self::replay::LiveReplay;
use super::Shared;
use super::active::RunSlot;
use crate::app::serve::restate::{EngineError, EngineWatch, Invocation, LogReader, OpenQuestion};
use crate::app::serve::store::{Outcome, RunRow, StoreError};
use crate::base::usage::RunUsage;
use crate::observe::journal::{Journal, PromiseSpec, SqliteRun};

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
        let (mut replay, mut last_growth): (Option<LiveReplay>, _) = (None, Instant::now());
        loop {
            let seen = Arc::clone(&watched.seen.borrow_and_update());
            asked.update(seen.questions.get(&id).map(Vec::as_slice).unwrap_or_default());
            if let Some(invocation) = seen.runs.get(&id)
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
                    // It would take memory for as long as the run waits.
                    if let Some(live) = replay.take() {
                        live.stop().await;
                    }
                }
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

    /// Lets a replay go on with what was appended to the log. A new one begins without a replay, and if it went another way than the
    /// run.
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
