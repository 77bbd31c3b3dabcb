//! Numbers in a range.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number, Value, json};

/// The largest number up to which each integer is a `f64` of its own: 2^53.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The numbers between the least and the greatest approved one, both included.
#[derive(Clone, Debug)]
pub(in super::super) struct Range {
    min: Number,
    max: Number,
    is_integer: bool,
}

impl Range {
    /// Returns the range of the values; `None` if one is not a number, or too large to be compared.
    pub(super) fn of(values: &[&Value]) -> Option<Self> {
        let numbers: Vec<_> = values.iter().map(|value| number(value)).collect::<Option<_>>()?;
        let by_size = |one: &&(f64, &Number), other: &&(f64, &Number)| order(one.0, other.0);
        let (min, max) = (numbers.iter().min_by(by_size)?.1, numbers.iter().max_by(by_size)?.1);
        let is_integer = numbers.iter().all(|(_, number)| !number.is_f64());
        Some(Self { min: min.clone(), max: max.clone(), is_integer })
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        let Some((size, _)) = number(value) else { return false };
        let is_inside =
            self.min.as_f64().is_some_and(|min| min <= size) && self.max.as_f64().is_some_and(|max| size <= max);
        is_inside && (!self.is_integer || size.fract() == 0.0)
    }

    pub(super) fn schema(&self) -> Value {
        let kind = if self.is_integer { "integer" } else { "number" };
        json!({ "type": kind, "minimum": self.min, "maximum": self.max })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from {} to {}", self.min, self.max)
    }
}

/// Returns a number with its size, if it can be compared exactly.
fn number(value: &Value) -> Option<(f64, &Number)> {
    let number = value.as_number()?;
    let size = number.as_f64().filter(|size| size.abs() <= MAX_EXACT)?;
    Some((size, number))
}

fn order(one: f64, other: f64) -> Ordering {
    one.total_cmp(&other)
}
