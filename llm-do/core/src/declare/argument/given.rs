//! Compares given arguments with the same arguments after decoding and encoding.
//!
//! Fields that a type reads but does not write must not be hidden from the approver of a call.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Adds the fields of `given` that are missing in `written`, at any depth: fields that a type reads but does not write.
///
/// With `sets`, arrays may be sets in a different order: nothing is added to an item that may be a different one.
pub(crate) fn add_unwritten(written: &mut Value, given: &Value, sets: bool) {
    match (written, given) {
        (Value::Object(written), Value::Object(given)) => {
            for (name, given) in given {
                match written.get_mut(name) {
                    Some(written) => add_unwritten(written, given, sets),
                    // An absent `Option` may be omitted.
                    None if given.is_null() => {}
                    None => drop(written.insert(name.clone(), given.clone())),
                }
            }
        }
        // The items of a set may be in a different order, so they cannot be paired by index; `is_contained` finds
        // missing ones.
        (Value::Array(written), Value::Array(given)) if written.len() == given.len() => {
            let pairs = written.iter_mut().zip(given).filter(|(written, given)| !sets || may_be_same(written, given));
            pairs.for_each(|(written, given)| add_unwritten(written, given, sets));
        }
        _ => {}
    }
}

/// Returns whether `written` and `given` may be the same item of a set, that is, they do not contradict each other.
///
/// A set may be sorted by a field that is not written, so the index alone could pair different items.
fn may_be_same(written: &Value, given: &Value) -> bool {
    match (written, given) {
        (Value::Object(written), Value::Object(given)) => {
            written.iter().all(|(name, written)| given.get(name).is_none_or(|given| may_be_same(written, given)))
        }
        (Value::Array(written), Value::Array(given)) => {
            written.len() == given.len()
                && written.iter().zip(given).all(|(written, given)| may_be_same(written, given))
        }
        _ => is_contained(given, written),
    }
}

/// Returns whether `written` contains all of `given`; numbers are compared by value, array items in any order.
pub(crate) fn is_contained(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Null, _) => true,
        (Value::Object(given), Value::Object(written)) => given.iter().all(|(name, given)| {
            given.is_null() || written.get(name).is_some_and(|written| is_contained(given, written))
        }),
        (Value::Array(given), Value::Array(written)) => are_contained(given, written),
        (Value::Number(given), Value::Number(written)) => given == written || given.as_f64() == written.as_f64(),
        _ => given == written,
    }
}

fn are_contained(given: &[Value], written: &[Value]) -> bool {
    let in_order = || given.iter().zip(written).all(|(given, written)| is_contained(given, written));
    if given.len() == written.len() && in_order() {
        return true;
    }
    let written: HashSet<String> = written.iter().map(Value::to_string).collect();
    given.iter().all(|given| written.contains(&given.to_string()))
}

/// Returns `given` with the values that its types hide masked: a value that was encoded differently is shown in its
/// encoded form.
///
/// Array items may be in a different order: a value without an equal encoded item is shown as `***`.
pub(crate) fn masked(given: &Value, written: &Value) -> Value {
    masked_by(given, &[written], true)
}

/// Masks a value that was encoded as one of `written`; with `is_certain`, the only one is known to belong to it.
fn masked_by(given: &Value, written: &[&Value], is_certain: bool) -> Value {
    match given {
        Value::Object(fields) if written.iter().any(|written| written.is_object()) => {
            let field = |name: &String, field: &Value| {
                let written: Vec<_> = written.iter().filter_map(|written| written.get(name)).collect();
                // A field that is never encoded is not hidden.
                if written.is_empty() { field.clone() } else { masked_by(field, &written, is_certain) }
            };
            fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect()
        }
        Value::Array(items) if written.iter().any(|written| written.is_array()) => {
            let written: Vec<_> = written.iter().filter_map(|written| written.as_array()).flatten().collect();
            let is_certain = is_certain && items.len() == 1 && written.len() == 1;
            items.iter().map(|item| masked_by(item, &written, is_certain)).collect()
        }
        given if written.iter().any(|written| is_contained(given, written)) => given.clone(),
        _ => match written {
            [written] if is_certain => (*written).clone(),
            _ => Value::from("***"),
        },
    }
}

/// Returns the first field that is only in one of two encodings of a value: `before` and `after` a decode.
///
/// Objects where each side has a field that the other lacks are skipped: a type may read and write different key names.
pub(crate) fn lost_field(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let missing = |of: &Map<String, Value>, other: &Map<String, Value>| {
                of.iter()
                    .find(|(name, value)| !value.is_null() && !other.contains_key(*name))
                    .map(|(name, _)| name.clone())
            };
            match (missing(after, before), missing(before, after)) {
                (Some(_), Some(_)) => None,
                (None, None) => before.iter().find_map(|(name, value)| lost_field(value, after.get(name)?)),
                (left_out, ignored) => left_out.or(ignored),
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let in_order = before.iter().zip(after).find_map(|(before, after)| lost_field(before, after))?;
            // The items of a set may be in a different order.
            let is_kept = |before: &Value| after.iter().any(|after| lost_field(before, after).is_none());
            (!before.iter().all(is_kept)).then_some(in_order)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{add_unwritten, is_contained, lost_field, masked};

    fn completed(mut written: Value, given: &Value) -> Value {
        add_unwritten(&mut written, given, true);
        written
    }

    #[test]
    fn a_field_that_is_not_written_is_added_at_any_depth() {
        let given = json!({ "a": [{ "hidden": 1 }, {}], "b": { "c": { "hidden": true } }, "none": null });
        let written = json!({ "a": [{ "x": 2 }, {}], "b": { "c": {} }, "default": 3 });
        let expected = json!({
            "a": [{ "x": 2, "hidden": 1 }, {}], "b": { "c": { "hidden": true } }, "default": 3
        });
        assert_eq!(completed(written, &given), expected);
    }

    #[test]
    fn a_written_value_is_kept() {
        let (given, written) = (json!({ "path": "a/../b", "n": 1.0 }), json!({ "path": "b", "n": 1 }));
        assert_eq!(completed(written.clone(), &given), written);
    }

    #[test]
    fn an_unwritten_field_is_not_added_to_a_different_item() {
        let given = json!([{ "hidden": 1, "name": "b" }, { "hidden": 2, "name": "a" }]);
        let written = json!([{ "name": "a" }, { "name": "b" }]);
        let completed = completed(written.clone(), &given);
        assert_eq!(completed, written);
        assert!(!is_contained(&given, &completed));
    }

    #[test]
    fn a_changed_or_dropped_value_is_not_contained() {
        for (given, written) in [
            (json!({ "a": "secret" }), json!({ "a": "***" })),
            (json!([1, 2, 3]), json!([1, 2])),
            (json!({ "a": { "b": 1 } }), json!({ "a": "b" })),
            (json!([[1], [2]]), json!([[1], [3]])),
        ] {
            assert!(!is_contained(&given, &written), "{given} {written}");
        }
    }

    #[test]
    fn a_value_hidden_by_its_type_is_masked_and_an_unwritten_one_is_shown() {
        for (given, written, shown) in [
            (json!({ "pin": "1234", "to": "ann" }), json!({ "pin": "***" }), json!({ "pin": "***", "to": "ann" })),
            (json!({ "key": { "secret": 1 } }), json!({ "key": "***" }), json!({ "key": "***" })),
            (
                json!([{ "n": "b", "pin": "1", "x": 1 }, { "n": "a", "pin": "2", "x": 2 }]),
                json!([{ "n": "a", "pin": "***" }, { "n": "b", "pin": "**" }]),
                json!([{ "n": "b", "pin": "***", "x": 1 }, { "n": "a", "pin": "***", "x": 2 }]),
            ),
            (json!({ "n": [1.0, 2] }), json!({ "n": [1] }), json!({ "n": [1.0, "***"] })),
        ] {
            assert_eq!(masked(&given, &written), shown, "{given}");
        }
    }

    #[test]
    fn a_field_in_only_one_encoding_is_found_at_any_depth() {
        for (before, after, field) in [
            (json!({ "a": {} }), json!({ "a": { "limit": 10 } }), "limit"),
            (json!([{ "n": 1 }, { "n": 2, "x": 1 }]), json!([{ "n": 1 }, { "n": 2 }]), "x"),
            (json!({ "e": { "A": {} } }), json!({ "e": { "A": { "b": false } } }), "b"),
        ] {
            assert_eq!(lost_field(&before, &after).as_deref(), Some(field), "{before} {after}");
        }
    }

    #[test]
    fn other_key_names_and_another_order_lose_no_field() {
        for (before, after) in [
            (json!({ "a": 1.0, "path": "a/../b" }), json!({ "a": 1, "path": "b", "none": null })),
            (json!([{ "a": {} }, { "b": {} }]), json!([{ "b": {} }, { "a": {} }])),
            (json!({ "keys": { "A": 1 } }), json!({ "keys": { "a": 1 } })),
        ] {
            assert_eq!(lost_field(&before, &after), None, "{before} {after}");
        }
    }

    #[test]
    fn numbers_are_compared_by_value_and_sets_in_any_order() {
        for (given, written) in [
            (json!({ "a": 1.0, "none": null }), json!({ "a": 1, "default": 2 })),
            (json!(["b", "a", "b"]), json!(["a", "b"])),
            (json!([{ "a": 1.0 }]), json!([{ "a": 1, "b": 2 }])),
        ] {
            assert!(is_contained(&given, &written), "{given} {written}");
        }
    }
}
