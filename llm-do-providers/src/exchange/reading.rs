//! Reads an answer in any form (events, JSON or lines of JSON), and errors in place of an answer.

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
use super::json_repair::repaired;
use super::{Absorbed, MAX_PARTS, ResponseAccumulator};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Endpoint, Event, Events, answered_error, error_of, flat_error, names_error};
use crate::model::StreamEvent;

/// One response of a streamed answer, which may have several, separated by pauses.
pub(super) struct Reading<G> {
    endpoint: Arc<Endpoint>,
    events: Events,
    /// `None` after its end.
    pub(super) answer: Option<G>,
    /// Whether an event of the protocol has arrived.
    has_begun: bool,
    /// Whether the answer arrived as a single JSON value, so that no event was shown.
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
        if matches!(next, Ok(None))
            && !answer.is_finished()
            && let Some(body) = self.events.json()
        {
            self.is_whole = true;
            return read_whole(answer, &self.endpoint, &body).map(|()| false);
        }
        if take_next(answer, &self.endpoint, &self.events, &mut self.has_begun, next, ready)? {
            return Ok(true);
        }
        match answer.fault() {
            Some(fault) => Err(protocol_error(&self.endpoint, fault)),
            None => Ok(false),
        }
    }
}

/// Takes the next event, or the end of the events, and returns whether more may follow.
fn take_next<G: ResponseAccumulator>(
    answer: &mut G,
    server: &Endpoint,
    events: &Events,
    has_begun: &mut bool,
    next: Result<Option<Event>, ProviderError>,
    ready: &mut VecDeque<StreamEvent>,
) -> Result<bool, ProviderError> {
    let event = match next {
        Ok(Some(event)) => event,
        // The answer is complete even if its end mark, or the usage after it, is missing.
        Ok(None) | Err(_) if answer.is_finished() => return Ok(false),
        Ok(None) => return Err(ended::<G>(server, events, *has_begun)),
        Err(error) => return Err(error),
    };
    let read = read_event(answer, server, &event, ready);
    *has_begun |= !matches!(read, Ok(Absorbed::Unknown));
    match read {
        Ok(Absorbed::End) => unless_stray::<G>(server, events, answer.is_finished()).map(|()| false),
        Ok(Absorbed::More | Absorbed::Unknown) => Ok(true),
        Err(_) if is_cut_off(events, &event) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns the error of a stream that ended before the answer.
fn ended<G: ResponseAccumulator>(server: &Endpoint, events: &Events, has_begun: bool) -> ProviderError {
    if let Some(error) = events.stray_error() {
        return G::error(server, &error);
    }
    if has_begun || events.is_cut_off() {
        return broke_off(server);
    }
    // A stream that ends without an event of the protocol may come from a server of another protocol, so it is not retried.
    let error = protocol_error(server, "the stream broke off").with_should_retry(false);
    server.with_text(error, &events.text())
}

/// Returns an error if the answer is not finished, but an error that is not an event precedes the end mark.
fn unless_stray<G: ResponseAccumulator>(
    server: &Endpoint,
    events: &Events,
    is_finished: bool,
) -> Result<(), ProviderError> {
    let error = if is_finished { None } else { events.stray_error() };
    error.map_or(Ok(()), |error| Err(G::error(server, &error)))
}

/// Whether an invalid event is the last one and cut off. A cut-off error event is still an error.
fn is_cut_off(events: &Events, event: &Event) -> bool {
    events.has_ended()
        && event.name.as_deref() != Some("error")
        && !is_json(event.data.as_bytes())
        && repaired_json(&event.data).is_none()
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
        Ok(Absorbed::Unknown) => {
            // A message in an event of another name, such as `notice`, is not an error.
            let may_be_flat = event.name.as_deref().is_none_or(|name| name == "message" || names_error(name));
            let find: fn(&Value) -> Option<Value> = if may_be_flat { flat_error } else { answered_error };
            match serde_json::from_str::<Value>(&event.data).ok().as_ref().and_then(find) {
                Some(error) => Err(G::error(server, &error)),
                None => Ok(Absorbed::Unknown),
            }
        }
        Err(error) if error.kind() == ErrorKind::Protocol => {
            if let Some(data) = repaired_json(&event.data) {
                // This recursion ends, since a repaired text needs no repair.
                return read_event(answer, server, &Event { name: event.name.clone(), data }, ready);
            }
            Err(error_instead::<G>(server, event.data.as_bytes(), error))
        }
        other => other,
    }
}

/// Reads a body that is one answer.
///
/// # Errors
///
/// Returns an error if the body is invalid, reports an error, or has a fault.
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

/// Reads a body that is not an answer as JSON, for the reason `error`.
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
    match repaired_json(&text) {
        Some(text) => answer.absorb_whole(server, text.as_bytes()),
        None => Err(server.with_text(error, &text)),
    }
}

/// Whether a line belongs to an event, or is a comment between events.
fn is_of_event(line: &str) -> bool {
    ["data:", "event:", "id:", "retry:", "error:", ":"].iter().any(|field| line.starts_with(field))
}

/// Reads a whole body of events.
fn read_events<G: ResponseAccumulator>(answer: &mut G, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
    let mut events = Events::from_body(server.provider, Bytes::copy_from_slice(body));
    let (mut shown, mut has_begun) = (VecDeque::new(), false);
    loop {
        // The whole body is available, so this never waits.
        let next = poll_fn(|context| events.poll_next(context)).now_or_never().unwrap_or(Ok(None));
        if !take_next(answer, server, &events, &mut has_begun, next, &mut shown)? {
            return Ok(());
        }
        shown.clear();
    }
}

/// Returns the repaired JSON of a text; `None` if it needs no repair or is not JSON even then.
fn repaired_json(text: &str) -> Option<String> {
    repaired(text).filter(|text| is_json(text.as_bytes()))
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns the error that an invalid answer contains, or else `error`.
fn error_instead<G: ResponseAccumulator>(server: &Endpoint, text: &[u8], error: ProviderError) -> ProviderError {
    match serde_json::from_slice(text).ok().as_ref().and_then(answered_error) {
        Some(reason) => G::error(server, &reason),
        None => server.with_text(error, &String::from_utf8_lossy(text)),
    }
}
