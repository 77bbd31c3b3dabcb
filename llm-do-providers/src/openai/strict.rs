//! Whether a schema can be held to strictly, and in what form.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::known::Known;

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
pub(crate) fn strict(schema: &Arc<Value>) -> Option<Arc<Value>> {
    static KNOWN: Known = Known::new();
    KNOWN.form(schema, |schema| strict_form(schema).ok_or(())).ok()
}

///
/// The strict form allows no properties but the named ones and requires them all; a property that was optional stays
/// if it may be null. So whatever is valid in the strict form is valid for `schema`.
fn strict_form(schema: &Value) -> Option<Value> {
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
            // What the strict mode has for it, where it means the same.
            "oneOf" if !schema.contains_key("anyOf") && are_apart(value.as_array()?) => {
                _ = strict.insert("anyOf".to_owned(), all(value.as_array()?)?);
            }
            "format" if !is_known_format(value) => {}
            "format" => _ = strict.insert(key.clone(), value.clone()),
            key if NOTES.contains(&key) => {}
            kept if KEPT.contains(&kept) => _ = strict.insert(key.clone(), value.clone()),
            _ => return None,
        }
    }
    close(&mut strict)?;
    says_what_it_holds(&strict).then_some(Value::Object(strict))
}

/// Whether a schema says the type of its values, and of a list's items, as the strict mode asks.
fn says_what_it_holds(schema: &Map<String, Value>) -> bool {
    let is_typed = ["type", "anyOf", "enum", "const"].iter().any(|key| schema.contains_key(*key));
    // Alternatives beside properties: each object, closed, would refuse the properties of the other.
    let is_split = schema.contains_key("anyOf") && may_be(schema, "object");
    is_typed && !is_split && (!may_be(schema, "array") || schema.contains_key("items"))
}

/// Whether the type of a schema is, or lists, `kind`.
fn may_be(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|listed| listed == kind),
        Some(only) => only == kind,
        None => false,
    }
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

/// Whether no value is valid for two of the schemas, as with the variants of a Rust enum.
fn are_apart(schemas: &[Value]) -> bool {
    let mut pairs =
        schemas.iter().enumerate().flat_map(|(index, left)| schemas[..index].iter().map(move |right| (left, right)));
    pairs.all(|(left, right)| excludes(left, right))
}

fn excludes(left: &Value, right: &Value) -> bool {
    let (kinds, values) = ([&left["type"], &right["type"]], [&left["const"], &right["const"]]);
    if kinds.iter().all(|kind| kind.is_string()) && kinds[0] != kinds[1] {
        // Every integer is a number as well.
        return !kinds.iter().all(|kind| **kind == "integer" || **kind == "number");
    }
    let are_texts = values.iter().all(|value| value.is_string());
    (are_texts && values[0] != values[1]) || needs_more(left, right) || needs_more(right, left)
}

/// Whether objects of `left` have a property that those of `right` cannot have, or not with such a value.
fn needs_more(left: &Value, right: &Value) -> bool {
    let is_required = |schema: &Value, name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|listed| listed == name))
    };
    let mut own = left["properties"].as_object().into_iter().flatten().filter(|(name, _)| is_required(left, name));
    left["type"] == "object"
        && right["type"] == "object"
        && own.any(|(name, schema)| match right["properties"].get(name) {
            Some(other) => excludes(schema, other),
            None => right["additionalProperties"] == false,
        })
}

/// Requires all properties of an object schema and allows no others.
fn close(schema: &mut Map<String, Value>) -> Option<()> {
    if !may_be(schema, "object") {
        return Some(());
    }
    if schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false)) {
        return None;
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    let properties = schema["properties"].as_object()?;
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

    use super::strict_form;

    fn of_property(schema: &Value) -> Option<Value> {
        let schema = json!({"type": "object", "properties": {"p": schema}, "required": ["p"]});
        strict_form(&schema).map(|schema| schema["properties"]["p"].clone())
    }

    #[test]
    fn an_object_with_all_properties_required_is_closed() {
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]});
        let closed = json!({
            "type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"], "additionalProperties": false
        });
        assert_eq!(strict_form(&schema), Some(closed));
    }

    #[test]
    fn an_optional_property_is_required_if_it_may_be_null() {
        let schema = json!({"type": "object", "properties": {"b": {"type": ["string", "null"]}}});
        assert_eq!(strict_form(&schema).unwrap()["required"], json!(["b"]));
        let schema = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        assert_eq!(strict_form(&schema), None);
    }

    #[test]
    fn a_map_has_no_strict_form() {
        assert_eq!(of_property(&json!({"type": "object", "additionalProperties": {"type": "string"}})), None);
    }

    #[test]
    fn an_unknown_keyword_has_no_strict_form() {
        for schema in
            [json!({"allOf": []}), json!({"type": "string", "minLength": 1}), json!(true), json!({"items": 1})]
        {
            assert_eq!(of_property(&schema), None, "{schema}");
        }
    }

    #[test]
    fn a_schema_of_anything_has_no_strict_form() {
        for schema in [json!({}), json!({"description": "any"}), json!({"type": "array"}), json!({"type": ["array"]})] {
            assert_eq!(of_property(&schema), None, "{schema}");
        }
    }

    #[test]
    fn an_object_that_may_be_null_is_closed_too() {
        let schema = json!({"type": ["object", "null"], "properties": {"a": {"type": "null"}}, "required": ["a"]});
        assert_eq!(of_property(&schema).unwrap()["additionalProperties"], json!(false));
        let map = json!({"type": ["object", "null"], "additionalProperties": {"type": "string"}});
        assert_eq!(of_property(&map), None);
    }

    #[test]
    fn variants_that_exclude_each_other_are_alternatives() {
        let tag = |name: &str| json!({"type": "string", "const": name});
        let open = |name: &str| json!({"type": "object", "properties": {"tag": tag(name)}, "required": ["tag"]});
        let closed = |name: &str| {
            let properties = json!({name: {"type": "null"}});
            json!({"type": "object", "properties": properties, "required": [name], "additionalProperties": false})
        };
        let text = json!({"type": "string"});
        for variants in
            [[tag("a"), tag("b")], [open("a"), open("b")], [closed("a"), closed("b")], [tag("a"), open("b")]]
        {
            let form = of_property(&json!({ "oneOf": variants })).unwrap_or_else(|| panic!("{variants:?}"));
            assert_eq!(form["anyOf"].as_array().unwrap().len(), 2);
        }
        let number = |kind: &str| json!({ "type": kind });
        let pairs =
            [[tag("a"), tag("a")], [tag("a"), text], [open("a"), open("a")], [number("integer"), number("number")]];
        for variants in pairs {
            assert_eq!(of_property(&json!({ "oneOf": variants })), None, "{variants:?}");
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
            assert_eq!(strict_form(&schema), None, "{schema}");
        }
    }
}
