//! JSON schemas in the dialect that Gemini knows.
//!
//! These keywords are documented for `responseJsonSchema` (<https://ai.google.dev/api/generate-content#GenerationConfig>) and
//! taken for `parametersJsonSchema` as well: `type`, `format`, `description`, `enum` of texts and numbers, `items`,
//! `prefixItems`, `minItems`, `maxItems`, `minimum`, `maximum`, `anyOf`, `properties`, `additionalProperties` and
//! `required`. References are written out, and what else a schema says of values is put into the description, where the
//! model reads it; what neither form can say is refused.

mod both;
mod choice;
mod note;
mod plain;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value, json};

use self::both::both;

/// How many schemas one may consist of, once its references are written out.
const LARGEST: usize = 10_000;
/// Keywords that say something of a schema, and nothing of which values are valid.
const REMARKS: [&str; 9] =
    ["description", "default", "examples", "deprecated", "title", "$defs", "definitions", "$schema", "$id"];

/// What of a schema Gemini has no words for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unsaid {
    path: String,
    why: String,
}

impl fmt::Display for Unsaid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.why)
    }
}

/// Returns `schema`, of an object, in Gemini's dialect: whatever is valid for `schema` is valid for the result, and what
/// the result allows beyond that its descriptions exclude.
///
/// # Errors
///
/// Returns what cannot be said, and where.
pub(super) fn translated(schema: &Value) -> Result<Value, Unsaid> {
    let mut walk = Walk { root: schema, open: Vec::new(), path: Vec::new(), left: LARGEST };
    let form = walk.form(schema)?;
    Ok(choice::rooted(form))
}

/// The way through a schema.
struct Walk<'a> {
    root: &'a Value,
    /// The references that are being written out.
    open: Vec<String>,
    path: Vec<String>,
    /// How many more schemas are taken.
    left: usize,
}

impl Walk<'_> {
    /// Returns a schema in the dialect.
    fn form(&mut self, schema: &Value) -> Result<Value, Unsaid> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            self.unsaid(format!("is one of more than {LARGEST} schemas, with all references written out; divide it"))
        })?;
        match schema {
            Value::Bool(true) => Ok(json!({ "description": note::ANYTHING })),
            Value::Bool(false) => Err(self.unsaid("allows no value at all; leave it out")),
            Value::Object(keywords) => self.within(|walk| {
                let whole = walk.resolved(keywords.clone())?;
                walk.split(whole)
            }),
            _ => Err(self.unsaid("is no schema")),
        }
    }

    /// Returns the schema at `step` below this one in the dialect.
    fn below(&mut self, step: impl Into<String>, schema: &Value) -> Result<Value, Unsaid> {
        self.path.push(step.into());
        let form = self.form(schema);
        self.path.pop();
        form
    }

    /// Returns a named set of schemas in the dialect.
    fn each(&mut self, step: &str, schemas: &Value) -> Result<Value, Unsaid> {
        let Some(schemas) = schemas.as_object() else { return Err(self.unsaid(format!("has odd `{step}`"))) };
        let forms = schemas.iter().map(|(name, schema)| {
            let form = self.below(format!("{step}/{name}"), schema)?;
            Ok((name.clone(), form))
        });
        forms.collect::<Result<Map<_, _>, _>>().map(Value::Object)
    }

    /// Runs `work`, and closes the references that it opens.
    fn within<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Unsaid>) -> Result<T, Unsaid> {
        let depth = self.open.len();
        let done = work(self);
        self.open.truncate(depth);
        done
    }

    /// Returns a schema with its references written out and its `allOf` put together: those that its own keywords are held
    /// to, not those in its parts.
    fn resolved(&mut self, mut whole: Map<String, Value>) -> Result<Map<String, Value>, Unsaid> {
        while let Some(reference) = whole.shift_remove("$ref") {
            let target = self.target(&reference)?;
            whole = self.both(whole, target)?;
        }
        if let Some(Value::Array(all)) = whole.shift_remove("allOf") {
            for member in all {
                let member = match member {
                    Value::Object(member) => self.resolved(member)?,
                    Value::Bool(true) => continue,
                    _ => return Err(self.unsaid("allows no value at all; leave it out")),
                };
                whole = self.both(whole, member)?;
            }
        }
        Ok(whole)
    }

    fn target(&mut self, reference: &Value) -> Result<Map<String, Value>, Unsaid> {
        let reference = reference.as_str().unwrap_or_default();
        if self.open.iter().any(|open| open == reference) || reference == "#" {
            return Err(self.unsaid(format!(
                "holds `{reference}` within itself, which Gemini's schemas cannot say; give it a depth that ends, or \
                 take that part as a text of JSON"
            )));
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.and_then(Value::as_object) else {
            return Err(self.unsaid(format!("refers to `{reference}`, which is no schema within this one")));
        };
        let target = target.clone();
        self.open.push(reference.to_owned());
        Ok(target)
    }

    /// Returns the schema of what both allow.
    fn both(&self, left: Map<String, Value>, right: Map<String, Value>) -> Result<Map<String, Value>, Unsaid> {
        both(left, right).map_err(|why| self.unsaid(why))
    }

    fn unsaid(&self, why: impl Into<String>) -> Unsaid {
        let path = self.path.iter().fold("#".to_owned(), |path, step| path + "/" + step);
        Unsaid { path, why: why.into() }
    }
}
