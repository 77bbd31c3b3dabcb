//! The transport to a program: one message per line.

use std::collections::{HashMap, VecDeque};

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader, Empty, empty};

use super::message::{self, Asked, Message};

/// The messages of a program; the length of its lines was limited before.
pub(super) struct Lines<R: AsyncRead, W: AsyncWrite> {
    read: BufReader<R>,
    /// The current line. If a read is cancelled, the part that was read stays here.
    line: Vec<u8>,
    /// The further messages of a line with several messages.
    ready: VecDeque<Message>,
    /// The kinds of the requests without an answer, by id.
    asked: HashMap<RequestId, Asked>,
    writer: AsyncRwTransport<RoleClient, Empty, W>,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(read: R, write: W) -> Self {
        let writer = AsyncRwTransport::new_client(empty(), write);
        let (line, ready, asked) = (Vec::new(), VecDeque::new(), HashMap::new());
        Self { read: BufReader::new(read), line, ready, asked, writer }
    }

    /// Reads the messages of the current line.
    fn take_line(&mut self) {
        let asked = |id: &Value| key(id).and_then(|id| self.asked.get(&id)).copied().unwrap_or_default();
        let messages = message::read(&self.line, asked);
        self.line.clear();
        for message in &messages {
            if message.get("method").is_none()
                && let Some(id) = key(&message["id"])
            {
                self.asked.remove(&id);
            }
            self.ready.extend(message::typed(message));
        }
    }
}

/// Returns the id of a request of this client; some servers return numbers as text.
fn key(id: &Value) -> Option<RequestId> {
    let number = id.as_i64().or_else(|| id.as_str()?.parse().ok())?;
    Some(RequestId::Number(number))
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                self.asked.insert(request.id.clone(), Asked::from_request(&request.request));
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.asked.retain(|id, _| cancelled.params.request_id.as_ref() != Some(id));
                }
            }
            _ => {}
        }
        self.writer.send(message)
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let read = self.read.read_until(b'\n', &mut self.line).await.ok()?;
            if read == 0 && self.line.is_empty() {
                return None;
            }
            self.take_line();
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close().await
    }
}
