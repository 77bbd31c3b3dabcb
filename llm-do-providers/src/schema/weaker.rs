//! Weaker schemas, for a schema that a dialect cannot express.

use serde_json::{Map, Value, json};

use super::flatten::{COMBINING, flatten};
use super::note;
use super::reference::{Opened, mark, unmarked, within};
use super::shape::is_only;
use super::unsupported::UNSUPPORTED_KEYWORDS;
use super::walk::REMARKS;

type Schema = Map<String, Value>;

/// Keywords that dialects cannot combine with every keyword.
const HARD: [&str; 5] = ["not", "patternProperties", "propertyNames", "unevaluatedProperties", "uniqueItems"];

/// Unsupported keywords whose schemas evaluate properties.
const EVALUATING: [&str; 5] = ["$dynamicRef", "dependentSchemas", "else", "if", "then"];

/// Whether a schema has keywords that dialects cannot express, or cannot combine with every keyword.
pub(super) fn is_hard(schema: &Schema) -> bool {
    schema.keys().any(|key| UNSUPPORTED_KEYWORDS.contains(&key.as_str()) || HARD.contains(&key.as_str()))
}

/// A schema that accepts all values of another one, and more.
pub(super) struct Weaker {
    pub(super) schema: Schema,
    /// The keywords that were dropped.
    pub(super) dropped: Vec<String>,
}

/// Returns weaker schemas with marked references, the strongest first. Adds the references that are inlined to
/// `opened`.
pub(super) fn weaker_forms(keywords: &Schema, root: &Value, opened: &mut Vec<Opened>) -> Vec<Weaker> {
    let mut simple = without(keywords, &UNSUPPORTED_KEYWORDS);
    if EVALUATING.iter().any(|key| keywords.contains_key(*key)) {
        // The properties that the dropped keywords evaluate are no longer known.
        simple.shift_remove("unevaluatedProperties");
    }
    let mut plain = without(&simple, &HARD);
    if keywords.contains_key("patternProperties") {
        // Properties that a pattern allows would be refused as undeclared.
        plain.shift_remove("additionalProperties");
    }
    let mut forms = vec![simple, plain.clone()];
    if is_only(keywords, "object") || keywords.contains_key("properties") {
        forms.push(flattened(&plain, root, opened));
        forms.push(without(&without(&plain, &COMBINING), &["$ref", "additionalProperties"]));
    }
    forms.push(outline(keywords));
    forms.into_iter().map(|schema| weaker(keywords, schema)).collect()
}

/// Returns the type and the annotations of a schema.
pub(super) fn outline(keywords: &Schema) -> Schema {
    let kept =
        keywords.iter().filter(|(key, value)| REMARKS.contains(&key.as_str()) || *key == "type" && value.is_string());
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn weaker(keywords: &Schema, schema: Schema) -> Weaker {
    let is_resolved = schema.contains_key("properties") && !COMBINING.iter().any(|key| schema.contains_key(*key));
    let is_in_words = |key: &str| is_resolved && (COMBINING.contains(&key) || key == "$ref");
    let dropped = keywords.keys().filter(|key| !schema.contains_key(*key) && !is_in_words(key));
    let dropped = dropped.filter(|key| !REMARKS.contains(&key.as_str())).cloned().collect();
    Weaker { schema, dropped }
}

fn without(schema: &Schema, dropped: &[&str]) -> Schema {
    let kept = schema.iter().filter(|(key, _)| !dropped.contains(&key.as_str()));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns one object with all properties, whose references are marked as contained in those that were inlined.
fn flattened(keywords: &Schema, root: &Value, opened: &mut Vec<Opened>) -> Schema {
    let marked = Value::Object(keywords.clone());
    let Value::Object(own) = unmarked(&marked) else { return Schema::new() };
    let (mut followed, mut within) = (Vec::new(), first_within(&marked));
    let mut flat = flatten(&own, root, &mut followed);
    flat.shift_remove("additionalProperties");
    for to in followed {
        opened.push(Opened { to, within });
        within = Some(opened.len() - 1);
    }
    mark(&mut flat, within);
    flat
}

/// Returns the inlined reference that contains the first marked reference.
fn first_within(schema: &Value) -> Option<usize> {
    match schema {
        Value::Object(keywords) => keywords.iter().find_map(|(key, value)| match key.as_str() {
            "$ref" => within(value),
            _ => first_within(value),
        }),
        Value::Array(parts) => parts.iter().find_map(first_within),
        _ => None,
    }
}

/// Adds the dropped keywords of a schema to the description of its form.
pub(super) fn with_rules(form: Value, keywords: &Schema, dropped: &[String]) -> Value {
    let rules = keywords.iter().filter(|(key, _)| dropped.contains(key));
    let rules: Schema = rules.map(|(key, value)| (key.clone(), value.clone())).collect();
    let Value::Object(rules) = unmarked(&Value::Object(rules)) else { return form };
    let mut form = match form {
        // A reference may have no siblings.
        Value::Object(form) if form.contains_key("$ref") => Schema::from_iter([("anyOf".to_owned(), json!([form]))]),
        Value::Object(form) => form,
        other => return other,
    };
    if !rules.is_empty() {
        note::follow(&mut form, &rules);
    }
    Value::Object(form)
}
