//! Where an answer goes while it grows.

use tokio::sync::mpsc::UnboundedSender;

use crate::error::ProviderError;
use crate::model::StreamEvent;

/// The engine's end of a stream.
#[derive(Clone, Debug)]
pub(super) struct Outlet(UnboundedSender<Result<StreamEvent, ProviderError>>);

impl Outlet {
    /// Returns the engine's end of the stream whose other end receives from `sender`.
    pub(super) fn new(sender: UnboundedSender<Result<StreamEvent, ProviderError>>) -> Self {
        Self(sender)
    }

    /// Whether anyone still waits for the answer.
    pub(super) fn is_wanted(&self) -> bool {
        !self.0.is_closed()
    }

    /// Waits until nobody waits for the answer any more.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    /// Sends one piece; whether it arrives, [`is_wanted`](Self::is_wanted) tells.
    pub(super) fn send(&self, event: Result<StreamEvent, ProviderError>) {
        let _ = self.0.send(event);
    }

    /// Sends more text, if there is any.
    pub(super) fn send_text(&self, text: Option<String>) {
        if let Some(text) = text {
            self.send(Ok(StreamEvent::Text(text)));
        }
    }

    /// Sends more of a thought, if there is any.
    pub(super) fn send_thought(&self, text: Option<String>) {
        if let Some(text) = text {
            self.send(Ok(StreamEvent::Thinking(text)));
        }
    }
}
