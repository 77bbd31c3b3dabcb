//! Schemas as Anthropic's structured output enforces them.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>.

mod cycle;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value, json};

use crate::schema::definitions::{Definitions, reference};
use crate::schema::note;
use crate::schema::pointer::pointed;
use crate::schema::portable::may_be;

/// Keywords that are enforced unchanged.
const KEPT: [&str; 4] = ["description", "const", "required", "type"];
/// Keywords that do not affect which values are valid.
const NOTES: [&str; 8] = ["$comment", "$id", "$schema", "default", "deprecated", "examples", "title", "writeOnly"];
/// Keywords that only restrict values: they move into the description, and the answer is validated against them.
const DESCRIBED: [&str; 17] = [
    "contentEncoding",
    "contentMediaType",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "uniqueItems",
];
/// Formats that are enforced.
const FORMATS: [&str; 10] =
    ["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"];
/// The maximum number of optional properties in a schema.
const MOST_OPTIONAL: usize = 24;
/// The maximum number of values with several types in a schema.
const MOST_UNIONS: usize = 16;

/// The part of a schema that cannot be enforced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotEnforceable {
    /// Its path, as a JSON pointer.
    path: String,
    what: &'static str,
}

impl fmt::Display for NotEnforceable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at `#{}`", self.what, self.path)
    }
}

/// Whether a schema has a recursive type, or a reference without a target.
pub(crate) fn is_recursive(schema: &Value) -> bool {
    cycle::check(schema).is_err()
}

/// Returns the schema that is enforced. It accepts each value that the original accepts, except for values with
/// properties that the original does not name.
///
/// # Errors
///
/// Returns the path of a part that cannot be expressed, such as a map or a recursive type.
pub(crate) fn translate(schema: &Value) -> Result<Value, NotEnforceable> {
    // A description next to a reference adds a definition, which counts towards the limits. Without these descriptions
    // the schema may still be within the limits.
    formed(schema, true).or_else(|fault| formed(schema, false).map_err(|_| fault))
}

fn formed(root: &Value, keeps_descriptions: bool) -> Result<Value, NotEnforceable> {
    let mut form = Form {
        root,
        keeps_descriptions,
        path: String::new(),
        definitions: Definitions::default(),
        optional: 0,
        unions: 0,
    };
    if root["type"] != "object" {
        return form.refuse("no object");
    }
    let mut enforced = Value::Object(form.schema(root)?);
    cycle::check(root)?;
    if form.optional > MOST_OPTIONAL {
        return form.refuse("more than 24 optional properties");
    }
    if form.unions > MOST_UNIONS {
        return form.refuse("more than 16 values of several types");
    }
    form.definitions.put_into(&mut enforced);
    Ok(enforced)
}

/// The state of a translation.
struct Form<'a> {
    root: &'a Value,
    /// Whether descriptions next to references are kept.
    keeps_descriptions: bool,
    path: String,
    definitions: Definitions,
    optional: usize,
    unions: usize,
}

impl<'a> Form<'a> {
    fn refuse<T>(&self, what: &'static str) -> Result<T, NotEnforceable> {
        Err(NotEnforceable { path: self.path.clone(), what })
    }

    /// Runs a step on a child schema.
    fn at<T>(
        &mut self,
        step: &str,
        inside: impl FnOnce(&mut Self) -> Result<T, NotEnforceable>,
    ) -> Result<T, NotEnforceable> {
        let length = self.path.len();
        self.path.push_str(&as_step(step));
        let done = inside(self)?;
        self.path.truncate(length);
        Ok(done)
    }

    fn schema(&mut self, schema: &'a Value) -> Result<Map<String, Value>, NotEnforceable> {
        let Some(keywords) = schema.as_object() else { return self.refuse("a value of any kind") };
        if let Some(target) = keywords.get("$ref") {
            return self.reference(keywords, target);
        }
        let is_typed = ["type", "anyOf", "oneOf", "enum", "const"].iter().any(|key| keywords.contains_key(*key));
        if !is_typed {
            return self.refuse("a value of any kind");
        }
        let mut form = Map::new();
        let mut unenforced = Map::new();
        for (key, value) in keywords {
            self.at(key, |form_at| form_at.keyword(key, value, &mut form, &mut unenforced))?;
        }
        self.close(keywords, &mut form)?;
        let description = note::notes_of(keywords);
        if !description.is_empty() {
            form.insert("description".to_owned(), description.into());
        }
        describe_unenforced(&mut form, unenforced);
        Ok(form)
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &'a Value,
        form: &mut Map<String, Value>,
        unenforced: &mut Map<String, Value>,
    ) -> Result<(), NotEnforceable> {
        let kept = match (key, value) {
            ("properties", Value::Object(schemas)) => {
                let each =
                    |(name, schema)| Ok((String::clone(name), self.at(name, |form| form.schema(schema))?.into()));
                Value::Object(schemas.iter().map(each).collect::<Result<_, _>>()?)
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) if !form.contains_key("anyOf") => {
                self.unions += 1;
                form.insert("anyOf".to_owned(), self.all(schemas)?);
                return Ok(());
            }
            ("items" | "prefixItems", _) if form.contains_key("items") => {
                return self.refuse("`items` after `prefixItems`");
            }
            ("items", schema) => self.schema(schema)?.into(),
            ("prefixItems", Value::Array(schemas)) => return self.tuple(schemas, form, unenforced),
            ("enum", Value::Array(values)) if values.iter().any(|value| value.is_object() || value.is_array()) => {
                return self.refuse("an `enum` with objects or arrays");
            }
            ("const", Value::Object(_) | Value::Array(_)) => {
                return self.refuse("a `const` that is an object or array");
            }
            ("minItems", Value::Number(least)) if least.as_u64().is_some_and(|least| least <= 1) => value.clone(),
            ("format", Value::String(format)) if FORMATS.contains(&format.as_str()) => value.clone(),
            // A definition is translated with the first reference to it.
            ("$defs" | "definitions", _) | ("additionalProperties" | "uniqueItems", Value::Bool(false)) => {
                return Ok(());
            }
            ("additionalProperties", _) => return self.refuse("a map"),
            ("type", Value::Array(_)) => {
                self.unions += 1;
                value.clone()
            }
            ("enum", Value::Array(_)) => value.clone(),
            _ if KEPT.contains(&key) => value.clone(),
            _ if NOTES.contains(&key) || key.starts_with("x-") => return Ok(()),
            _ if DESCRIBED.contains(&key) => {
                unenforced.insert(key.to_owned(), value.clone());
                return Ok(());
            }
            _ => return self.refuse("a keyword that structured output does not support"),
        };
        form.insert(key.to_owned(), kept);
        Ok(())
    }

    /// A tuple is sent as a list whose items may have any of its types; the description states the order.
    fn tuple(
        &mut self,
        schemas: &'a [Value],
        form: &mut Map<String, Value>,
        unenforced: &mut Map<String, Value>,
    ) -> Result<(), NotEnforceable> {
        let places = Value::Array(schemas.to_vec());
        let mut kinds: Vec<Value> = Vec::new();
        for (place, schema) in schemas.iter().enumerate() {
            let kind = self.at(&place.to_string(), |form| form.schema(schema))?.into();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let items = match kinds.len() {
            0 => return self.refuse("a list of values of any kind"),
            1 => kinds.remove(0),
            _ => {
                self.unions += 1;
                unenforced.insert("prefixItems".to_owned(), places);
                json!({ "anyOf": kinds })
            }
        };
        form.insert("items".to_owned(), items);
        Ok(())
    }

    fn all(&mut self, schemas: &'a [Value]) -> Result<Value, NotEnforceable> {
        let each = |(place, schema): (usize, &'a Value)| self.at(&place.to_string(), |form| form.schema(schema));
        schemas.iter().enumerate().map(each).collect::<Result<Value, _>>()
    }

    /// The keywords allowed next to a reference are not documented, so a reference with a description gets its own
    /// definition.
    fn reference(
        &mut self,
        keywords: &'a Map<String, Value>,
        target: &'a Value,
    ) -> Result<Map<String, Value>, NotEnforceable> {
        let is_note = |key: &str| key == "$ref" || key == "description" || NOTES.contains(&key);
        if !keywords.keys().all(|key| is_note(key)) {
            return self.refuse("a reference with sibling keywords");
        }
        let target = target.as_str().unwrap_or_default();
        let description = if self.keeps_descriptions { note::notes_of(keywords) } else { String::new() };
        if let Some(name) = self.definitions.known(target, &description) {
            return Ok(reference(name));
        }
        let Some(schema) = pointed(self.root, target) else { return self.refuse("a reference to nothing") };
        let name = self.definitions.name(target, &description);
        let outer = std::mem::replace(&mut self.path, target.trim_start_matches('#').to_owned());
        let form = self.schema(schema)?;
        self.path = outer;
        self.definitions.define_with(name.clone(), &description, form);
        Ok(reference(&name))
    }

    /// Closes an object: only declared properties are allowed.
    fn close(&mut self, keywords: &Map<String, Value>, form: &mut Map<String, Value>) -> Result<(), NotEnforceable> {
        if may_be(keywords, "array") && !form.contains_key("items") {
            return self.refuse("a list of values of any kind");
        }
        if !may_be(keywords, "object") {
            return Ok(());
        }
        if form.contains_key("anyOf") {
            return self.refuse("an object with both alternatives and properties");
        }
        if !keywords.contains_key("properties") && !keywords.contains_key("additionalProperties") {
            return self.refuse("an object of any kind");
        }
        let required = form.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let properties = form.entry("properties").or_insert_with(|| json!({}));
        if !required.iter().all(|name| name.as_str().is_some_and(|name| properties.get(name).is_some())) {
            return self.refuse("an object with a required property that is not declared");
        }
        self.optional += properties.as_object().map_or(0, Map::len).saturating_sub(required.len());
        form.insert("additionalProperties".to_owned(), json!(false));
        Ok(())
    }
}

/// Returns a step of a JSON pointer.
fn as_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Describes the keywords that are not enforced.
fn describe_unenforced(form: &mut Map<String, Value>, unenforced: Map<String, Value>) {
    if unenforced.is_empty() {
        return;
    }
    let bounds = Value::Object(unenforced);
    let text = match form.get("description").and_then(Value::as_str) {
        Some(text) => format!("{text}\n\nMust also follow: {bounds}"),
        None => format!("Must follow: {bounds}"),
    };
    form.insert("description".to_owned(), text.into());
}
