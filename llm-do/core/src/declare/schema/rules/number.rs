//! Compares numbers by value, and values with numbers in them.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::Bound;

impl Bound {
    pub(super) fn holds(self, number: &Number, limit: &Number) -> bool {
        let ordering = compare(number, limit);
        match self {
            Self::Minimum => ordering.is_ge(),
            Self::Maximum => ordering.is_le(),
            Self::ExclusiveMinimum => ordering.is_gt(),
            Self::ExclusiveMaximum => ordering.is_lt(),
        }
    }
}

/// Compares two numbers exactly. Numbers in JSON are never NaN.
fn compare(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(one), None) => compare_float(float(other), one).reverse(),
        (None, Some(other)) => compare_float(float(one), other),
        (None, None) => float(one).total_cmp(&float(other)),
    }
}

fn float(number: &Number) -> f64 {
    // Adding zero makes `-0.0` equal to `0.0`.
    number.as_f64().unwrap_or_default() + 0.0
}

/// Compares a number with an integer of 64 bits. A conversion of an integer would round it.
fn compare_float(float: f64, integer: i128) -> Ordering {
    #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates far beyond 64 bits")]
    let whole = float.trunc() as i128;
    whole.cmp(&integer).then_with(|| (float.fract() + 0.0).total_cmp(&0.0))
}

/// Returns whether a number is a multiple of an integer.
pub(super) fn is_multiple(number: &Number, divisor: u64) -> bool {
    match number.as_i128() {
        Some(integer) => integer % i128::from(divisor) == 0,
        #[expect(clippy::cast_precision_loss, reason = "the divisor is at most 2^53")]
        None => float(number).fract() == 0.0 && float(number) % divisor as f64 == 0.0,
    }
}

/// Returns whether two values are equal, numbers by value.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    order(one, other).is_eq()
}

/// Returns whether no two items are equal.
pub(super) fn are_unique(items: &[Value]) -> bool {
    let mut sorted: Vec<_> = items.iter().collect();
    sorted.sort_unstable_by(|one, other| order(one, other));
    sorted.windows(2).all(|pair| !equal(pair[0], pair[1]))
}

/// Orders values by type, and then by content, so that equal values are adjacent.
fn order(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other),
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Array(ones), Value::Array(others)) => {
            let mut items = ones.iter().zip(others).map(|(one, other)| order(one, other));
            ones.len()
                .cmp(&others.len())
                .then_with(|| items.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len().cmp(&others.len()).then_with(|| order_fields(sorted(ones), sorted(others)))
        }
        _ => rank(one).cmp(&rank(other)),
    }
}

fn sorted(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    sorted
}

fn order_fields(ones: Vec<(&String, &Value)>, others: Vec<(&String, &Value)>) -> Ordering {
    let fields = ones.into_iter().zip(others);
    fields
        .map(|((name, one), (other_name, other))| name.cmp(other_name).then_with(|| order(one, other)))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
