//! Lists that some servers send as their only element.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a list, or an object or a string as its only element; `None` for null.
///
/// # Errors
///
/// Returns an error for any other value, and for an invalid element.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Vec<T>>, D::Error> {
    deserializer.deserialize_any(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Some(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(|item| Some(vec![item]))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.is_empty() {
            return Ok(None);
        }
        T::deserialize(serde::de::value::StrDeserializer::new(text)).map(|item| Some(vec![item]))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    #[derive(Deserialize)]
    struct Items(#[serde(deserialize_with = "super::list")] Option<Vec<Value>>);

    #[test]
    fn a_single_element_is_a_list() {
        let read = |json: &str| serde_json::from_str::<Items>(json).map(|items| items.0);
        assert_eq!(read("[1, {}]").unwrap(), Some(vec![json!(1), json!({})]));
        assert_eq!(read("{\"a\": 1}").unwrap(), Some(vec![json!({"a": 1})]));
        assert_eq!(read("\"a\"").unwrap(), Some(vec![json!("a")]));
        assert_eq!((read("null").unwrap(), read("\"\"").unwrap()), (None, None));
        assert!(read("7").is_err());
    }
}
