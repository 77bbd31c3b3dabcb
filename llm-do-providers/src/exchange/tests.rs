//! How a stream is cut into pieces must not matter: what every provider's tests hold of its streams.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt, stream};
use proptest::sample::Index;

use super::{Growing, Reading};
use crate::error::ProviderError;
use crate::http::{Endpoint, Events};
use crate::model::StreamEvent;

/// What a stream brought, up to its end or an error.
pub(crate) type Read = (Vec<StreamEvent>, Option<ProviderError>);

/// Reads an answer that comes in `pieces`.
pub(crate) fn read<G: Growing>(answer: G, pieces: Vec<Bytes>) -> Read {
    let chunks = Box::pin(stream::iter(pieces.into_iter().map(Ok)));
    let mut reading = Reading {
        endpoint: Arc::new(Endpoint::new("test", "its protocol", "http://localhost", "").unwrap()),
        events: Events::new("test", chunks),
        answer: Some(answer),
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
    let answer = reading.answer.take();
    let error = match (error, answer) {
        (Some(error), Some(answer)) => Some(error.with_arrived(answer.arrived())),
        (error, answer) => {
            ready.extend(answer.map(|answer| StreamEvent::Done(answer.complete())));
            error
        }
    };
    (ready.into(), error)
}

/// Reads an answer that comes in one piece.
pub(crate) fn read_at_once<G: Growing>(answer: G, bytes: &[u8]) -> Read {
    read(answer, vec![Bytes::copy_from_slice(bytes)])
}

/// Cuts bytes at each of the places.
pub(crate) fn split(bytes: &[u8], cuts: &[Index]) -> Vec<Bytes> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| Bytes::copy_from_slice(&bytes[pair[0]..pair[1]])).collect()
}

/// Whether a stream came to one end: its answer, which is last, or an error.
pub(crate) fn is_ended((events, error): &Read) -> bool {
    let done = events.iter().position(|event| matches!(event, StreamEvent::Done(_)));
    match done {
        Some(place) => place + 1 == events.len() && error.is_none(),
        None => error.as_ref().is_some_and(|error| error.arrived().is_some()),
    }
}

/// Makes the tests of one stream, given as its bytes, and of what it is read into.
macro_rules! any_split {
    ($stream:expr, $begin:expr) => {
        #[test]
        fn single_bytes_give_the_same_events() {
            let whole = crate::exchange::tests::read_at_once($begin, $stream);
            let bytes = $stream.iter().map(|byte| bytes::Bytes::copy_from_slice(&[*byte])).collect();
            assert!(whole.1.is_none(), "{whole:?}");
            assert_eq!(crate::exchange::tests::read($begin, bytes).0, whole.0);
        }

        #[test]
        fn a_stream_cut_short_anywhere_ends_in_an_answer_or_an_error() {
            for end in 0..$stream.len() {
                let read = crate::exchange::tests::read_at_once($begin, &$stream[..end]);
                assert!(crate::exchange::tests::is_ended(&read), "{end}: {read:?}");
            }
        }

        proptest::proptest! {
            #[test]
            fn any_split_gives_the_same_events(
                cuts in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..40),
            ) {
                let whole = crate::exchange::tests::read_at_once($begin, $stream);
                let split = crate::exchange::tests::split($stream, &cuts);
                proptest::prop_assert_eq!(crate::exchange::tests::read($begin, split).0, whole.0);
            }

            #[test]
            fn any_change_of_a_byte_ends_in_an_answer_or_an_error(
                place in 0..$stream.len(),
                byte in proptest::prelude::any::<u8>(),
            ) {
                let mut bytes = $stream.to_vec();
                bytes[place] = byte;
                let read = crate::exchange::tests::read_at_once($begin, &bytes);
                proptest::prop_assert!(crate::exchange::tests::is_ended(&read), "{:?}", read);
            }
        }
    };
}

pub(crate) use any_split;
