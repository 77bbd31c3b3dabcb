//! The pending requests of a connection, and the answers that match no pending request.
//!
//! A late answer to a request that was given up is dropped. An error that names no request is given to the only request that it can
//! be about, which would wait until it times out.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use tokio::time::Instant;

use super::message::{Asked, Message, UNUSABLE};
use super::text;

/// How long the only request that an error can be about may still be answered: the error may be about a notification.
const GRACE: Duration = Duration::from_secs(1);
/// The most errors without a request that are kept, and the most requests that were given up.
const MAX_STRAYS: usize = 100;
const MAX_GIVEN_UP: usize = 1000;

/// The requests without an answer.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    open: HashMap<RequestId, Asked>,
    /// Those whose answer is no longer waited for.
    given_up: HashMap<RequestId, Asked>,
    strays: Vec<Stray>,
    /// The last id: they count up.
    newest: i64,
    /// Whether a discovery that was given up had a result.
    pub(super) was_discovered_late: bool,
}

/// An answer that names no request.
#[derive(Debug)]
struct Stray {
    error: ErrorData,
    /// The requests that it can be about.
    about: HashSet<RequestId>,
    due: Instant,
}

impl Unanswered {
    /// Keeps a request that is sent.
    pub(super) fn sent(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(request) => {
                let asked = Asked::from_request(&request.request);
                if asked == Asked::Initialize {
                    self.give_up_all();
                }
                self.newest = value(&request.id).unwrap_or_default().max(self.newest);
                self.open.insert(request.id.clone(), asked);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.give_up(id);
                }
            }
            _ => {}
        }
    }

    /// Forgets a request that could not be sent.
    pub(super) fn not_sent(&mut self, id: &RequestId) {
        self.open.remove(id);
    }

    /// The handshake begins because a discovery took too long.
    fn give_up_all(&mut self) {
        let ids: Vec<_> = self.open.keys().cloned().collect();
        for id in ids {
            self.give_up(&id);
        }
    }

    fn give_up(&mut self, id: &RequestId) {
        if self.given_up.len() >= MAX_GIVEN_UP {
            self.given_up.clear();
        }
        self.given_up.extend(self.open.remove_entry(id));
    }

    /// Returns the message, unless it answers no request that is waited for.
    pub(super) fn received(&mut self, message: Message) -> Option<Message> {
        let (id, is_result) = match &message {
            JsonRpcMessage::Response(response) => (Some(&response.id), true),
            JsonRpcMessage::Error(error) => (error.id.as_ref(), false),
            _ => return Some(message),
        };
        let id = id.map(number);
        if id.as_ref().is_some_and(|id| self.open.remove(id).is_some()) {
            return Some(message);
        }
        if let Some(asked) = id.as_ref().and_then(|id| self.given_up.remove(id)) {
            self.was_discovered_late |= is_result && asked == Asked::Discover;
            return None;
        }
        let error = match message {
            JsonRpcMessage::Error(error) => error.error,
            // A second answer is dropped; one with an id that was never sent is a fault.
            _ if id.as_ref().is_some_and(|id| self.is_repeated(id)) => return None,
            _ => {
                let shown = id.map(|id| text::line(&id.to_string())).unwrap_or_default();
                let message = format!("an answer with the id `{shown}`, which no request has");
                ErrorData::new(ErrorCode(UNUSABLE), message, None)
            }
        };
        self.keep(error);
        None
    }

    /// Returns whether a result repeats an answer: its id was sent. While a connection is made, the id is taken to be wrong instead.
    fn is_repeated(&self, id: &RequestId) -> bool {
        let is_starting = self.open.values().any(|asked| matches!(asked, Asked::Discover | Asked::Initialize));
        !is_starting && value(id).is_some_and(|id| (0..=self.newest).contains(&id))
    }

    fn keep(&mut self, error: ErrorData) {
        let about = self.open.iter().filter(|(_, asked)| **asked != Asked::Listen);
        let about: HashSet<_> = about.map(|(id, _)| id.clone()).collect();
        if !about.is_empty() && self.strays.len() < MAX_STRAYS {
            self.strays.push(Stray { error, about, due: Instant::now() + GRACE });
        }
    }

    /// Returns when an error without a request has to be given to one.
    pub(super) fn due(&mut self) -> Option<Instant> {
        for stray in &mut self.strays {
            stray.about.retain(|id| self.open.contains_key(id));
        }
        self.strays.retain(|stray| !stray.about.is_empty());
        self.strays.iter().filter(|stray| stray.about.len() == 1).map(|stray| stray.due).min()
    }

    /// Returns an error that is due as the answer to the only request that it can be about, which is [received](Self::received) next.
    pub(super) fn take_due(&mut self) -> Option<Message> {
        self.due()?;
        let now = Instant::now();
        let index = self.strays.iter().position(|stray| stray.about.len() == 1 && stray.due <= now)?;
        let stray = self.strays.swap_remove(index);
        let id = stray.about.into_iter().next()?;
        Some(Message::error(stray.error, Some(id)))
    }
}

/// Returns an id with a number in place of its text, which some servers return.
fn number(id: &RequestId) -> RequestId {
    value(id).map_or_else(|| id.clone(), RequestId::Number)
}

fn value(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(text) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientRequest, ListToolsRequest, ServerResult};

    use super::*;

    fn sent(own: &mut Unanswered, id: i64) {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        own.sent(&TxJsonRpcMessage::<RoleClient>::request(request, RequestId::Number(id)));
    }

    fn error(id: Option<i64>) -> Message {
        Message::error(ErrorData::internal_error("busy", None), id.map(RequestId::Number))
    }

    fn result(id: i64) -> Message {
        Message::response(ServerResult::empty(()), RequestId::Number(id))
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_without_an_id_waits_for_the_request_that_is_left() {
        let mut own = Unanswered::default();
        sent(&mut own, 1);
        sent(&mut own, 2);
        assert!(own.received(error(None)).is_none());
        assert_eq!(own.due(), None, "it can be about both");
        sent(&mut own, 3);
        assert!(own.received(result(1)).is_some());
        assert!(own.take_due().is_none(), "the error may be about a notification");
        tokio::time::sleep_until(own.due().unwrap()).await;
        let due = own.take_due().expect("it is due");
        let Some(Message::Error(error)) = own.received(due) else { panic!("its request waits for it") };
        assert_eq!(error.id, Some(RequestId::Number(2)), "the third was sent after the error");
        assert!(own.received(result(3)).is_some());
        assert_eq!(own.due(), None);
    }

    #[test]
    fn answers_to_requests_that_were_given_up_are_dropped() {
        let mut own = Unanswered::default();
        sent(&mut own, 1);
        own.give_up(&RequestId::Number(1));
        sent(&mut own, 2);
        assert!(own.received(error(Some(1))).is_none());
        assert!(own.received(result(2)).is_some());
        assert!(own.strays.is_empty());
    }

    #[test]
    fn an_id_as_text_is_the_same_id() {
        let mut own = Unanswered::default();
        sent(&mut own, 7);
        assert!(own.received(Message::response(ServerResult::empty(()), RequestId::String("7".into()))).is_some());
    }
}
