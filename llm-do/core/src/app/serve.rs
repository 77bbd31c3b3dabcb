//! Many runs as a service: started, watched and decided over HTTP, in one file.

mod access;
mod ask;
mod check;
mod engine;
mod file;
mod health;
mod http;
mod listen;
mod metrics;
mod openapi;
mod presence;
mod recorder;
#[cfg(feature = "restate")]
mod restate;
mod run_file;
mod schedule;
#[cfg(test)]
mod simulation;
mod store;
mod webhook;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use self::access::{Client, Role};
use self::check::check_known;
use self::engine::active::ActiveRuns;
use self::engine::{Options, Shared};
use self::health::Health;
pub use self::http::{MAX_LIST, RunListQuery};
use self::metrics::Metrics;
use self::presence::{Presence, ProcessWatch};
#[cfg(feature = "restate")]
pub use self::restate::{RestateEngine, RestateRun, RestateRuns, RestateWorker};
pub use self::run_file::RunFile;
pub use self::schedule::Schedule;
pub use self::store::RunState;
use self::store::Store;
pub use self::webhook::Webhook;
use crate::app::listen::ConnectionLimits;
use crate::base::clock::{Clock, SystemClock};
use crate::base::error::BoxError;
use crate::observe::database::Database;
use crate::observe::event::ItemKind;
use crate::observe::journal::SqliteJournal;
use crate::session::runtime::Runtime;

#[doc = include_str!("../../docs/serving.md")]
#[derive(Clone, Debug)]
#[must_use = "it serves nothing until it is opened"]
pub struct Service {
    runtime: Runtime,
    options: Options,
}

/// A [`Service`] that has its file open and drives its runs.
///
/// Dropping it does not stop it: see [`close`](Self::close).
#[derive(Debug)]
pub struct OpenService {
    shared: Arc<Shared>,
    engine: JoinHandle<()>,
}

/// Why a service could not be set up or opened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ServiceError {
    message: String,
    #[source]
    source: Option<BoxError>,
}

impl ServiceError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }
}

impl Service {
    /// Creates a service whose clients may start the entries of a runtime.
    pub fn new(runtime: Runtime) -> Self {
        let entries = runtime.registry().iter().filter(|item| item.kind() == ItemKind::Entry);
        let options = Options {
            entries: entries.map(|item| item.name().to_owned()).collect(),
            clients: Vec::new(),
            schedules: Vec::new(),
            webhooks: Vec::new(),
            hosts: Vec::new(),
            max_active_runs: 64,
            max_deaths: Some(3),
            park_after: Duration::from_secs(10),
            keep_finished: Duration::from_secs(30 * 24 * 60 * 60),
            max_body_bytes: 1 << 20,
            requests_per_second: 50,
            connections: ConnectionLimits::default(),
            clock: Arc::new(SystemClock),
            tick: Duration::from_millis(250),
            lease: Duration::from_secs(15),
            is_open: false,
            #[cfg(feature = "restate")]
            engine: None,
        };
        Self { runtime, options }
    }

    /// Offers these items instead of all entries: entries, tools or workers.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown name.
    pub fn entries(mut self, names: impl IntoIterator<Item: Into<String>>) -> Result<Self, ServiceError> {
        self.options.entries = names.into_iter().map(Into::into).collect();
        self.options.entries.iter().try_for_each(|name| check_known(&self.runtime, name))?;
        Ok(self)
    }

    /// Adds a client. Default: none, and each program on this machine may do everything.
    pub fn client(mut self, client: Client) -> Self {
        self.options.clients.push(client);
        self
    }

    /// Adds a schedule. Default: none.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.options.schedules.push(schedule);
        self
    }

    /// Adds a webhook. Default: none.
    pub fn webhook(mut self, webhook: Webhook) -> Self {
        self.options.webhooks.push(webhook);
        self
    }

    /// Accepts requests to this host, `name` or `name:port`. Default: `localhost`, `127.0.0.1` and `[::1]`, which are always
    /// accepted.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.options.hosts.push(host.into());
        self
    }

    /// Sets the maximum number of runs that this process drives concurrently. Default: 64.
    ///
    /// Runs that wait for a person or a time do not count once they are set aside.
    pub fn max_active_runs(mut self, runs: usize) -> Self {
        self.options.max_active_runs = runs.max(1);
        self
    }

    /// Sets after how many deaths of a process in it a run fails; 0 for none. Default: 3.
    ///
    /// Counted are processes that ended, or were silent for [a time](Self::take_over_after), while they had the run, since the run last
    /// recorded a finished effect: a run that makes progress between deaths goes on. It fails with the call that was in flight, if
    /// that is known, and can be resumed. Runs in Restate are not counted.
    pub fn max_deaths(mut self, deaths: u32) -> Self {
        self.options.max_deaths = Some(deaths).filter(|deaths| *deaths > 0);
        self
    }

    /// Sets after which time a run is set aside that only waits for people or for a time. Default: 10 seconds.
    ///
    /// It then takes no memory. It is replayed from its records once it can continue.
    pub fn park_after(mut self, time: Duration) -> Self {
        self.options.park_after = time;
        self
    }

    /// Sets how long finished runs are kept, with their events and records, and chats after their last message. Default:
    /// 30 days.
    pub fn keep_finished(mut self, time: Duration) -> Self {
        self.options.keep_finished = time;
        self
    }

    /// Sets the maximum size of a request, in bytes. Default: 1 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.options.max_body_bytes = bytes;
        self
    }

    /// Sets how many requests a client may make per second, and twice as many in a burst. Default: 50.
    ///
    /// Requests without a valid token share one such limit.
    pub fn requests_per_second(mut self, requests: u32) -> Self {
        self.options.requests_per_second = requests.max(1);
        self
    }

    /// Sets how many connections may be open at the same time. Default: 1024.
    ///
    /// An eighth of them is kept for clients that made a permitted request in the last ten minutes. When the maximum is reached, a
    /// new connection closes the oldest one that has not sent a complete request.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.connections.total = connections.max(1);
        self
    }

    /// Sets how many connections of one address may be open at the same time: of an address of IPv4, or a network `/64` of IPv6.
    /// Default: 256.
    ///
    /// The addresses of this machine have no such maximum. Behind a proxy on another machine, all clients have its address: raise
    /// this to [`max_connections`](Self::max_connections), and have the proxy limit its clients.
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.options.connections.per_address = connections.max(1);
        self
    }

    /// Sets the clock of schedules, approvals, quotas and the expiry of runs. Default: the system's.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options.clock = Arc::new(clock);
        self
    }

    /// Sets how often the service looks for what other processes wrote to its database, and for times that have come.
    /// Default: 250 milliseconds.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.options.tick = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how long a process may be silent before another one takes over its runs. Default: 15 seconds.
    ///
    /// The runs of a process that has ended are taken over within a second, also by its successor: each process locks a file in a
    /// folder beside the database. Where files cannot be locked, this time counts.
    ///
    /// A process that is only slow can no longer write to a run that was taken over.
    pub fn take_over_after(mut self, time: Duration) -> Self {
        self.options.lease = time;
        self
    }

    /// Lets all runs live in Restate, where [`RestateWorker`]s of the same application run them. Default: this process runs them.
    ///
    /// The page, the paths, clients, schedules and webhooks are the same. The database contains what they show, and what runs were
    /// started here; a run goes on without it. A run is replayed here to show its events, so the code between its steps must be
    /// without effects, and their times are those at which they were seen. A replay is set aside after
    /// [`park_after`](Self::park_after) without a step. A waiting run is shown as running. Chats and
    /// resuming a run that failed are refused, and no run has a limit of its cost.
    #[cfg(feature = "restate")]
    pub fn on_restate(mut self, engine: RestateEngine) -> Self {
        self.options.engine = Some(engine);
        // They run elsewhere.
        self.options.max_active_runs = usize::MAX;
        self
    }

    /// Allows [`OpenService::serve`] to listen beyond this machine without clients. Default: false.
    pub fn allow_unauthenticated(mut self) -> Self {
        self.options.is_open = true;
        self
    }

    /// Opens the database of the service, or creates it, and continues its runs.
    ///
    /// Several processes may open one database: a run is driven by one process, and taken over by another if that process
    /// dies.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be opened, or if clients, schedules or webhooks are unusable, with all faults: they have
    /// the name or the secret of another, start an unknown item, or have arguments that the item cannot have.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<OpenService, ServiceError> {
        self.check()?;
        let (path, clock) = (path.as_ref().to_owned(), Arc::clone(&self.options.clock));
        let owner = format!("{}-{}", std::process::id(), Uuid::new_v4());
        let name = owner.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let database = Database::open(&path)?;
            let journal = SqliteJournal::on(database.clone())?.with_clock(clock);
            // Where it fails, claims alone decide.
            let presence = Presence::announce(&path, &name).ok();
            Ok::<_, BoxError>((journal, Store::new(database)?, presence))
        });
        let opened = opened.await.map_err(Into::into).flatten();
        let (journal, store, presence) = opened.map_err(|source| ServiceError {
            message: "cannot open the database of the service".to_owned(),
            source: Some(source),
        })?;
        Ok(self.start(store, journal, owner, presence))
    }

    /// Drives the runs of a database as the process `owner`.
    fn start(self, store: Store, journal: SqliteJournal, owner: String, presence: Option<Presence>) -> OpenService {
        #[cfg(feature = "restate")]
        let engine = self.options.engine.clone().map(restate::EngineClient::new).map(restate::EngineWatch::new);
        let shared = Arc::new(Shared {
            runtime: self.runtime,
            store,
            journal,
            options: self.options,
            metrics: Metrics::new(),
            active: ActiveRuns::default(),
            owner,
            shutdown: CancellationToken::new(),
            health: Health::default(),
            streams: http::Streams::default(),
            #[cfg(feature = "restate")]
            engine,
        });
        let engine = tokio::spawn(Arc::clone(&shared).run(ProcessWatch::new(presence)));
        OpenService { shared, engine }
    }
}

impl OpenService {
    /// Returns the routes of the service, for a router of your own.
    ///
    /// Its paths are absolute: mount it at the root of a host.
    pub fn router(&self) -> Router {
        http::router(&self.shared)
    }

    /// Serves clients over HTTP until `shutdown` is cancelled, and then closes the service.
    ///
    /// # Errors
    ///
    /// Returns an error if the listener is reachable from other machines, and the service has no clients or no host.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) -> Result<(), ServiceError> {
        self.serve_and_report(listener, shutdown, || {}).await
    }

    /// Does the same, and calls `ready` once connections are accepted.
    #[doc(hidden)]
    pub async fn serve_and_report(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
        ready: impl FnOnce() + Send,
    ) -> Result<(), ServiceError> {
        let served = listen::serve(listener, &self.shared, self.router(), shutdown, ready).await;
        self.close().await;
        served
    }

    /// Stops driving runs, and puts those that have not finished back into the queue: the next process continues them.
    ///
    /// A tool that is running is interrupted at its next wait; its effect is repeated if it was not recorded, after a question if the
    /// tool is neither read-only nor idempotent.
    pub async fn close(self) {
        self.shared.shutdown.cancel();
        // Ignored: a panic of the engine was reported by its thread.
        let _ = self.engine.await;
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("journal", &self.journal).finish_non_exhaustive()
    }
}
