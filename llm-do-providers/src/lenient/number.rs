//! Numbers that some servers send as strings.

use std::fmt;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Reads an integer, or a string with one; `None` for any other value.
///
/// # Errors
///
/// Returns an error if it is not JSON.
pub(crate) fn index<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    deserializer.deserialize_any(IndexVisitor)
}

/// Returns a number without a fraction as an integer.
pub(super) fn whole(number: f64) -> Option<i64> {
    // Larger floats cannot represent every integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is in the range")]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

struct IndexVisitor;

impl<'de> Visitor<'de> for IndexVisitor {
    type Value = Option<i64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an index")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(number).ok())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(whole(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.trim().parse().ok())
    }

    others_are!(None; visit_bool(bool));
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Place(#[serde(deserialize_with = "super::index")] Option<i64>);

    #[test]
    fn an_index_may_be_a_text() {
        for (json, index) in [("3", Some(3)), ("\"3\"", Some(3)), ("3.0", Some(3)), ("-1", Some(-1)), ("3.5", None)] {
            assert_eq!(serde_json::from_str::<Place>(json).unwrap().0, index, "{json}");
        }
        for json in ["null", "\"\"", "\"a\"", "true", "[0]", "{\"a\": 0}", "1e30"] {
            assert_eq!(serde_json::from_str::<Place>(json).unwrap().0, None, "{json}");
        }
    }
}
