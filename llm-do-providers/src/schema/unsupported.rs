//! Parts of a schema that a dialect cannot express.

use std::fmt;

#[cfg(feature = "local")]
use serde_json::{Map, Value};

#[cfg(feature = "local")]
use super::note;

#[cfg(any(feature = "gemini", feature = "openai"))]
use crate::{
    error::ProviderError,
    model::{Request, ToolSpec},
    settings::Warnings,
};

/// Keywords that restrict the valid values, and that neither a dialect nor a sentence can express.
pub(crate) const UNSUPPORTED_KEYWORDS: [&str; 13] = [
    "$dynamicRef",
    "additionalItems",
    "contains",
    "contentSchema",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "then",
    "unevaluatedItems",
];

/// The error for a part of a schema that a dialect cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsupported {
    path: String,
    why: String,
    leaves_nothing: bool,
}

impl Unsupported {
    /// Creates the error for the part at `path` below the root.
    pub(crate) fn new(path: &[String], why: impl Into<String>) -> Self {
        let path = path.iter().fold("#".to_owned(), |path, step| path + "/" + step);
        Self { path, why: why.into(), leaves_nothing: false }
    }

    /// Leaves a tool with this schema out of `request`, with a warning.
    ///
    /// # Errors
    ///
    /// Returns an error if the request requires the tool.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn leave_out(
        &self,
        tool: &ToolSpec,
        request: &Request<'_>,
        provider: &str,
        warnings: &mut Warnings,
    ) -> Result<(), ProviderError> {
        if request.must_have(tool) {
            let text = format!("the schema of the arguments of the tool `{}` cannot be converted: {self}", tool.name);
            return Err(ProviderError::invalid_request(provider, text));
        }
        warnings.without_tool(&tool.name, self);
        Ok(())
    }

    /// Marks the error as "no valid value": an alternative with it can be dropped.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn with_nothing_left(self) -> Self {
        Self { leaves_nothing: true, ..self }
    }

    /// Removes that mark, for an optional subschema: its parent still has valid values.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn of_a_part(self) -> Self {
        Self { leaves_nothing: false, ..self }
    }

    /// Whether the reason is that no value is valid.
    #[cfg(any(feature = "gemini", feature = "openai"))]
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.leaves_nothing
    }

    /// Creates the error for the keyword `key`, which the dialect called `name` does not support.
    pub(crate) fn keyword(path: &[String], key: &str, name: &str) -> Self {
        Self::new(path, format!("uses `{key}`, which {name} cannot express; remove it"))
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.why)
    }
}

/// Checks that the dialect called `name`, which supports all other keywords, can express `schema`.
///
/// # Errors
///
/// Returns the first unsupported keyword, with its path.
#[cfg(feature = "local")]
pub(crate) fn check(schema: &Value, name: &str) -> Result<(), Unsupported> {
    let first = in_words(&mut schema.clone(), name).into_iter().next();
    first.map_or(Ok(()), Err)
}

/// Moves the keywords that the dialect called `name` does not support into descriptions; returns the moved keywords.
#[cfg(feature = "local")]
pub(crate) fn in_words(schema: &mut Value, name: &str) -> Vec<Unsupported> {
    let mut moved = Vec::new();
    in_words_at(schema, name, &mut Vec::new(), &mut moved);
    moved
}

#[cfg(feature = "local")]
fn in_words_at(schema: &mut Value, name: &str, path: &mut Vec<String>, moved: &mut Vec<Unsupported>) {
    let Value::Object(keywords) = schema else { return };
    let taken = UNSUPPORTED_KEYWORDS.iter().filter_map(|key| Some(((*key).to_owned(), keywords.shift_remove(*key)?)));
    let rules: Map<String, Value> = taken.collect();
    moved.extend(rules.keys().next().map(|key| Unsupported::keyword(path, key, name)));
    for (key, value) in keywords.iter_mut() {
        for (step, part) in parts_mut(key, value) {
            path.push(step);
            in_words_at(part, name, path, moved);
            path.pop();
        }
    }
    if !rules.is_empty() {
        note::follow(keywords, &rules);
    }
}

/// The child schemas of a keyword, with the path of each.
#[cfg(feature = "local")]
fn parts_mut<'v>(key: &str, value: &'v mut Value) -> Vec<(String, &'v mut Value)> {
    match (key, value) {
        ("$defs" | "definitions" | "patternProperties" | "properties", Value::Object(named)) => {
            named.iter_mut().map(|(name, schema)| (format!("{key}/{name}"), schema)).collect()
        }
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(listed)) => {
            listed.iter_mut().enumerate().map(|(index, schema)| (format!("{key}/{index}"), schema)).collect()
        }
        ("additionalProperties" | "items", schema) => vec![(key.to_owned(), schema)],
        _ => Vec::new(),
    }
}
