//! Whether two values say the same.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

/// What stands for each item of an array, or each field of an object, in a pointer.
const EACH: &str = "*";

/// Whether two values say the same: as JSON, numbers by value, without what is to be ignored.
///
/// The order of fields says nothing; that of items does.
///
/// # Examples
///
/// ```
/// use llm_do::harden::Agreement;
/// use llm_do::json;
///
/// let (one, other) = (json!({ "age": 30, "note": "sure" }), json!({ "note": "a guess", "age": 30.0 }));
/// assert!(!Agreement::new().holds(&one, &other));
/// assert!(Agreement::new().ignore("/note").holds(&one, &other));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Agreement {
    ignored: Vec<Vec<String>>,
}

impl Agreement {
    /// Returns the agreement that ignores nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ignores the field at a JSON pointer, whether it is there or not, such as `/note`; default: nothing.
    ///
    /// A `*` stands for every item of an array and every field of an object, as in `/people/*/note`. The first `/` may be
    /// left out. Arrays of different lengths differ, whatever is ignored in them.
    pub fn ignore(mut self, pointer: &str) -> Self {
        let pointer = pointer.strip_prefix('/').unwrap_or(pointer);
        let unescaped = |part: &str| part.replace("~1", "/").replace("~0", "~");
        self.ignored.push(pointer.split('/').map(unescaped).collect());
        self
    }

    /// Returns whether two values say the same.
    #[must_use]
    pub fn holds(&self, one: &Value, other: &Value) -> bool {
        let ignored: Vec<_> = self.ignored.iter().map(Vec::as_slice).collect();
        same(one, other, &Ignored(ignored))
    }
}

/// What is ignored in a value: pointers from there, none of them empty.
struct Ignored<'a>(Vec<&'a [String]>);

impl<'a> Ignored<'a> {
    /// Returns what is ignored in a part of the value; none if the part is itself.
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

/// Writes a number in one way: `1`, `1.0` and `1e0` are equal.
fn decimal(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        // Also of -0.0.
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
        assert_eq!(agree, Agreement::new().holds(other, one), "{one} and {other}, the other way round");
        agree
    }

    #[test]
    fn numbers_are_equal_by_value_to_the_last_digit() {
        for (one, other) in [("1", "1.0"), ("0", "-0.0"), ("-3", "-3e0"), ("1e20", "100000000000000000000")] {
            let read = |text| serde_json::from_str(text).expect("a number");
            assert!(agree(&read(one), &read(other)), "{one} and {other}");
        }
        assert!(!agree(&json!(1), &json!(1.5)));
        // As floats, both would be 2^53.
        assert!(!agree(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0)));
        assert!(!agree(&json!(u64::MAX), &json!(i64::MAX)));
    }

    #[test]
    fn fields_have_no_order_and_items_have_one() {
        assert!(agree(&json!({ "a": 1, "b": [1.0] }), &json!({ "b": [1], "a": 1 })));
        assert!(!agree(&json!([1, 2]), &json!([2, 1])));
        assert!(!agree(&json!([1]), &json!([1, 1])));
        assert!(!agree(&json!({ "a": null }), &json!({})));
        assert!(!agree(&json!("1"), &json!(1)));
    }

    #[test]
    fn what_is_ignored_may_differ_be_there_or_not() {
        let (one, other) = (json!({ "a": 1, "b": { "c": 1, "d": 1 } }), json!({ "a": 1, "b": { "c": 2, "d": 1 } }));
        assert!(!Agreement::new().ignore("/a").ignore("/b/d").ignore("/c").holds(&one, &other));
        assert!(Agreement::new().ignore("/b/c").holds(&one, &other));
        assert!(Agreement::new().ignore("b").holds(&one, &json!({ "a": 1 })), "without the first `/`");
        assert!(Agreement::new().ignore("/a~1b~0").holds(&json!({ "a/b~": 1 }), &json!({})));
    }

    #[test]
    fn a_star_is_every_item_and_every_field() {
        let of = |id| json!([{ "id": id, "x": 1 }, { "id": 3, "x": { "id": id } }]);
        assert!(!Agreement::new().ignore("/*/id").holds(&of(1), &of(2)));
        assert!(Agreement::new().ignore("/*/id").ignore("/1/*/id").holds(&of(1), &of(2)));
    }
}
