//! JSON schemas as llama.cpp's grammars hold a model to them.
//!
//! Its server makes a grammar of the schema of an answer, and of those of tools that have to be called, and is silent about
//! what the grammar leaves out (<https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md>). So a schema is put
//! into a form whose grammar holds a model to as much of it as can be; what else it says stays in it, to be read by the
//! model where its template shows schemas, and to be checked afterwards. What would say something else is refused.

mod limits;
#[cfg(test)]
mod odd;
mod pattern;
mod plain;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::schema::definitions::{Definitions, reference};
use crate::schema::reference::target;
use crate::schema::shape::any_of;
use crate::schema::{Dialect, REMARKS, Unsupported, Walk, note};

/// Remarks that stay where they are, beside what is left of the schema.
const KEPT_REMARKS: [&str; 4] = ["title", "default", "examples", "deprecated"];

/// The dialect of llama.cpp's grammars.
#[derive(Default)]
struct Grammar {
    definitions: Definitions,
}

impl Dialect for Grammar {
    const NAME: &'static str = "llama.cpp's grammars";

    /// All types, since a schema that says nothing stands for an object there, and `true` is an error.
    fn anything(&self) -> Value {
        json!({ "type": ["object", "array", "string", "number", "boolean", "null"] })
    }

    fn plain(walk: &mut Walk<'_, Self>, whole: Map<String, Value>) -> Result<Value, Unsupported> {
        walk.keywords(whole)
    }

    /// What stands beside alternatives is passed over, so that only remarks may.
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

    /// A reference stays one: a grammar may hold itself.
    fn reference(walk: &mut Walk<'_, Self>, keywords: &Map<String, Value>) -> Result<Option<Value>, Unsupported> {
        let is_bare = keywords.keys().all(|key| key == "$ref" || REMARKS.contains(&key.as_str()));
        let Some(target) = keywords.get("$ref").map(target).filter(|_| is_bare) else { return Ok(None) };
        let name = match walk.dialect.definitions.known(target, "") {
            Some(name) => name.to_owned(),
            None => walk.define(target)?,
        };
        let mut form = reference(&name);
        note::describe(&mut form, keywords.get("description"), &[]);
        Ok(Some(Value::Object(form)))
    }
}

impl Walk<'_, Grammar> {
    /// Defines what `target` refers to, and returns its name.
    fn define(&mut self, target: &str) -> Result<String, Unsupported> {
        let count = self.dialect.definitions.count();
        let name = self.dialect.definitions.name(target, "");
        match self.apart(target) {
            Ok(form) => self.dialect.definitions.define(name.clone(), form),
            Err(unsupported) => {
                self.dialect.definitions.forget_from(count);
                return Err(unsupported);
            }
        }
        Ok(name)
    }
}

/// Returns `schema` in the dialect: what is valid for the result is valid for `schema`, but for what keywords say that stay
/// and that no grammar holds a model to, such as `uniqueItems`.
///
/// # Errors
///
/// Returns what cannot be said, and where.
pub(crate) fn translate(schema: &Value) -> Result<Value, Unsupported> {
    let mut walk = Walk::new(schema, Grammar::default());
    let mut form = walk.whole_form()?;
    walk.dialect.definitions.put_into(&mut form);
    // In the order in which it was written, if nothing else was to be done.
    Ok(if form == *schema { schema.clone() } else { form })
}
