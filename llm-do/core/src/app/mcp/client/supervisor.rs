//! Keeps a connection open: a server that ended is started again for the next call.

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, WeakShared};
use tokio::time::{Instant, sleep_until};

use super::call::{self, CallEvent, CallJob, Reply};
use super::error::McpError;
use super::handler::Owner;
use super::live::Live;
use super::negotiation::Era;
use super::oauth::{Authorization, Authorized};
use super::server::McpServer;
use super::transport::{Endpoint, Transport};
use crate::base::mutex::IgnorePoison;

/// How often the user logs in for one call or connection: a server may demand more and more.
const MAX_LOGINS: u32 = 2;
/// The longest delay before a server is started again.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// A server and its connection, if one is open.
#[derive(Debug)]
pub(super) struct Supervisor {
    server: Arc<McpServer>,
    owner: Owner,
    authorization: Option<Arc<Authorization>>,
    state: Arc<Mutex<SupervisorState>>,
    /// Held while a connection is made.
    connecting: tokio::sync::Mutex<()>,
}

/// A connection, and how often the user had logged in when it was made.
#[derive(Clone, Debug)]
pub(super) struct Connected {
    pub(super) live: Arc<Live>,
    logins: u64,
}

#[derive(Default)]
struct SupervisorState {
    connected: Option<Connected>,
    era: Era,
    authorized: Option<Authorized>,
    /// How often the user has logged in.
    logins: u64,
    /// The login that is pending: all calls that need one wait for the same.
    login: Option<WeakShared<Login>>,
    /// How often the connection failed since the last call that was answered.
    failures: u32,
    /// When the next attempt may begin.
    not_before: Option<Instant>,
}

type Login = BoxFuture<'static, Result<(), McpError>>;

impl fmt::Debug for SupervisorState {
    /// Without the tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (logins, failures) = (self.logins, self.failures);
        f.debug_struct("SupervisorState").field("logins", &logins).field("failures", &failures).finish_non_exhaustive()
    }
}

impl Supervisor {
    pub(super) fn new(server: Arc<McpServer>, owner: Owner) -> Self {
        let authorization = match &server.transport {
            Transport::Http(Endpoint { url, oauth: Some(oauth), .. }) => {
                Some(Arc::new(Authorization::new((**oauth).clone(), &server.name, url)))
            }
            _ => None,
        };
        Self { server, owner, authorization, state: Arc::default(), connecting: tokio::sync::Mutex::default() }
    }

    /// Returns the name of the server.
    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        self.state.lock().ignore_poison()
    }

    /// Returns the open connection, or makes one; the user logs in first if the server demands it.
    pub(super) async fn connected(&self) -> Result<Connected, McpError> {
        let mut logins = 0..MAX_LOGINS;
        loop {
            // In a box: it is large, and a connection is open for most calls.
            match Box::pin(self.connect()).await {
                Err((McpError::Unauthorized { challenge, .. }, refused))
                    if logins.next().is_some() && self.log_in(&challenge, refused).await? => {}
                connected => return connected.map_err(|(error, _)| error),
            }
        }
    }

    /// Returns the open connection, or makes one; an error has the number of logins that it was made with.
    async fn connect(&self) -> Result<Connected, (McpError, u64)> {
        if let Some(connected) = self.state().current() {
            return Ok(connected);
        }
        let _connecting = self.connecting.lock().await;
        let (ended, not_before) = {
            let mut state = self.state();
            if let Some(connected) = state.current() {
                return Ok(connected);
            }
            // One that an older login made goes on with its calls, and ends with the last one.
            let ended = state.connected.take().filter(|connected| connected.live.is_closed());
            if ended.is_some() {
                state.failed(self.server.restart_delay);
            }
            (ended, state.not_before)
        };
        if let Some(ended) = ended {
            ended.live.end().await;
        }
        if let Some(time) = not_before {
            sleep_until(time).await;
        }
        self.open().await
    }

    /// Connects.
    async fn open(&self) -> Result<Connected, (McpError, u64)> {
        let (mut era, mut authorized, logins) = {
            let state = self.state();
            (state.era, state.authorized.clone(), state.logins)
        };
        if let (Some(authorization), None) = (&self.authorization, &authorized) {
            authorized = authorization.kept().await.map_err(|error| (error, logins))?;
        }
        let opened = Live::open(&self.server, &self.owner, &mut era, authorized.as_ref()).await;
        let mut state = self.state();
        state.era = era;
        if state.logins == logins {
            state.authorized = authorized;
        }
        match opened {
            Ok(live) => Ok(state.connected.insert(Connected { live: Arc::new(live), logins }).clone()),
            Err(error) => {
                let awaits_login = matches!(error, McpError::Unauthorized { .. }) && self.authorization.is_some();
                if !awaits_login {
                    state.failed(self.server.restart_delay);
                }
                Err((error, logins))
            }
        }
    }

    /// Has the user log in, unless that has happened since the login number `refused`; returns whether a new connection can
    /// be made.
    async fn log_in(&self, challenge: &str, refused: u64) -> Result<bool, McpError> {
        let Some(authorization) = &self.authorization else { return Ok(false) };
        let login = {
            let mut state = self.state();
            if state.logins > refused {
                return Ok(true);
            }
            state.login.as_ref().and_then(WeakShared::upgrade).unwrap_or_else(|| {
                let delay = self.server.restart_delay;
                let login = login(Arc::clone(authorization), challenge.to_owned(), Arc::clone(&self.state), delay);
                let login = login.boxed().shared();
                state.login = login.downgrade();
                login
            })
        };
        login.await.map(|()| true)
    }

    /// Makes a call, and reports how it ended.
    pub(super) async fn run(&self, job: CallJob) {
        let result = self.call(&job).await;
        // An error means that the caller has stopped waiting.
        let is_sent = job.is_sent.load(Ordering::Relaxed);
        let _ = job.events.send(CallEvent::Done(Box::new(result), is_sent)).await;
    }

    async fn call(&self, job: &CallJob) -> Result<Reply, McpError> {
        let mut repeats = if job.is_repeatable { self.server.retries } else { 0 };
        let mut logins = 0..MAX_LOGINS;
        loop {
            let connected = match self.before_sending(job, self.connected()).await {
                Err(error) if error.is_lost() && repeats > 0 => {
                    repeats -= 1;
                    continue;
                }
                connected => connected?,
            };
            // Calls that the server refused before did not run.
            job.is_sent.store(false, Ordering::Relaxed);
            match self.attempt(job, &connected.live).await {
                // Nothing ran: the server refused the request itself.
                Err(McpError::Unauthorized { challenge, .. })
                    if logins.next().is_some()
                        && self.before_sending(job, self.log_in(&challenge, connected.logins)).await? => {}
                Err(error) if error.is_lost() && repeats > 0 && !job.events.is_closed() => repeats -= 1,
                result => return result,
            }
        }
    }

    async fn attempt(&self, job: &CallJob, live: &Live) -> Result<Reply, McpError> {
        self.before_sending(job, live.check(&job.tool)).await?;
        let reply = live.call(job).await?;
        let mut state = self.state();
        (state.failures, state.not_before) = (0, None);
        Ok(reply)
    }

    /// Prepares a call, unless the caller stops waiting for it: it is not sent then.
    async fn before_sending<T>(
        &self,
        job: &CallJob,
        step: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        tokio::select! {
            biased;
            () = job.events.closed() => Err(call::abandoned(&self.server)),
            prepared = step => prepared,
        }
    }

    /// Closes the connection, and ends the program.
    pub(super) async fn end(&self) {
        let connected = self.state().connected.take();
        if let Some(connected) = connected {
            connected.live.end().await;
        }
    }
}

impl SupervisorState {
    /// Returns the connection, if it is open and of the last login.
    fn current(&self) -> Option<Connected> {
        let is_current = |connected: &&Connected| connected.logins == self.logins && !connected.live.is_closed();
        self.connected.as_ref().filter(is_current).cloned()
    }

    /// Counts a failure: the first attempt after it is immediate, the next ones are delayed.
    fn failed(&mut self, delay: Duration) {
        self.failures = self.failures.saturating_add(1);
        let doublings = self.failures.saturating_sub(2).min(16);
        let delay =
            if self.failures == 1 { Duration::ZERO } else { delay.saturating_mul(1 << doublings).min(MAX_DELAY) };
        self.not_before = Some(Instant::now() + delay);
    }
}

/// Has the user log in, and keeps the result; it ends early once no call waits for it.
async fn login(
    authorization: Arc<Authorization>,
    challenge: String,
    state: Arc<Mutex<SupervisorState>>,
    delay: Duration,
) -> Result<(), McpError> {
    let authorized = Box::pin(authorization.log_in(&challenge)).await;
    let mut state = state.lock().ignore_poison();
    state.login = None;
    match authorized {
        Ok(authorized) => {
            state.authorized = Some(authorized);
            state.logins += 1;
            Ok(())
        }
        Err(error) => {
            state.failed(delay);
            Err(error)
        }
    }
}
