//! Values that cross between JSON and the interpreter: exactly, or not at all.

use std::fmt::Write;

use monty_types::MontyObject;
use serde_json::{Map, Number, Value};

use crate::declare::schema::MAX_VALUE_DEPTH;

/// Returns a JSON value as one of the interpreter.
pub(super) fn to_python(value: Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(flag) => MontyObject::Bool(flag),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(small), ..) => MontyObject::Int(small),
            (_, Some(large), _) => MontyObject::BigInt(large.into()),
            (.., float) => MontyObject::Float(float.unwrap_or(f64::NAN)),
        },
        Value::String(text) => MontyObject::String(text),
        Value::Array(items) => MontyObject::List(items.into_iter().map(to_python).collect()),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| (MontyObject::String(key), to_python(value)));
            MontyObject::dict(fields.collect::<Vec<_>>())
        }
    }
}

/// Returns a value of the interpreter as JSON, or why JSON cannot express it; `place` is where the value is.
pub(super) fn to_json(value: MontyObject, place: &str) -> Result<Value, String> {
    converted(value, &mut place.to_owned(), 0)
}

fn converted(value: MontyObject, place: &mut String, depth: usize) -> Result<Value, String> {
    if depth > MAX_VALUE_DEPTH {
        return Err(format!("{place}: values may be nested at most {MAX_VALUE_DEPTH} deep"));
    }
    let refused =
        |place: &str, what: &str, instead: &str| Err(format!("{place}: {what} has no form in JSON; {instead}"));
    match value {
        MontyObject::None => Ok(Value::Null),
        MontyObject::Bool(flag) => Ok(flag.into()),
        MontyObject::Int(int) => Ok(int.into()),
        MontyObject::BigInt(int) => match u64::try_from(&int) {
            Ok(large) => Ok(large.into()),
            Err(_) => Err(format!("{place}: an integer of {} bits does not fit into 64; return `str(..)`", int.bits())),
        },
        MontyObject::Float(float) => match Number::from_f64(float) {
            Some(number) => Ok(Value::Number(number)),
            None => {
                refused(place, &format!("the float {}", MontyObject::Float(float).py_repr()), "return None instead")
            }
        },
        MontyObject::String(text) => Ok(text.into()),
        MontyObject::List(items) | MontyObject::Tuple(items) => list(items, place, depth),
        MontyObject::NamedTuple { field_names, values, .. } => {
            object(field_names.into_iter().map(MontyObject::String).zip(values), place, depth)
        }
        MontyObject::Dict(pairs) => object(pairs, place, depth),
        MontyObject::ClassInstance(instance) if instance.class_type.is_dataclass => {
            object(instance.attrs, place, depth)
        }
        MontyObject::Set(_) | MontyObject::FrozenSet(_) => refused(place, "a set", "write `sorted(..)` or `list(..)`"),
        MontyObject::Bytes(_) => refused(place, "a value of bytes", "write `.decode()`, or encode it with base64"),
        MontyObject::Date(_) | MontyObject::DateTime(_) | MontyObject::Time(_) => {
            refused(place, "a date", "write `.isoformat()`")
        }
        MontyObject::TimeDelta(_) => refused(place, "a timedelta", "write `.total_seconds()`"),
        other => refused(place, &format!("a value of type {}", other.type_name()), "return plain data"),
    }
}

fn list(items: Vec<MontyObject>, place: &mut String, depth: usize) -> Result<Value, String> {
    let length = place.len();
    let mut converted_items = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        _ = write!(place, "[{index}]");
        converted_items.push(converted(item, place, depth + 1)?);
        place.truncate(length);
    }
    Ok(Value::Array(converted_items))
}

fn object(
    pairs: impl IntoIterator<Item = (MontyObject, MontyObject)>,
    place: &mut String,
    depth: usize,
) -> Result<Value, String> {
    let length = place.len();
    let mut fields = Map::new();
    for (key, value) in pairs {
        let MontyObject::String(key) = key else {
            let kind = key.type_name();
            return Err(format!("{place}: a key of type {kind} has no form in JSON; write `str(key)`"));
        };
        _ = write!(place, "[{key:?}]");
        let value = converted(value, place, depth + 1)?;
        place.truncate(length);
        fields.insert(key, value);
    }
    Ok(Value::Object(fields))
}
