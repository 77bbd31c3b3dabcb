//! Restores the order in which a value was given.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::text;

/// Orders the parts of `sorted` as in `given`, of which `normal` is the normal form; parts that `given` lacks come last.
///
/// `sorted` is the same value in normal form, after it was decoded.
pub(crate) fn follow(sorted: &mut Value, given: &Value, normal: &Value) {
    match (sorted, given, normal) {
        (Value::Array(items), Value::Array(given), Value::Array(normal)) => follow_items(items, given, normal),
        (Value::Object(fields), Value::Object(given), Value::Object(normal)) => {
            for (name, field) in fields.iter_mut() {
                if let (Some(given), Some(normal)) = (given.get(name), normal.get(name)) {
                    follow(field, given, normal);
                }
            }
            if !given.keys().eq(normal.keys()) {
                order_fields(fields, given);
            }
        }
        _ => {}
    }
}

fn follow_items(items: &mut [Value], given: &[Value], normal: &[Value]) {
    let (in_given, in_normal): (Vec<_>, Vec<_>) =
        (given.iter().map(content).collect(), normal.iter().map(content).collect());
    if in_given == in_normal {
        let pairs = given.iter().zip(normal);
        items.iter_mut().zip(pairs).for_each(|(item, (given, normal))| follow(item, given, normal));
        return;
    }
    let places = |contents: Vec<String>| -> HashMap<String, usize> {
        contents.into_iter().enumerate().map(|(place, content)| (content, place)).collect()
    };
    let (in_given, in_normal) = (places(in_given), places(in_normal));
    items.sort_by_cached_key(|item| in_given.get(&content(item)).copied().unwrap_or(usize::MAX));
    for item in items {
        let content = content(item);
        if let (Some(place), Some(in_normal)) = (in_given.get(&content), in_normal.get(&content)) {
            follow(item, &given[*place], &normal[*in_normal]);
        }
    }
}

fn order_fields(fields: &mut Map<String, Value>, given: &Map<String, Value>) {
    let places: HashMap<_, _> = given.keys().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let mut ordered: Vec<_> = std::mem::take(fields).into_iter().collect();
    ordered.sort_by_key(|(name, _)| places.get(name.as_str()).copied().unwrap_or(usize::MAX));
    fields.extend(ordered);
}

/// Returns a text that is equal for equal values in any order.
fn content(value: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Array(items) => {
                let mut items: Vec<_> = items.iter().map(sorted).collect();
                items.sort_by_cached_key(text);
                items.into()
            }
            Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), sorted(field))).collect(),
            other => other.clone(),
        }
    }
    text(&sorted(value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sort;
    use super::follow;

    #[test]
    fn sets_and_maps_at_any_depth_are_as_given() {
        let names = json!({ "type": "array", "items": { "type": "string" }, "uniqueItems": true });
        let schema = json!({ "type": "object", "properties": {
            "a": names, "lists": { "type": "array", "items": names },
            "sets": { "type": "array", "items": names, "uniqueItems": true },
            "map": { "type": "object", "additionalProperties": names },
        } });
        let given = json!({
            "a": ["b", "a", "c"], "lists": [["z", "y"], ["b", "a"]], "sets": [["z", "y"], ["b", "a"]],
            "map": { "second": ["2", "1"], "first": [] }, "other": 1,
        });
        let in_normal_form = |value: &Value| {
            let mut sorted = value.clone();
            sort(&schema, &mut sorted);
            sorted
        };
        let normal = in_normal_form(&given);
        assert_ne!(normal.to_string(), given.to_string());
        let mut followed = normal.clone();
        follow(&mut followed, &given, &normal);
        assert_eq!(followed.to_string(), given.to_string());
        let mut decoded = given.clone();
        decoded["map"]["third"] = json!(["4", "3"]);
        let mut followed = in_normal_form(&decoded);
        follow(&mut followed, &given, &normal);
        assert_eq!(followed["map"], json!({ "second": ["2", "1"], "first": [], "third": ["3", "4"] }));
    }
}
