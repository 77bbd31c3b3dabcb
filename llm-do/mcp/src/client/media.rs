//! Media types and files in the form in which servers write them.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The decoder of base64 with or without padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
/// The longest media type, in bytes.
const MAX_TYPE: usize = 100;

/// Returns a media type in lower case and without parameters; `None` if it is invalid.
pub(super) fn media_type(text: &str) -> Option<String> {
    let kind = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|char| char.is_ascii_alphanumeric() || "!#$&^_.+-".contains(char))
    };
    let (group, name) = kind.split_once('/')?;
    if kind.len() > MAX_TYPE || !is_part(group) || !is_part(name) {
        return None;
    }
    // Many programs write `image/jpg`, which no model accepts.
    Some(if kind == "image/jpg" { "image/jpeg".to_owned() } else { kind })
}

/// Decodes base64 of either alphabet, with line breaks, without padding, or as a `data:` URL; `None` for other text.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let text = match text.get(..5).filter(|start| start.eq_ignore_ascii_case("data:")) {
        Some(_) => text.split_once(',').filter(|(head, _)| head.to_ascii_lowercase().ends_with(";base64"))?.1,
        None => text,
    };
    let standard = |char: char| match char {
        '-' => '+',
        '_' => '/',
        char => char,
    };
    let plain: String = text.chars().filter(|char| !char.is_ascii_whitespace()).map(standard).collect();
    LENIENT.decode(plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_servers_write_it() {
        for text in ["+/8AAQ==", "+/8A\r\nAQ==", "+/8AAQ", "-_8AAQ", "data:image/png;base64,+/8AAQ==", " +/8AAQ== \n"] {
            assert_eq!(decoded(text).as_deref(), Some(&[0xfb, 0xff, 0, 1][..]), "{text}");
        }
        for text in ["!!", "data:image/png,abc", "a"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn media_types_are_compared_without_parameters_and_capitals() {
        assert_eq!(media_type("IMAGE/PNG; charset=binary").as_deref(), Some("image/png"));
        assert_eq!(media_type("image/jpg").as_deref(), Some("image/jpeg"));
        for text in ["", "png", "image/", "image/p ng", "a/b/c"] {
            assert_eq!(media_type(text), None, "{text}");
        }
    }
}
