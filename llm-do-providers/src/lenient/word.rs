//! Borrowed strings.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A string that is only inspected, and borrowed if possible; serde would copy a `Cow` in an `Option`. Empty if the
/// value is not a string.
#[derive(Debug, Default)]
pub(crate) struct Word<'a>(Cow<'a, str>);

impl Word<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Word<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Word(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Word(text.to_owned().into()))
    }

    others_are!(Word("".into()); visit_u64(u64) visit_i64(i64) visit_f64(f64) visit_bool(bool));
}

#[cfg(test)]
mod tests {
    use super::Word;

    #[test]
    fn a_string_is_copied_only_if_it_has_escapes() {
        let words: [Word<'_>; 2] = serde_json::from_str(r#"["plain", "es\"caped"]"#).unwrap();
        assert!(matches!(&words[0], Word(std::borrow::Cow::Borrowed("plain"))));
        assert_eq!(words[1].as_str(), "es\"caped");
    }

    #[test]
    fn a_value_that_is_not_a_string_is_empty() {
        for json in ["null", "7", "-7", "0.5", "true", "[\"a\"]", "{\"a\": \"b\"}"] {
            assert_eq!(serde_json::from_str::<Word<'_>>(json).unwrap().as_str(), "", "{json}");
        }
    }
}
