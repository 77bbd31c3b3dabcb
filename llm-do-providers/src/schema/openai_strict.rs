//! Translates schemas to the form of OpenAI's strict mode.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::schema::definitions::{Definitions, reference};
use crate::schema::note;
use crate::schema::pointer::pointed;
use crate::schema::portable::{has_too_many_values, is_portable, may_be};
use crate::schema::{SchemaCache, modern_schema};

/// Keywords that strict mode supports unchanged.
const KEPT: [&str; 14] = [
    "type",
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
];
/// Annotations that strict mode refuses; those that are useful to a model move into the description.
const NOTES: [&str; 5] = ["$schema", "$id", "default", "examples", "deprecated"];
/// The formats that strict mode supports. Formats of numbers are integer widths, which the bounds express.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Returns `schema` in the form that the strict mode requires, or `None` if there is no such form.
pub(crate) fn translate(schema: &Arc<Value>) -> Option<Arc<Value>> {
    static CACHE: SchemaCache<Value, ()> = SchemaCache::new();
    CACHE.get_or_translate(schema, |schema| strict_form(&modern_schema(schema)).ok_or(())).ok()
}

/// Returns the form that the strict mode requires, if there is one.
///
/// The strict form allows no properties but the named ones and requires them all; a property that was optional stays
/// if it may be null. So each value that is valid in the strict form is valid for `schema`.
fn strict_form(schema: &Value) -> Option<Value> {
    let root = schema.as_object()?;
    if root.get("type")? != "object" {
        return None;
    }
    if has_too_many_values(schema) {
        return None;
    }
    let mut strict = Strict { root: schema, definitions: Definitions::default() };
    let mut form = Value::Object(strict.form(root)?);
    strict.definitions.put_into(&mut form);
    Some(form)
}

/// The state of a translation.
struct Strict<'a> {
    root: &'a Value,
    definitions: Definitions,
}

impl Strict<'_> {
    fn form(&mut self, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
        if let Some(target) = schema.get("$ref") {
            return self.reference(schema, target.as_str()?);
        }
        let mut strict = Map::new();
        for (key, value) in schema {
            match key.as_str() {
                // Definitions are added with the first reference to them.
                "$defs" | "definitions" => {}
                "properties" => _ = strict.insert(key.clone(), self.each(value.as_object()?)?),
                "items" => _ = strict.insert(key.clone(), self.form(value.as_object()?)?.into()),
                "anyOf" => _ = strict.insert(key.clone(), self.all(value.as_array()?)?),
                // Strict mode has this equivalent keyword.
                "oneOf" if !schema.contains_key("anyOf") && are_apart(value.as_array()?) => {
                    _ = strict.insert("anyOf".to_owned(), self.all(value.as_array()?)?);
                }
                "format" if !is_known_format(value) => {}
                "pattern" if !value.as_str().is_some_and(is_portable) => return None,
                key if NOTES.contains(&key) => {}
                "format" | "description" => _ = strict.insert(key.clone(), value.clone()),
                kept if KEPT.contains(&kept) => _ = strict.insert(key.clone(), value.clone()),
                _ => return None,
            }
        }
        let format = schema.get("format").filter(|format| !is_known_format(format) && may_be(schema, "string"));
        let format: Vec<_> = format.and_then(|format| note::sentence("format", format)).into_iter().collect();
        note::describe(&mut strict, Some(&note::notes_of(schema).into()), &format);
        close(&mut strict)?;
        has_types(&strict).then_some(strict)
    }

    /// Strict mode allows no siblings of a reference, so a reference with a description gets its own definition.
    fn reference(&mut self, schema: &Map<String, Value>, target: &str) -> Option<Map<String, Value>> {
        let is_note = |key: &String| ["$ref", "description", "title"].contains(&&**key) || NOTES.contains(&&**key);
        if !schema.keys().all(is_note) {
            return None;
        }
        let description = note::notes_of(schema);
        let name = match self.definitions.known(target, &description) {
            Some(name) => name.to_owned(),
            None => self.define(target, &description)?,
        };
        Some(reference(&name))
    }

    fn define(&mut self, target: &str, description: &str) -> Option<String> {
        let name = self.definitions.name(target, description);
        let form = self.form(pointed(self.root, target)?.as_object()?)?;
        self.definitions.define_with(name.clone(), description, form);
        Some(name)
    }

    fn each(&mut self, schemas: &Map<String, Value>) -> Option<Value> {
        let pairs = schemas.iter().map(|(name, schema)| Some((name.clone(), self.form(schema.as_object()?)?.into())));
        pairs.collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    fn all(&mut self, schemas: &[Value]) -> Option<Value> {
        let forms = schemas.iter().map(|schema| self.form(schema.as_object()?).map(Value::Object));
        forms.collect::<Option<Vec<_>>>().map(Value::Array)
    }
}

/// Whether a schema declares the type of its values, and of a list's items, as strict mode requires.
fn has_types(schema: &Map<String, Value>) -> bool {
    let is_typed = ["type", "anyOf", "enum", "const"].iter().any(|key| schema.contains_key(*key));
    // With alternatives next to properties, each closed object would refuse the properties of the other.
    let is_split = schema.contains_key("anyOf") && may_be(schema, "object");
    is_typed && !is_split && (!may_be(schema, "array") || schema.contains_key("items"))
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
        // An integer is also a number.
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

/// Requires all properties of an object schema and allows only those.
fn close(schema: &mut Map<String, Value>) -> Option<()> {
    if !may_be(schema, "object") {
        return Some(());
    }
    if schema.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false)) {
        return None;
    }
    if !schema.contains_key("additionalProperties") && !schema.contains_key("properties") {
        // Without declared properties an object may have any property; the strict form would allow none.
        return None;
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    let properties = schema["properties"].as_object()?;
    let required = schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if !required.iter().all(|name| name.as_str().is_some_and(|name| properties.contains_key(name))) {
        return None;
    }
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
