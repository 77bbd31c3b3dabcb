//! How a stream is cut into pieces must not matter: what every provider's tests hold of its streams.

use bytes::Bytes;
use proptest::sample::Index;

/// Cuts bytes at each of the places.
pub(crate) fn split(bytes: &[u8], cuts: &[Index]) -> Vec<Bytes> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| Bytes::copy_from_slice(&bytes[pair[0]..pair[1]])).collect()
}

/// Makes the tests of one stream, given as its bytes, and of what it is read into.
macro_rules! any_split {
    ($stream:expr, $begin:expr) => {
        #[test]
        fn single_bytes_give_the_same_events() {
            let whole = crate::exchange::pieces::read_at_once($begin, $stream);
            assert!(whole.1.is_none(), "{whole:?}");
            assert_eq!(crate::exchange::pieces::read_by_bytes($begin, $stream).0, whole.0);
        }

        #[test]
        fn a_stream_cut_short_anywhere_ends_in_an_answer_or_an_error() {
            for end in 0..$stream.len() {
                let read = crate::exchange::pieces::read_at_once($begin, &$stream[..end]);
                assert!(crate::exchange::pieces::is_ended(&read), "{end}: {read:?}");
            }
        }

        proptest::proptest! {
            #[test]
            fn any_split_gives_the_same_events(
                cuts in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 0..40),
            ) {
                let whole = crate::exchange::pieces::read_at_once($begin, $stream);
                let split = crate::exchange::tests::split($stream, &cuts);
                proptest::prop_assert_eq!(crate::exchange::pieces::read($begin, split).0, whole.0);
            }

            #[test]
            fn any_change_of_a_byte_ends_in_an_answer_or_an_error(
                place in 0..$stream.len(),
                byte in proptest::prelude::any::<u8>(),
            ) {
                let mut bytes = $stream.to_vec();
                bytes[place] = byte;
                let read = crate::exchange::pieces::read_at_once($begin, &bytes);
                proptest::prop_assert!(crate::exchange::pieces::is_ended(&read), "{:?}", read);
            }
        }
    };
}

pub(crate) use any_split;
