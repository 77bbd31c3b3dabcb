//! The JSON schema of datasets, which editors use to complete and check their files.

use serde_json::{Value, json};

use crate::evaluator::BUILTINS;

pub(super) fn schema<'a>(
    inputs: Option<&Value>,
    expected_output: Option<&Value>,
    own: impl IntoIterator<Item = &'a str>,
) -> Value {
    let (mut definitions, any) = (serde_json::Map::new(), json!(true));
    let mut place = |name: &str, schema: Option<&Value>| match schema {
        Some(schema) => {
            let mut schema = schema.clone();
            move_references(&mut schema, &format!("#/$defs/{name}"));
            definitions.insert(name.to_owned(), schema);
            json!({ "$ref": format!("#/$defs/{name}") })
        }
        None => any.clone(),
    };
    let (inputs, output) = (place("inputs", inputs), place("expected_output", expected_output));
    let evaluators =
        BUILTINS.iter().flat_map(|builtin| forms(builtin.name, &builtin.schema(), builtin.needs_arguments()));
    let own = own.into_iter().flat_map(|name| forms(name, &json!(true), false));
    definitions.insert("evaluator".to_owned(), json!({ "anyOf": evaluators.chain(own).collect::<Value>() }));
    let evaluators = json!({ "type": ["array", "null"], "items": { "$ref": "#/$defs/evaluator" } });
    let optional = |schema: &Value| json!({ "anyOf": [schema, { "type": "null" }] });
    let case = json!({
        "type": "object",
        "properties": {
            "name": { "type": ["string", "null"], "description": "The name, unique in the dataset." },
            "inputs": inputs,
            "metadata": { "description": "What evaluators and readers may want to know." },
            "expected_output": optional(&output),
            "evaluators": evaluators,
        },
        "required": ["inputs"],
        "additionalProperties": false,
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Dataset",
        "type": "object",
        "properties": {
            "$schema": { "type": "string" },
            "name": { "type": ["string", "null"] },
            "cases": { "type": "array", "minItems": 1, "items": case },
            "evaluators": evaluators,
        },
        "required": ["cases"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Redirects the references of a schema that becomes a part of another.
fn move_references(schema: &mut Value, place: &str) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::String(target) if key == "$ref" && target.starts_with('#') => target.replace_range(..1, place),
            value => move_references(value, place),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| move_references(item, place)),
        _ => {}
    }
}

/// Returns the schemas of an evaluator: its name alone, and a map from its name to its arguments.
fn forms(name: &str, arguments: &Value, needs_arguments: bool) -> Vec<Value> {
    let with = json!({
        "type": "object",
        "properties": { name: arguments },
        "required": [name],
        "additionalProperties": false,
    });
    if needs_arguments { vec![with] } else { vec![json!({ "const": name }), with] }
}
