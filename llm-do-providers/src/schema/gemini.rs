//! Translates JSON schemas to the dialect of Gemini.
//!
//! These keywords are documented for `responseJsonSchema`
//! (<https://ai.google.dev/api/generate-content#GenerationConfig>) and also work in `parametersJsonSchema`: `type`,
//! `format`, `description`, `enum` of strings and numbers, `items`, `prefixItems`, `minItems`, `maxItems`, `minimum`,
//! `maximum`, `anyOf`, `properties`, `additionalProperties`, `required`, `$defs` and `$ref`. Other keywords move into
//! the description, where the model reads them. Keywords that a description cannot express are refused.
//!
//! References are inlined, except recursive ones, which stay with a definition. By that page (read 2026-11-22), a
//! reference may have no siblings, and cyclic references "may only be used within non-required properties".

mod choice;
mod plain;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::schema::definitions::reference;
use crate::schema::reference::target;
use crate::schema::shape::{any_of, rooted};
use crate::schema::{REMARKS, SchemaDialect, Unsupported, Walk, note};

/// Gemini's dialect; only recursive schemas have definitions.
enum Gemini {}

impl SchemaDialect for Gemini {
    const NAME: &'static str = "Gemini's schemas";

    fn anything() -> Value {
        json!({ "description": note::ANYTHING })
    }

    fn plain(walk: &mut Walk<'_, Self>, whole: Map<String, Value>) -> Result<Value, Unsupported> {
        walk.whole(whole)
    }

    fn any_of(forms: Vec<Value>, remarks: &Map<String, Value>) -> Value {
        remarked(any_of(forms), remarks)
    }

    fn root(form: Value) -> Value {
        rooted(form)
    }

    fn reference(walk: &mut Walk<'_, Self>, keywords: &Map<String, Value>) -> Result<Option<Value>, Unsupported> {
        let is_bare = keywords.keys().all(|key| key == "$ref" || REMARKS.contains(&key.as_str()));
        match keywords.get("$ref") {
            Some(marked) if is_bare && walk.is_cyclic(marked) => {
                let name = walk.define(target(marked), Walk::apart_within_itself)?;
                Ok(Some(remarked(Value::Object(reference(&name)), keywords)))
            }
            _ => Ok(None),
        }
    }
}

/// Adds annotations to a form; a reference is wrapped, since it may have no siblings.
fn remarked(form: Value, remarks: &Map<String, Value>) -> Value {
    if form.get("$ref").is_none() {
        return note::remarked(form, remarks);
    }
    let around = note::remarked(json!({ "anyOf": [&form] }), remarks);
    if around.get("description").is_some() { around } else { form }
}

/// Returns the object schema `schema` in Gemini's dialect. The result accepts each value that `schema` accepts; its
/// descriptions exclude the other values that it accepts.
///
/// # Errors
///
/// Returns what cannot be expressed, with its path.
pub(crate) fn translate(schema: &Value) -> Result<Value, Unsupported> {
    Walk::<Gemini>::new(schema).whole_form().map(|(form, _)| form)
}

/// Returns `schema` as [`translate`] does, but describes what cannot be expressed, and adds that to `notes`.
///
/// # Errors
///
/// Returns an error if no value is valid.
pub(crate) fn translate_weakly(schema: &Value, notes: &mut Vec<String>) -> Result<Value, Unsupported> {
    let (form, weakened) = Walk::<Gemini>::new(schema).weakly().whole_form()?;
    notes.extend(weakened);
    Ok(form)
}
