//! Repairs JSON as Python writes it: unpaired surrogates, `NaN` and `Infinity`.

/// The escape of the replacement character.
const REPLACEMENT: &str = "\\ufffd";

/// Returns the repaired JSON; `None` if nothing had to be repaired.
pub(super) fn repaired(json: &str) -> Option<String> {
    let (mut out, mut rest, mut is_changed) = (String::with_capacity(json.len()), json, false);
    let mut in_string = false;
    while let Some(place) = rest.find(['"', '\\', 'N', 'I']) {
        let (before, found) = rest.split_at(place);
        out.push_str(before);
        let (written, length) = match found.as_bytes()[0] {
            b'"' => {
                in_string = !in_string;
                ("\"", 1)
            }
            b'\\' if in_string => escape(found),
            b'N' if !in_string && found.starts_with("NaN") => ("null", 3),
            b'I' if !in_string && found.starts_with("Infinity") => {
                if out.ends_with('-') {
                    out.pop();
                }
                ("null", 8)
            }
            _ => (&found[..1], 1),
        };
        is_changed |= written != &found[..length];
        out.push_str(written);
        rest = &found[length..];
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// Returns the repaired form of the escape that `text` starts with, and the length of the escape in bytes.
fn escape(text: &str) -> (&str, usize) {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let Some(first) = unit(text) else {
        // The escaped character may have several bytes.
        let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
        return (&text[..length], length);
    };
    match first {
        0xD800..=0xDBFF => match unit(&text[6..]) {
            Some(0xDC00..=0xDFFF) => (&text[..12], 12),
            _ => (REPLACEMENT, 6),
        },
        0xDC00..=0xDFFF => (REPLACEMENT, 6),
        _ => (&text[..6], 6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::repaired;

    #[test]
    fn half_a_pair_becomes_a_replacement_and_nan_becomes_null() {
        let read = |text: &str| {
            let json = repaired(text).unwrap();
            assert_eq!(repaired(&json), None, "{json}");
            serde_json::from_str::<Value>(&json).unwrap()
        };
        assert_eq!(read(r#"{"a": "x\ud83d"}"#), json!({"a": "x\u{fffd}"}));
        assert_eq!(read(r#"{"a": "\udd80\ud83e\udd80"}"#), json!({"a": "\u{fffd}🦀"}));
        assert_eq!(
            read(r#"{"a": [NaN, -Infinity, Infinity], "b": "NaN \"NaN\""}"#),
            json!({"a": [null, null, null], "b": "NaN \"NaN\""})
        );
        for text in [r#"{"a": "\ud83e\udd80 \\ud83d NaN"}"#, "", "{", r#""\"#, r#""\u12"#, r#""\é"#] {
            assert_eq!(repaired(text), None, "{text}");
        }
    }
}
