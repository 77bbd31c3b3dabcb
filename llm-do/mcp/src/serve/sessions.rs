//! The open sessions over HTTP, with a maximum in total and of each client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::body::Body;
use futures_util::{Stream, StreamExt};
use http::{HeaderValue, Response, StatusCode, header};
use llm_do_core::base::mutex::IgnorePoison;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use super::client::Principal;

/// The maximum number of open sessions.
const CAPACITY: usize = 1000;

/// The maximum number of open sessions of one client with a token.
const CLIENT_CAPACITY: usize = 250;

/// The time without a request or a stream after which a session may be ended for a new one.
const IDLE: Duration = Duration::from_secs(60);

/// The maximum size of the description of a client in `initialize`, in bytes of JSON: each session keeps it.
const MAX_DESCRIPTION: usize = 64 << 10;

tokio::task_local! {
    /// The request that is being handled: it may open a session.
    static OPENING: Arc<Opening>;
}

/// A request that may open a session.
#[derive(Debug)]
struct Opening {
    principal: Principal,
    refusal: Mutex<Option<Refusal>>,
}

/// The reason that a session was not opened.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("limit reached: {CAPACITY} sessions are open; retry later")]
    Full,
    #[error("limit reached: {CLIENT_CAPACITY} sessions of this client are open; end one with `DELETE`, or retry later")]
    ClientFull,
    #[error("`initialize` has parameters of {0} bytes; the maximum is {MAX_DESCRIPTION}")]
    TooLarge(usize),
}

/// The reason that a request to a session failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Failed(#[from] LocalSessionManagerError),
}

/// The open sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    open: Mutex<HashMap<SessionId, Open>>,
    /// Held while a session is opened, so that concurrent requests do not exceed the maximum.
    opening: tokio::sync::Mutex<()>,
}

/// An open session.
#[derive(Debug)]
struct Open {
    principal: Principal,
    used: Instant,
    /// Cloned for each open stream.
    streams: Arc<()>,
}

impl Open {
    fn new(principal: Principal, used: Instant) -> Self {
        Self { principal, used, streams: Arc::default() }
    }

    fn is_idle(&self, now: Instant) -> bool {
        Arc::strong_count(&self.streams) == 1 && now.saturating_duration_since(self.used) >= IDLE
    }
}

impl Refusal {
    /// Returns the answer to the client.
    fn response(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(format!("{self}\n")));
        *response.status_mut() = match self {
            Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::ClientFull => StatusCode::TOO_MANY_REQUESTS,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        };
        if !matches!(self, Self::TooLarge(_)) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(IDLE.as_secs()));
        }
        response
    }
}

/// Handles a request of a client; returns the refusal if no session was opened for it.
pub(super) async fn handled(
    principal: &Principal,
    handle: impl Future<Output = Response<Body>> + Send,
) -> Response<Body> {
    let opening = Arc::new(Opening { principal: principal.clone(), refusal: Mutex::default() });
    let response = OPENING.scope(Arc::clone(&opening), handle).await;
    let refusal = opening.refusal.lock().ignore_poison().take();
    refusal.map_or(response, |refusal| refusal.response())
}

impl Sessions {
    /// Returns whether there is a session with this id.
    pub(super) fn has(&self, id: &str) -> bool {
        self.open.lock().ignore_poison().contains_key(id)
    }

    /// Removes an idle session if a maximum is reached; returns its id. Fails if none is idle.
    fn make_room(&self, principal: &Principal, now: Instant) -> Result<Option<SessionId>, Refusal> {
        let mut open = self.open.lock().ignore_poison();
        let own = open.values().filter(|session| session.principal == *principal).count();
        let is_client_full = *principal != Principal::Anonymous && own >= CLIENT_CAPACITY;
        if !is_client_full && open.len() < CAPACITY {
            return Ok(None);
        }
        let candidates = open.iter().filter(|(_, session)| !is_client_full || session.principal == *principal);
        let idle = candidates.filter(|(_, session)| session.is_idle(now)).min_by_key(|(_, session)| session.used);
        let Some(id) = idle.map(|(id, _)| id.clone()) else {
            return Err(if is_client_full { Refusal::ClientFull } else { Refusal::Full });
        };
        open.remove(&id);
        Ok(Some(id))
    }

    /// Marks a session as used; returns the guard for its stream.
    fn mark_used(&self, id: &SessionId) -> Option<Arc<()>> {
        let mut open = self.open.lock().ignore_poison();
        let session = open.get_mut(id)?;
        session.used = Instant::now();
        Some(Arc::clone(&session.streams))
    }
}

/// Stores a refusal for the answer to the request.
fn refused(refusal: Refusal) -> SessionError {
    _ = OPENING.try_with(|opening| *opening.refusal.lock().ignore_poison() = Some(refusal.clone()));
    refusal.into()
}

/// Checks the size of the description of a client.
fn check_size(message: &ClientJsonRpcMessage) -> Result<(), Refusal> {
    let ClientJsonRpcMessage::Request(request) = message else { return Ok(()) };
    let ClientRequest::InitializeRequest(initialize) = &request.request else { return Ok(()) };
    let bytes = serde_json::to_vec(&initialize.params).map_or(0, |json| json.len());
    if bytes > MAX_DESCRIPTION { Err(Refusal::TooLarge(bytes)) } else { Ok(()) }
}

/// Keeps a session in use while a stream of it is open.
fn held<S: Stream>(stream: S, in_use: Option<Arc<()>>) -> impl Stream<Item = S::Item> {
    stream.map(move |item| {
        _ = &in_use;
        item
    })
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let principal = OPENING.try_with(|opening| opening.principal.clone()).unwrap_or_default();
        let opening = self.opening.lock().await;
        let ended = self.make_room(&principal, Instant::now()).map_err(refused)?;
        let (id, transport) = self.local.create_session().await?;
        self.open.lock().ignore_poison().insert(id.clone(), Open::new(principal, Instant::now()));
        drop(opening);
        if let Some(ended) = ended {
            // A session whose worker has ended is closed too.
            drop(self.local.close_session(&ended).await);
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        if let Err(refusal) = check_size(&message) {
            drop(self.close_session(id).await);
            return Err(refused(refusal));
        }
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.mark_used(id).is_some())
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.open.lock().ignore_poison().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let in_use = self.mark_used(id);
        Ok(held(self.local.create_stream(id, message).await?, in_use))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let in_use = self.mark_used(id);
        Ok(held(self.local.create_standalone_stream(id).await?, in_use))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let in_use = self.mark_used(id);
        Ok(held(self.local.resume(id, last_event_id).await?, in_use))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_idle_makes_room_and_one_with_a_stream_does_not() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let own = Principal::Subject("ann".to_owned());
        let id = |number: usize| SessionId::from(number.to_string());
        for number in 0..CLIENT_CAPACITY {
            let used = start + Duration::from_secs(number as u64);
            sessions.open.lock().unwrap().insert(id(number), Open::new(own.clone(), used));
        }
        let stream = Arc::clone(&sessions.open.lock().unwrap()[&id(0)].streams);
        let other = sessions.make_room(&Principal::Subject("bob".to_owned()), start);
        assert!(matches!(other, Ok(None)), "the maximum is that of another client");
        assert!(matches!(sessions.make_room(&own, start), Err(Refusal::ClientFull)), "none is idle long enough");
        let later = start + IDLE + Duration::from_secs(5);
        assert_eq!(sessions.make_room(&own, later).unwrap(), Some(id(1)), "the oldest without a stream");
        sessions.open.lock().unwrap().insert(id(1), Open::new(own.clone(), later));
        drop(stream);
        assert_eq!(sessions.make_room(&own, later).unwrap(), Some(id(0)));
    }
}
