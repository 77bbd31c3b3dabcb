//! One connection to a server, from the negotiation to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{ProtocolVersion, SubscriptionFilter, Tool};
use rmcp::service::{Peer, RoleClient, RunningService, ServiceError};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::call::RemoteTool;
use super::catalog::Catalog;
use super::error::McpError;
use super::handler::{Handler, Owner};
use super::in_flight::InFlight;
use super::message::UNUSABLE;
use super::negotiation::{ConnectAttempt, Era};
use super::oauth::{self, Authorized};
use super::process::Process;
use super::server::McpServer;
use super::transport::{Launch, Transport};
use super::{effect, negotiation, reason, text, tool};

/// The prefix of the reason of a refusal by HTTP.
const HTTP: &str = "HTTP ";

/// A connection that is open, or was.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) server: Arc<McpServer>,
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) calls: Arc<InFlight>,
    process: Option<Process>,
    is_stale: Arc<AtomicBool>,
    catalog: Mutex<Catalog>,
}

impl Live {
    /// Connects to the server and lists its tools, within its timeout.
    pub(super) async fn open(
        server: &Arc<McpServer>,
        owner: &Owner,
        era: &mut Era,
        authorized: Option<&Authorized>,
    ) -> Result<Self, McpError> {
        let after = server.connect_timeout;
        let late = || McpError::ConnectTimeout { server: server.name.clone(), after };
        timeout(after, Self::negotiate(server, owner, era, authorized)).await.unwrap_or_else(|_| Err(late()))
    }

    async fn negotiate(
        server: &Arc<McpServer>,
        owner: &Owner,
        era: &mut Era,
        authorized: Option<&Authorized>,
    ) -> Result<Self, McpError> {
        check(server).await?;
        match Self::attempt(server, owner, *era, authorized).await {
            Err(ConnectAttempt::Unfit(_, better)) if *era == Era::Any => {
                *era = better;
                Self::attempt(server, owner, *era, authorized).await.map_err(ConnectAttempt::into_error)
            }
            attempt => attempt.map_err(ConnectAttempt::into_error),
        }
    }

    async fn attempt(
        server: &Arc<McpServer>,
        owner: &Owner,
        era: Era,
        authorized: Option<&Authorized>,
    ) -> Result<Self, ConnectAttempt> {
        let (calls, is_stale): (Arc<InFlight>, Arc<AtomicBool>) = Default::default();
        let handler = Handler {
            server: Arc::clone(server),
            calls: Arc::clone(&calls),
            is_stale: Arc::clone(&is_stale),
            owner: owner.clone(),
            fault: Arc::default(),
        };
        let (service, process) = negotiation::connect(server, handler, era, authorized).await?;
        negotiation::check_version(server, &service)?;
        let catalog = Mutex::default();
        let live = Self { server: Arc::clone(server), service, calls, process, is_stale, catalog };
        live.refresh(&mut *live.catalog.lock().await).await.map_err(ConnectAttempt::Failed)?;
        live.listen();
        Ok(live)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.service.is_transport_closed()
    }

    /// Returns an error if the server no longer has a tool in the form with which the runtime was built; fetches the
    /// list again if it has changed or expired.
    pub(super) async fn check(&self, remote: &RemoteTool) -> Result<(), McpError> {
        let mut catalog = self.catalog.lock().await;
        if self.is_stale.swap(false, Ordering::Relaxed) || catalog.has_expired() {
            let unless_refreshed = StaleOnDrop(&self.is_stale);
            let limit = self.server.timeout;
            let refreshed = timeout(limit, self.refresh(&mut catalog)).await;
            let late = || McpError::Timeout { server: self.server.name.clone(), after: limit };
            refreshed.unwrap_or_else(|_| Err(late()))?;
            std::mem::forget(unless_refreshed);
        }
        let (server, name) = (self.server.name.clone(), text::line(remote.name()));
        let Some(now) = catalog.get(remote.name()) else { return Err(McpError::Removed { server, tool: name }) };
        if self.is_same(now, &remote.definition) { Ok(()) } else { Err(McpError::Changed { server, tool: name }) }
    }

    /// Returns whether two definitions of a tool are equal for the model, the user and the runtime.
    fn is_same(&self, now: &Tool, then: &Tool) -> bool {
        let effect = |tool: &Tool| effect::of_tool(&self.server, &tool.name, tool.annotations.as_ref());
        now.input_schema == then.input_schema
            && now.output_schema == then.output_schema
            && tool::description(now) == tool::description(then)
            && effect(now) == effect(then)
    }

    /// Runs `read` on the tools that the server lists.
    pub(super) async fn read_catalog<T>(&self, read: impl FnOnce(&Catalog) -> T) -> T {
        read(&*self.catalog.lock().await)
    }

    async fn refresh(&self, catalog: &mut Catalog) -> Result<(), McpError> {
        *catalog = match Catalog::fetch(&self.service).await {
            Ok(catalog) => catalog,
            Err(ServiceError::UnexpectedResponse) => return Err(self.unusable("expected a list of tools")),
            Err(error) => return Err(self.failure(error).await),
        };
        Ok(())
    }

    /// Subscribes to changes of the list; servers of recent versions report them only to subscribers.
    fn listen(&self) {
        let Some(info) = self.service.peer_info() else { return };
        let reports = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        if reports && info.protocol_version >= ProtocolVersion::V_2026_07_28 {
            tokio::spawn(watch_list(self.service.peer().clone(), Arc::clone(&self.is_stale)));
        }
    }

    /// Returns the error of a call that failed.
    pub(super) async fn failure(&self, error: ServiceError) -> McpError {
        let server = self.server.name.clone();
        if error.is_authorization_required() || error.auth_challenge().is_some() {
            let challenge = error.auth_challenge().unwrap_or_default().to_owned();
            return McpError::Unauthorized { server, challenge };
        }
        match error {
            ServiceError::McpError(error) if error.code.0 == UNUSABLE => self.unusable(text::line(&error.message)),
            ServiceError::McpError(error) => McpError::Refused { server, message: reason::words(&error) },
            ServiceError::UnexpectedResponse => self.unusable("unexpected type of result"),
            ServiceError::TransportSend(error)
                if self.server.transport.has_login() && oauth::is_unauthorized(error.error.as_ref()) =>
            {
                McpError::Unauthorized { server, challenge: String::new() }
            }
            ServiceError::TransportSend(error) if !self.is_closed() => {
                let reason = text::line(&text::root(error.error.as_ref()));
                let is_answer = reason.starts_with(HTTP);
                if is_answer { self.unusable(reason) } else { McpError::Lost { server, reason } }
            }
            _ => McpError::Lost { server, reason: self.cause().await },
        }
    }

    async fn cause(&self) -> String {
        if let Some(fault) = self.service.service().fault.get() {
            return fault.clone();
        }
        match &self.process {
            Some(process) => process.cause().await,
            None => "the connection was closed".to_owned(),
        }
    }

    /// Closes the connection, and ends the program.
    pub(super) async fn end(&self) {
        self.service.cancellation_token().cancel();
        if let Some(process) = &self.process {
            process.end().await;
        }
    }
}

/// Checks the program of a server on a blocking thread, since the check may read many files, and the timeout must
/// apply.
async fn check(server: &McpServer) -> Result<(), McpError> {
    let Transport::Command(Launch { check: Some(check), .. }) = &server.transport else { return Ok(()) };
    let check = Arc::clone(check);
    let checked = spawn_blocking(move || check()).await.unwrap_or_else(|error| Err(error.to_string()));
    checked.map_err(|reason| {
        let advice = "run the command again to be asked about it; in a program, open the project again";
        McpError::Connect { server: server.name.clone(), reason: format!("{reason}, so it is not started; {advice}") }
    })
}

/// Marks a list as stale when dropped.
struct StaleOnDrop<'a>(&'a AtomicBool);

impl Drop for StaleOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Marks a list as stale for each change that the server reports, and when the subscription ends.
async fn watch_list(peer: Peer<RoleClient>, is_stale: Arc<AtomicBool>) {
    /// The delay before the next subscription.
    const PAUSE: Duration = Duration::from_secs(10);
    while !peer.is_transport_closed() {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        if let Ok(mut changes) = peer.listen(filter).await {
            while let Ok(Some(_)) = changes.next().await {
                is_stale.store(true, Ordering::Relaxed);
            }
        }
        tokio::time::sleep(PAUSE).await;
        // Changes between subscriptions were not reported.
        is_stale.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{McpError, McpServer};

    #[tokio::test]
    async fn a_check_that_takes_long_does_not_exceed_the_timeout_of_connecting() {
        let slow = || {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        };
        let server = McpServer::command("s", "true", [""; 0]).connect_timeout(Duration::from_millis(50));
        let begun = Instant::now();
        let error = server.check_before_start(slow).connect().await.unwrap_err();
        assert!(matches!(error, McpError::ConnectTimeout { .. }), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
