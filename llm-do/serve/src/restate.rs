//! Runs on many machines: the engine Restate keeps them, and calls this application to continue them.

mod client;
mod definition;
mod entry;
mod handler;
mod inbox;
mod log;
mod names;
mod records;
mod register;
mod self_waking;
mod stored_log;
mod waits;
mod watch;

use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::session::runtime::Runtime;
use restate_sdk::hyper::HyperEndpoint;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::client::RestateEngine;
pub(super) use self::client::{EngineClient, EngineError, Invocation};
pub(super) use self::entry::End;
use self::handler::Handlers;
pub(super) use self::handler::may_leave;
pub(super) use self::inbox::OpenQuestion;
use self::names::Names;
pub use self::records::{RestateRun, RestateRuns};
pub(super) use self::stored_log::{Appended, LogReader};
pub(super) use self::watch::EngineWatch;
use super::{ServiceError, check_known};

/// The time for steps in flight to finish when the process ends; later they are interrupted, and repeated in another
/// process.
const DRAIN: Duration = Duration::from_secs(5);
/// How long a connection with a request in flight may be silent, before a ping is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

#[doc = include_str!("../docs/restate.md")]
#[derive(Clone, Debug)]
#[must_use = "it does nothing until it serves"]
pub struct RestateWorker {
    runtime: Runtime,
    names: Names,
    entries: Vec<String>,
    options: Options,
}

/// The settings of a worker.
#[derive(Clone, Debug)]
struct Options {
    park_after: Duration,
    longest_step: Duration,
    keep_finished: Duration,
    identity_keys: Vec<String>,
    registration: Option<Registration>,
}

/// The settings of the registration with the engine.
#[derive(Clone, Debug)]
struct Registration {
    admin: String,
    uri: Option<String>,
    replaces: bool,
}

impl RestateWorker {
    /// Creates a worker that runs the entries of a runtime. `name` is the name of the service in Restate, the same on
    /// all machines and unique among applications.
    ///
    /// # Errors
    ///
    /// Returns an error if the name has other characters than letters, digits, `.`, `_` and `-`.
    pub fn new(name: &str, runtime: Runtime) -> Result<Self, ServiceError> {
        let entries = runtime.registry().iter().filter(|item| item.kind() == ItemKind::Entry);
        let entries = entries.map(|item| item.name().to_owned()).collect();
        let day = Duration::from_secs(24 * 60 * 60);
        let options = Options {
            park_after: Duration::from_secs(60),
            longest_step: day.max(runtime.longest_timeout()),
            keep_finished: 7 * day,
            identity_keys: Vec::new(),
            registration: None,
        };
        Ok(Self { runtime, names: Names::new(name)?, entries, options })
    }

    /// Offers these items instead of all entries: entries, tools or workers.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown name.
    pub fn entries(mut self, names: impl IntoIterator<Item: Into<String>>) -> Result<Self, ServiceError> {
        self.entries = names.into_iter().map(Into::into).collect();
        self.entries.iter().try_for_each(|name| check_known(&self.runtime, name))?;
        Ok(self)
    }

    /// Registers with the engine whose administration listens at this address, such as `http://127.0.0.1:9070`. Default: an
    /// operator registers the address.
    pub fn register(mut self, admin: impl Into<String>) -> Self {
        let (uri, replaces) = self.options.registration.take().map(|old| (old.uri, old.replaces)).unwrap_or_default();
        self.options.registration = Some(Registration { admin: admin.into(), uri, replaces });
        self
    }

    /// Sets the address at which the engine reaches this application, such as that of a load balancer. Default: the
    /// listening address.
    pub fn public_uri(mut self, uri: impl Into<String>) -> Self {
        let registration = self.options.registration.get_or_insert_with(Registration::unknown);
        registration.uri = Some(uri.into());
        self
    }

    /// Replaces the registered code of this address, in development: runs that have begun with other code may diverge.
    pub fn replace_deployment(mut self) -> Self {
        self.options.registration.get_or_insert_with(Registration::unknown).replaces = true;
        self
    }

    /// Accepts requests only if they are signed with this key of the engine, `publickeyv1_..`. Default: all requests.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.options.identity_keys.push(key.into());
        self
    }

    /// Sets after which time a run is suspended that only waits for people or for a time. Default: 1 minute.
    ///
    /// A suspended run takes no memory. It is replayed from its log once it can continue.
    pub fn park_after(mut self, time: Duration) -> Self {
        self.options.park_after = time;
        self
    }

    /// Sets the timeout after which the engine considers a step lost, and repeats it. Default: 1 day, or the longest
    /// timeout of the runtime if that is longer.
    ///
    /// It must be longer than the longest request to a model and the longest call of a tool, since a longer step is
    /// repeated forever. A worker that dies is detected earlier, when its connection ends.
    pub fn longest_step(mut self, time: Duration) -> Self {
        self.options.longest_step = time;
        self
    }

    /// Sets how long the engine keeps finished runs: their logs and results. Default: 7 days.
    pub fn keep_finished(mut self, time: Duration) -> Self {
        self.options.keep_finished = time;
        self
    }

    /// Serves the engine until `shutdown` is cancelled. Runs that have not finished continue in another process.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine cannot be reached or refuses the application, and for an invalid identity key.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) -> Result<(), ServiceError> {
        self.serve_and_report(listener, shutdown, || {}).await
    }

    /// Like [`serve`](Self::serve), and calls `ready` once the engine can call.
    #[doc(hidden)]
    pub async fn serve_and_report(
        self,
        listener: TcpListener,
        shutdown: CancellationToken,
        ready: impl FnOnce() + Send,
    ) -> Result<(), ServiceError> {
        let handlers = Handlers::new(self.runtime, self.names.clone(), self.entries);
        let endpoint = definition::endpoint(handlers, &self.names, &self.options)?;
        let address = listener.local_addr().map_err(|error| ServiceError::new(error.to_string()))?;
        let serving = accept(listener, HyperEndpoint::new(endpoint), shutdown);
        let Some(Registration { admin, uri, replaces }) = self.options.registration else {
            ready();
            serving.await;
            return Ok(());
        };
        let uri = uri.unwrap_or_else(|| format!("http://{address}"));
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            () = &mut serving => return Ok(()),
            registered = register::register(&admin, &uri, replaces) => registered?,
        }
        ready();
        serving.await;
        Ok(())
    }
}

impl Registration {
    /// An address without an engine.
    fn unknown() -> Self {
        Self { admin: String::new(), uri: None, replaces: false }
    }
}

/// Accepts the engine's connections until `shutdown` is cancelled.
async fn accept(listener: TcpListener, endpoint: HyperEndpoint, shutdown: CancellationToken) {
    let (graceful, mut http) = (GracefulShutdown::new(), http2::Builder::new(TokioExecutor::new()));
    http.timer(TokioTimer::new()).keep_alive_interval(KEEP_ALIVE);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let Ok((stream, _)) = accepted else {
            // The process may have reached its limit of file descriptors; other connections may end.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // Each step is a small message that the engine answers, so it must not wait for the acknowledgement of the last
        // one. An error means that the connection is broken already.
        _ = stream.set_nodelay(true);
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), endpoint.clone()));
        tokio::spawn(async move {
            // An error means that the engine is gone, and repeats its requests.
            let _ = connection.await;
        });
    }
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}
