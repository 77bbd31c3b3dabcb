//! JSON in a string, or directly.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A string that contains JSON; some servers send the JSON itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct JsonText(String);

impl JsonText {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonTextVisitor)
    }
}

struct JsonTextVisitor;

/// The visitors for values that are kept as JSON.
macro_rules! written {
    ($($visit:ident($kind:ty))*) => {
        $(fn $visit<E>(self, value: $kind) -> Result<JsonText, E> {
            Ok(JsonText(Value::from(value).to_string()))
        })*
    };
}

impl<'de> Visitor<'de> for JsonTextVisitor {
    type Value = JsonText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string with JSON, or JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonText, E> {
        Ok(JsonText(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<JsonText, E> {
        Ok(JsonText(text))
    }

    written!(visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64));

    fn visit_unit<E>(self) -> Result<JsonText, E> {
        Ok(JsonText(Value::Null.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<JsonText, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(|value| JsonText(value.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<JsonText, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(fields)).map(|value| JsonText(value.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::JsonText;

    #[test]
    fn a_string_is_taken_as_it_is_and_any_other_value_as_its_json() {
        let texts = [(r#""{\"a\": 1}""#, r#"{"a": 1}"#), (r#"{"a": [1]}"#, r#"{"a":[1]}"#), ("[true]", "[true]")];
        let others = ["-7", "7", "0.5", "true", "null"].map(|json| (json, json));
        for (json, text) in texts.into_iter().chain(others) {
            assert_eq!(serde_json::from_str::<JsonText>(json).unwrap(), JsonText(text.to_owned()), "{json}");
        }
    }
}
