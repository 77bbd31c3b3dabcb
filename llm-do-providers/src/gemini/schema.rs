//! JSON schemas in the dialect that Gemini knows.
//!
//! These keywords are documented for `responseJsonSchema` (<https://ai.google.dev/api/generate-content#GenerationConfig>) and
//! taken for `parametersJsonSchema` as well: `type`, `format`, `description`, `enum` of texts and numbers, `items`,
//! `prefixItems`, `minItems`, `maxItems`, `minimum`, `maximum`, `anyOf`, `properties`, `additionalProperties` and
//! `required`. References are written out, and what else a schema says of values is put into the description, where the
//! model reads it; what neither form can say is refused.

mod choice;
mod plain;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

pub(super) use crate::schema::Unsaid;
use crate::schema::shape::any_of;
use crate::schema::{Dialect, Walk, note};

/// Gemini's dialect.
struct Gemini;

impl Dialect for Gemini {
    const NAME: &'static str = "Gemini's schemas";

    fn anything(&self) -> Value {
        json!({ "description": note::ANYTHING })
    }

    fn plain(walk: &mut Walk<'_, Self>, whole: Map<String, Value>) -> Result<Value, Unsaid> {
        walk.whole(whole)
    }

    fn any_of(forms: Vec<Value>, remarks: &Map<String, Value>) -> Value {
        note::remarked(any_of(forms), remarks)
    }
}

/// Returns `schema`, of an object, in Gemini's dialect: whatever is valid for `schema` is valid for the result, and what
/// the result allows beyond that its descriptions exclude.
///
/// # Errors
///
/// Returns what cannot be said, and where.
pub(super) fn translated(schema: &Value) -> Result<Value, Unsaid> {
    let form = Walk::new(schema, Gemini).whole_form()?;
    Ok(choice::rooted(form))
}
