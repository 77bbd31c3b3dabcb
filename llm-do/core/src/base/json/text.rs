//! Texts in JSON.

/// Adds a text, with quotes and escapes.
pub(crate) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(plain) = first_escaped(rest.as_bytes()) {
        out.push_str(&rest[..plain]);
        write_escape(out, rest.as_bytes()[plain]);
        rest = &rest[plain + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Returns whether a text has a byte that JSON escapes: a quote, a backslash or a control character.
pub(crate) fn has_escaped(text: &[u8]) -> bool {
    first_escaped_word(text).is_some()
}

/// Returns the index of the first byte that JSON escapes.
fn first_escaped(text: &[u8]) -> Option<usize> {
    let start = first_escaped_word(text)?;
    text[start..].iter().position(|byte| is_escaped(*byte)).map(|place| start + place)
}

/// Returns the index of the first eight bytes that contain an escaped byte; a multiple of eight.
fn first_escaped_word(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    let whole = words.iter().position(|word| is_any_escaped(u64::from_ne_bytes(*word)));
    whole.or_else(|| has_escaped_at_end(text).then_some(words.len())).map(|word| word * 8)
}

/// Returns whether one of the last eight bytes is escaped.
fn has_escaped_at_end(text: &[u8]) -> bool {
    if let Some(end) = text.last_chunk::<8>() {
        is_any_escaped(u64::from_ne_bytes(*end))
    } else if let (Some(start), Some(end)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let (start, end) = (u32::from_ne_bytes(*start), u32::from_ne_bytes(*end));
        is_any_escaped(u64::from(start) << 32 | u64::from(end))
    } else {
        text.iter().any(|byte| is_escaped(*byte))
    }
}

fn is_escaped(byte: u8) -> bool {
    const ESCAPED: [bool; 256] = {
        let mut escaped = [false; 256];
        let mut control = 0;
        while control < 0x20 {
            escaped[control] = true;
            control += 1;
        }
        escaped[b'"' as usize] = true;
        escaped[b'\\' as usize] = true;
        escaped
    };
    ESCAPED[usize::from(byte)]
}

/// Returns whether one of eight bytes is escaped. Each test sets the highest bit of the first byte for which it holds,
/// and possibly of later bytes.
fn is_any_escaped(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES * 0x80;
    let is_below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let is_equal = |byte: u8| is_below(word ^ (ONES * u64::from(byte)), 1);
    (is_below(word, 0x20) | is_equal(b'"') | is_equal(b'\\')) & HIGH != 0
}

fn write_escape(out: &mut String, byte: u8) {
    out.push_str(match byte {
        b'"' => "\\\"",
        b'\\' => "\\\\",
        0x08 => "\\b",
        0x09 => "\\t",
        0x0a => "\\n",
        0x0c => "\\f",
        0x0d => "\\r",
        _ => {
            let digit = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
            out.extend(['\\', 'u', '0', '0', digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{has_escaped, write_text};

    proptest! {
        #[test]
        fn texts_are_escaped_as_serde_json_does(text in prop_oneof![any::<String>(), "[\\x00-\\x24a\\\\ä\\x7f]{0,40}"]) {
            let mut out = String::new();
            write_text(&mut out, &text);
            prop_assert_eq!(has_escaped(text.as_bytes()), out.len() > text.len() + 2);
            prop_assert_eq!(out, serde_json::to_string(&text).unwrap());
        }
    }
}
