//! The sending half of a response stream.

use tokio::sync::mpsc::UnboundedSender;

use crate::error::ProviderError;
use crate::model::StreamEvent;

/// The sending half of a response stream.
#[derive(Clone, Debug)]
pub(super) struct EventSender(UnboundedSender<Result<StreamEvent, ProviderError>>);

impl EventSender {
    /// Wraps the sender of a stream's channel.
    pub(super) fn new(sender: UnboundedSender<Result<StreamEvent, ProviderError>>) -> Self {
        Self(sender)
    }

    /// Returns whether the caller still reads the stream.
    pub(super) fn is_open(&self) -> bool {
        !self.0.is_closed()
    }

    /// Waits until the caller drops the stream.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    /// Sends one event. Sending to a dropped stream is ignored; see [`is_open`](Self::is_open).
    pub(super) fn send(&self, event: Result<StreamEvent, ProviderError>) {
        let _ = self.0.send(event);
    }

    /// Sends a text delta, if there is one.
    pub(super) fn send_text(&self, text: Option<String>) {
        if let Some(text) = text {
            self.send(Ok(StreamEvent::Text(text)));
        }
    }

    /// Sends a thinking delta, if there is one.
    pub(super) fn send_thinking(&self, text: Option<String>) {
        if let Some(text) = text {
            self.send(Ok(StreamEvent::Thinking(text)));
        }
    }
}
