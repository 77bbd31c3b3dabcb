//! A compact notation of JSON schemas for prompts.

use serde_json::Value;

use crate::schema::pointer::pointed;

/// The maximum depth: recursive types are infinite.
const MAX_DEPTH: usize = 8;

/// Returns `schema` in a compact notation, such as `{"name": string, "age": integer}`: each token of a prompt takes
/// time.
pub(in crate::local) fn sketch(schema: &Value) -> String {
    sketch_to_depth(schema, schema, MAX_DEPTH)
}

fn sketch_to_depth(root: &Value, schema: &Value, depth: usize) -> String {
    if depth == 0 {
        return "...".to_owned();
    }
    let inner = |schema: &Value| sketch_to_depth(root, schema, depth - 1);
    let combined = schema.get("allOf").or(schema.get("$ref").and(schema.get("properties"))).is_some();
    let named = if combined { named(root, schema, depth) } else { Vec::new() };
    if !named.is_empty() {
        return object(named.into_iter(), inner);
    }
    if schema.get("$ref").is_some() {
        return target(root, schema).map_or_else(|| "any".to_owned(), inner);
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(alternatives) = alternatives {
        return alternatives.iter().map(inner).collect::<Vec<_>>().join(" | ");
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    typed(schema, inner)
}

fn typed(schema: &Value, inner: impl Fn(&Value) -> String) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => object(properties(schema), inner),
        Some(Value::String(kind)) if kind == "array" => {
            format!("[{}]", schema.get("items").map_or_else(|| "any".to_owned(), inner))
        }
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "any".to_owned(),
    }
}

fn object<'s>(properties: impl Iterator<Item = (&'s String, &'s Value)>, inner: impl Fn(&Value) -> String) -> String {
    let fields: Vec<_> = properties.map(|(name, value)| format!("\"{name}\": {}", inner(value))).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Returns the properties of an object: its own, and those of `$ref` and `allOf`.
fn named<'s>(root: &'s Value, schema: &'s Value, depth: usize) -> Vec<(&'s String, &'s Value)> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let own = properties(schema);
    let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let others = target(root, schema).into_iter().chain(all).flat_map(|other| named(root, other, depth));
    own.chain(others).collect()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn target<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    pointed(root, schema.get("$ref")?.as_str()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sketch;

    #[test]
    fn a_sketch_is_compact_and_finite() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "mood": {"enum": ["good", "bad"]}, "nick": {"type": ["string", "null"]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Child"}},
        }, "$defs": {"Child": {"type": "object", "properties": {"age": {"type": "integer"}}}}});
        let expected =
            r#"{"name": string, "mood": "good" | "bad", "nick": string | null, "children": [{"age": integer}]}"#;
        assert_eq!(sketch(&schema), expected);
        assert!(sketch(&json!({"type": "array", "items": {"$ref": "#"}})).ends_with("...]]]]"));
    }

    #[test]
    fn a_sketch_follows_percent_encoded_references() {
        let schema =
            json!({"items": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}, "type": "array", "$defs": {"Größe": {"const": 1}}});
        assert_eq!(sketch(&schema), "[1]");
    }

    #[test]
    fn a_sketch_merges_properties_with_references_and_all_of() {
        let schema = json!({
            "oneOf": [
                {"$ref": "#/$defs/Point", "type": "object", "properties": {"kind": {"const": "jump"}}},
                {"allOf": [{"$ref": "#/$defs/Point"}, {"properties": {"z": {"type": "integer"}}}]},
            ],
            "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
        });
        assert_eq!(sketch(&schema), r#"{"kind": "jump", "x": integer} | {"x": integer, "z": integer}"#);
        let recursive = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "properties": {"a": {"type": "null"}}});
        assert!(sketch(&recursive).starts_with(r#"{"a": null, "a""#));
    }
}
