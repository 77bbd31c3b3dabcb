//! Compares JSON values, with numbers by value and some fields ignored.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// In a pointer, matches every item of an array and every field of an object.
const EACH: &str = "*";

/// Compares two JSON values: numbers by value, and without the fields that are ignored.
///
/// The order of fields does not matter; the order of items does.
///
/// # Examples
///
/// ```
/// use llm_do::harden::Agreement;
/// use llm_do::json;
///
/// let (first, second) = (json!({ "age": 30, "note": "sure" }), json!({ "note": "a guess", "age": 30.0 }));
/// assert!(!Agreement::new().holds(&first, &second));
/// assert!(Agreement::new().ignore("/note").holds(&first, &second));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Agreement {
    ignored: Vec<Vec<String>>,
}

impl Agreement {
    /// Returns a comparison that ignores nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ignores the field at a JSON pointer such as `/note`, whether it is present or not. Default: nothing is
    /// ignored.
    ///
    /// A `*` matches every item of an array and every field of an object, as in `/people/*/note`. The leading `/` may
    /// be omitted. Arrays of different lengths always differ.
    pub fn ignore(mut self, pointer: &str) -> Self {
        let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
        let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
        self.ignored.push(pointer.split('/').map(unescaped).collect());
        self
    }

    /// Returns whether two values are equal.
    #[must_use]
    pub fn holds(&self, one: &Value, other: &Value) -> bool {
        let ignored: Vec<_> = self.ignored.iter().map(Vec::as_slice).collect();
        same(one, other, &Ignored(ignored))
    }
}

/// The ignored fields of a value, as non-empty pointers relative to it.
struct Ignored<'a>(Vec<&'a [String]>);

impl<'a> Ignored<'a> {
    /// Returns the ignored fields inside a part of the value, or `None` if the whole part is ignored.
    fn inside<'b>(&self, part: impl FnOnce() -> Cow<'b, str>) -> Option<Ignored<'a>> {
        if self.0.is_empty() {
            return Some(Ignored(Vec::new()));
        }
        let part = part();
        let of_part = self.0.iter().filter_map(|pointer| pointer.split_first());
        let of_part = of_part.filter(|(first, _)| **first == *part || *first == EACH);
        let inside: Vec<_> = of_part.map(|(_, rest)| rest).collect();
        inside.iter().all(|rest| !rest.is_empty()).then_some(Ignored(inside))
    }
}

fn same(one: &Value, other: &Value, ignored: &Ignored<'_>) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => decimal(one) == decimal(other),
        (Value::Array(ones), Value::Array(others)) => same_items(ones, others, ignored),
        (Value::Object(ones), Value::Object(others)) => same_fields(ones, others, ignored),
        _ => one == other,
    }
}

fn same_items(ones: &[Value], others: &[Value], ignored: &Ignored<'_>) -> bool {
    let same_item = |(place, (one, other)): (usize, (&Value, &Value))| {
        ignored.inside(|| place.to_string().into()).is_none_or(|inside| same(one, other, &inside))
    };
    ones.len() == others.len() && ones.iter().zip(others).enumerate().all(same_item)
}

fn same_fields(ones: &Map<String, Value>, others: &Map<String, Value>, ignored: &Ignored<'_>) -> bool {
    let keys = ones.keys().chain(others.keys().filter(|key| !ones.contains_key(*key)));
    keys.into_iter().all(|key| {
        let Some(inside) = ignored.inside(|| key.into()) else { return true };
        matches!((ones.get(key), others.get(key)), (Some(one), Some(other)) if same(one, other, &inside))
    })
}

/// Formats a number so that `1`, `1.0` and `1e0` are equal.
fn decimal(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        // `-0.0` too.
        Some(0.0) => "0".to_owned(),
        Some(float) => float.to_string(),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn agree(one: &Value, other: &Value) -> bool {
        let agree = Agreement::new().holds(one, other);
        assert_eq!(agree, Agreement::new().holds(other, one), "{one} and {other}, in reverse order");
        agree
    }

    #[test]
    fn numbers_are_equal_by_value_to_the_last_digit() {
        for (one, other) in [("1", "1.0"), ("0", "-0.0"), ("-3", "-3e0"), ("1e20", "100000000000000000000")] {
            let read = |text| serde_json::from_str(text).expect("a number");
            assert!(agree(&read(one), &read(other)), "{one} and {other}");
        }
        assert!(!agree(&json!(1), &json!(1.5)));
        // Converted to floats, both numbers would be 2^53.
        assert!(!agree(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0)));
        assert!(!agree(&json!(u64::MAX), &json!(i64::MAX)));
    }

    #[test]
    fn the_order_of_items_matters_and_that_of_fields_does_not() {
        assert!(agree(&json!({ "a": 1, "b": [1.0] }), &json!({ "b": [1], "a": 1 })));
        assert!(!agree(&json!([1, 2]), &json!([2, 1])));
        assert!(!agree(&json!([1]), &json!([1, 1])));
        assert!(!agree(&json!({ "a": null }), &json!({})));
        assert!(!agree(&json!("1"), &json!(1)));
    }

    #[test]
    fn ignored_fields_may_differ_or_be_missing() {
        let (one, other) = (json!({ "a": 1, "b": { "c": 1, "d": 1 } }), json!({ "a": 1, "b": { "c": 2, "d": 1 } }));
        assert!(!Agreement::new().ignore("/a").ignore("/b/d").ignore("/c").holds(&one, &other));
        assert!(Agreement::new().ignore("/b/c").holds(&one, &other));
        assert!(Agreement::new().ignore("b").holds(&one, &json!({ "a": 1 })), "without the leading `/`");
        assert!(Agreement::new().ignore("/a~1b~0").holds(&json!({ "a/b~": 1 }), &json!({})));
    }

    #[test]
    fn a_star_matches_every_item_and_every_field() {
        let of = |id| json!([{ "id": id, "x": 1 }, { "id": 3, "x": { "id": id } }]);
        assert!(!Agreement::new().ignore("/*/id").holds(&of(1), &of(2)));
        assert!(Agreement::new().ignore("/*/id").ignore("/1/*/id").holds(&of(1), &of(2)));
    }
}
