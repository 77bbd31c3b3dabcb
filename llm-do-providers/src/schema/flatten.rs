//! An object with alternatives as one object of all their properties, for servers that refuse alternatives at the root.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::note;
use super::pointer::pointed;

/// The maximum depth of nested references and alternatives.
const DEEPEST: usize = 8;
/// Keywords that are resolved.
pub(crate) const COMBINING: [&str; 3] = ["allOf", "anyOf", "oneOf"];

type Schema = Map<String, Value>;

/// Returns an object schema without its own references and alternatives. It has the properties of all of them, and
/// requires those that every alternative requires. The description states the alternatives.
///
/// The result accepts each value that `schema` accepts, with one exception: a property that one alternative declares
/// and another leaves open has the declared schema.
///
/// Each reference that is followed is added to `followed`.
pub(crate) fn flatten(schema: &Schema, root: &Value, followed: &mut Vec<String>) -> Schema {
    let mut flat = flattened(schema, root, DEEPEST, followed);
    flat.insert("type".to_owned(), json!("object"));
    // The properties that the alternatives evaluate are no longer known.
    flat.shift_remove("unevaluatedProperties");
    flat.entry("properties").or_insert_with(|| json!({}));
    flat
}

fn flattened(schema: &Schema, root: &Value, depth: usize, followed: &mut Vec<String>) -> Schema {
    let mut flat = schema.clone();
    let Some(depth) = depth.checked_sub(1) else {
        flat.retain(|key, _| !COMBINING.contains(&key.as_str()));
        return flat;
    };
    if let Some(Value::String(reference)) = flat.shift_remove("$ref")
        && let Some(Value::Object(target)) = pointed(root, &reference)
    {
        followed.push(reference);
        add_all(&mut flat, &flattened(target, root, depth, followed));
    }
    for member in taken(&mut flat, "allOf") {
        if let Value::Object(member) = &member {
            add_all(&mut flat, &flattened(member, root, depth, followed));
        }
    }
    for key in ["oneOf", "anyOf"] {
        let alternatives = taken(&mut flat, key);
        if !alternatives.is_empty() {
            let each = alternatives.iter().filter_map(Value::as_object);
            let each: Vec<_> = each.map(|alternative| flattened(alternative, root, depth, followed)).collect();
            let is_whole = each.len() == alternatives.len();
            add_alternatives(&mut flat, &each, is_whole);
            describe(&mut flat, key, &each);
        }
    }
    flat
}

fn taken(schema: &mut Schema, key: &str) -> Vec<Value> {
    match schema.shift_remove(key) {
        Some(Value::Array(schemas)) => schemas,
        _ => Vec::new(),
    }
}

/// Adds the keywords of another schema that also applies.
fn add_all(flat: &mut Schema, other: &Schema) {
    let is_closed = |schema: &Schema| schema.get("additionalProperties") == Some(&Value::Bool(false));
    // A closed object next to a schema that names further properties: the description states that, and the arguments
    // are validated.
    if is_closed(flat) != is_closed(other) {
        flat.shift_remove("additionalProperties");
    }
    for (name, schema) in properties(other) {
        let own = property(flat, name);
        *own = match own.take() {
            Value::Null => schema.clone(),
            own if own == *schema => own,
            own => json!({ "allOf": [own, schema] }),
        };
    }
    require(flat, &required(other));
    for (key, value) in other {
        if key == "description" {
            let own = flat.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = [own, value.as_str().unwrap_or_default()].into_iter().filter(|text| !text.is_empty());
            let text = text.collect::<Vec<_>>().join(" ");
            flat.insert(key.clone(), text.into());
        } else if !matches!(key.as_str(), "properties" | "required" | "type" | "additionalProperties" | "title") {
            flat.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn add_alternatives(flat: &mut Schema, alternatives: &[Schema], is_whole: bool) {
    let is_closed = |schema: &Schema| schema.get("additionalProperties") == Some(&Value::Bool(false));
    let has_patterns = |schema: &Schema| schema.contains_key("patternProperties");
    let all_closed = is_whole && alternatives.iter().all(|schema| is_closed(schema) && !has_patterns(schema));
    if !all_closed {
        flat.shift_remove("additionalProperties");
    } else if !flat.contains_key("additionalProperties") {
        flat.insert("additionalProperties".to_owned(), json!(false));
    }
    let mut found: Map<String, Value> = Map::new();
    for (name, schema) in alternatives.iter().flat_map(properties) {
        if let Value::Array(known) = found.entry(name.clone()).or_insert_with(|| json!([]))
            && !known.contains(schema)
        {
            known.push(schema.clone());
        }
    }
    let own: Vec<_> = properties(flat).map(|(name, _)| name.clone()).collect();
    let is_open =
        !is_whole || alternatives.iter().any(|schema| properties(schema).next().is_none() && !is_closed(schema));
    for (name, schemas) in found {
        // The schema next to the alternatives applies to all of them.
        if !own.contains(&name)
            && let Value::Array(schemas) = schemas
        {
            *property(flat, &name) = if is_open { json!({}) } else { either(schemas) };
        }
    }
    let mut each = alternatives.iter().filter(|_| is_whole).map(required);
    if let Some(first) = each.next() {
        let common = each.fold(first, |common, next| common.into_iter().filter(|name| next.contains(name)).collect());
        require(flat, &common);
    }
}

/// Returns the schema of the values that any of the schemas allows; constants become an `enum`.
fn either(mut schemas: Vec<Value>) -> Value {
    if schemas.len() == 1 {
        return schemas.remove(0);
    }
    let constant = |schema: &Value| schema.get("const").filter(|_| is_constant(schema)).cloned();
    let constants: Option<Vec<_>> = schemas.iter().map(constant).collect();
    match constants.map(distinct) {
        Some(values) if values.iter().all(Value::is_string) => json!({"type": "string", "enum": values}),
        Some(values) => json!({ "enum": values }),
        None => json!({ "anyOf": schemas }),
    }
}

fn distinct(mut values: Vec<Value>) -> Vec<Value> {
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(value.clone()));
    values
}

fn is_constant(schema: &Value) -> bool {
    schema
        .as_object()
        .is_some_and(|keywords| keywords.keys().all(|key| matches!(key.as_str(), "const" | "type" | "title")))
}

fn properties(schema: &Schema) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn property<'s>(schema: &'s mut Schema, name: &str) -> &'s mut Value {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    &mut properties[name]
}

fn required(schema: &Schema) -> Vec<Value> {
    schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
}

fn require(schema: &mut Schema, names: &[Value]) {
    if names.is_empty() {
        return;
    }
    if let Value::Array(own) = schema.entry("required").or_insert_with(|| json!([])) {
        own.extend(names.iter().filter(|name| !own.contains(name)).cloned().collect::<Vec<_>>());
    }
}

/// Describes which properties belong together.
fn describe(flat: &mut Schema, key: &str, alternatives: &[Schema]) {
    let each: Vec<_> = alternatives.iter().map(summary).filter(|text| !text.is_empty()).collect();
    if each.is_empty() {
        return;
    }
    let words = if key == "oneOf" { "Exactly one of these" } else { "At least one of these" };
    let text = format!("{words}: {}.", each.join("; "));
    let own = flat.shift_remove("description");
    note::describe(flat, own.as_ref(), &[text]);
}

/// Describes an alternative by its constants and its required properties.
fn summary(alternative: &Schema) -> String {
    let constants = properties(alternative).filter_map(|(name, schema)| Some((name, schema.get("const")?)));
    let mut parts: Vec<_> = constants.map(|(name, value)| format!("`{name}` is {value}")).collect();
    let is_constant =
        |name: &str| properties(alternative).any(|(own, schema)| own == name && schema.get("const").is_some());
    let required = required(alternative);
    let required = required.iter().filter_map(Value::as_str).filter(|name| !is_constant(name));
    parts.extend(required.map(|name| format!("with `{name}`")));
    if parts.is_empty() {
        parts.extend(alternative.get("description").and_then(Value::as_str).map(str::to_owned));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::flatten;

    fn flat(schema: &Value) -> Value {
        Value::Object(flatten(schema.as_object().unwrap(), schema, &mut Vec::new()))
    }

    #[test]
    fn alternatives_become_optional_properties() {
        let circle = json!({"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]});
        let square = json!({"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]});
        let schema =
            json!({"type": "object", "oneOf": [circle, {"$ref": "#/$defs/Square"}], "$defs": {"Square": square}});
        let flat = flat(&schema);
        let properties = json!({
            "kind": {"type": "string", "enum": ["circle", "square"]}, "r": {"type": "number"}, "a": {"type": "number"}
        });
        assert_eq!((&flat["properties"], &flat["required"]), (&properties, &json!(["kind"])));
        let words = "Exactly one of these: `kind` is \"circle\", with `r`; `kind` is \"square\", with `a`.";
        assert_eq!(flat["description"], words);
        assert!(flat.get("oneOf").is_none());
    }

    #[test]
    fn parts_of_a_conjunction_are_one_object() {
        let part = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
        let schema = json!({"type": "object", "allOf": [part("a"), {"$ref": "#/$defs/B"}], "$defs": {"B": part("b")}});
        let flat = flat(&schema);
        assert_eq!(flat["required"], json!(["a", "b"]));
        assert_eq!(flat["properties"], json!({"a": {"type": "string"}, "b": {"type": "string"}}));
    }

    #[test]
    fn a_recursive_alternative_ends() {
        let schema =
            json!({"type": "object", "anyOf": [{"$ref": "#"}, {"properties": {"a": {}}}], "allOf": [{"$ref": "#"}]});
        assert_eq!(flat(&schema)["properties"]["a"], json!({}));
    }
}
