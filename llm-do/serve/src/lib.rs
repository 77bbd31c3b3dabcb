//! Many runs as a service: started, watched and decided over HTTP, and stored in one file.

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
use llm_do_core::base::clock::{Clock, SystemClock};
use llm_do_core::base::error::BoxError;
use llm_do_core::observe::database::Database;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::observe::journal::SqliteJournal;
use llm_do_core::session::runtime::Runtime;
use llm_do_listen::ConnectionLimits;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use self::access::{Client, Role};
use self::check::check_known;
use self::engine::active::ActiveRuns;
use self::engine::{EndedRuns, Options, Shared};
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

#[doc = include_str!("../docs/serving.md")]
#[derive(Clone, Debug)]
#[must_use = "it serves nothing until it is opened"]
pub struct Service {
    runtime: Runtime,
    options: Options,
}

/// A [`Service`] that has its file open and drives its runs.
///
/// Dropping it does not stop the service: see [`close`](Self::close).
#[derive(Debug)]
pub struct OpenService {
    shared: Arc<Shared>,
    engine: JoinHandle<()>,
}

/// The error of setting up or opening a service.
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

    /// Adds a client. Default: none, so that every program on this machine has all roles.
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
    /// Runs that wait for a person or a time do not count once they are suspended.
    pub fn max_active_runs(mut self, runs: usize) -> Self {
        self.options.max_active_runs = runs.max(1);
        self
    }

    /// Sets the maximum number of process deaths in a run, after which the run fails; 0 means no maximum. Default: 3.
    ///
    /// A death counts if a process ended, or was silent for [a time](Self::take_over_after), while it had the run,
    /// since the last recorded finished effect: a run that makes progress between deaths continues. The run fails with
    /// the call that was in flight, if known, and can be resumed. Runs in Restate are not counted.
    pub fn max_deaths(mut self, deaths: u32) -> Self {
        self.options.max_deaths = Some(deaths).filter(|deaths| *deaths > 0);
        self
    }

    /// Sets after which time a run is suspended that only waits for people or for a time. Default: 10 seconds.
    ///
    /// A suspended run takes no memory. It is replayed from its records once it can continue.
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

    /// Sets the maximum number of requests of a client per second, with twice as many in a burst. Default: 50.
    ///
    /// Requests without a valid token share one such limit.
    pub fn requests_per_second(mut self, requests: u32) -> Self {
        self.options.requests_per_second = requests.max(1);
        self
    }

    /// Sets the maximum number of open connections. Default: 1024.
    ///
    /// An eighth of them is reserved for clients that made a permitted request in the last ten minutes. When the
    /// maximum is reached, a new connection closes the oldest one that has not sent a complete request.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.options.connections.total = connections.max(1);
        self
    }

    /// Sets the maximum number of open connections of one IPv4 address, or of one IPv6 network `/64`. Default: 256.
    ///
    /// The addresses of this machine are not limited. Behind a proxy on another machine, all clients have the proxy's
    /// address: raise this to [`max_connections`](Self::max_connections), and let the proxy limit its clients.
    pub fn max_connections_per_address(mut self, connections: usize) -> Self {
        self.options.connections.per_address = connections.max(1);
        self
    }

    /// Sets the clock of schedules, approvals, quotas and the expiry of runs. Default: the system clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options.clock = Arc::new(clock);
        self
    }

    /// Sets how often the service checks for writes of other processes to its database, and for times that have come.
    /// Default: 250 milliseconds.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.options.tick = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how long a process may be silent before another one takes over its runs. Default: 15 seconds.
    ///
    /// The runs of a process that has ended are taken over within a second, also by its successor, since each process
    /// locks a file in a folder beside the database. Where files cannot be locked, the time applies to these runs too.
    ///
    /// A process that is only slow can no longer write to a run that was taken over.
    pub fn take_over_after(mut self, time: Duration) -> Self {
        self.options.lease = time;
        self
    }

    /// Runs all runs in Restate, through [`RestateWorker`]s of the same application. Default: this process runs them.
    ///
    /// The page, the paths, clients, schedules and webhooks are unchanged. The database contains the data that they
    /// show, and which runs were started here; a run continues without it. A run is replayed here to show its events,
    /// so the code between its steps must have no effects, and the times of events are those of the replay. A replay is
    /// suspended after [`park_after`](Self::park_after) without a step. A waiting run is shown as running. Chats and
    /// resuming a failed run are refused, and no run has a limit of its cost.
    #[cfg(feature = "restate")]
    pub fn on_restate(mut self, engine: RestateEngine) -> Self {
        self.options.engine = Some(engine);
        // Restate workers run them, so this process needs no maximum.
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
    /// Returns an error with all faults if the database cannot be opened, or if clients, schedules or webhooks are
    /// unusable: they have the name or the secret of another, start an unknown item, or have arguments that the item
    /// does not accept.
    ///
    /// # Panics
    ///
    /// Panics outside of a Tokio runtime.
    pub async fn open(self, path: impl AsRef<Path>) -> Result<OpenService, ServiceError> {
        self.check()?;
        let (path, clock) = (path.as_ref().to_owned(), Arc::clone(&self.options.clock));
        let owner = format!("{}-{}", std::process::id(), Uuid::new_v4());
        let (name, runtime) = (owner.clone(), self.runtime.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let database = Database::open(&path)?;
            let journal = SqliteJournal::on(database.clone())?.with_clock(clock);
            runtime.keep_evidence_in(database.clone())?;
            // If this fails, only claims show which processes run.
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
            ended: EndedRuns::default(),
            #[cfg(feature = "restate")]
            engine,
        });
        let engine = tokio::spawn(Arc::clone(&shared).run(ProcessWatch::new(presence)));
        OpenService { shared, engine }
    }
}

impl OpenService {
    /// Returns the routes of the service, to mount in another router.
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

    /// Like [`serve`](Self::serve), and calls `ready` once connections are accepted.
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

    /// Stops driving runs, and returns unfinished runs to the queue, from which the next process continues them.
    ///
    /// A running tool is interrupted at its next wait. If its effect was not recorded, it is repeated, after a question
    /// if the tool is neither read-only nor idempotent.
    pub async fn close(self) {
        self.shared.shutdown.cancel();
        // An error is a panic of the engine, which its thread has reported.
        let _ = self.engine.await;
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("journal", &self.journal).finish_non_exhaustive()
    }
}
