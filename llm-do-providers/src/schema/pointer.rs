//! Resolves references.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Returns the target of `reference`, if it is within `root`.
pub(crate) fn pointed<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    root.pointer(&decoded(reference.strip_prefix('#')?))
}

/// Returns the JSON pointer that the fragment of a URI is: there, a name such as `Größe` is percent-encoded
/// (<https://www.rfc-editor.org/rfc/rfc6901#section-6>).
pub(crate) fn decoded(fragment: &str) -> Cow<'_, str> {
    percent_decode_str(fragment).decode_utf8_lossy()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pointed;

    #[test]
    fn a_reference_may_be_percent_encoded_or_not() {
        let root = json!({"$defs": {"Größe": 1, "two words": 2, "a/b": 3, "100%": 4}});
        let to = |reference: &str| pointed(&root, reference).and_then(serde_json::Value::as_u64);
        for (reference, expected) in [
            ("#/$defs/Gr%C3%B6%C3%9Fe", 1),
            ("#/$defs/Größe", 1),
            ("#/$defs/two%20words", 2),
            ("#/$defs/a~1b", 3),
            ("#/$defs/100%25", 4),
            ("#/$defs/100%", 4),
        ] {
            assert_eq!(to(reference), Some(expected), "{reference}");
        }
        assert_eq!((to("#/$defs/Gr"), to("$defs/Größe")), (None, None));
        assert_eq!(pointed(&root, "#"), Some(&root));
    }
}
