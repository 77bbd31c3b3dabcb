//! Tests for the streams of every provider: the boundaries of the pieces must not matter.

use bytes::Bytes;
use proptest::sample::Index;

use super::pieces::ReadResult;
use crate::model::StreamEvent;

/// Splits bytes at each of the offsets.
pub(crate) fn split(bytes: &[u8], cuts: &[Index]) -> Vec<Bytes> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| Bytes::copy_from_slice(&bytes[pair[0]..pair[1]])).collect()
}

/// Compares a truncated stream with the whole one: it returns the whole answer, except for usage that follows
/// it, or an error with what arrived, without cut-off calls.
pub(crate) fn assert_cut((shown, error): &ReadResult, (whole, _): &ReadResult) {
    let Some((StreamEvent::Done(answer), pieces)) = whole.split_last() else { panic!("no answer: {whole:?}") };
    match (shown.split_last(), error) {
        (Some((StreamEvent::Done(cut), shown)), None) => {
            assert_eq!((&cut.parts, cut.finish), (&answer.parts, answer.finish));
            assert_eq!(shown, pieces);
        }
        (_, Some(error)) => {
            assert!(pieces.starts_with(shown), "{shown:?}");
            let arrived = error.partial_response().expect("what arrived");
            assert!(answer.text().starts_with(&arrived.text()), "{arrived:?}");
            assert!(arrived.tool_calls().all(|call| answer.tool_calls().any(|whole| whole == call)), "{arrived:?}");
        }
        other => panic!("neither an answer nor an error: {other:?}"),
    }
}

/// Defines the tests of one stream, given as its bytes and its accumulator.
macro_rules! any_split {
    ($stream:expr, $begin:expr) => {
        #[test]
        fn single_bytes_give_the_same_events() {
            let whole = crate::exchange::pieces::read_whole($begin, $stream);
            assert!(whole.1.is_none(), "{whole:?}");
            assert_eq!(crate::exchange::pieces::read_by_bytes($begin, $stream).0, whole.0);
        }

        #[test]
        fn a_stream_cut_short_anywhere_is_the_whole_answer_or_an_error_with_what_arrived() {
            let whole = crate::exchange::pieces::read_whole($begin, $stream);
            for end in 0..$stream.len() {
                let cut = crate::exchange::pieces::read_whole($begin, &$stream[..end]);
                crate::exchange::tests::assert_cut(&cut, &whole);
            }
        }

        proptest::proptest! {
            #[test]
            fn any_split_gives_the_same_events(
                cuts in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..40),
            ) {
                let whole = crate::exchange::pieces::read_whole($begin, $stream);
                let split = crate::exchange::tests::split($stream, &cuts);
                proptest::prop_assert_eq!(crate::exchange::pieces::read($begin, split).0, whole.0);
            }

            #[test]
            fn no_change_of_a_byte_is_more_than_an_error(
                place in 0..$stream.len(),
                byte in proptest::prelude::any::<u8>(),
            ) {
                let mut bytes = $stream.to_vec();
                bytes[place] = byte;
                // Any end is fine: it must neither panic nor wait for more.
                drop(crate::exchange::pieces::read_whole($begin, &bytes));
            }
        }
    };
}

pub(crate) use any_split;
