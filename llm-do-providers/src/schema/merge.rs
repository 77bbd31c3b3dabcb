//! Merges two schemas into one of the values that both allow.

use serde_json::{Map, Value, json};

use super::reference::same;
use super::shape::is_only;

type Schema = Map<String, Value>;

/// Why two schemas cannot be merged.
#[derive(Debug)]
pub(super) struct Conflict {
    pub(super) why: String,
    /// Whether no value is valid for both schemas; otherwise, the merged schema cannot be expressed.
    pub(super) leaves_nothing: bool,
}

/// Returns the schema of the values that both schemas accept, with the keywords of `left` first. Errors name `dialect`.
///
/// # Errors
///
/// Returns the reason why it cannot be written without `allOf`.
pub(super) fn merge(mut left: Schema, mut right: Schema, dialect: &str) -> Result<Schema, Conflict> {
    properties(&mut left, &mut right, dialect)?;
    for (key, value) in right {
        let Some(own) = left.get_mut(&key) else {
            left.insert(key, value);
            continue;
        };
        if *own == value || same(&json!({ &key: own }), &json!({ &key: value })) {
            continue;
        }
        if ["anyOf", "oneOf"].contains(&key.as_str()) {
            defer_alternatives(&mut left, &key, &value);
        } else {
            *own = merged(&key, own, &value).ok_or_else(|| Conflict {
                why: format!(
                    "has two different values for `{key}`, which {dialect} cannot express; combine them into one"
                ),
                leaves_nothing: ["type", "const", "enum"].contains(&key.as_str()),
            })?;
        }
    }
    Ok(left)
}

/// Moves alternatives that apply together with other alternatives into `allOf`, to be resolved later.
fn defer_alternatives(schema: &mut Schema, key: &str, alternatives: &Value) {
    if let Value::Array(aside) = schema.entry("allOf").or_insert_with(|| json!([])) {
        aside.push(json!({ key: alternatives }));
    }
}

/// Returns the value of a keyword that combines `left` and `right`, if one value can.
fn merged(key: &str, left: &Value, right: &Value) -> Option<Value> {
    match key {
        "description" => Some(json!(format!("{} {}", left.as_str()?, right.as_str()?))),
        // The keyword of the closer schema has precedence.
        "default" | "examples" | "title" | "deprecated" | "$defs" | "definitions" | "$schema" | "$id" | "$comment"
        | "$anchor" | "readOnly" | "writeOnly" => Some(left.clone()),
        // Other keywords do not affect which values are valid.
        key if key.starts_with("x-") => Some(left.clone()),
        "minimum" | "exclusiveMinimum" | "minItems" | "minLength" | "minProperties" => {
            Some(larger(left, right)?.clone())
        }
        "maximum" | "exclusiveMaximum" | "maxItems" | "maxLength" | "maxProperties" => {
            Some(if larger(left, right)? == left { right.clone() } else { left.clone() })
        }
        "required" => Some(united(left.as_array()?, right.as_array()?)),
        "allOf" => Some(left.as_array()?.iter().chain(right.as_array()?).cloned().collect()),
        "enum" => {
            let kept: Vec<_> = left
                .as_array()?
                .iter()
                .filter(|value| right.as_array().is_some_and(|all| all.contains(value)))
                .collect();
            (!kept.is_empty()).then(|| json!(kept))
        }
        "type" => types(left, right),
        "items" => Some(json!({ "allOf": [left, right] })),
        _ => None,
    }
}

fn larger<'v>(left: &'v Value, right: &'v Value) -> Option<&'v Value> {
    Some(if left.as_f64()? >= right.as_f64()? { left } else { right })
}

fn united(left: &[Value], right: &[Value]) -> Value {
    let more = right.iter().filter(|value| !left.contains(value));
    left.iter().chain(more).cloned().collect()
}

/// The intersection of two lists of types; an integer is also a number.
fn types(left: &Value, right: &Value) -> Option<Value> {
    let (left, right) = (listed(left), listed(right));
    let narrowed = |kind: &&Value| match kind.as_str() {
        Some("number") if !right.contains(kind) => {
            right.iter().any(|other| **other == "integer").then(|| json!("integer"))
        }
        Some("integer") if right.iter().any(|other| **other == "number") => Some((*kind).clone()),
        _ => right.contains(kind).then(|| (*kind).clone()),
    };
    let mut kept: Vec<_> = left.iter().filter_map(narrowed).collect();
    match kept.len() {
        0 => None,
        1 => kept.pop(),
        _ => Some(Value::Array(kept)),
    }
}

fn listed(types: &Value) -> Vec<&Value> {
    types.as_array().map_or_else(|| vec![types], |types| types.iter().collect())
}

/// Merges the properties of both into `left`, each limited by the other schema's `additionalProperties`.
fn properties(left: &mut Schema, right: &mut Schema, dialect: &str) -> Result<(), Conflict> {
    let has_any = |schema: &Schema| schema.contains_key("properties") || schema.contains_key("additionalProperties");
    if !has_any(left) || !has_any(right) {
        return Ok(());
    }
    if left.contains_key("patternProperties") || right.contains_key("patternProperties") {
        let why = format!(
            "combines pattern properties with other properties, which {dialect} cannot express; list the properties by name"
        );
        return Err(Conflict { why, leaves_nothing: false });
    }
    let (own, mut other) = (taken(left), taken(right));
    let (own_rest, other_rest) =
        (left.shift_remove("additionalProperties"), right.shift_remove("additionalProperties"));
    let mut all = Schema::new();
    for (name, schema) in own {
        let second = other.shift_remove(&name).or_else(|| other_rest.clone());
        all.insert(name, conjunction(schema, second));
    }
    for (name, schema) in other {
        all.insert(name, conjunction(schema, own_rest.clone()));
    }
    let rest = match (own_rest, other_rest) {
        (Some(own), other) => Some(conjunction(own, other)),
        (None, other) => other,
    };
    // If further properties are allowed, only a `false` schema excludes a property.
    if rest == Some(Value::Bool(false)) {
        all.retain(|_, schema| *schema != Value::Bool(false));
    }
    lacks_none(&all, rest.as_ref(), [&*left, &*right])?;
    left.insert("properties".to_owned(), Value::Object(all));
    left.extend(rest.map(|rest| ("additionalProperties".to_owned(), rest)));
    Ok(())
}

fn taken(schema: &mut Schema) -> Schema {
    match schema.shift_remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Schema::new(),
    }
}

/// Returns the schema of the values that both schemas allow.
fn conjunction(left: Value, right: Option<Value>) -> Value {
    match (left, right) {
        (Value::Bool(false), _) | (_, Some(Value::Bool(false))) => Value::Bool(false),
        (left, None | Some(Value::Bool(true))) => left,
        (Value::Bool(true), Some(right)) => right,
        (left, Some(right)) if same(&left, &right) => left,
        (left, Some(right)) => json!({ "allOf": [left, right] }),
    }
}

/// Checks that every required property is allowed.
fn lacks_none(all: &Schema, rest: Option<&Value>, sides: [&Schema; 2]) -> Result<(), Conflict> {
    let required = sides.into_iter().filter_map(|side| side.get("required")?.as_array()).flatten();
    let mut missing = required.filter_map(Value::as_str).filter(|name| !all.contains_key(*name));
    match missing.next() {
        Some(name) if rest == Some(&Value::Bool(false)) => {
            let leaves_nothing = sides.into_iter().any(|side| is_only(side, "object"));
            Err(Conflict { why: format!("requires `{name}`, but does not allow it"), leaves_nothing })
        }
        _ => Ok(()),
    }
}
