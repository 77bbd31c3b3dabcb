//! The letters that stand for bytes in vocabularies of bytes, as GPT-2 has them.

/// Returns the bytes that `text` stands for, if all of its letters stand for one.
pub(super) fn bytes(text: &str, alphabet: &[char; 256]) -> Option<Vec<u8>> {
    text.chars().map(|letter| byte_of(alphabet, letter)).collect()
}

/// Returns the byte that `letter` stands for.
fn byte_of(alphabet: &[char; 256], letter: char) -> Option<u8> {
    alphabet.iter().position(|known| *known == letter).and_then(|place| u8::try_from(place).ok())
}

/// Returns the letter of each byte: a byte that can be printed stands for itself, the others have the letters from 256 on.
pub(super) fn alphabet() -> [char; 256] {
    let mut next = 256_u32;
    std::array::from_fn(|byte| {
        let own = u8::try_from(byte).ok().filter(|byte| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF));
        own.map_or_else(
            || {
                next += 1;
                char::from_u32(next - 1).unwrap_or_default()
            },
            char::from,
        )
    })
}
