//! Limits the nesting depth of JSON values, which are cloned, compared, written and dropped by recursion.

mod serializer;

use std::any::Any;
use std::cell::Cell;

use serde::Serialize;
use serde_json::Value;

use self::serializer::{Bounded, Depth, Part};
use crate::base::error::Fault;
use crate::base::json::Json;
use crate::declare::schema::{MAX_VALUE_DEPTH, dismantle, is_shallow};

/// Serializes a value as JSON of at most [`MAX_VALUE_DEPTH`] levels.
///
/// # Errors
///
/// Returns a fault that [is too deep](Fault::is_too_deep) if the value is nested deeper, and what serde reports otherwise.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Fault> {
    let is_exceeded = Cell::new(false);
    let serializer = Bounded::new(serde_json::value::Serializer, Depth::new(MAX_VALUE_DEPTH, &is_exceeded));
    value.serialize(serializer).map_err(|error| if is_exceeded.get() { too_deep() } else { Fault::writing(&error) })
}

/// Serializes a value as JSON text, equal to that of [`to_value`]; `None` if the two may differ or fail.
///
/// They may differ for maps, whose keys may be equal as text, and for numbers that a JSON value rounds.
fn to_text<T: Serialize>(value: &T) -> Option<String> {
    let is_exceeded = Cell::new(false);
    serde_json::to_string(&Part::new(value, Depth::of_text(&is_exceeded))).ok()
}

/// Serializes a value as text where that is the text of its value, and drops it.
///
/// # Errors
///
/// Returns the faults of [`to_value`].
pub(crate) fn into_json<T: Serialize>(value: T) -> Result<Json, Fault> {
    match to_text(&value) {
        Some(text) => Ok(Json::from_text(text)),
        None => into_value(value).map(Json::from),
    }
}

/// Serializes a value as [`to_value`] does, and drops it.
///
/// A value that is nested too deeply is leaked, since its `Drop` would overflow the stack.
pub(crate) fn into_value<T: Serialize>(value: T) -> Result<Value, Fault> {
    let written = to_value(&value);
    if written.as_ref().is_err_and(Fault::is_too_deep) {
        std::mem::forget(value);
    }
    written
}

/// Returns the value, or a fault if it is nested deeper than [`MAX_VALUE_DEPTH`] levels.
///
/// A deeper value is dropped without recursion.
pub(crate) fn shallow(value: Value) -> Result<Value, Fault> {
    if is_shallow(&value, MAX_VALUE_DEPTH) {
        return Ok(value);
    }
    dismantle(value);
    Err(too_deep())
}

/// Discards a value that is nested too deep for its `Drop`: JSON is dropped without recursion, any other type is leaked.
pub(crate) fn discard<T: 'static>(value: T) {
    let mut value = Some(value);
    match (&mut value as &mut dyn Any).downcast_mut::<Option<Value>>() {
        Some(json) => json.take().into_iter().for_each(dismantle),
        None => std::mem::forget(value),
    }
}

fn too_deep() -> Fault {
    Fault::too_deep(format!("nested deeper than {MAX_VALUE_DEPTH} levels; make it flatter"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn list(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
    }

    fn object(depth: usize) -> Value {
        (0..depth).fold(json!(1), |inner, _| {
            let mut outer = json!({ "a": null });
            outer["a"] = inner;
            outer
        })
    }

    #[derive(Serialize)]
    enum Variant {
        Unit,
        Newtype(Box<Variant>),
        Tuple(u8, Box<Variant>),
        Struct { inner: Box<Variant> },
    }

    /// A recursive type that adds no JSON level.
    #[derive(Serialize)]
    struct Link(Option<Box<Link>>);

    #[test]
    fn values_within_the_limit_are_serialized_like_serde_json_does() {
        let variants =
            Variant::Struct { inner: Box::new(Variant::Tuple(1, Box::new(Variant::Newtype(Box::new(Variant::Unit))))) };
        assert_eq!(to_value(&variants).unwrap(), serde_json::to_value(&variants).unwrap());
        let map = BTreeMap::from([(1_u8, (Some('x'), 1.5_f32)), (2, (None, 0.0))]);
        assert_eq!(to_value(&map).unwrap(), serde_json::to_value(&map).unwrap());
        for value in [list(MAX_VALUE_DEPTH), object(MAX_VALUE_DEPTH)] {
            assert_eq!(to_value(&value).unwrap(), value);
        }
    }

    #[test]
    fn deeper_values_of_any_type_are_rejected() {
        let variants = [
            |inner| Variant::Newtype(Box::new(inner)),
            |inner| Variant::Tuple(1, Box::new(inner)),
            |inner| Variant::Struct { inner: Box::new(inner) },
        ];
        for (variant, fits) in variants.into_iter().zip([128, 64, 64]) {
            let nested = |depth| (0..depth).fold(Variant::Unit, |inner, _| variant(inner));
            assert!(to_value(&nested(fits)).is_ok());
            assert!(to_value(&nested(fits + 1)).unwrap_err().is_too_deep());
        }
        assert!(to_value(&list(MAX_VALUE_DEPTH + 1)).unwrap_err().is_too_deep());
        let links = (0..100_000).fold(Link(None), |inner, _| Link(Some(Box::new(inner))));
        assert!(into_value(links).unwrap_err().is_too_deep());
    }

    #[test]
    fn a_deep_value_is_dropped_without_recursion() {
        discard(object(100_000));
        assert!(shallow(list(100_000)).unwrap_err().is_too_deep());
    }

    #[test]
    fn other_faults_are_not_depth_faults() {
        let keyed = BTreeMap::from([(vec![1], 1)]);
        assert!(!to_value(&keyed).unwrap_err().is_too_deep());
    }
}
