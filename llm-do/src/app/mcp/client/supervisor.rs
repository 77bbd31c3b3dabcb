//! Keeps a connection open: a server that ended is started again for the next call.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use super::call::{self, CallEvent, CallJob, Reply};
use super::error::McpError;
use super::handler::Owner;
use super::live::Live;
use super::negotiation::Era;
use super::oauth::{Authorization, Authorized};
use super::server::McpServer;
use super::transport::{Endpoint, Transport};

/// How often the user logs in for one call or connection: a server may demand more and more.
const MAX_LOGINS: u32 = 2;
/// The longest delay before a server is started again.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// A server and its connection, if one is open.
#[derive(Debug)]
pub(super) struct Supervisor {
    server: Arc<McpServer>,
    owner: Owner,
    authorization: Option<Authorization>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    live: Option<Arc<Live>>,
    era: Era,
    authorized: Option<Authorized>,
    /// How often the connection failed since the last call that was answered.
    failures: u32,
    /// When the next attempt may begin.
    not_before: Option<Instant>,
}

impl Supervisor {
    pub(super) fn new(server: Arc<McpServer>, owner: Owner) -> Self {
        let authorization = match &server.transport {
            Transport::Http(Endpoint { url, oauth: Some(oauth), .. }) => {
                Some(Authorization::new((**oauth).clone(), &server.name, url))
            }
            _ => None,
        };
        Self { server, owner, authorization, state: Mutex::default() }
    }

    /// Returns the open connection, or makes one.
    pub(super) async fn live(&self) -> Result<Arc<Live>, McpError> {
        let mut state = self.state.lock().await;
        match &state.live {
            Some(live) if !live.is_closed() => return Ok(Arc::clone(live)),
            Some(ended) => {
                ended.end().await;
                state.live = None;
                state.failed(self.server.restart_delay);
            }
            None => {}
        }
        if let Some(time) = state.not_before {
            sleep_until(time).await;
        }
        match self.open(&mut state).await {
            Ok(live) => Ok(Arc::clone(state.live.insert(Arc::new(live)))),
            Err(error) => {
                state.failed(self.server.restart_delay);
                Err(error)
            }
        }
    }

    /// Connects; the user logs in first if the server demands it.
    async fn open(&self, state: &mut State) -> Result<Live, McpError> {
        if let (Some(authorization), None) = (&self.authorization, &state.authorized) {
            state.authorized = authorization.kept().await?;
        }
        let (server, owner) = (&self.server, &self.owner);
        let mut logins = 0..MAX_LOGINS;
        loop {
            let opened = Live::open(server, owner, &mut state.era, state.authorized.as_ref()).await;
            match (opened, &self.authorization) {
                (Err(McpError::Unauthorized { challenge, .. }), Some(authorization)) if logins.next().is_some() => {
                    state.authorized = Some(authorization.log_in(&challenge).await?);
                }
                (opened, _) => return opened,
            }
        }
    }

    /// Has the user log in again, as an answer to a call demands; returns whether a new connection can be made.
    async fn log_in(&self, challenge: &str) -> Result<bool, McpError> {
        let Some(authorization) = &self.authorization else { return Ok(false) };
        let mut state = self.state.lock().await;
        state.authorized = Some(authorization.log_in(challenge).await?);
        if let Some(live) = state.live.take() {
            live.end().await;
        }
        Ok(true)
    }

    /// Makes a call, and reports how it ended.
    pub(super) async fn run(&self, job: CallJob) {
        let result = self.call(&job).await;
        // An error means that the caller has stopped waiting.
        let _ = job.events.send(CallEvent::Done(Box::new(result))).await;
    }

    async fn call(&self, job: &CallJob) -> Result<Reply, McpError> {
        let mut repeats = if job.tool.is_repeatable { self.server.retries } else { 0 };
        let mut logins = 0..MAX_LOGINS;
        loop {
            match self.attempt(job).await {
                // Nothing ran: the server refused the request itself.
                Err(McpError::Unauthorized { challenge, .. })
                    if logins.next().is_some() && self.before_sending(job, self.log_in(&challenge)).await? => {}
                Err(error) if error.is_lost() && repeats > 0 && !job.events.is_closed() => repeats -= 1,
                result => return result,
            }
        }
    }

    async fn attempt(&self, job: &CallJob) -> Result<Reply, McpError> {
        let live = self.before_sending(job, self.live()).await?;
        self.before_sending(job, live.check(&job.tool)).await?;
        let reply = live.call(job).await?;
        let mut state = self.state.lock().await;
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
        if let Some(live) = self.state.lock().await.live.take() {
            live.end().await;
        }
    }
}

impl State {
    /// Counts a failure: the first attempt after it is immediate, the next ones are delayed.
    fn failed(&mut self, delay: Duration) {
        self.failures = self.failures.saturating_add(1);
        let doublings = self.failures.saturating_sub(2).min(16);
        let delay =
            if self.failures == 1 { Duration::ZERO } else { delay.saturating_mul(1 << doublings).min(MAX_DELAY) };
        self.not_before = Some(Instant::now() + delay);
    }
}
