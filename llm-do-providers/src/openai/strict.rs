//! Whether a schema can be held to strictly, and in what form.

use serde_json::{Map, Value, json};

/// Keywords that the strict mode knows and that may stay as they are.
const KEPT: [&str; 16] = [
    "type",
    "description",
    "title",
    "enum",
    "const",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "required",
    "additionalProperties",
    "$ref",
];
/// Keywords that say nothing about which values are valid, and that the strict mode refuses.
const NOTES: [&str; 5] = ["$schema", "$id", "default", "examples", "deprecated"];
/// The formats that the strict mode knows; others, such as `uint8`, are notes.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Returns `schema` in the form that the strict mode asks for, or `None` if it has none.
///
/// The strict form allows no properties but the named ones and requires them all; a property that was optional stays
/// if it may be null. So whatever is valid in the strict form is valid for `schema`.
pub(super) fn strict(schema: &Value) -> Option<Value> {
    let root = schema.as_object()?;
    if root.get("type")? != "object" {
        return None;
    }
    form(root)
}

fn form(schema: &Map<String, Value>) -> Option<Value> {
    if let Some(target) = schema.get("$ref") {
        return bare_reference(schema, target);
    }
    let mut strict = Map::new();
    for (key, value) in schema {
        match key.as_str() {
            "properties" | "$defs" => _ = strict.insert(key.clone(), each(value.as_object()?)?),
            "items" => _ = strict.insert(key.clone(), form(value.as_object()?)?),
            "anyOf" => _ = strict.insert(key.clone(), all(value.as_array()?)?),
            "format" if !is_known_format(value) => {}
            "format" => _ = strict.insert(key.clone(), value.clone()),
            key if NOTES.contains(&key) => {}
            kept if KEPT.contains(&kept) => _ = strict.insert(key.clone(), value.clone()),
            _ => return None,
        }
    }
    close(&mut strict)?;
    Some(Value::Object(strict))
}

/// The strict mode allows nothing beside a reference; notes there can go.
fn bare_reference(schema: &Map<String, Value>, target: &Value) -> Option<Value> {
    let is_note = |key: &String| key == "$ref" || key == "description" || key == "title" || NOTES.contains(&&**key);
    schema.keys().all(is_note).then(|| json!({ "$ref": target }))
}

fn each(schemas: &Map<String, Value>) -> Option<Value> {
    let pairs = schemas.iter().map(|(name, schema)| Some((name.clone(), form(schema.as_object()?)?)));
    pairs.collect::<Option<Map<_, _>>>().map(Value::Object)
}

fn all(schemas: &[Value]) -> Option<Value> {
    let forms = schemas.iter().map(|schema| form(schema.as_object()?));
    forms.collect::<Option<Vec<_>>>().map(Value::Array)
}

/// Requires all properties of an object schema and allows no others.
fn close(schema: &mut Map<String, Value>) -> Option<()> {
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Some(());
    }
    if schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false)) {
        return None;
    }
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let may_be_required = |(name, schema): (&String, &Value)| required.contains(&json!(name)) || may_be_null(schema);
    if !properties.iter().all(may_be_required) {
        return None;
    }
    let names: Vec<_> = properties.keys().cloned().collect();
    schema.insert("required".to_owned(), json!(names));
    schema.insert("additionalProperties".to_owned(), json!(false));
    Some(())
}

fn may_be_null(schema: &Value) -> bool {
    let lists_null = schema["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("null")));
    let alternatives = schema["anyOf"].as_array();
    lists_null || schema["type"] == "null" || alternatives.is_some_and(|schemas| schemas.iter().any(may_be_null))
}

fn is_known_format(format: &Value) -> bool {
    format.as_str().is_some_and(|format| FORMATS.contains(&format))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::strict;

    fn of_property(schema: &Value) -> Option<Value> {
        let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
        strict(&schema).map(|schema| schema["properties"]["p"].clone())
    }

    #[test]
    fn an_object_with_all_properties_required_is_closed() {
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]});
        let closed = json!({
            "type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false
        });
        assert_eq!(strict(&schema), Some(closed));
    }

    #[test]
    fn an_optional_property_is_required_if_it_may_be_null() {
        let schema = json!({"type": "object", "properties": {"b": {"type": ["string", "null"]}}});
        assert_eq!(strict(&schema).unwrap()["required"], json!(["b"]));
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        assert_eq!(strict(&schema), None);
    }

    #[test]
    fn a_map_has_no_strict_form() {
        assert_eq!(of_property(&json!({"type": "object", "additionalProperties": {"type": "string"}})), None);
    }

    #[test]
    fn an_unknown_keyword_has_no_strict_form() {
        for schema in
            [json!({"oneOf": []}), json!({"type": "string", "minLength": 1}), json!(true), json!({"items": 1})]
        {
            assert_eq!(of_property(&schema), None, "{schema}");
        }
    }

    #[test]
    fn notes_are_dropped() {
        let schema = json!({"type": "integer", "format": "uint8", "default": 1, "minimum": 0});
        assert_eq!(of_property(&schema), Some(json!({"type": "integer", "minimum": 0})));
        let schema = json!({"$ref": "#/$defs/A", "description": "which"});
        assert_eq!(of_property(&schema), Some(json!({"$ref": "#/$defs/A"})));
        let schema = json!({"type": "string", "format": "date"});
        assert_eq!(of_property(&schema), Some(schema));
    }

    #[test]
    fn nested_objects_are_closed_too() {
        let inner = json!({"type": "object", "properties": {}});
        let schema = json!({"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}});
        let strict = of_property(&schema).unwrap();
        assert_eq!(strict["items"]["anyOf"][0]["additionalProperties"], json!(false));
    }

    #[test]
    fn a_root_that_is_no_object_has_no_strict_form() {
        for schema in [json!({"type": "string"}), json!({"anyOf": []}), json!(true)] {
            assert_eq!(strict(&schema), None, "{schema}");
        }
    }
}
