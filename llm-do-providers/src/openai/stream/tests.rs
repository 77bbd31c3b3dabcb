//! How a stream is cut into pieces must not matter.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Answer, Reading};
use crate::error::ProviderError;
use crate::http::{Endpoint, Events};
use crate::model::StreamEvent;

/// Line ends of all kinds, a comment, characters of several bytes, and data in two lines.
const STREAM: &str = "\u{feff}: hello\n\n\
    data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße, 世界 🦀\"}}]}\r\n\r\n\
    event: message\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\r\n\
    data: \"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\"\"}}]}}]}\r\n\r\n\
    data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}}]}\n\n\
    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}}\n\n\
    data: [DONE]\n\n";

/// The events in `pieces`, up to an error.
fn events(pieces: Vec<Bytes>) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let chunks = Box::pin(stream::iter(pieces.into_iter().map(Ok)));
    let mut reading = Reading {
        endpoint: Arc::new(Endpoint::new("openai", "http://localhost", "").unwrap()),
        model: "m".into(),
        turn: 0,
        events: Events::new("openai", chunks),
        answer: Answer::default(),
    };
    let mut ready = VecDeque::new();
    let error = loop {
        // The pieces are all there, so that nothing ever waits.
        match reading.step(&mut ready).now_or_never().unwrap() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    (ready.into(), error)
}

fn split(bytes: &[u8], cuts: &[prop::sample::Index]) -> Vec<Bytes> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| Bytes::copy_from_slice(&bytes[pair[0]..pair[1]])).collect()
}

#[test]
fn the_stream_has_four_events() {
    let (events, error) = events(vec![Bytes::from_static(STREAM.as_bytes())]);
    assert!(error.is_none());
    let [StreamEvent::Text(_), StreamEvent::ToolCall { .. }, StreamEvent::ToolCall { .. }, StreamEvent::Done(response)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(response.text(), "Grüße, 世界 🦀");
    assert_eq!(response.tool_calls().next().unwrap().arguments, "{\"a\":1}");
    assert_eq!(response.usage.output_tokens, 2);
}

#[test]
fn single_bytes_give_the_same_events() {
    let whole = events(vec![Bytes::from_static(STREAM.as_bytes())]);
    let bytes = STREAM.bytes().map(|byte| Bytes::copy_from_slice(&[byte])).collect();
    assert_eq!(events(bytes).0, whole.0);
}

proptest! {
    #[test]
    fn any_split_gives_the_same_events(cuts in vec(any::<prop::sample::Index>(), 0..40)) {
        let whole = events(vec![Bytes::from_static(STREAM.as_bytes())]);
        prop_assert_eq!(events(split(STREAM.as_bytes(), &cuts)).0, whole.0);
    }

    #[test]
    fn a_stream_cut_short_ends_in_an_answer_or_an_error(end in 0..STREAM.len()) {
        let (events, error) = events(vec![Bytes::from_static(&STREAM.as_bytes()[..end])]);
        let done = matches!(events.last(), Some(StreamEvent::Done(_)));
        prop_assert_ne!(done, error.is_some());
    }

    #[test]
    fn any_change_of_a_byte_ends_in_an_answer_or_an_error(place in 0..STREAM.len(), byte in any::<u8>()) {
        let mut bytes = STREAM.as_bytes().to_vec();
        bytes[place] = byte;
        let (events, error) = events(vec![bytes.into()]);
        let done = matches!(events.last(), Some(StreamEvent::Done(_)));
        prop_assert_ne!(done, error.is_some());
    }
}
