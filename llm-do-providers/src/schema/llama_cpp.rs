//! Translates JSON schemas for llama.cpp's grammars.
//!
//! The server converts the output schema, and the schemas of tools that must be called, to a grammar, and does not
//! report which keywords the grammar ignores (<https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md>).
//! So a schema is translated to a form of which the grammar enforces as much as possible. The other keywords stay: the
//! model reads them if its template shows schemas, and values are validated against them. A keyword that the grammar
//! would misread is refused.

mod limits;
#[cfg(test)]
mod malformed;
mod pattern;
mod plain;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::schema::definitions::reference;
use crate::schema::reference::target;
use crate::schema::shape::any_of;
use crate::schema::{REMARKS, SchemaDialect, Unsupported, Walk, note};

/// Annotations that stay, next to the rest of the schema.
const KEPT_REMARKS: [&str; 4] = ["title", "default", "examples", "deprecated"];

/// The dialect of llama.cpp's grammars.
enum LlamaCpp {}

impl SchemaDialect for LlamaCpp {
    const NAME: &'static str = "llama.cpp's grammars";

    /// All types, since the server reads an empty schema as an object and refuses `true`.
    fn anything() -> Value {
        json!({ "type": ["object", "array", "string", "number", "boolean", "null"] })
    }

    fn plain(walk: &mut Walk<'_, Self>, whole: Map<String, Value>) -> Result<Value, Unsupported> {
        walk.keywords(whole)
    }

    /// The grammar ignores keywords next to alternatives, so only annotations are allowed there.
    fn any_of(forms: Vec<Value>, remarks: &Map<String, Value>) -> Value {
        let Value::Object(mut form) = any_of(forms) else { return Value::Null };
        let own = form.shift_remove("description");
        let own: Vec<_> = own.as_ref().and_then(Value::as_str).map(str::to_owned).into_iter().collect();
        note::describe(&mut form, remarks.get("description"), &own);
        for (key, value) in remarks.iter().filter(|(key, _)| KEPT_REMARKS.contains(&key.as_str())) {
            form.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        Value::Object(form)
    }

    /// References are kept: a grammar may be recursive.
    fn reference(walk: &mut Walk<'_, Self>, keywords: &Map<String, Value>) -> Result<Option<Value>, Unsupported> {
        let is_bare = keywords.keys().all(|key| key == "$ref" || REMARKS.contains(&key.as_str()));
        let Some(marked) = keywords.get("$ref") else { return Ok(None) };
        if !is_bare {
            return Ok(None);
        }
        let name = walk.define(target(marked), Walk::apart)?;
        let mut form = reference(&name);
        note::describe(&mut form, keywords.get("description"), &[]);
        Ok(Some(Value::Object(form)))
    }
}

/// Returns `schema` in the dialect. `schema` accepts each value that the result accepts, except for keywords that no
/// grammar enforces, such as `uniqueItems`, which stay.
///
/// # Errors
///
/// Returns what cannot be expressed, with its path.
pub(crate) fn translate(schema: &Value) -> Result<Value, Unsupported> {
    let (form, _) = Walk::<LlamaCpp>::new(schema).whole_form()?;
    // An unchanged schema keeps the order of its keywords.
    Ok(if form == *schema { schema.clone() } else { form })
}

/// Returns `schema` as [`translate`] does, but describes what cannot be expressed, and adds that to `notes`.
///
/// # Errors
///
/// Returns an error if no value is valid.
pub(crate) fn translate_weakly(schema: &Value, notes: &mut Vec<String>) -> Result<Value, Unsupported> {
    let (form, weakened) = Walk::<LlamaCpp>::new(schema).weakly().whole_form()?;
    notes.extend(weakened);
    Ok(form)
}
