//! The ids of calls.

use std::borrow::Cow;

/// The digits of a new id.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ids that a provider accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdRule {
    /// At most this number of bytes, without white space and control characters.
    Printable(usize),
    /// At most this number of letters, digits, `_` and `-`.
    Word(usize),
    /// Exactly this number of letters and digits.
    Exact(usize),
}

impl IdRule {
    fn accepts(self, id: &str) -> bool {
        match self {
            Self::Printable(most) => (1..=most).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()),
            Self::Word(most) => (1..=most).contains(&id.len()) && id.chars().all(is_word),
            Self::Exact(length) => id.len() == length && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }
}

/// Returns the id that a call and its result are sent with; `repeat` earlier calls have an id with the same [key].
pub(crate) fn call_id(id: &str, repeat: u32, rule: IdRule) -> Cow<'_, str> {
    if repeat == 0 && rule.accepts(id) {
        return id.into();
    }
    match rule {
        IdRule::Exact(length) => digits(id, repeat, length).into(),
        IdRule::Word(_) if repeat == 0 && rule.accepts(&key(id)) => key(id),
        IdRule::Word(_) | IdRule::Printable(_) => format!("call_{}", digits(id, repeat, 12)).into(),
    }
}

/// Returns the id without the characters that providers refuse. Ids with the same key are counted together, since they
/// could be sent as the same id.
pub(super) fn key(id: &str) -> Cow<'_, str> {
    if id.chars().all(is_word) {
        return id.into();
    }
    id.chars().map(|letter| if is_word(letter) { letter } else { '_' }).collect()
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
}

/// Returns `length` digits that are a hash of an id.
fn digits(id: &str, repeat: u32, length: usize) -> String {
    let repeated = repeat.to_le_bytes();
    let repeated = if repeat == 0 { &[][..] } else { &repeated };
    // FNV-1a, which is stable across programs. Two ids of a conversation collide with a probability of 10⁻¹³.
    let mut hash = id
        .bytes()
        .chain(repeated.iter().copied())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let digits = (0..length).map(|_| {
        let digit = DIGITS[usize::try_from(hash % 62).unwrap_or_default()];
        hash /= 62;
        char::from(digit)
    });
    digits.collect()
}
