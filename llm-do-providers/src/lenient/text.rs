//! Strings that some servers send as numbers.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads a string, or a number as a string; `None` for any other value.
///
/// # Errors
///
/// Returns an error if it is not JSON.
pub(crate) fn text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: From<String> + for<'a> From<&'a str>,
{
    deserializer.deserialize_any(TextVisitor(PhantomData))
}

struct TextVisitor<T>(PhantomData<T>);

/// The visitors for numbers, which become strings.
macro_rules! numbers {
    ($($visit:ident($kind:ty))*) => {
        $(fn $visit<E>(self, number: $kind) -> Result<Self::Value, E> {
            Ok(Some(number.to_string().into()))
        })*
    };
}

impl<'de, T: From<String> + for<'a> From<&'a str>> Visitor<'de> for TextVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(text.into()))
    }

    numbers!(visit_u64(u64) visit_i64(i64) visit_f64(f64));
    others_are!(None; visit_bool(bool));
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Id {
        #[serde(default, deserialize_with = "super::text")]
        id: Option<String>,
    }

    #[test]
    fn a_number_is_its_text_and_another_value_is_missing() {
        let id = |json: &str| serde_json::from_str::<Id>(json).unwrap().id;
        for (json, text) in [("\"a\\n\"", "a\n"), ("7", "7"), ("-7", "-7"), ("0.5", "0.5"), ("\"\"", "")] {
            assert_eq!(id(&format!("{{\"id\": {json}}}")).as_deref(), Some(text));
        }
        for json in ["{}", "{\"id\": null}", "{\"id\": [\"a\", [1]]}", "{\"id\": {\"b\": {}}}", "{\"id\": true}"] {
            assert_eq!(id(json), None, "{json}");
        }
    }
}
