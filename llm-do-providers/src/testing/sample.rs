//! Generates small valid values for JSON schemas.

mod leaf;

use serde_json::{Map, Value, json};

/// The maximum nesting of references in a value.
const MAX_REFERENCES: usize = 16;
/// The maximum number of items: a schema may require more than fit into memory.
const MAX_ITEMS: u64 = 1_000;

/// Returns a deterministic valid value for `schema`; `null` if none was found.
///
/// Objects get their required properties only; arrays and strings are as short as allowed; numbers are the allowed
/// ones next to 0; of alternatives, the one with the fewest nested references is used, or else the first. The
/// keywords `pattern`, `not`, `uniqueItems` and similar ones are not supported.
pub(super) fn sample(schema: &Value) -> Value {
    let sampler = ValueSampler { root: schema };
    (0..MAX_REFERENCES).find_map(|references| sampler.value(schema, references)).unwrap_or_default()
}

struct ValueSampler<'a> {
    /// The schema that references point into.
    root: &'a Value,
}

impl ValueSampler<'_> {
    /// Returns a value with at most `references` nested references.
    fn value(&self, schema: &Value, references: usize) -> Option<Value> {
        match schema {
            Value::Object(schema) => self.described(schema.clone(), references),
            Value::Bool(false) => None,
            _ => Some(Value::Null),
        }
    }

    fn described(&self, mut schema: Map<String, Value>, references: usize) -> Option<Value> {
        if let Some(target) = schema.remove("$ref") {
            let target = self.target(&target)?.clone();
            return self.described(merged(schema, target), references.checked_sub(1)?);
        }
        if let Some(Value::Array(parts)) = schema.remove("allOf") {
            let parts = parts.into_iter().map(|part| self.resolved(part));
            return self.described(parts.fold(schema, merged), references);
        }
        if let Some(Value::Array(alternatives)) = schema.remove("anyOf").or_else(|| schema.remove("oneOf")) {
            let mut values = alternatives.into_iter().filter(|alternative| *alternative != false);
            return values.find_map(|alternative| self.described(merged(schema.clone(), alternative), references));
        }
        if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
            return Some(value.clone());
        }
        self.typed(&schema, references)
    }

    fn typed(&self, schema: &Map<String, Value>, references: usize) -> Option<Value> {
        match kind(schema) {
            "object" => self.object(schema, references),
            "array" => self.array(schema, references),
            "string" => Some(leaf::string(schema)),
            "integer" => leaf::integer(schema),
            "number" => leaf::number(schema),
            "boolean" => Some(json!(false)),
            _ => Some(Value::Null),
        }
    }

    fn object(&self, schema: &Map<String, Value>, references: usize) -> Option<Value> {
        let names = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let property = |name: &str| {
            let schema = schema.get("properties").and_then(|schemas| schemas.get(name)).unwrap_or(&Value::Bool(true));
            Some((name.to_owned(), self.value(schema, references)?))
        };
        names.map(property).collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    fn array(&self, schema: &Map<String, Value>, references: usize) -> Option<Value> {
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let other = schema.get("items").unwrap_or(&Value::Bool(true));
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or_default().min(MAX_ITEMS);
        let schemas = first.iter().chain(std::iter::repeat(other));
        let items = (0..least).zip(schemas).map(|(_, schema)| self.value(schema, references));
        items.collect::<Option<Vec<_>>>().map(Value::Array)
    }

    fn target(&self, reference: &Value) -> Option<&Value> {
        self.root.pointer(reference.as_str()?.strip_prefix('#')?)
    }

    /// Resolves `part` if it is a reference, so that several can be merged.
    fn resolved(&self, part: Value) -> Value {
        part.get("$ref").and_then(|target| self.target(target)).cloned().unwrap_or(part)
    }
}

/// Adds the keywords of `more` to `schema`; the lists of properties and required ones are combined.
fn merged(mut schema: Map<String, Value>, more: Value) -> Map<String, Value> {
    let Value::Object(more) = more else { return schema };
    for (key, value) in more {
        match (schema.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "properties" => old.extend(new),
            (Some(Value::Array(old)), Value::Array(new)) if key == "required" => old.extend(new),
            (_, value) => _ = schema.insert(key, value),
        }
    }
    schema
}

/// Returns the type of the values: the first one named, or the one that the other keywords imply.
fn kind(schema: &Map<String, Value>) -> &str {
    let has_any = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        _ if has_any(&["properties", "required"]) => "object",
        _ if has_any(&["items", "prefixItems", "minItems"]) => "array",
        _ if has_any(&["minLength", "maxLength", "format"]) => "string",
        _ if has_any(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => "number",
        _ => "null",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::sample;

    /// Schemas of many kinds, each with its expected sample.
    fn corpus() -> Vec<(Value, Value)> {
        let node = json!({
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}, "id": {"type": "integer"}},
            "required": ["next", "id"]
        });
        let tree = json!({"$ref": "#/$defs/Tree", "$defs": {"Tree": {"oneOf": [
            {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}, "required": ["left"]},
            {"const": "leaf"}
        ]}}});
        let tagged = json!({"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "square"}}, "required": ["kind"]}
        ], "properties": {"size": {"type": "number", "exclusiveMinimum": 0}}, "required": ["size"]});
        let parts = json!({"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}], "$defs": {
            "A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            "B": {"properties": {"b": {"type": "boolean"}}, "required": ["b"]}
        }});
        vec![
            (json!({}), json!(null)),
            (json!(true), json!(null)),
            (json!({"type": "object"}), json!({})),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}}), json!({})),
            (json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}), json!({"a": "a"})),
            (json!({"type": "string", "minLength": 3, "maxLength": 3}), json!("aaa")),
            (json!({"type": "string", "maxLength": 0}), json!("")),
            (json!({"type": "string", "format": "date-time"}), json!("2000-01-01T00:00:00Z")),
            (json!({"type": "string", "format": "email"}), json!("a@example.com")),
            (json!({"type": "string", "enum": ["low", "high"]}), json!("low")),
            (json!({"const": {"deep": [1]}}), json!({"deep": [1]})),
            (json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}), json!(0)),
            (json!({"type": "integer", "minimum": 7, "multipleOf": 5}), json!(10)),
            (json!({"type": "integer", "exclusiveMinimum": 3}), json!(4)),
            (json!({"type": "integer", "maximum": -2}), json!(-2)),
            (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
            (json!({"type": "number", "minimum": 1.5}), json!(1.5)),
            (json!({"type": ["boolean", "null"]}), json!(false)),
            (json!({"type": "array", "items": {"type": "integer"}}), json!([])),
            (json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}), json!([0, 0])),
            (
                json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 2}),
                json!(["a", false]),
            ),
            (json!({"$ref": "#/$defs/Node", "$defs": {"Node": node}}), json!({"next": null, "id": 0})),
            (tree, json!("leaf")),
            (tagged, json!({"kind": "circle", "size": 0.5})),
            (parts, json!({"a": "a", "b": false})),
            (json!({"anyOf": [false, {"type": "boolean"}]}), json!(false)),
        ]
    }

    #[test]
    fn samples_are_small() {
        for (schema, expected) in corpus() {
            assert_eq!(sample(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn samples_are_valid() {
        for (schema, _) in corpus() {
            let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
            let value = sample(&schema);
            assert!(validator.is_valid(&value), "{value} for {schema}");
        }
    }

    #[test]
    fn a_schema_without_finite_values_has_no_sample() {
        let node = json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]});
        assert_eq!(sample(&json!({"$ref": "#/$defs/N", "$defs": {"N": node}})), json!(null));
        assert_eq!(sample(&json!({"$ref": "#/$defs/N", "$defs": {"N": {"$ref": "#/$defs/N"}}})), json!(null));
        assert_eq!(sample(&json!({"$ref": "http://example.com/schema.json"})), json!(null));
        assert_eq!(sample(&json!({"type": "integer", "minimum": 2, "maximum": 1})), json!(null));
    }
}
