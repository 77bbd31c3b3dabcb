//! Shortens text to a number of bytes, at the boundary of a character.

/// Returns the longest beginning of a text that has at most `bytes` bytes.
// The standard library has `str::floor_char_boundary` from Rust 1.91 on.
pub(crate) fn clip(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn a_character_that_does_not_fit_is_left_out_whole() {
        assert_eq!(clip("aé", 2), "a");
        assert_eq!(clip("aé", 3), "aé");
        assert_eq!(clip("é", 1), "");
        assert_eq!(clip("short", 100), "short");
    }
}
