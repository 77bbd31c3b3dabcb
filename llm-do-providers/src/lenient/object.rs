//! Objects that some servers send as another type.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// An object; `None` for any other value.
#[derive(Debug)]
pub(crate) struct LenientObject<T>(pub(crate) Option<T>);

/// Reads an object; `None` for any other value.
///
/// # Errors
///
/// Returns an error if the value is not JSON, or if a field of the object is invalid.
pub(crate) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    LenientObject::deserialize(deserializer).map(|object| object.0)
}

/// Reads an object as [`object`] does, into a box.
///
/// # Errors
///
/// Returns an error if the value is not JSON, or if a field of the object is invalid.
pub(crate) fn boxed<'de, D, T>(deserializer: D) -> Result<Option<Box<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    object(deserializer).map(|object| object.map(Box::new))
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LenientObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

/// The visitors for values that are not objects.
macro_rules! none {
    ($($visit:ident($kind:ty))*) => {
        $(fn $visit<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok(LenientObject(None))
        })*
    };
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = LenientObject<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(|object| LenientObject(Some(object)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(LenientObject(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(LenientObject(None))
    }

    none!(visit_u64(u64) visit_i64(i64) visit_f64(f64) visit_bool(bool) visit_str(&str));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::LenientObject;

    #[test]
    fn only_an_object_is_one() {
        let read = |json: &str| serde_json::from_str::<LenientObject<BTreeMap<String, u8>>>(json).unwrap().0;
        assert_eq!(read("{\"a\": 1}").unwrap()["a"], 1);
        for json in ["null", "7", "-7", "0.5", "true", "\"a\"", "[{\"a\": 1}]"] {
            assert!(read(json).is_none(), "{json}");
        }
    }
}
