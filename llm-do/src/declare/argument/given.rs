//! Arguments as they were given beside the same once they are decoded and written again: what a type does not write must
//! not be hidden from who decides about a call.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Adds what of `given` is missing in `written`, at any depth: fields that a type reads and does not write.
///
/// Where arrays may be `sets`, whose items may have changed places, nothing is added to an item that may be another.
pub(crate) fn complete(written: &mut Value, given: &Value, sets: bool) {
    match (written, given) {
        (Value::Object(written), Value::Object(given)) => {
            for (name, given) in given {
                match written.get_mut(name) {
                    Some(written) => complete(written, given, sets),
                    // An absent `Option` may be left out.
                    None if given.is_null() => {}
                    None => drop(written.insert(name.clone(), given.clone())),
                }
            }
        }
        // Of a set that changes the order, nothing can be said by place: `is_told` sees what is missing.
        (Value::Array(written), Value::Array(given)) if written.len() == given.len() => {
            let pairs = written.iter_mut().zip(given).filter(|(written, given)| !sets || may_be_one(written, given));
            pairs.for_each(|(written, given)| complete(written, given, sets));
        }
        _ => {}
    }
}

/// Returns whether nothing of `written` contradicts `given`, so that both may be the same item: what sorts a set may be what
/// is not written, and items would change what is theirs.
fn may_be_one(written: &Value, given: &Value) -> bool {
    match (written, given) {
        (Value::Object(written), Value::Object(given)) => {
            written.iter().all(|(name, written)| given.get(name).is_none_or(|given| may_be_one(written, given)))
        }
        (Value::Array(written), Value::Array(given)) => {
            written.len() == given.len() && written.iter().zip(given).all(|(written, given)| may_be_one(written, given))
        }
        _ => is_told(given, written),
    }
}

/// Returns whether `written` tells all of `given`: numbers by value, items of arrays in any order.
pub(crate) fn is_told(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Null, _) => true,
        (Value::Object(given), Value::Object(written)) => given
            .iter()
            .all(|(name, given)| given.is_null() || written.get(name).is_some_and(|written| is_told(given, written))),
        (Value::Array(given), Value::Array(written)) => are_told(given, written),
        (Value::Number(given), Value::Number(written)) => given == written || given.as_f64() == written.as_f64(),
        _ => given == written,
    }
}

fn are_told(given: &[Value], written: &[Value]) -> bool {
    let in_order = || given.iter().zip(written).all(|(given, written)| is_told(given, written));
    if given.len() == written.len() && in_order() {
        return true;
    }
    let written: HashSet<String> = written.iter().map(Value::to_string).collect();
    given.iter().all(|given| written.contains(&given.to_string()))
}

/// Returns `given` without what its types hide: a value that was not written as it was given is shown as written.
///
/// Items of arrays may have changed places: what none of them was written as is shown as `***`.
pub(crate) fn masked(given: &Value, written: &Value) -> Value {
    masked_by(given, &[written], true)
}

/// The same of a value that was written as one of `written`; `is_certain` says whether that is known to be its own.
fn masked_by(given: &Value, written: &[&Value], is_certain: bool) -> Value {
    match given {
        Value::Object(fields) if written.iter().any(|written| written.is_object()) => {
            let field = |name: &String, field: &Value| {
                let written: Vec<_> = written.iter().filter_map(|written| written.get(name)).collect();
                // What is never written is not hidden.
                if written.is_empty() { field.clone() } else { masked_by(field, &written, is_certain) }
            };
            fields.iter().map(|(name, value)| (name.clone(), field(name, value))).collect()
        }
        Value::Array(items) if written.iter().any(|written| written.is_array()) => {
            let written: Vec<_> = written.iter().filter_map(|written| written.as_array()).flatten().collect();
            let is_certain = is_certain && items.len() == 1 && written.len() == 1;
            items.iter().map(|item| masked_by(item, &written, is_certain)).collect()
        }
        given if written.iter().any(|written| is_told(given, written)) => given.clone(),
        _ => match written {
            [written] if is_certain => (*written).clone(),
            _ => Value::from("***"),
        },
    }
}

/// Returns the first field that is only in one of two writings of a value: before it is read, and after.
///
/// Objects of other fields altogether are left alone: what reads may spell keys in a way of its own.
pub(crate) fn lost(before: &Value, after: &Value) -> Option<String> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let missing = |of: &Map<String, Value>, other: &Map<String, Value>| {
                of.iter()
                    .find(|(name, value)| !value.is_null() && !other.contains_key(*name))
                    .map(|(name, _)| name.clone())
            };
            match (missing(after, before), missing(before, after)) {
                (Some(_), Some(_)) => None,
                (None, None) => before.iter().find_map(|(name, value)| lost(value, after.get(name)?)),
                (left_out, ignored) => left_out.or(ignored),
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            let in_order = before.iter().zip(after).find_map(|(before, after)| lost(before, after))?;
            // The items of a set may have changed places.
            let is_kept = |before: &Value| after.iter().any(|after| lost(before, after).is_none());
            (!before.iter().all(is_kept)).then_some(in_order)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{complete, is_told, lost, masked};

    fn completed(mut written: Value, given: &Value) -> Value {
        complete(&mut written, given, true);
        written
    }

    #[test]
    fn what_is_not_written_is_added_at_any_depth() {
        let given = json!({ "a": [{ "hidden": 1 }, {}], "b": { "c": { "hidden": true } }, "none": null });
        let written = json!({ "a": [{ "x": 2 }, {}], "b": { "c": {} }, "default": 3 });
        let complete = json!({
            "a": [{ "x": 2, "hidden": 1 }, {}], "b": { "c": { "hidden": true } }, "default": 3
        });
        assert_eq!(completed(written, &given), complete);
    }

    #[test]
    fn what_is_written_stays_as_it_is() {
        let (given, written) = (json!({ "path": "a/../b", "n": 1.0 }), json!({ "path": "b", "n": 1 }));
        assert_eq!(completed(written.clone(), &given), written);
    }

    #[test]
    fn what_is_not_written_of_an_item_is_added_to_no_other() {
        let given = json!([{ "hidden": 1, "name": "b" }, { "hidden": 2, "name": "a" }]);
        let written = json!([{ "name": "a" }, { "name": "b" }]);
        let complete = completed(written.clone(), &given);
        assert_eq!(complete, written);
        assert!(!is_told(&given, &complete));
    }

    #[test]
    fn what_is_changed_or_dropped_is_not_told() {
        for (given, written) in [
            (json!({ "a": "secret" }), json!({ "a": "***" })),
            (json!([1, 2, 3]), json!([1, 2])),
            (json!({ "a": { "b": 1 } }), json!({ "a": "b" })),
            (json!([[1], [2]]), json!([[1], [3]])),
        ] {
            assert!(!is_told(&given, &written), "{given} {written}");
        }
    }

    #[test]
    fn what_a_type_hides_is_hidden_and_what_it_does_not_write_is_not() {
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
    fn a_field_in_only_one_writing_is_lost_at_any_depth() {
        for (before, after, field) in [
            (json!({ "a": {} }), json!({ "a": { "limit": 10 } }), "limit"),
            (json!([{ "n": 1 }, { "n": 2, "x": 1 }]), json!([{ "n": 1 }, { "n": 2 }]), "x"),
            (json!({ "e": { "A": {} } }), json!({ "e": { "A": { "b": false } } }), "b"),
        ] {
            assert_eq!(lost(&before, &after).as_deref(), Some(field), "{before} {after}");
        }
    }

    #[test]
    fn another_spelling_and_another_order_lose_nothing() {
        for (before, after) in [
            (json!({ "a": 1.0, "path": "a/../b" }), json!({ "a": 1, "path": "b", "none": null })),
            (json!([{ "a": {} }, { "b": {} }]), json!([{ "b": {} }, { "a": {} }])),
            (json!({ "keys": { "A": 1 } }), json!({ "keys": { "a": 1 } })),
        ] {
            assert_eq!(lost(&before, &after), None, "{before} {after}");
        }
    }

    #[test]
    fn numbers_count_by_value_and_the_order_of_a_set_does_not() {
        for (given, written) in [
            (json!({ "a": 1.0, "none": null }), json!({ "a": 1, "default": 2 })),
            (json!(["b", "a", "b"]), json!(["a", "b"])),
            (json!([{ "a": 1.0 }]), json!([{ "a": 1, "b": 2 }])),
        ] {
            assert!(is_told(&given, &written), "{given} {written}");
        }
    }
}
