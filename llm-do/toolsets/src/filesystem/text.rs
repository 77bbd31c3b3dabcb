//! Text files: decoding, line endings and lines.

use std::path::Path;

use super::fault::{Fault, shown};

/// The byte order mark that some editors write at the start of a UTF-8 file.
pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Decodes a file, which must be UTF-8 without NUL characters; its byte order mark is kept.
pub(super) fn decode(bytes: Vec<u8>, path: &Path) -> Result<String, Fault> {
    let fault = |what, offset| Fault::NotText { path: shown(path), what, offset };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(fault("a byte order mark of UTF-16", 0));
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Err(fault("a NUL character, as in binary files,", offset));
    }
    String::from_utf8(bytes).map_err(|error| fault("an invalid sequence", error.utf8_error().valid_up_to()))
}

/// Returns the text without a byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns the lines of a text without their ends; a final line break begins no line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
}

/// Returns the start of a text, and the number of omitted characters.
pub(super) fn cut(text: &str, max: usize) -> (&str, usize) {
    match text.char_indices().nth(max) {
        Some((end, _)) => (&text[..end], text[end..].chars().count()),
        None => (text, 0),
    }
}

/// Describes the size of a text: `2 lines, 12 bytes`.
pub(super) fn size(text: &str) -> String {
    format!("{}, {}", count(lines(text).count(), "line"), count(text.len(), "byte"))
}

/// Returns a number with its unit, in the plural unless it is 1.
pub(super) fn count(number: usize, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {}", plural(unit)) }
}

/// Returns the plural of a unit.
pub(super) fn plural(unit: &str) -> String {
    let ending = if unit.ends_with("ch") { "es" } else { "s" };
    format!("{unit}{ending}")
}
