//! Redacts the server's own text for display: short, printable, without keys.

use std::cmp::Reverse;

/// The maximum length of a text, in characters.
const LONGEST: usize = 500;
/// The maximum length of a quoted part, which may repeat the prompt, in characters.
const LONGEST_QUOTE: usize = 60;
/// The prefixes of keys.
const KEYS: [&str; 16] = [
    "AIza",
    "Bearer",
    "bearer",
    "eyJ",
    "fw_",
    "ghp_",
    "github_pat_",
    "gsk_",
    "hf_",
    "key-",
    "nvapi-",
    "pplx-",
    "r8_",
    "sk-",
    "xai-",
    "ya29.",
];
const INSTEAD: &str = "[redacted]";

/// Returns the text without `secrets` and words that look like keys; empty if nothing is left.
pub(in crate::http) fn redacted<'a>(text: &str, secrets: impl Iterator<Item = &'a str>) -> String {
    let mut secrets: Vec<_> = secrets.filter(|secret| secret.len() >= 6).collect();
    // Longest first, since one secret may be a part of another.
    secrets.sort_unstable_by_key(|secret| Reverse(secret.len()));
    let known = secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret, INSTEAD));
    let printable: String =
        known.chars().map(|letter| if is_printable(letter) { letter } else { ' ' }).collect::<String>();
    let words: Vec<_> = printable.split_whitespace().map(without_key).collect();
    clipped(&without_long_quotes(&words.join(" ")), LONGEST)
}

/// Returns the first `most` characters of a text, and `…` for the rest.
fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a character is visible: not a control, invisible or bidirectional character.
fn is_printable(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

fn without_key(word: &str) -> String {
    let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '*' | '.');
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find(is_of_key) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|letter| !is_of_key(letter)).unwrap_or(rest.len());
        out.push_str(if is_key(&rest[..end]) { INSTEAD } else { &rest[..end] });
        rest = &rest[end..];
    }
    out + rest
}

/// Whether a word looks like a key: it starts like one, or is long and mixes letters and digits.
fn is_key(word: &str) -> bool {
    let begins = word.len() >= 8 && KEYS.iter().any(|key| word.starts_with(key));
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let upper = word.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = word.bytes().filter(u8::is_ascii_lowercase).count();
    begins || (word.len() >= 24 && digits >= 3 && upper + lower >= 6 && !word.contains('_') && !word.contains('.'))
}

/// Shortens the parts in quotation marks, which may repeat the prompt.
fn without_long_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (place, part) in text.split('"').enumerate() {
        if place > 0 {
            out.push('"');
        }
        let is_quoted = place % 2 == 1;
        if is_quoted {
            out += &clipped(part, LONGEST_QUOTE);
        } else {
            out += part;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::redacted;

    fn shown(text: &str) -> String {
        redacted(text, ["my-own-secret", "my-own-secret-and-more"].into_iter())
    }

    #[test]
    fn no_key_is_shown() {
        for text in [
            "Incorrect API key provided: sk-proj-abcdefgh12345. Find it",
            "key=AIzaSyD4x7abcdefgh1234567890 is bad",
            "bad my-own-secret here",
            "token 'a1B2c3D4e5F6g7H8i9J0k1L2m3' refused",
            "the token eyJhbGciOi.abcdefgh.sig has expired",
            "access_token=ya29.abcdefgh is invalid",
            "bad my-own-secret-and-more here",
        ] {
            let shown = shown(text);
            assert!(shown.contains("[redacted]") && !shown.contains("abcdefgh"), "{shown}");
            assert!(!shown.contains("my-own-secret") && !shown.contains("a1B2"), "{shown}");
            assert!(!shown.contains("-and-more"), "{shown}");
        }
    }

    #[test]
    fn a_text_is_short_and_printable() {
        assert_eq!(shown("a\u{1b}[2J\n\tb\u{202e}c"), "a [2J b c");
        assert_eq!(shown(&"x ".repeat(2000)).chars().count(), 501);
        let quoted = shown(&format!("refused: \"{}\" is bad", "word ".repeat(50)));
        assert!(quoted.len() < 100 && quoted.ends_with("…\" is bad"), "{quoted}");
        let plain = "tools.3.custom.input_schema: JSON schema is invalid (request_id req_1)";
        assert_eq!(shown(plain), plain);
    }
}
