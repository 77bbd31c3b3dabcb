//! Shortens text to a number of bytes, at the boundary of a character, and lists of diagnostics to the first ones.

use std::borrow::Cow;

/// The maximum number of shown faults or warnings of one kind; an untrusted file may have any number.
pub const MAX_DIAGNOSTICS: usize = 20;
/// The maximum length of a shown diagnostic, in bytes.
const MAX_DIAGNOSTIC: usize = 4_000;

/// Returns the longest beginning of a text with at most `bytes` bytes.
// The standard library has `str::floor_char_boundary` from Rust 1.91 on.
#[must_use]
pub fn clip(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    &text[..end]
}

/// Returns the longest end of a text that has at most `bytes` bytes.
pub(crate) fn clip_start(text: &str, bytes: usize) -> &str {
    let start = text.len().saturating_sub(bytes);
    let start = (start..=text.len()).find(|start| text.is_char_boundary(*start)).unwrap_or(text.len());
    &text[start..]
}

/// Returns a diagnostic in its shown form, since a name in it may have any length.
#[must_use]
pub fn diagnostic(text: &str) -> Cow<'_, str> {
    match clip(text, MAX_DIAGNOSTIC) {
        whole if whole.len() == text.len() => Cow::Borrowed(text),
        start => Cow::Owned(format!("{start}… [{} more bytes]", text.len() - start.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::{clip, clip_start};

    #[test]
    fn a_character_that_does_not_fit_is_left_out_whole() {
        assert_eq!(clip("aé", 2), "a");
        assert_eq!(clip("aé", 3), "aé");
        assert_eq!(clip("é", 1), "");
        assert_eq!(clip("short", 100), "short");
        assert_eq!(clip_start("éa", 2), "a");
        assert_eq!(clip_start("éa", 3), "éa");
        assert_eq!(clip_start("é", 1), "");
        assert_eq!(clip_start("short", 100), "short");
    }
}
