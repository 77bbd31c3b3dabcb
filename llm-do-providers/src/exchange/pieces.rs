//! Reads a stream whose pieces are all available, for tests of arbitrary boundaries.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, stream};

use super::ResponseAccumulator;
use super::reading::Reading;
use super::streaming::shown;
use crate::error::ProviderError;
use crate::http::{Endpoint, Events};
use crate::model::StreamEvent;

/// The events of a stream, up to its end or an error.
pub(crate) type ReadResult = (Vec<StreamEvent>, Option<ProviderError>);

/// Reads an answer that comes in `pieces`.
pub(crate) fn read<G: ResponseAccumulator>(answer: G, pieces: Vec<Bytes>) -> ReadResult {
    let endpoint = Endpoint::new("test", "its protocol", "http://localhost", "").expect("a URL");
    let events = Events::new("test", Box::pin(stream::iter(pieces.into_iter().map(Ok))));
    let mut reading = Reading::new(Arc::new(endpoint), events, answer);
    let mut ready = VecDeque::new();
    let error = loop {
        match poll_fn(|context| reading.poll_step(context, &mut ready))
            .now_or_never()
            .expect("all pieces are there, so that nothing waits")
        {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    let (answer, is_whole) = (reading.answer.take(), reading.is_whole);
    let error = match (error, answer) {
        (Some(error), Some(answer)) => Some(error.with_partial_response(answer.partial_response())),
        (error, answer) => {
            if let Some(response) = answer.map(ResponseAccumulator::complete) {
                if is_whole {
                    ready.extend(shown(&response));
                }
                ready.push_back(StreamEvent::Done(response));
            }
            error
        }
    };
    (ready.into(), error)
}

/// Reads an answer that arrives in one piece.
pub(crate) fn read_whole<G: ResponseAccumulator>(answer: G, bytes: &[u8]) -> ReadResult {
    read(answer, vec![Bytes::copy_from_slice(bytes)])
}

/// Reads an answer of which each byte is a piece.
pub(crate) fn read_by_bytes<G: ResponseAccumulator>(answer: G, bytes: &[u8]) -> ReadResult {
    read(answer, bytes.chunks(1).map(Bytes::copy_from_slice).collect())
}
