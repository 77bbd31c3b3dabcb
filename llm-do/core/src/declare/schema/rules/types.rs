//! The types of values.

use serde_json::{Number, Value};

/// The names of the types, in the order in which faults list them.
const NAMES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A set of types, by their places in [`NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    /// Parses the value of `type`.
    pub(super) fn of(names: &Value) -> Option<Self> {
        match names {
            Value::String(name) => Some(Self(bit(name)?)),
            Value::Array(names) => names.iter().map(|name| bit(name.as_str()?)).try_fold(Self(0), |types, bit| {
                let bit = bit?;
                // A type that is listed twice is not a valid schema.
                (types.0 & bit == 0).then_some(Self(types.0 | bit))
            }),
            _ => None,
        }
        .filter(|types| types.0 != 0)
    }

    /// Returns the names, in the order of the types.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.into_iter().enumerate().filter(move |(place, _)| self.0 & (1 << place) != 0).map(|(_, name)| name)
    }

    pub(super) fn contain(self, value: &Value) -> bool {
        let place = match value {
            Value::Null => 0,
            Value::Bool(_) => 1,
            Value::Number(number) => return self.contains(3) || (self.contains(2) && is_whole(number)),
            Value::String(_) => 4,
            Value::Array(_) => 5,
            Value::Object(_) => 6,
        };
        self.contains(place)
    }

    fn contains(self, place: u8) -> bool {
        self.0 & (1 << place) != 0
    }
}

fn bit(name: &str) -> Option<u8> {
    NAMES.iter().position(|known| *known == name).map(|place| 1 << place)
}

/// Returns whether a number is an integer by its value, such as `1.0`.
fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
