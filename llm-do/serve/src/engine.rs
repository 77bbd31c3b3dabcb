//! Drives the runs of a service: claims them, runs them, suspends those that only wait, and records how they end.

pub(super) mod active;
mod drive;
mod ended;
#[cfg(feature = "restate")]
mod follow;
mod messages;
mod partials;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::base::clock::Clock;
use llm_do_core::base::error::BoxError;
use llm_do_core::observe::journal::{JournalError, Record, Settlement, SqliteJournal};
use llm_do_core::plane::dispatch::fresh_id;
use llm_do_core::session::runtime::Runtime;
use llm_do_listen::ConnectionLimits;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
#[cfg(feature = "restate")]
use tokio_util::task::AbortOnDropHandle;
use tokio_util::task::TaskTracker;

use self::active::ActiveRuns;
pub(super) use self::ended::EndedRuns;
pub(super) use self::partials::Arrived;
use super::access::Client;
use super::health::Health;
use super::http::Streams;
use super::metrics::Metrics;
use super::presence::ProcessWatch;
use super::schedule::Schedule;
use super::store::{NewRun, RunRow, Source, Store, StoreError};
use super::webhook::Webhook;

/// The state that all parts of a service share.
pub(super) struct Shared {
    pub(super) runtime: Runtime,
    pub(super) store: Store,
    pub(super) journal: SqliteJournal,
    pub(super) options: Options,
    pub(super) metrics: Metrics,
    pub(super) active: ActiveRuns,
    /// The name of this process in claims.
    pub(super) owner: String,
    /// Cancelled when the process is about to end; runs return to the queue.
    pub(super) shutdown: CancellationToken,
    pub(super) health: Health,
    pub(super) streams: Streams,
    pub(super) ended: EndedRuns,
    /// The engine of the runs, if they are not run here.
    #[cfg(feature = "restate")]
    pub(super) engine: Option<super::restate::EngineWatch>,
}

/// The settings of a service.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) clients: Vec<Client>,
    pub(super) schedules: Vec<Schedule>,
    pub(super) webhooks: Vec<Webhook>,
    /// The names of the items that clients may start.
    pub(super) entries: Vec<String>,
    pub(super) hosts: Vec<String>,
    pub(super) max_active_runs: usize,
    /// `None`: any number.
    pub(super) max_deaths: Option<u32>,
    pub(super) park_after: Duration,
    pub(super) keep_finished: Duration,
    pub(super) max_body_bytes: usize,
    pub(super) requests_per_second: u32,
    pub(super) connections: ConnectionLimits,
    pub(super) clock: Arc<dyn Clock>,
    /// How often the file is checked for writes of other processes, and for times that have come.
    pub(super) tick: Duration,
    pub(super) lease: Duration,
    pub(super) is_open: bool,
    #[cfg(feature = "restate")]
    pub(super) engine: Option<super::restate::RestateEngine>,
}

impl Options {
    /// Returns whether the source of a run may start its entry.
    fn offers(&self, run: &RunRow) -> bool {
        match &run.source {
            Source::Client => self.entries.contains(&run.entry),
            Source::Schedule { name } => {
                self.schedules.iter().any(|schedule| *schedule.name == **name && *schedule.entry == *run.entry)
            }
            Source::Webhook { name, .. } => {
                self.webhooks.iter().any(|webhook| *webhook.name == **name && *webhook.entry == *run.entry)
            }
        }
    }
}

/// The state of the expiry of old runs and chats.
#[derive(Debug, Default)]
struct Expiry {
    /// When all old ones were deleted.
    last: Option<Timestamp>,
    /// Whether some were deleted since then.
    has_deleted: bool,
}

/// The number of runs or chats that are deleted in one transaction, so that other writes wait for a short time only.
const EXPIRED_TOGETHER: u32 = 50;
/// The number of runs that are considered in one round.
const CLAIMED_TOGETHER: usize = 64;

/// The time for which a run is claimed while one of its calls is settled.
const SETTLING: Duration = Duration::from_secs(30);

/// Settles the outcome of a call of a run that no process drives.
pub(super) async fn settle(
    journal: &SqliteJournal,
    run: &str,
    step: &str,
    settlement: &Settlement,
) -> Result<(), JournalError> {
    let owner = format!("settle {}", fresh_id());
    let claimed = journal.claim(run, &owner, SETTLING).await?;
    let settled = claimed.settle(step, settlement).await;
    claimed.release().await?;
    settled
}

impl Shared {
    /// Returns whether the runs live in Restate.
    #[cfg(feature = "restate")]
    pub(super) fn is_elsewhere(&self) -> bool {
        self.engine.is_some()
    }

    /// Returns false: without its feature, no run is in Restate.
    #[cfg(not(feature = "restate"))]
    #[expect(clippy::unused_self, reason = "the same as with the feature")]
    pub(super) fn is_elsewhere(&self) -> bool {
        false
    }

    /// Returns the records of a run that lives in Restate.
    #[cfg(feature = "restate")]
    pub(super) async fn records_elsewhere(&self, run: &str) -> Result<Vec<Record>, BoxError> {
        match &self.engine {
            Some(engine) => Ok(engine.client.records_of_run(run).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns no records: not without the feature of Restate.
    #[cfg(not(feature = "restate"))]
    #[expect(clippy::unused_self, clippy::unused_async, reason = "the same as with the feature")]
    pub(super) async fn records_elsewhere(&self, _: &str) -> Result<Vec<Record>, BoxError> {
        Ok(Vec::new())
    }

    /// Settles the outcome of a call of a run that has ended, by the key of its step.
    pub(super) async fn settle(&self, run: &str, step: &str, settlement: &Settlement) -> Result<(), JournalError> {
        settle(&self.journal, run, step, settlement).await
    }

    pub(super) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Runs the service until it is shut down, and then returns its runs to the queue.
    pub(super) async fn run(self: Arc<Self>, mut processes: ProcessWatch) {
        let (runs, mut version, mut changes) = (TaskTracker::new(), 0, self.store.queue_changes());
        let mut tick = tokio::time::interval(self.options.tick);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (mut expiry, mut last_look) = (Expiry::default(), Instant::now());
        let mut last_message = None;
        let renewal = tokio::spawn(Arc::clone(&self).renew());
        #[cfg(feature = "restate")]
        let watching =
            self.engine.clone().map(|engine| AbortOnDropHandle::new(tokio::spawn(async move { engine.run().await })));
        while !self.shutdown.is_cancelled() {
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                _ = tick.tick() => {
                    // After an error, here and below, the next tick retries, and `ready` reports a file that fails.
                    self.health.note(&self.store.notify_of_other_processes(&mut version).await);
                    self.health.note(&self.start_scheduled().await);
                    self.health.note(&self.expire(&mut expiry).await);
                }
                _ = changes.changed() => {}
            }
            changes.mark_unchanged();
            self.health.note(&self.cancel_requested().await);
            self.health.note(&self.bring_messages(&mut last_message).await);
            self.health.note(&self.start_queued(&runs).await);
            let have_ended = self.end_lost_claims(&mut processes).await;
            self.health.note(&have_ended);
            if have_ended.unwrap_or_default() || last_look.elapsed() >= self.options.lease / 3 {
                last_look = Instant::now();
                self.health.note(&self.take_over(&runs).await);
            }
        }
        runs.close();
        runs.wait().await;
        renewal.abort();
        #[cfg(feature = "restate")]
        drop(watching);
    }

    /// Renews the claims of this process, concurrently with its other work, since another process would take its runs
    /// over.
    async fn renew(self: Arc<Self>) {
        let period = (self.options.lease / 3).max(Duration::from_millis(1));
        let mut interval = tokio::time::interval(period);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            self.health.note(&self.journal.renew(&self.owner, self.options.lease).await);
            // If this process dies, the time up to now counts for the limits of its runs.
            self.health.note(&self.store.worked(&self.owner, self.active.take_times()).await);
            // Written even without runs, since only a write detects a full disk.
            let beat = self.store.beat(self.now()).await;
            self.health.note(&beat);
            if beat.is_ok() {
                self.health.note_written();
            }
        }
    }

    /// Returns the number of further runs that this process may drive.
    fn free(&self) -> usize {
        self.options.max_active_runs.saturating_sub(self.active.count())
    }

    /// Starts or resumes runs that wait for a process.
    async fn start_queued(self: &Arc<Self>, runs: &TaskTracker) -> Result<(), StoreError> {
        if self.free() == 0 {
            return Ok(());
        }
        self.claim(runs, self.store.runnable(&self.owner, self.now(), CLAIMED_TOGETHER).await?).await
    }

    /// Ends the claims of other processes that have ended; returns whether there are some.
    async fn end_lost_claims(&self, processes: &mut ProcessWatch) -> Result<bool, StoreError> {
        let mut have_ended = false;
        for owner in processes.ended().await {
            self.store.end_claims(&owner, self.now()).await?;
            processes.forget(owner).await;
            have_ended = true;
        }
        Ok(have_ended)
    }

    /// Continues runs whose process may have died.
    async fn take_over(self: &Arc<Self>, runs: &TaskTracker) -> Result<(), StoreError> {
        self.claim(runs, self.store.claimed(&self.owner).await?).await?;
        let free = self.free();
        if free == 0 {
            return Ok(());
        }
        for (id, fence) in self.store.take_over(&self.owner, self.now(), self.options.lease, free).await? {
            if let Some(slot) = self.active.enter(&id) {
                runs.spawn(Arc::clone(self).drive(id, fence, slot));
            }
        }
        Ok(())
    }

    /// Starts or resumes the given runs that no process drives, up to the maximum.
    async fn claim(self: &Arc<Self>, runs: &TaskTracker, ids: Vec<String>) -> Result<(), StoreError> {
        let slots = ids.into_iter().filter_map(|id| Some((id.clone(), self.active.enter(&id)?)));
        let mut slots: BTreeMap<_, _> = slots.take(self.free()).collect();
        if slots.is_empty() {
            return Ok(());
        }
        let ids = slots.keys().cloned().collect();
        // Runs that the result does not contain were claimed by another process first.
        for (id, fence) in self.journal.claim_all(ids, &self.owner, self.options.lease).await? {
            if let Some(slot) = slots.remove(&id) {
                runs.spawn(Arc::clone(self).drive(id, fence, slot));
            }
        }
        Ok(())
    }

    /// Cancels the runs of this process for which a client, perhaps through another process, requested it.
    async fn cancel_requested(&self) -> Result<(), StoreError> {
        for id in self.store.cancel_requested().await? {
            self.active.cancel(&id);
        }
        Ok(())
    }

    /// Starts the runs of schedules whose time has come.
    async fn start_scheduled(&self) -> Result<(), StoreError> {
        for schedule in &self.options.schedules {
            let now = self.now();
            let last = self.store.last_start(&schedule.name, schedule.rule(), now).await?;
            let Some(due) = schedule.due(last, now) else { continue };
            let source = Source::Schedule { name: schedule.name.to_string() };
            // If two processes find the same time, one run is started.
            let key = format!("schedule:{}:{due}", schedule.name);
            let owner = (&schedule.tenant, &schedule.name);
            let new = NewRun::automatic(source, owner, &schedule.entry, schedule.arguments.clone(), key, now);
            self.store.insert_run(new).await?;
            self.store.started(&schedule.name, schedule.rule(), due).await?;
        }
        Ok(())
    }

    /// Deletes some runs and chats that finished long ago: once a minute, and repeatedly until all are deleted.
    async fn expire(&self, expiry: &mut Expiry) -> Result<(), StoreError> {
        let now = self.now();
        if expiry.last.is_some_and(|last| now.duration_since(last) < jiff::SignedDuration::from_mins(1)) {
            return Ok(());
        }
        let Ok(before) = now.checked_sub(self.options.keep_finished) else { return Ok(()) };
        let chats = self.store.expire_chats(before, EXPIRED_TOGETHER).await?;
        let runs = self.store.expire(before, EXPIRED_TOGETHER).await?;
        if chats + runs > 0 {
            expiry.has_deleted = true;
            return Ok(());
        }
        expiry.last = Some(now);
        if std::mem::take(&mut expiry.has_deleted) {
            // Not awaited, since it may take long, and runs are started meanwhile.
            let store = self.store.clone();
            tokio::spawn(async move { store.shrink().await });
        }
        Ok(())
    }
}
