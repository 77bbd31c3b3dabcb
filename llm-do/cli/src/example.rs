//! An example of the arguments that a schema describes.

use serde_json::{Map, Value, json};

/// The maximum number of nested references that are followed.
const MAX_REFERENCES: usize = 8;

/// Returns an example value of a schema, with required properties only.
///
/// Examples and defaults in the schema take precedence. Bounds, patterns and formats are ignored.
pub(super) fn example(schema: &Value) -> Value {
    Examples { root: schema }.example(schema, MAX_REFERENCES)
}

struct Examples<'a> {
    /// The schema in which references are resolved.
    root: &'a Value,
}

impl Examples<'_> {
    fn example(&self, schema: &Value, references: usize) -> Value {
        if let Some(given) = given(schema) {
            return given.clone();
        }
        if let Some(target) = self.target(schema) {
            return if references == 0 { Value::Null } else { self.example(target, references - 1) };
        }
        let alternatives = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema.get(key)?.get(0));
        match alternatives {
            Some(first) => self.example(first, references),
            None => self.of_type(schema, references),
        }
    }

    fn of_type(&self, schema: &Value, references: usize) -> Value {
        match kind(schema) {
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            "null" => Value::Null,
            "array" => schema.get("items").map_or_else(|| json!([]), |items| json!([self.example(items, references)])),
            "object" => self.object(schema, references),
            _ => json!("…"),
        }
    }

    fn object(&self, schema: &Value, references: usize) -> Value {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let property = |name: &str| (name.to_owned(), self.example(&schema["properties"][name], references));
        Value::Object(required.map(property).collect::<Map<_, _>>())
    }

    fn target(&self, schema: &Value) -> Option<&Value> {
        self.root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }
}

/// Returns a value from the schema itself: its first example, its default, or its first permitted value.
fn given(schema: &Value) -> Option<&Value> {
    let listed = |key: &str| schema.get(key)?.get(0);
    listed("examples").or_else(|| schema.get("default")).or_else(|| schema.get("const")).or_else(|| listed("enum"))
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        Some(kind) => kind.as_str().unwrap_or_default(),
        None if schema.get("properties").is_some() => "object",
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::example;

    #[test]
    fn each_value_has_the_type_of_its_schema() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "age": { "type": "integer" },
                "share": { "type": ["number", "null"] },
                "is_new": { "type": "boolean" },
                "sizes": { "type": "array", "items": { "type": "integer" } },
                "color": { "enum": ["red", "blue"] },
                "place": { "$ref": "#/$defs/Place" },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
                "words": { "type": "string", "examples": ["bees"] },
                "optional": { "type": "string" },
            },
            "required": ["name", "age", "share", "is_new", "sizes", "color", "place", "either", "words"],
            "$defs": { "Place": {
                "type": "object", "properties": { "line": { "type": "integer" } }, "required": ["line"],
            } },
        });
        let expected = json!({
            "name": "…", "age": 1, "share": 1, "is_new": true, "sizes": [1], "color": "red", "place": { "line": 1 },
            "either": 1, "words": "bees",
        });
        assert_eq!(example(&schema), expected);
    }

    #[test]
    fn a_recursive_schema_has_a_finite_example() {
        let node = json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
        assert!(example(&node).is_object());
    }
}
