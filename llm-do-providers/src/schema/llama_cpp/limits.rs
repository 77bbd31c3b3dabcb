//! Limits on numbers, lengths and counts.

use serde_json::{Map, Number, Value, json};

use crate::schema::shape::{bounds, is_only, kinds};

/// The maximum repetition in a grammar: from 2000 on, the server refuses some grammars.
pub(super) const MOST: u64 = 1000;
/// The pairs of keywords for a minimum and a maximum.
const PAIRS: [[&str; 2]; 5] = [
    ["minItems", "maxItems"],
    ["minLength", "maxLength"],
    ["minProperties", "maxProperties"],
    ["minimum", "maximum"],
    ["exclusiveMinimum", "exclusiveMaximum"],
];
/// The ranges of integer widths, for schemas without bounds.
const WIDTHS: [(&str, i64, i64); 6] = [
    ("int8", i8::MIN as i64, i8::MAX as i64),
    ("int16", i16::MIN as i64, i16::MAX as i64),
    ("int32", i32::MIN as i64, i32::MAX as i64),
    ("uint8", 0, u8::MAX as i64),
    ("uint16", 0, u16::MAX as i64),
    ("uint32", 0, u32::MAX as i64),
];

/// Returns the pair of keywords that excludes all values, if any: a grammar of such a schema crashes the server.
pub(super) fn contradiction(whole: &Map<String, Value>) -> Option<[&'static str; 2]> {
    let bound = |key: &str| whole.get(key).and_then(Value::as_f64);
    PAIRS.into_iter().find(|[least, most]| bound(least).zip(bound(most)).is_some_and(|(least, most)| least > most))
}

/// Whether a pair of keywords applies to all values of a schema.
pub(super) fn concerns_all(key: &str, whole: &Map<String, Value>) -> bool {
    let kinds = match key {
        "minItems" | "maxItems" => &["array"][..],
        "minLength" | "maxLength" => &["string"],
        "minProperties" | "maxProperties" => &["object"],
        _ => &["integer", "number"],
    };
    kinds.iter().any(|kind| is_only(whole, kind))
}

/// Converts the bounds of integers to the form that the grammar reads: inclusive integers of 64 bits.
pub(super) fn whole_numbers(whole: &mut Map<String, Value>) {
    if kinds(whole) != ["integer"] {
        return;
    }
    let format = whole.get("format").and_then(Value::as_str).unwrap_or_default();
    let width = WIDTHS.into_iter().find(|(name, ..)| *name == format);
    for key in ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] {
        let Some(bound) = whole.get(key).and_then(Value::as_number) else { continue };
        match rounded(bound, key) {
            Some(bound) => _ = whole.insert(key.to_owned(), json!(bound)),
            // No 64-bit integer exceeds this bound.
            None => _ = whole.shift_remove(key),
        }
    }
    bounds(whole);
    if let Some((_, least, most)) = width {
        whole.entry("minimum").or_insert_with(|| json!(least));
        whole.entry("maximum").or_insert_with(|| json!(most));
    }
}

/// Returns the outermost integer within a bound; `None` if the bound does not restrict 64-bit integers.
fn rounded(bound: &Number, key: &str) -> Option<i64> {
    let (is_least, is_exclusive) = (key.ends_with("inimum"), key.starts_with("exclusive"));
    let bound = bound.as_i64().or_else(|| {
        // An exclusive maximum of 1.5 is one of 2, and a minimum of 1.5 is one of 2.
        let number = bound.as_f64()?;
        let number = if is_least == is_exclusive { number.floor() } else { number.ceil() };
        #[expect(clippy::cast_possible_truncation, reason = "it is within 53 bits")]
        (number.abs() < 9e15).then_some(number as i64)
    })?;
    let is_end = if is_least { bound == i64::MIN } else { bound == i64::MAX };
    (!is_end).then_some(bound)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{contradiction, whole_numbers};

    fn bounded(schema: &Value) -> Value {
        let mut whole = schema.as_object().unwrap().clone();
        whole.insert("type".to_owned(), json!("integer"));
        whole_numbers(&mut whole);
        whole.shift_remove("type");
        Value::Object(whole)
    }

    #[test]
    fn bounds_are_whole_and_allowed_themselves() {
        assert_eq!(bounded(&json!({"minimum": 1.5, "maximum": 8.5})), json!({"minimum": 2, "maximum": 8}));
        let form = bounded(&json!({"exclusiveMinimum": 1.5, "exclusiveMaximum": 8.5}));
        assert_eq!(form, json!({"minimum": 2, "maximum": 8}));
        assert_eq!(bounded(&json!({"exclusiveMinimum": 9, "minimum": 0})), json!({"minimum": 10}));
    }

    #[test]
    fn bounds_at_the_ends_of_64_bits_are_dropped() {
        let far = json!({"minimum": i64::MIN, "maximum": u64::MAX});
        assert_eq!(bounded(&far), json!({}));
        assert_eq!(bounded(&json!({"maximum": 1e30, "minimum": -1e30})), json!({}));
    }

    #[test]
    fn a_width_bounds_what_the_schema_does_not() {
        let form = bounded(&json!({"format": "uint32", "minimum": 5}));
        assert_eq!(form, json!({"format": "uint32", "minimum": 5, "maximum": u32::MAX}));
        assert_eq!(bounded(&json!({"format": "int64"})), json!({"format": "int64"}));
    }

    #[test]
    fn bounds_that_leave_nothing_are_found() {
        let schema = json!({"minItems": 1, "maxItems": 1, "minLength": 3, "maxLength": 2});
        assert_eq!(contradiction(schema.as_object().unwrap()), Some(["minLength", "maxLength"]));
    }
}
