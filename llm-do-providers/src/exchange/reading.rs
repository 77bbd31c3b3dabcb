//! Reads an answer in whichever form it came: events, JSON, lines of JSON; and the errors in its place.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::FutureExt;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

use super::fault::{broke_off, protocol_error, too_many_parts};
use super::mend::mended;
use super::{Absorbed, MAX_PARTS, ResponseAccumulator};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Endpoint, Event, Events, answered_error, flat_error};
use crate::model::StreamEvent;

/// One response of a streamed answer, which may have several with pauses between.
pub(super) struct Reading<G> {
    endpoint: Arc<Endpoint>,
    events: Events,
    /// `None` after its end.
    pub(super) answer: Option<G>,
    /// Whether an event of the protocol arrived.
    has_begun: bool,
    /// Whether the answer came as one piece of JSON, so that no event was shown.
    pub(super) is_whole: bool,
}

impl<G: ResponseAccumulator> Reading<G> {
    pub(super) fn new(endpoint: Arc<Endpoint>, events: Events, answer: G) -> Self {
        Self { endpoint, events, answer: Some(answer), has_begun: false, is_whole: false }
    }

    /// Reads one event, adds its events to `ready`, and returns whether more may follow; if not, the answer is complete.
    pub(super) fn poll_step(
        &mut self,
        context: &mut Context<'_>,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Poll<Result<bool, ProviderError>> {
        let next = ready!(self.events.poll_next(context));
        Poll::Ready(self.take(next, ready).map_err(|error| self.events.head().add_to(error)))
    }

    fn take(
        &mut self,
        next: Result<Option<Event>, ProviderError>,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError> {
        let Some(answer) = &mut self.answer else { return Ok(false) };
        match next {
            Ok(Some(event)) => {
                let read = read_event(answer, &self.endpoint, &event, ready);
                self.has_begun |= !matches!(read, Ok(Absorbed::Unknown));
                match read {
                    Ok(Absorbed::End) => {}
                    Ok(Absorbed::More | Absorbed::Unknown) => return Ok(true),
                    // The last event is cut off.
                    Err(_) if self.events.has_ended() && !is_json(event.data.as_bytes()) => return Ok(true),
                    Err(error) => return Err(error),
                }
            }
            // The answer is complete even if its end mark, or the usage after it, is missing.
            Ok(None) | Err(_) if answer.is_finished() => {}
            Ok(None) => {
                let Some(body) = self.events.json() else { return Err(self.ended()) };
                self.is_whole = true;
                return read_whole(answer, &self.endpoint, &body).map(|()| false);
            }
            Err(error) => return Err(error),
        }
        match answer.fault() {
            Some(fault) => Err(protocol_error(&self.endpoint, fault)),
            None => Ok(false),
        }
    }

    /// Returns the error of a stream that ended before the answer.
    fn ended(&self) -> ProviderError {
        if let Some(error) = self.events.stray_error() {
            return G::error(&self.endpoint, &error);
        }
        if self.has_begun {
            return broke_off(&self.endpoint);
        }
        // A stream that ends without an event of the protocol may come from a server of another protocol, so it is not retried.
        let error = protocol_error(&self.endpoint, "the stream broke off").with_should_retry(false);
        self.endpoint.with_text(error, &self.events.text())
    }
}

/// Reads one event.
fn read_event<G: ResponseAccumulator>(
    answer: &mut G,
    server: &Endpoint,
    event: &Event,
    ready: &mut VecDeque<StreamEvent>,
) -> Result<Absorbed, ProviderError> {
    if event.name.as_deref() == Some("error") {
        return Err(G::error(server, &error_of(&event.data)));
    }
    match answer.absorb(server, event, ready) {
        Ok(_) if answer.parts() > MAX_PARTS => Err(too_many_parts(server)),
        Ok(Absorbed::Unknown) => match serde_json::from_str(&event.data).ok().as_ref().and_then(flat_error) {
            Some(error) => Err(G::error(server, &error)),
            None => Ok(Absorbed::Unknown),
        },
        Err(error) if error.kind() == ErrorKind::Protocol => {
            if let Some(data) = mended(&event.data).filter(|data| is_json(data.as_bytes())) {
                return answer.absorb(server, &Event { name: event.name.clone(), data }, ready);
            }
            Err(error_instead::<G>(server, event.data.as_bytes(), error))
        }
        other => other,
    }
}

/// Reads a body that is one answer, and returns its fault as an error.
///
/// # Errors
///
/// Returns an error if it is invalid, or is itself an error.
pub(super) fn read_whole<G: ResponseAccumulator>(
    answer: &mut G,
    server: &Endpoint,
    body: &[u8],
) -> Result<(), ProviderError> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    match answer.absorb_whole(server, body) {
        Err(error) if error.kind() == ErrorKind::Protocol => read_other(answer, server, body, error)?,
        other => other?,
    }
    if answer.parts() > MAX_PARTS {
        return Err(too_many_parts(server));
    }
    let Some(fault) = answer.fault() else { return Ok(()) };
    let error = protocol_error(server, fault);
    match serde_json::from_slice(body).ok().as_ref().and_then(flat_error) {
        Some(reason) => Err(G::error(server, &reason)),
        None => Err(server.with_text(error, &String::from_utf8_lossy(body))),
    }
}

/// Reads a body that is not one answer in JSON; `error` is the reason.
fn read_other<G: ResponseAccumulator>(
    answer: &mut G,
    server: &Endpoint,
    body: &[u8],
    error: ProviderError,
) -> Result<(), ProviderError> {
    if is_json(body) {
        return Err(error_instead::<G>(server, body, error));
    }
    let text = String::from_utf8_lossy(body);
    let mut lines = text.trim_start().lines();
    if lines.next().is_some_and(is_of_event) {
        return read_events(answer, server, body);
    }
    let pieces: Result<Vec<&RawValue>, _> = Deserializer::from_slice(body).into_iter().collect();
    if let Ok(pieces) = pieces
        && pieces.len() > 1
    {
        for piece in pieces {
            let event = Event { name: None, data: piece.get().to_owned() };
            if read_event(answer, server, &event, &mut VecDeque::new())? == Absorbed::End {
                return Ok(());
            }
        }
        return if answer.is_finished() { Ok(()) } else { Err(broke_off(server)) };
    }
    match mended(&text).filter(|text| is_json(text.as_bytes())) {
        Some(text) => answer.absorb_whole(server, text.as_bytes()),
        None => Err(server.with_text(error, &text)),
    }
}

/// Whether a line is one of an event, or a comment between events.
fn is_of_event(line: &str) -> bool {
    ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| line.starts_with(field))
}

/// Reads a whole body of events.
fn read_events<G: ResponseAccumulator>(answer: &mut G, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
    let mut events = Events::of(server.provider, Bytes::copy_from_slice(body));
    let mut shown = VecDeque::new();
    loop {
        // All of it is there, so that nothing waits.
        let next = poll_fn(|context| events.poll_next(context)).now_or_never();
        let Some(event) = next.transpose()?.flatten() else {
            return if answer.is_finished() { Ok(()) } else { Err(broke_off(server)) };
        };
        match read_event(answer, server, &event, &mut shown) {
            Ok(Absorbed::End) => return Ok(()),
            Ok(_) => shown.clear(),
            Err(_) if events.has_ended() && !is_json(event.data.as_bytes()) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns the error that stands in an answer that could not be read, or else why it could not.
fn error_instead<G: ResponseAccumulator>(server: &Endpoint, text: &[u8], error: ProviderError) -> ProviderError {
    match serde_json::from_slice(text).ok().as_ref().and_then(answered_error) {
        Some(reason) => G::error(server, &reason),
        None => server.with_text(error, &String::from_utf8_lossy(text)),
    }
}

/// Returns the error of an event of the type `error`: an object with a field `error`, the object itself, or a text.
fn error_of(data: &str) -> Value {
    let Ok(value) = serde_json::from_str::<Value>(data) else { return data.into() };
    answered_error(&value).unwrap_or(value)
}
