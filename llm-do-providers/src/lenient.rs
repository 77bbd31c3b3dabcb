//! Lenient deserialization of response values: servers omit them, and some send another type.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The value of a visitor for values of other types.
macro_rules! others_are {
    ($value:expr; $($visit:ident($kind:ty))*) => {
        $(fn $visit<E>(self, _: $kind) -> Result<Self::Value, E> {
            Ok($value)
        })*

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            Ok($value)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
            while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok($value)
        }
    };
}

#[cfg(feature = "openai")]
mod json_text;
#[cfg(any(feature = "gemini", feature = "openai"))]
mod word;

#[cfg(feature = "openai")]
pub(crate) use self::json_text::JsonText;
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) use self::word::Word;

/// A non-negative integer; `None` if the value is anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LenientCount(pub(crate) Option<u64>);

#[cfg(any(feature = "gemini", feature = "openai"))]
impl LenientCount {
    /// Returns the count; 0 if it was not reported.
    pub(crate) fn count(self) -> u64 {
        self.0.unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for LenientCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientCountVisitor)
    }
}

struct LenientCountVisitor;

impl<'de> Visitor<'de> for LenientCountVisitor {
    type Value = LenientCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count")
    }

    fn visit_u64<E>(self, count: u64) -> Result<LenientCount, E> {
        Ok(LenientCount(Some(count)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<LenientCount, E> {
        Ok(LenientCount(u64::try_from(number).ok()))
    }

    others_are!(LenientCount(None); visit_f64(f64) visit_bool(bool) visit_str(&str));
}

#[cfg(test)]
mod tests {
    use super::LenientCount;

    #[test]
    fn a_value_that_is_not_a_count_is_dropped() {
        for json in ["null", "-1", "1.5", "true", "\"7\"", "[1, [2]]", "{\"a\": {\"b\": 1}}", "1e3"] {
            assert_eq!(serde_json::from_str::<LenientCount>(json).unwrap(), LenientCount(None), "{json}");
        }
        assert_eq!(serde_json::from_str::<LenientCount>("7").unwrap(), LenientCount(Some(7)));
    }
}
