//! A connection to a server, on a separate thread: it needs no async runtime of the program, and ends with its owner.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, mpsc as sync_mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::tool_source::RootCalls;
use rmcp::model::Tool;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::call::CallJob;
use super::catalog::{Catalog, Unused};
use super::error::McpError;
use super::handler::Owner;
use super::server::McpServer;
use super::supervisor::Supervisor;

/// The maximum wait of the owner for the end of the connection and of the program.
const ENDING: Duration = Duration::from_secs(3);
/// The maximum time to cancel calls at the server when the connection ends.
const CANCELLING: Duration = Duration::from_millis(500);

/// A connection to an MCP server; see [`McpServer::connect`].
///
/// Cloning is cheap. The server ends with the last clone, which is usually in the last runtime that uses it. Dropping
/// it waits up to three seconds for the program to end, and then kills it.
#[derive(Clone, Debug)]
pub struct McpConnection(Arc<SharedConnection>);

#[derive(Debug)]
struct SharedConnection {
    server: Arc<McpServer>,
    owner: Owner,
    jobs: mpsc::UnboundedSender<CallJob>,
    listed: Arc<Listed>,
    stop: CancellationToken,
    thread: Option<ThreadId>,
    /// Disconnected once the thread has ended.
    ended: Mutex<sync_mpsc::Receiver<()>>,
}

/// The first list of tools of a server.
#[derive(Debug)]
pub(super) struct FirstList {
    pub(super) tools: Vec<Tool>,
    pub(super) unused: Unused,
}

impl McpConnection {
    /// Begins to connect, without waiting.
    pub(super) fn open(server: McpServer, root: &Path) -> Self {
        let (server, owner) = (Arc::new(server), Owner::new(root));
        let (jobs, received) = mpsc::unbounded_channel();
        let (listed, stop): (Arc<Listed>, CancellationToken) = Default::default();
        let (end, ended) = sync_mpsc::channel();
        let start = |()| {
            let worker = Worker {
                supervisor: Arc::new(Supervisor::new(Arc::clone(&server), owner.clone())),
                jobs: received,
                listed: Arc::clone(&listed),
                stop: stop.clone(),
                _end: end,
            };
            let named = thread::Builder::new().name(format!("mcp {}", server.name));
            let started = named.spawn(move || worker.run());
            started.map_err(|error| McpError::Start { server: server.name.clone(), reason: error.to_string() })
        };
        let thread = match server.check().and_then(start) {
            Ok(handle) => Some(handle.thread().id()),
            Err(error) => {
                listed.set(Err(error));
                None
            }
        };
        Self(Arc::new(SharedConnection { server, owner, jobs, listed, stop, thread, ended: Mutex::new(ended) }))
    }

    /// Waits for the list of tools.
    pub(super) async fn ready(self) -> Result<Self, McpError> {
        self.0.listed.wait().await.map(|_| self)
    }

    /// Waits for the list of tools, and blocks the thread.
    pub(super) fn list(&self) -> Result<Arc<FirstList>, McpError> {
        self.0.listed.wait_blocking()
    }

    /// Returns whether the list of tools is known.
    pub(super) fn is_ready(&self) -> bool {
        self.0.listed.get().is_some()
    }

    pub(super) fn set_root(&self, folder: &Path) {
        self.0.owner.set_root(folder);
    }

    pub(super) fn set_calls(&self, calls: Arc<dyn RootCalls>) {
        self.0.owner.set_calls(calls);
    }

    pub(super) fn server(&self) -> &Arc<McpServer> {
        &self.0.server
    }

    /// Makes a call on the thread of the connection.
    pub(super) fn send(&self, job: CallJob) {
        // If this fails, dropping the job ends its events.
        let _ = self.0.jobs.send(job);
    }

    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.server.name
    }

    /// Returns the name of the toolset: `mcp__NAME`.
    #[must_use]
    pub fn toolset(&self) -> String {
        self.0.server.toolset()
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        self.stop.cancel();
        // The thread of the connection would wait for itself.
        if self.thread.is_some_and(|thread| thread != thread::current().id()) {
            // An error means that it has ended.
            let _ = self.ended.lock().ignore_poison().recv_timeout(ENDING);
        }
    }
}

/// The state of the thread of a connection.
struct Worker {
    supervisor: Arc<Supervisor>,
    jobs: mpsc::UnboundedReceiver<CallJob>,
    listed: Arc<Listed>,
    stop: CancellationToken,
    /// Disconnects when the thread ends.
    _end: sync_mpsc::Sender<()>,
}

impl Worker {
    fn run(mut self) {
        let listed = Arc::clone(&self.listed);
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                let server = self.supervisor.name().to_owned();
                return listed.set(Err(McpError::Start { server, reason: error.to_string() }));
            }
        };
        runtime.block_on(async {
            let (stop, mut calls) = (self.stop.clone(), JoinSet::new());
            tokio::select! {
                () = self.serve(&mut calls) => {}
                () = stop.cancelled() => {}
            }
            // The callers are gone, so each call ends once it is cancelled at the server.
            let _ = timeout(CANCELLING, async { while calls.join_next().await.is_some() {} }).await;
            calls.shutdown().await;
            self.supervisor.end().await;
        });
        runtime.shutdown_background();
    }

    async fn serve(&mut self, calls: &mut JoinSet<()>) {
        let first = async {
            let live = self.supervisor.connected().await?.live;
            let list = |catalog: &Catalog| FirstList {
                tools: catalog.iter().cloned().collect(),
                unused: catalog.unused.clone(),
            };
            Ok(Arc::new(live.read_catalog(list).await))
        };
        self.listed.set(first.await);
        loop {
            tokio::select! {
                job = self.jobs.recv() => {
                    let Some(job) = job else { return };
                    let supervisor = Arc::clone(&self.supervisor);
                    calls.spawn(async move { supervisor.run(job).await });
                }
                Some(_) = calls.join_next() => {}
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without an effect, unless the thread panicked before the list was known.
        let (server, reason) = (self.supervisor.name().to_owned(), "the thread of the connection panicked".to_owned());
        self.listed.set(Err(McpError::Connect { server, reason }));
    }
}

type FirstResult = Result<Arc<FirstList>, McpError>;

/// The first list of tools, once it is known.
#[derive(Debug, Default)]
struct Listed {
    result: Mutex<Option<FirstResult>>,
    blocked: Condvar,
    waiting: Notify,
}

impl Listed {
    /// Sets the result, unless it is already known.
    fn set(&self, result: FirstResult) {
        self.result.lock().ignore_poison().get_or_insert(result);
        self.blocked.notify_all();
        self.waiting.notify_waiters();
    }

    fn get(&self) -> Option<FirstResult> {
        self.result.lock().ignore_poison().clone()
    }

    async fn wait(&self) -> FirstResult {
        loop {
            let set = self.waiting.notified();
            match self.get() {
                Some(result) => return result,
                None => set.await,
            }
        }
    }

    fn wait_blocking(&self) -> FirstResult {
        let mut result = self.result.lock().ignore_poison();
        loop {
            match &*result {
                Some(result) => return result.clone(),
                None => result = self.blocked.wait(result).ignore_poison(),
            }
        }
    }
}
