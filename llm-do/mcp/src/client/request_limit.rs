//! The messages of a server, with a limit of the requests that are open: a server that sends requests and never reads the answers would
//! take all memory. Answers that are late or name no request are sorted out ([`Unanswered`]).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, JsonRpcMessage, RequestId, ServerNotification, ServerRequest};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::{sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::unanswered::Unanswered;

/// The most requests that a server may have open: those without an answer, and those whose answer it has not taken.
const MAX_OPEN: usize = 1000;
/// From how many open requests on the server is read slowly, so that the answers come first.
const CROWDED: usize = 64;
/// The delay before a message of a server with many open requests is read.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest id of a request, in bytes: it is sent back.
const MAX_ID: usize = 1000;
/// How long the transport may take to close: one that waits until its messages are read would wait for ever.
const CLOSING: Duration = Duration::from_secs(2);
/// How many messages of the maximum size the open requests may have together.
const MAX_SIZES: usize = 4;

/// Why the connection was ended on this side.
pub(super) type EndReason = Arc<OnceLock<String>>;

/// A transport that ends if the server has too many requests open.
pub(super) struct LimitedTransport<T> {
    /// None once the connection was ended on this side.
    inner: Option<T>,
    fault: EndReason,
    /// Cancelled with the fault: an answer that the server does not take would keep the connection open.
    ended: CancellationToken,
    /// The most bytes of all open requests.
    max_bytes: usize,
    /// Whether the connection began with the handshake: only then a request that its server cancels gets no answer.
    is_legacy: bool,
    /// The requests without an answer.
    unanswered: HashMap<RequestId, Share>,
    open: Arc<RequestCounts>,
    /// Our requests.
    own: Own,
}

/// Our requests that the server has not answered.
pub(super) type Own = Arc<Mutex<Unanswered>>;

/// The requests that are open.
#[derive(Default)]
struct RequestCounts {
    requests: AtomicUsize,
    bytes: AtomicUsize,
}

/// The share of one request, until its answer is taken.
struct Share {
    open: Arc<RequestCounts>,
    bytes: usize,
}

impl Share {
    fn new(open: &Arc<RequestCounts>, bytes: usize) -> Self {
        open.requests.fetch_add(1, Ordering::Relaxed);
        open.bytes.fetch_add(bytes, Ordering::Relaxed);
        Self { open: Arc::clone(open), bytes }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.open.requests.fetch_sub(1, Ordering::Relaxed);
        self.open.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl<T> LimitedTransport<T> {
    /// Limits a transport whose messages have at most `max_message` bytes.
    pub(super) fn new(inner: T, max_message: usize, fault: EndReason, own: Own) -> Self {
        let max_bytes = max_message.saturating_mul(MAX_SIZES);
        let (ended, unanswered, open) = (CancellationToken::new(), HashMap::new(), Arc::default());
        Self { inner: Some(inner), fault, ended, max_bytes, is_legacy: false, unanswered, open, own }
    }

    /// Counts a message; an error is the reason why the connection ends.
    fn admit(&mut self, message: &RxJsonRpcMessage<RoleClient>) -> Result<(), String> {
        match message {
            JsonRpcMessage::Request(request) => return self.open(&request.id, &request.request),
            JsonRpcMessage::Notification(notification) if self.is_legacy => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered.remove(id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, id: &RequestId, request: &ServerRequest) -> Result<(), String> {
        let length = id.to_string().len();
        if length > MAX_ID {
            return Err(format!(
                "the server sent a request whose id has {length} bytes, more than the limit of {MAX_ID}"
            ));
        }
        let share = Share::new(&self.open, size(request));
        if self.unanswered.insert(id.clone(), share).is_some() {
            return Err("the server sent two requests with the same id before the first was answered".to_owned());
        }
        if self.open.requests.load(Ordering::Relaxed) > MAX_OPEN {
            return Err(format!("the server sent more than {MAX_OPEN} requests without taking the answers"));
        }
        if self.open.bytes.load(Ordering::Relaxed) > self.max_bytes {
            let max = self.max_bytes;
            return Err(format!("the open requests of the server have more than {max} bytes; raise its `max_message`"));
        }
        Ok(())
    }
}

impl<T: Transport<RoleClient> + 'static> LimitedTransport<T> {
    /// Returns the next message of the server, or an error of it that named no request, as the answer to one.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let (taken, due) = {
                let mut own = self.own.lock().ignore_poison();
                (own.take_due(), own.due())
            };
            if taken.is_some() {
                return taken;
            }
            let inner = self.inner.as_mut()?;
            if self.open.requests.load(Ordering::Relaxed) >= CROWDED {
                // Answers that are ready end this wait. It ends by itself too: a transport may send answers only while it is read.
                sleep(PAUSE).await;
            }
            let Some(due) = due else { return inner.receive().await };
            tokio::select! {
                message = inner.receive() => return message,
                () = sleep_until(due) => {}
            }
        }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for LimitedTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(request) => {
                self.is_legacy |= matches!(request.request, ClientRequest::InitializeRequest(_));
                None
            }
            JsonRpcMessage::Notification(_) => None,
        };
        let share = answered.and_then(|id| self.unanswered.remove(id));
        self.own.lock().ignore_poison().sent(&message);
        let (own, id) = (Arc::clone(&self.own), request_id(&message));
        let sent = self.inner.as_mut().map(|inner| inner.send(message));
        let ended = self.ended.clone();
        async move {
            let result = match sent {
                Some(sent) => ended.run_until_cancelled(sent).await,
                None => None,
            };
            drop(share);
            if let (Some(Err(_)), Some(id)) = (&result, id) {
                own.lock().ignore_poison().not_sent(&id);
            }
            result.unwrap_or(Ok(()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.next().await?;
            if let Err(fault) = self.admit(&message) {
                // The first one counts.
                let _ = self.fault.set(fault);
                self.ended.cancel();
                self.inner = None;
                return None;
            }
            let message = self.own.lock().ignore_poison().received(message);
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let Some(mut inner) = self.inner.take() else { return Ok(()) };
        timeout(CLOSING, inner.close()).await.unwrap_or(Ok(()))
    }
}

fn request_id(message: &TxJsonRpcMessage<RoleClient>) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// Returns the bytes of a request.
fn size(request: &ServerRequest) -> usize {
    // What cannot be written was not read either.
    serde_json::to_vec(request).map_or(0, |json| json.len())
}
