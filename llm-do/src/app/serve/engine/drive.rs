//! One run, from its claim until it ends or is set aside.

use std::future::IntoFuture;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Shared;
use super::active::Entered;
use crate::app::serve::ask::Absent;
use crate::app::serve::recorder::Recorder;
use crate::app::serve::store::{Outcome, RunRow, StoreError, Topic};
use crate::base::error::{CallError, chain};
use crate::base::usage::{Limits, RunUsage};
use crate::observe::event::EventSink;
use crate::observe::journal::{Journal, SqliteRun};
use crate::session::runtime::{Chat, Start};

/// Why a run is no longer driven by this process.
enum Ended {
    Finished(Result<Value, CallError>),
    /// It waits for people, or for a time.
    Waits {
        until: Option<Timestamp>,
        /// How many effects were recorded.
        recorded: usize,
    },
    /// The process is about to end.
    Shutdown,
}

impl Shared {
    /// Drives a run for as long as it does something.
    pub(super) async fn drive(self: Arc<Self>, id: String, journal: SqliteRun, entered: Entered) {
        // Ignored: the file cannot be written, so the run stays as it was, and a later claim continues it.
        let _ = self.try_drive(&id, &journal, &entered).await;
        let _ = journal.release().await;
        drop(entered);
        // A free place, and perhaps an answer that came while the run was set aside.
        self.store.notify(&[Topic::Queue]);
    }

    async fn try_drive(&self, id: &str, journal: &SqliteRun, entered: &Entered) -> Result<(), StoreError> {
        let Some(run) = self.store.begin(id, self.now()).await? else { return Ok(()) };
        if run.is_cancelled {
            return self.store.finish(id, Outcome::Cancelled, run.usage, None, self.now()).await;
        }
        let recorder = Recorder::start(self.store.clone(), run.id.clone(), run.attempts > 1);
        let mut chat = match &run.chat {
            Some(chat) => self.store.chat(chat).await?.map(|chat| self.runtime.chat().with_state(chat.state)),
            None => None,
        };
        let start = self.start(&run, chat.as_mut());
        let start = start
            .journal(journal.clone())
            .approver(Absent)
            .input_handler(Absent)
            .shared_sink(Arc::clone(&recorder) as _)
            .cancellation(entered.cancellation.clone());
        let handle = start.handle();
        let ended = {
            let mut running = start.into_future();
            let ended = tokio::select! {
                result = &mut running => Ended::Finished(result),
                waits = self.only_waits(journal) => waits,
                () = self.shutdown.cancelled() => Ended::Shutdown,
            };
            // Before the run is dropped.
            if !matches!(ended, Ended::Finished(_)) {
                recorder.close();
            }
            ended
        };
        let usage = handle.usage();
        if let Some(chat) = &chat {
            chat.count(handle.usage_tree());
        }
        drop(handle);
        // All events are stored before the run counts as finished.
        recorder.flush().await;
        if journal.renew(self.options.lease).await.is_err() {
            // Another process has taken the run over, since this one was silent for too long.
            return Ok(());
        }
        match ended {
            Ended::Finished(result) => {
                let is_cancelled = entered.cancellation.is_cancelled();
                self.finish(&run, result, usage, chat, is_cancelled).await
            }
            Ended::Waits { until, recorded } => self.park(id, journal, until, recorded).await,
            Ended::Shutdown => self.store.requeue(id).await,
        }
    }

    /// Records how a run ended.
    async fn finish(
        &self,
        run: &RunRow,
        result: Result<Value, CallError>,
        usage: RunUsage,
        chat: Option<Chat>,
        is_cancelled: bool,
    ) -> Result<(), StoreError> {
        let outcome = match result {
            Ok(result) => Outcome::Result(result),
            // Cancelled by a client. If the process ends, the run continues later.
            Err(_) if is_cancelled => Outcome::Cancelled,
            Err(error) => Outcome::Error(chain(&error)),
        };
        self.count(run, &outcome, &usage);
        let chat = run.chat.clone().zip(chat).map(|(id, chat)| (id, json!(chat.state())));
        self.store.finish(&run.id, outcome, usage, chat, self.now()).await
    }

    /// Sets a run aside that had `recorded` effects when it was found to wait.
    async fn park(
        &self,
        id: &str,
        journal: &SqliteRun,
        until: Option<Timestamp>,
        recorded: usize,
    ) -> Result<(), StoreError> {
        self.metrics.parked.inc();
        // An answer may have come in the moment in which the run was set aside: recorded, or not.
        let has_progressed = journal.recorded() != recorded;
        let mut known = self.store.asked_keys(id).await?;
        known.retain(|key| journal.is_recorded(key));
        self.store.park(id, until, has_progressed, known).await
    }

    fn start(&self, run: &RunRow, chat: Option<&mut Chat>) -> Start<Value> {
        let arguments = run.arguments.clone();
        let start = match chat {
            Some(chat) => chat.begin(&run.entry, arguments),
            None => self.runtime.start_named(&run.entry, arguments),
        };
        let start = start.with_id(run.id.as_str());
        // What was left of the day's money when the run was created.
        match run.cost_limit {
            Some(limit) => start.limits(Limits::new().cost(limit)),
            None => start,
        }
    }

    /// Returns once the run has only waited for a while.
    async fn only_waits(&self, journal: &SqliteRun) -> Ended {
        loop {
            let recorded = journal.recorded();
            let until = journal.only_waits(self.options.park_after).await;
            // What is recorded later is found once the run is set aside.
            if journal.recorded() == recorded {
                return Ended::Waits { until, recorded };
            }
        }
    }

    fn count(&self, run: &RunRow, outcome: &Outcome, usage: &RunUsage) {
        let state = outcome.state();
        self.metrics.finished.get_or_create(&state.into()).inc();
        self.metrics.run_seconds.observe(self.now().duration_since(run.created).as_secs_f64().max(0.0));
        self.metrics.used(usage);
    }
}
