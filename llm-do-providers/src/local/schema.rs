//! Prepares JSON schemas for a small model: short in the prompt, bounded in the grammar.

mod limits;
mod sketch;
mod summary;

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

pub(super) use self::sketch::sketch;
use self::summary::SchemaSummary;
use crate::schema::pointer::decoded;

/// The maximum number of references that are inlined; each may contain further references.
const MAX_INLINED: usize = 200;

/// The keywords whose subschemas apply to the same value as the schema itself.
const APPLICATORS: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

/// The keywords that have a meaning only at the root of a schema.
const ROOT_KEYWORDS: [&str; 4] = ["$defs", "$id", "$schema", "definitions"];

/// Returns `schema` with a limit on everything that could otherwise continue until the token limit.
pub(super) fn bounded(schema: &Value) -> Value {
    let schema = &decode_references(schema);
    let mut bounds = Bounds { root: schema, inlining: Vec::new(), inline_budget: MAX_INLINED, closes_objects: true };
    let mut run = || {
        let mut bounded = schema.clone();
        bounds.bound_schema(&mut bounded);
        (bounded, bounds.closes_objects)
    };
    match run() {
        (bounded, true) => bounded,
        (_, false) => run().0,
    }
}

/// Returns `schema` for embedding at `pointer`, a JSON pointer, of a larger schema: its references point there.
pub(super) fn rebase_references(pointer: &str, schema: &Value) -> Value {
    map_references(schema, &|target| format!("#{pointer}{target}"))
}

/// Returns `schema` with percent-decoded references, since llguidance does not decode them.
pub(super) fn decode_references(schema: &Value) -> Value {
    map_references(schema, &|target| format!("#{}", decoded(target)))
}

/// Returns `schema` with `to` applied to the targets of its local references.
fn map_references(schema: &Value, to: &impl Fn(&str) -> String) -> Value {
    match schema {
        Value::Object(fields) => Value::Object(fields.iter().map(|(key, value)| map_field(key, value, to)).collect()),
        Value::Array(items) => items.iter().map(|item| map_references(item, to)).collect(),
        other => other.clone(),
    }
}

fn map_field(key: &str, value: &Value, to: &impl Fn(&str) -> String) -> (String, Value) {
    let target = value.as_str().filter(|_| key == "$ref").and_then(|target| target.strip_prefix('#'));
    (key.to_owned(), target.map_or_else(|| map_references(value, to), |target| to(target).into()))
}

/// Adds limits to a schema and its subschemas.
///
/// Several schemas may apply to one value: the schema itself, its `$ref`, those of `allOf`, and one of `anyOf` or
/// `oneOf`. None of them may be closed without the properties that its siblings name, nor limited without regard to its
/// siblings. So each is limited with a summary of its siblings, and a referenced definition with siblings is inlined
/// first.
struct Bounds<'s> {
    root: &'s Value,
    /// The references that are being inlined, outermost first.
    inlining: Vec<String>,
    /// The number of references that may still be inlined.
    inline_budget: usize,
    /// Whether objects are closed. None is once the limit of inlined references is reached: a definition that stays a
    /// reference would be closed without the properties of its siblings.
    closes_objects: bool,
}

/// A keyword with subschemas that apply to the same value.
struct Applicator {
    key: &'static str,
    /// The index in `allOf`; `None` for the other keywords.
    index: Option<usize>,
    summary: SchemaSummary,
}

impl Bounds<'_> {
    /// Adds limits to a schema without siblings.
    fn bound_schema(&mut self, schema: &mut Value) {
        if *schema == Value::Bool(true) {
            *schema = Map::new().into();
        }
        let Value::Object(fields) = schema else { return };
        self.bound_with_siblings(fields, &SchemaSummary::default());
        if SchemaSummary::from_fields(fields).is_empty() && !APPLICATORS.iter().any(|key| fields.contains_key(*key)) {
            fields.extend(limits::any_value());
        }
    }

    /// Adds limits to a schema with `siblings`.
    fn bound_with_siblings(&mut self, fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
        self.bound_nested(fields);
        let applicators = self.applicators(fields);
        let except = |excluded: Option<usize>| {
            let mut summary = siblings.clone();
            summary.is_open |= !self.closes_objects;
            // The schema's own keywords are siblings of its applicators only.
            summary.extend(&excluded.map(|_| SchemaSummary::from_fields(fields)).unwrap_or_default());
            let others = applicators.iter().enumerate().filter(|(index, _)| Some(*index) != excluded);
            others.for_each(|(_, applicator)| summary.extend(&applicator.summary));
            summary
        };
        let own_siblings = except(None);
        let others: Vec<_> = (0..applicators.len()).map(|index| except(Some(index))).collect();
        for (applicator, siblings) in applicators.iter().zip(&others) {
            self.bound_applicator(fields, applicator, siblings);
        }
        infer_type(fields, &own_siblings);
        if !own_siblings.enumerates_values() && !SchemaSummary::from_fields(fields).enumerates_values() {
            limits::bound(fields, &own_siblings);
        }
    }

    /// Adds limits to the schemas of nested values. Other keys hold data, where `type` has no meaning.
    fn bound_nested(&mut self, fields: &mut Map<String, Value>) {
        for (key, value) in fields.iter_mut() {
            match (key.as_str(), value) {
                ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                    named.values_mut().for_each(|schema| self.bound_schema(schema));
                }
                ("prefixItems", Value::Array(schemas)) => {
                    for schema in schemas {
                        self.bound_schema(schema);
                    }
                }
                ("items" | "additionalProperties", value) => self.bound_schema(value),
                _ => {}
            }
        }
    }

    /// Adds limits to the subschemas of `applicator`, which have `siblings`.
    fn bound_applicator(&mut self, fields: &mut Map<String, Value>, applicator: &Applicator, siblings: &SchemaSummary) {
        match (applicator.index, fields.get_mut(applicator.key)) {
            (None, Some(Value::String(_))) if !siblings.is_empty() => self.inline_reference(fields, siblings),
            (None, Some(Value::Array(schemas))) => {
                for schema in schemas {
                    self.bound_subschema(schema, siblings);
                }
            }
            (Some(index), Some(Value::Array(schemas))) => {
                schemas.get_mut(index).into_iter().for_each(|schema| self.bound_subschema(schema, siblings));
            }
            _ => {}
        }
    }

    /// Returns the applicators in `fields`.
    fn applicators(&self, fields: &Map<String, Value>) -> Vec<Applicator> {
        let mut applicators = Vec::new();
        for key in APPLICATORS {
            let mut add = |index, schemas: &[Value]| {
                applicators.push(Applicator { key, index, summary: self.summarize(schemas) });
            };
            match (key, fields.get(key)) {
                ("$ref", Some(reference)) => add(None, &[json!({ key: reference })]),
                ("allOf", Some(Value::Array(schemas))) => {
                    for (index, schema) in schemas.iter().enumerate() {
                        add(Some(index), std::slice::from_ref(schema));
                    }
                }
                (_, Some(Value::Array(schemas))) => add(None, schemas),
                _ => {}
            }
        }
        applicators
    }

    /// Summarizes `schemas`, including their references and applicators.
    fn summarize(&self, schemas: &[Value]) -> SchemaSummary {
        let (mut summary, mut seen) = (SchemaSummary::default(), Vec::new());
        let mut pending: VecDeque<_> = schemas.iter().collect();
        while let Some(schema) = pending.pop_front() {
            let Value::Object(fields) = schema else { continue };
            summary.extend(&SchemaSummary::from_fields(fields));
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) if !seen.contains(&reference) => {
                        seen.push(reference);
                        pending.extend(target(self.root, reference));
                    }
                    ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => pending.extend(schemas),
                    _ => {}
                }
            }
        }
        summary
    }

    fn bound_subschema(&mut self, schema: &mut Value, siblings: &SchemaSummary) {
        match schema {
            schema if siblings.is_empty() => self.bound_schema(schema),
            Value::Object(fields) => self.bound_with_siblings(fields, siblings),
            _ => {}
        }
    }

    /// Moves the target of `$ref` to the end of `allOf`.
    fn inline_reference(&mut self, fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
        let Some(reference) = fields.get("$ref").and_then(Value::as_str).map(str::to_owned) else { return };
        let Some(target) = target(self.root, &reference) else { return };
        let Some(left) = self.inline_budget.checked_sub(1) else {
            self.closes_objects = false;
            return;
        };
        // A schema that contains itself with siblings is infinite and has no grammar.
        if self.inlining.contains(&reference) {
            return;
        }
        let mut target = target.clone();
        if let Value::Object(fields) = &mut target {
            fields.retain(|key, _| !ROOT_KEYWORDS.contains(&key.as_str()));
        }
        self.inline_budget = left;
        self.inlining.push(reference);
        self.bound_subschema(&mut target, siblings);
        self.inlining.pop();
        fields.shift_remove("$ref");
        let all = fields.entry("allOf").or_insert_with(|| Vec::<Value>::new().into());
        if let Value::Array(all) = all {
            all.push(target);
        }
    }
}

/// Returns the target of `reference` in `root`.
fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// Adds the types that the keywords of `fields` and `siblings` imply, if no `type` is given: without it, any value
/// would match.
fn infer_type(fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
    let mut summary = SchemaSummary::from_fields(fields);
    let has_type_keyword = summary.constrained_types().next().is_some();
    summary.extend(siblings);
    if !has_type_keyword || summary.has("type") || summary.enumerates_values() {
        return;
    }
    let types: Vec<_> = summary.constrained_types().collect();
    let types = if let [one] = types.as_slice() { Value::from(*one) } else { types.into() };
    fields.insert("type".to_owned(), types);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{bounded, rebase_references};

    #[test]
    fn an_unlimited_value_gets_a_limit() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "age": {"type": "integer", "format": "uint8", "minimum": 0},
        }});
        let expected = json!({"type": "object", "additionalProperties": false, "properties": {
            "name": {"type": "string", "maxLength": 200, "pattern": r"^(\S[\s\S]*|\s{0,4})$"},
            "tags": {"type": "array", "maxItems": 8, "items": {"type": ["string", "null"], "maxLength": 200, "pattern": r"^(\S[\s\S]*|\s{0,4})$"}},
            "age": {"type": "integer", "minimum": 0, "maximum": 255},
        }});
        assert_eq!(bounded(&schema), expected);
    }

    #[test]
    fn an_existing_limit_is_kept() {
        let schema = json!({"type": "string", "maxLength": 5, "pattern": "^a"});
        assert_eq!(bounded(&schema), schema);
        let far = json!({"type": "integer", "minimum": 5_000_000_000_i64});
        assert_eq!(bounded(&far), far);
    }

    #[test]
    fn a_property_named_type_is_not_a_keyword() {
        let schema =
            json!({"type": "object", "additionalProperties": false, "properties": {"type": {"const": "string"}}});
        assert_eq!(bounded(&schema), schema);
    }

    #[test]
    fn references_point_to_where_the_schema_is_embedded() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#"}}}});
        let expected = json!({"properties": {"a": {"$ref": "#/$defs/t/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/$defs/t"}}}});
        assert_eq!(rebase_references("/$defs/t", &schema), expected);
    }

    #[test]
    fn references_are_percent_decoded() {
        let schema =
            json!({"properties": {"a": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}}, "$defs": {"Größe": {"const": 1}}});
        assert_eq!(bounded(&schema)["properties"]["a"]["$ref"], "#/$defs/Größe");
        assert_eq!(
            rebase_references("/$defs/t", &bounded(&schema))["properties"]["a"]["$ref"],
            "#/$defs/t/$defs/Größe"
        );
    }
}
