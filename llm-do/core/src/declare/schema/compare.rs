//! Compares a hand-written schema with the schema of a Rust type.

use std::collections::BTreeSet;

use serde_json::Value;

/// Returns how `written` differs from `actual`: in types, property names, required properties and types of properties.
///
/// Only declarations in both schemas are compared, so a written schema may omit details below its properties.
pub(crate) fn differences(written: &Value, actual: &Value) -> Vec<String> {
    let (whole, root) = (resolved(written, written), resolved(actual, actual));
    let mut found: Vec<_> = type_difference("the schema", whole, root).into_iter().collect();
    if !found.is_empty() {
        return found;
    }
    found.extend(name_difference("properties", &keys(whole), &keys(root)));
    found.extend(name_difference("required properties", &required(whole), &required(root)));
    for (name, property) in properties(whole) {
        let Some(other) = root["properties"].get(name) else { continue };
        let place = format!("`{name}`");
        found.extend(type_difference(&place, resolved(property, written), resolved(other, actual)));
    }
    found
}

/// Follows a reference to a definition of the same schema.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|target| root.pointer(target.strip_prefix('#')?));
    target.unwrap_or(schema)
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn keys(schema: &Value) -> BTreeSet<&str> {
    properties(schema).map(|(name, _)| name.as_str()).collect()
}

fn required(schema: &Value) -> BTreeSet<&str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn name_difference(what: &str, written: &BTreeSet<&str>, actual: &BTreeSet<&str>) -> Option<String> {
    (written != actual)
        .then(|| format!("{what} differ: the schema has {}, the Rust type has {}", list(written), list(actual)))
}

fn list(names: &BTreeSet<&str>) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}

fn type_difference(place: &str, written: &Value, actual: &Value) -> Option<String> {
    let (written, actual) = (types(written)?, types(actual)?);
    (written != actual)
        .then(|| format!("{place} has the type {}, but the Rust type has {}", list(&written), list(&actual)))
}

/// Returns the types that a schema allows, except `null`: optional values are compared by `required`.
fn types(schema: &Value) -> Option<BTreeSet<&str>> {
    let types = match &schema["type"] {
        Value::String(word) => BTreeSet::from([word.as_str()]),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    Some(types.into_iter().filter(|word| *word != "null").collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::differences;

    #[test]
    fn a_less_detailed_schema_agrees() {
        let written = json!({
            "type": "object",
            "properties": { "score": { "type": "integer" }, "note": { "type": "string" }, "place": { "type": "object" } },
            "required": ["place", "score"],
        });
        let actual = json!({
            "type": "object",
            "properties": {
                "score": { "type": "integer", "minimum": 0 },
                "note": { "type": ["string", "null"] },
                "place": { "$ref": "#/$defs/Place" },
            },
            "required": ["score", "place"],
            "$defs": { "Place": { "type": "object" } },
        });
        assert_eq!(differences(&written, &actual), [""; 0]);
    }

    #[test]
    fn all_differences_of_names_required_properties_and_types_are_reported() {
        let written = json!({ "type": "object", "properties": { "score": { "type": "string" } } });
        let actual = json!({
            "type": "object",
            "properties": { "score": { "type": "integer" }, "note": {} },
            "required": ["score"],
        });
        let expected = [
            "properties differ: the schema has `score`, the Rust type has `note`, `score`",
            "required properties differ: the schema has none, the Rust type has `score`",
            "`score` has the type `string`, but the Rust type has `integer`",
        ];
        assert_eq!(differences(&written, &actual), expected);
        let text = json!({ "type": "string" });
        assert_eq!(differences(&text, &actual), ["the schema has the type `string`, but the Rust type has `object`"]);
    }
}
