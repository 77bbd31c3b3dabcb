//! Normalizes keywords to the form that all dialects support.

use serde_json::{Map, Value, json};

/// The types of a schema, without null.
pub(crate) fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    let listed = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(kind)) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    listed.into_iter().filter(|kind| *kind != "null").collect()
}

/// Whether a schema has only values of one type.
pub(crate) fn is_only(schema: &Map<String, Value>, kind: &str) -> bool {
    schema.get("type").is_some_and(|only| only == kind)
}

/// Returns the schema of the values that one of `forms` allows.
pub(crate) fn any_of(mut forms: Vec<Value>) -> Value {
    match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    }
}

/// Returns a form with the type and the properties of an object, which the arguments of a function need. Its properties
/// are those that all alternatives have.
pub(crate) fn rooted(form: Value) -> Value {
    let Some(variants) = form["anyOf"].as_array().filter(|_| form.get("type").is_none()) else { return form };
    if !variants.iter().all(|variant| variant["type"] == "object") {
        return form;
    }
    let mut properties: Vec<(&String, Vec<Value>)> = Vec::new();
    for (name, schema) in variants.iter().filter_map(|variant| variant["properties"].as_object()).flatten() {
        match properties.iter_mut().find(|(known, _)| *known == name) {
            None => properties.push((name, vec![schema.clone()])),
            Some((_, schemas)) if !schemas.contains(schema) => schemas.push(schema.clone()),
            Some(_) => {}
        }
    }
    let properties = properties.into_iter().map(|(name, schemas)| (name.clone(), any_of(schemas)));
    let required = variants[0]["required"].as_array().into_iter().flatten().filter(|name| {
        variants.iter().all(|variant| variant["required"].as_array().is_some_and(|names| names.contains(name)))
    });
    let mut rooted = json!({
        "type": "object", "properties": properties.collect::<Map<_, _>>(), "required": required.collect::<Vec<_>>()
    });
    if let (Value::Object(rooted), Value::Object(form)) = (&mut rooted, form) {
        rooted.extend(form);
    }
    rooted
}

/// Replaces `items: false` of a tuple by `maxItems`.
pub(crate) fn end(whole: &mut Map<String, Value>) {
    if whole.get("items") != Some(&Value::Bool(false)) {
        return;
    }
    whole.shift_remove("items");
    let named = whole.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len) as u64;
    let most = whole.get("maxItems").and_then(Value::as_u64).map_or(named, |most| most.min(named));
    whole.insert("maxItems".to_owned(), json!(most));
}

/// Replaces `unevaluatedProperties: false` by `additionalProperties: false`, as all parts are merged.
pub(crate) fn close(whole: &mut Map<String, Value>) {
    if whole.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
        whole.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

/// Replaces the exclusive bounds of integers by inclusive ones.
pub(crate) fn bounds(whole: &mut Map<String, Value>) {
    if kinds(whole) != ["integer"] {
        return;
    }
    for (exclusive, inclusive, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
        let Some(bound) = whole.get(exclusive).and_then(Value::as_i64).and_then(|bound| bound.checked_add(step)) else {
            continue;
        };
        whole.shift_remove(exclusive);
        let own = whole.get(inclusive).and_then(Value::as_i64).unwrap_or(bound);
        let tighter = if step > 0 { own.max(bound) } else { own.min(bound) };
        whole.insert(inclusive.to_owned(), json!(tighter));
    }
}
