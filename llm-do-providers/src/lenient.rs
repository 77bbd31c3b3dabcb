//! Lenient deserialization of response values: servers omit some, and some servers send another type.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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

#[cfg(feature = "gemini")]
mod flag;
mod json_text;
mod list;
mod number;
mod object;
mod text;
mod word;

#[cfg(feature = "gemini")]
pub(crate) use self::flag::Flag;
pub(crate) use self::json_text::JsonText;
pub(crate) use self::list::list;
pub(crate) use self::number::index;
pub(crate) use self::object::{LenientObject, boxed, object};
pub(crate) use self::text::text;
pub(crate) use self::word::Word;

/// A non-negative integer, or its text; `None` if the value is anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LenientCount(pub(crate) Option<u64>);

impl LenientCount {
    /// Converts a parsed value.
    pub(crate) fn from_value(value: &Value) -> Self {
        Self::deserialize(value).unwrap_or_default()
    }

    /// Returns the count; 0 if it was not reported.
    pub(crate) fn count(self) -> u64 {
        self.0.unwrap_or_default()
    }

    /// Updates the count. Counts only grow, so a later zero or missing count is ignored.
    pub(crate) fn update(&mut self, newer: Self) {
        if newer.count() > 0 || self.0.is_none() {
            *self = newer;
        }
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

    fn visit_f64<E>(self, number: f64) -> Result<LenientCount, E> {
        Ok(LenientCount(number::whole(number).and_then(|number| u64::try_from(number).ok())))
    }

    fn visit_str<E>(self, text: &str) -> Result<LenientCount, E> {
        Ok(LenientCount(text.trim().parse().ok()))
    }

    others_are!(LenientCount(None); visit_bool(bool));
}

#[cfg(test)]
mod tests {
    use super::LenientCount;

    #[test]
    fn a_value_that_is_not_a_count_is_dropped() {
        for json in ["null", "-1", "1.5", "true", "\"seven\"", "\"-7\"", "[1, [2]]", "{\"a\": {\"b\": 1}}", "1e30"] {
            assert_eq!(serde_json::from_str::<LenientCount>(json).unwrap(), LenientCount(None), "{json}");
        }
        for json in ["7", "\"7\"", "7.0", "\" 7 \""] {
            assert_eq!(serde_json::from_str::<LenientCount>(json).unwrap(), LenientCount(Some(7)), "{json}");
        }
    }

    #[test]
    fn a_figure_is_not_replaced_by_a_zero_or_by_none() {
        let mut figure = LenientCount(Some(7));
        for newer in [Some(0), None] {
            figure.update(LenientCount(newer));
            assert_eq!(figure, LenientCount(Some(7)));
        }
        figure.update(LenientCount(Some(9)));
        assert_eq!(figure, LenientCount(Some(9)));
    }
}
