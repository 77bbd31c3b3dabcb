//! One run, from its claim until it ends or is suspended.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::base::error::{CallError, chain};
use llm_do_core::base::usage::{Limits, RunUsage};
use llm_do_core::observe::journal::{Fence, Journal, SqliteRun};
use llm_do_core::session::runtime::{Chat, Start};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::active::RunSlot;
use super::{Shared, partials};
use crate::ask::Absent;
use crate::recorder::Recorder;
use crate::store::{Outcome, RunRow, RunState, StoreError};

/// How long a run waits after the file could not be read or written.
const BACK_OFF: Duration = Duration::from_secs(1);

/// Why this process no longer drives a run.
enum DriveOutcome {
    Finished(Result<Value, CallError>),
    /// The run waits for people, or for a time.
    Waits {
        until: Option<Timestamp>,
        /// The number of the last record.
        recorded: i64,
    },
    /// The process is about to end.
    Shutdown,
    /// The file could not be read or written; the run continues once the file works.
    FileFailed(CallError),
}

impl Shared {
    /// Drives a run until it has ended or only waits.
    pub(super) async fn drive(self: Arc<Self>, id: String, fence: Fence, slot: RunSlot) {
        let driven = match self.try_drive(&id, fence, &slot).await {
            // The stored data of the run is invalid, so every attempt would fail.
            Err(error) if error.is_invalid_value() => {
                self.metrics.finished.get_or_create(&RunState::Failed.into()).inc();
                self.store.fail(&id, fence, chain(&error), self.now()).await
            }
            // The file cannot be read or written; the run is unchanged, and a later claim continues it.
            driven => driven,
        };
        self.health.note(&driven);
        let released = self.store.release(&id, fence).await;
        self.health.note(&released);
        if driven.is_err() {
            self.back_off().await;
        }
        drop(slot);
        // A run may start in the free place, or an answer may have arrived while the run was suspended.
        self.store.notify_queue();
    }

    /// Waits after a failure of the file, so that the run is not claimed again immediately.
    async fn back_off(&self) {
        tokio::select! {
            biased;
            () = tokio::time::sleep(BACK_OFF) => {}
            () = self.shutdown.cancelled() => {}
        }
    }

    async fn try_drive(&self, id: &str, fence: Fence, slot: &RunSlot) -> Result<(), StoreError> {
        // With `None`, the run was deleted.
        let opened = self.journal.open_run(id, fence, Some(self.options.lease)).await?;
        let Some(journal) = &opened else { return Ok(()) };
        let Some(run) = self.store.begin(id, fence, self.now()).await? else { return Ok(()) };
        #[cfg(feature = "restate")]
        if let Some(engine) = &self.engine {
            return Box::pin(self.follow(engine, run, journal, slot)).await;
        }
        if run.is_cancelled {
            if self.store.finish(id, fence, Outcome::Cancelled, run.usage, None, self.now()).await? {
                self.count(&run, RunState::Cancelled, &run.usage);
            }
            return Ok(());
        }
        if !self.options.offers(&run) {
            return self.fail_unoffered(&run, fence).await;
        }
        if let Some(deaths) = self.options.max_deaths.filter(|deaths| run.deaths >= *deaths) {
            return self.fail_after_deaths(&run, journal, deaths).await;
        }
        let (is_resumed, dropped) = (run.attempts > 1, self.metrics.dropped_events.clone());
        let recorder = Recorder::start(self.store.clone(), run.id.clone(), fence, is_resumed, dropped);
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
            .cancellation(slot.cancellation.clone());
        let handle = start.handle();
        recorder.follow(Some(handle.clone()));
        slot.set_handle(handle.clone());
        // What guards have not seen is not shown.
        let (start, pieces) = if self.runtime.has_guards() { (start, Arc::default()) } else { start.in_pieces() };
        let (watched, arrived) = watch::channel(None);
        slot.set_arrived(arrived);
        // From now on, new messages reach it too.
        self.bring_earlier_messages(id, slot).await?;
        let ended = {
            let mut running = start.into_future();
            let ended = tokio::select! {
                biased;
                result = &mut running => match result {
                    Err(error) if journal.has_file_failed() && !slot.cancellation.is_cancelled() => DriveOutcome::FileFailed(error),
                    result => DriveOutcome::Finished(result),
                },
                waits = self.only_waits(journal) => waits,
                () = self.shutdown.cancelled() => DriveOutcome::Shutdown,
                never = partials::show(pieces, watched) => match never {},
            };
            // Before the run is dropped.
            if !matches!(ended, DriveOutcome::Finished(_)) {
                recorder.close();
            }
            ended
        };
        let usage = handle.usage();
        if let Some(chat) = &chat {
            chat.count(handle.usage_tree());
        }
        drop(handle);
        recorder.follow(None);
        // All events are stored before the run counts as finished.
        recorder.stored().await;
        if journal.renew(self.options.lease).await.is_err() {
            // Another process has taken the run over, since this one was silent for too long; or the file cannot be written. A
            // later claim continues the run.
            return Ok(());
        }
        self.store.worked(&self.owner, vec![(id.to_owned(), slot.take_time())]).await?;
        self.leave(&run, journal, slot, ended, usage, chat).await
    }

    /// Ends a run of an item that no client, schedule or webhook may start; another program may have added it to the
    /// file.
    async fn fail_unoffered(&self, run: &RunRow, fence: Fence) -> Result<(), StoreError> {
        let error = format!(
            "`{}` is not offered by this service, so the run did not start; offer it in each process of the file, and resume the run",
            run.entry
        );
        if self.store.finish(&run.id, fence, Outcome::Error(error), run.usage, None, self.now()).await? {
            self.count(run, RunState::Failed, &run.usage);
        }
        Ok(())
    }

    /// Ends a run in which processes died repeatedly, since it would end this one too.
    async fn fail_after_deaths(&self, run: &RunRow, journal: &SqliteRun, deaths: u32) -> Result<(), StoreError> {
        let call = match journal.call_in_flight() {
            Some(call) => format!("the call in flight was `{call}`"),
            None => "which call was in flight is not known".to_owned(),
        };
        let error = format!(
            "the process died {deaths} times in this run without recording a finished effect in between; {call}; resume the run \
             once the cause is mended"
        );
        if self.store.finish(&run.id, journal.fence(), Outcome::Error(error), run.usage, None, self.now()).await? {
            self.count(run, RunState::Failed, &run.usage);
        }
        Ok(())
    }

    /// Stores the outcome of a run that this process no longer drives.
    async fn leave(
        &self,
        run: &RunRow,
        journal: &SqliteRun,
        slot: &RunSlot,
        ended: DriveOutcome,
        usage: RunUsage,
        chat: Option<Chat>,
    ) -> Result<(), StoreError> {
        let fence = journal.fence();
        match ended {
            DriveOutcome::Finished(result) => {
                let is_cancelled = slot.cancellation.is_cancelled();
                self.finish(run, fence, result, usage, chat, is_cancelled).await
            }
            DriveOutcome::Waits { until, recorded } => self.park(&run.id, journal, until, recorded, usage).await,
            DriveOutcome::Shutdown => self.store.requeue(&run.id, fence, Some(usage)).await,
            DriveOutcome::FileFailed(error) => {
                self.health.note(&Err::<(), _>(error));
                self.store.requeue(&run.id, fence, Some(usage)).await?;
                self.back_off().await;
                Ok(())
            }
        }
    }

    /// Records how a run ended.
    async fn finish(
        &self,
        run: &RunRow,
        fence: Fence,
        result: Result<Value, CallError>,
        usage: RunUsage,
        chat: Option<Chat>,
        is_cancelled: bool,
    ) -> Result<(), StoreError> {
        let outcome = match result {
            Ok(result) => Outcome::Result(result),
            // A client cancelled the run. If the process ends instead, the run continues later.
            Err(_) if is_cancelled => Outcome::Cancelled,
            Err(error) => Outcome::Error(chain(&error)),
        };
        let state = outcome.state();
        // A failed message may be resumed; it then continues from its beginning, and is added once.
        let chat = chat.filter(|_| matches!(outcome, Outcome::Result(_)));
        let chat = run.chat.clone().zip(chat).map(|(id, chat)| (id, json!(chat.state())));
        if self.store.finish(&run.id, fence, outcome, usage, chat, self.now()).await? {
            self.count(run, state, &usage);
        }
        Ok(())
    }

    /// Suspends a run, unless it was changed after its record with this number, at which it only waited.
    async fn park(
        &self,
        id: &str,
        journal: &SqliteRun,
        until: Option<Timestamp>,
        recorded: i64,
        usage: RunUsage,
    ) -> Result<(), StoreError> {
        self.metrics.parked.inc();
        let mut known = self.store.asked_keys(id).await?;
        known.retain(|key| journal.is_recorded(key));
        self.store.park(id, journal.fence(), until, recorded, known, usage).await
    }

    fn start(&self, run: &RunRow, chat: Option<&mut Chat>) -> Start<Value> {
        let arguments = run.arguments.clone();
        let start = match chat {
            Some(chat) => chat.begin(&run.entry, arguments),
            None => self.runtime.start_named(&run.entry, arguments),
        };
        let start = start.with_id(run.id.as_str()).time_spent(run.worked).tenant(run.tenant.as_str());
        let start = match run.source.label() {
            Some(label) => start.source(label),
            None => start,
        };
        // The amount of the day that was left when the run was created.
        match run.cost_limit {
            Some(limit) => start.limits(Limits::new().cost(limit)),
            None => start,
        }
    }

    /// Returns once the run has only waited for some time.
    async fn only_waits(&self, journal: &SqliteRun) -> DriveOutcome {
        loop {
            let recorded = journal.last_record();
            let until = journal.only_waits(self.options.park_after).await;
            // Later records are found once the run is suspended.
            if journal.last_record() == recorded {
                return DriveOutcome::Waits { until, recorded };
            }
        }
    }

    pub(super) fn count(&self, run: &RunRow, state: RunState, usage: &RunUsage) {
        self.metrics.finished.get_or_create(&state.into()).inc();
        self.metrics.run_seconds.observe(self.now().duration_since(run.created).as_secs_f64().max(0.0));
        self.metrics.used(usage, &run.counted);
    }
}
