//! The byte alphabet of GPT-2: one printable character per byte.

/// Returns the bytes of `text`, if all its characters are in the alphabet.
pub(super) fn bytes(text: &str, alphabet: &[char; 256]) -> Option<Vec<u8>> {
    text.chars().map(|character| byte_of(alphabet, character)).collect()
}

/// Returns the byte of a character.
fn byte_of(alphabet: &[char; 256], character: char) -> Option<u8> {
    alphabet.iter().position(|known| *known == character).and_then(|index| u8::try_from(index).ok())
}

/// Returns the character of each byte: printable bytes represent themselves, the remaining ones are mapped to U+0100 and up.
pub(super) fn alphabet() -> [char; 256] {
    let mut next = 256_u32;
    std::array::from_fn(|byte| {
        let printable = u8::try_from(byte).ok().filter(|byte| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF));
        printable.map_or_else(
            || {
                next += 1;
                char::from_u32(next - 1).unwrap_or_default()
            },
            char::from,
        )
    })
}
