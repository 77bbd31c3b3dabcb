//! The schemas of tools, in the form that each server accepts.
//!
//! Arguments are validated by the tool's own schema, so a form may accept more values; it describes what it cannot
//! express.

#[cfg(all(test, feature = "anthropic", feature = "gemini", feature = "openai"))]
mod public_schemas;
#[cfg(all(test, feature = "anthropic", feature = "gemini", feature = "openai"))]
mod tests;

#[cfg(any(feature = "anthropic", feature = "openai"))]
use std::convert::Infallible;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::SchemaCache;
#[cfg(any(feature = "gemini", feature = "openai"))]
use super::Unsupported;
#[cfg(feature = "gemini")]
use super::gemini;
use super::modern::modern_schema;
#[cfg(feature = "anthropic")]
use super::names::Names;
#[cfg(any(feature = "anthropic", feature = "openai"))]
use super::{
    flatten::{COMBINING, flatten},
    note,
    portable::portable,
};
#[cfg(feature = "openai")]
use super::{llama_cpp, shape::rooted};

/// A schema in the form that a server accepts.
#[derive(Debug)]
pub(crate) struct ToolForm {
    pub(crate) schema: Arc<Value>,
    /// The properties that were renamed.
    #[cfg(feature = "anthropic")]
    names: Names,
    /// The schema before properties were renamed.
    #[cfg(feature = "anthropic")]
    own: Option<Arc<Value>>,
    /// What the form only describes, each with its path.
    pub(crate) notes: Vec<String>,
}

/// The forms of tools in a dialect that cannot express every schema.
#[cfg(any(feature = "gemini", feature = "openai"))]
type Forms = SchemaCache<ToolForm, Unsupported>;

impl ToolForm {
    fn new(schema: Value, notes: Vec<String>) -> Self {
        Self {
            schema: Arc::new(schema),
            #[cfg(feature = "anthropic")]
            names: Names::default(),
            #[cfg(feature = "anthropic")]
            own: None,
            notes,
        }
    }
}

/// Returns the form for Anthropic, which refuses some names of properties, and alternatives at the root.
#[cfg(feature = "anthropic")]
pub(crate) fn anthropic(schema: &Arc<Value>) -> Arc<ToolForm> {
    static FORMS: SchemaCache<ToolForm, Infallible> = SchemaCache::new();
    let Ok(form) = FORMS.get_or_translate(schema, |schema| {
        let ToolForm { schema: hosted, mut notes, .. } = hosted(schema);
        let names = Names::for_schema(&hosted);
        if names.is_empty() {
            return Ok(ToolForm { schema: hosted, names, own: None, notes });
        }
        notes.extend(names.iter().map(|(refused, name)| format!("the property `{refused}` is sent as `{name}`")));
        let mut renamed = Value::clone(&hosted);
        names.rename(&mut renamed);
        Ok(ToolForm { schema: Arc::new(renamed), names, own: Some(hosted), notes })
    });
    form
}

#[cfg(feature = "anthropic")]
impl ToolForm {
    /// Whether properties were renamed.
    pub(crate) fn renames(&self) -> bool {
        self.own.is_some()
    }

    /// Restores the names of properties in the arguments of a call; `None` if the arguments are not JSON.
    pub(crate) fn restore(&self, arguments: &str) -> Option<String> {
        let mut value = serde_json::from_str(arguments).ok()?;
        self.names.restore(&mut value, self.own.as_ref()?);
        Some(value.to_string())
    }
}

/// Returns the form for OpenAI's server, and for others that speak its protocols.
#[cfg(feature = "openai")]
pub(crate) fn openai(schema: &Arc<Value>) -> Arc<ToolForm> {
    static FORMS: SchemaCache<ToolForm, Infallible> = SchemaCache::new();
    let Ok(form) = FORMS.get_or_translate(schema, |schema| Ok(hosted(schema)));
    form
}

/// Returns an output schema in draft 2020-12 for servers that accept any schema, with descriptions of what not all of
/// them compile.
#[cfg(feature = "openai")]
pub(crate) fn output(schema: &Arc<Value>) -> Arc<Value> {
    static FORMS: SchemaCache<Value, Infallible> = SchemaCache::new();
    let Ok(form) = FORMS.get_or_translate(schema, |schema| Ok(portable(&modern_schema(schema), &mut Vec::new())));
    form
}

/// Returns the form for Gemini.
#[cfg(feature = "gemini")]
pub(crate) fn gemini(schema: &Arc<Value>) -> Result<Arc<ToolForm>, Unsupported> {
    static FORMS: Forms = SchemaCache::new();
    FORMS.get_or_translate(schema, |schema| weakened(schema, gemini::translate, gemini::translate_weakly))
}

/// Returns the form for llama.cpp's grammars.
#[cfg(feature = "openai")]
pub(crate) fn llama_cpp(schema: &Arc<Value>) -> Result<Arc<ToolForm>, Unsupported> {
    static FORMS: Forms = SchemaCache::new();
    FORMS.get_or_translate(schema, |schema| {
        let ToolForm { schema, notes, .. } = weakened(schema, llama_cpp::translate, llama_cpp::translate_weakly)?;
        // A grammar of JSON ignores properties next to alternatives. But chat templates, and grammars of calls with a
        // tag for each argument, use only the properties.
        Ok(ToolForm::new(rooted(Arc::unwrap_or_clone(schema)), notes))
    })
}

/// Returns the exact form of a schema, or else a form that describes what the dialect cannot express.
#[cfg(any(feature = "gemini", feature = "openai"))]
fn weakened(
    schema: &Value,
    exactly: fn(&Value) -> Result<Value, Unsupported>,
    weakly: fn(&Value, &mut Vec<String>) -> Result<Value, Unsupported>,
) -> Result<ToolForm, Unsupported> {
    let mut modern = modern_schema(schema);
    if let Value::Object(keywords) = &mut modern {
        // Arguments are an object, even if an earlier draft ignores the type next to a reference.
        keywords.entry("type").or_insert_with(|| "object".into());
    }
    if let Ok(form) = exactly(&modern) {
        return Ok(ToolForm::new(form, Vec::new()));
    }
    let mut notes = Vec::new();
    match weakly(&modern, &mut notes) {
        Ok(form) => Ok(ToolForm::new(form, notes)),
        Err(nothing) if nothing.leaves_nothing() => Err(nothing),
        // The schema is too large to find out what can be kept.
        Err(unsupported) => Ok(ToolForm::new(exactly(&shallow(&modern))?, vec![unsupported.to_string()])),
    }
}

/// Returns a schema with only the names, types and descriptions of properties.
#[cfg(any(feature = "gemini", feature = "openai"))]
fn shallow(schema: &Value) -> Value {
    let kept = |keywords: &Map<String, Value>| -> Map<String, Value> {
        let is_kept = |key: &str, value: &Value| {
            key == "description"
                || key == "type" && ["boolean", "integer", "number", "string"].iter().any(|kind| value == kind)
        };
        let kept = keywords.iter().filter(|(key, value)| is_kept(key, value));
        kept.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let properties =
        properties.map(|(name, schema)| (name.clone(), schema.as_object().map(kept).unwrap_or_default().into()));
    let properties: Map<String, Value> = properties.collect();
    let required = schema["required"].as_array().into_iter().flatten();
    let required: Vec<_> =
        required.filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name))).collect();
    serde_json::json!({ "type": "object", "properties": properties, "required": required })
}

/// Keywords that only restrict values, and that servers refuse at the root.
#[cfg(any(feature = "anthropic", feature = "openai"))]
const REFUSED_AT_ROOT: [&str; 2] = ["enum", "not"];

/// Returns a schema without keywords that servers refuse, at the root or anywhere.
#[cfg(any(feature = "anthropic", feature = "openai"))]
fn hosted(schema: &Value) -> ToolForm {
    let mut notes = Vec::new();
    let mut modern = modern_schema(schema);
    let combined = COMBINING.iter().chain(&["$ref"]).find(|key| modern.get(**key).is_some());
    if let Some(key) = combined
        && let Value::Object(keywords) = &modern
    {
        notes.push(format!(
            "`#` uses `{key}`, which servers refuse at the root: its properties are optional ones of one object"
        ));
        modern = Value::Object(flatten(keywords, &modern, &mut Vec::new()));
    }
    if let Value::Object(keywords) = &mut modern {
        let refused = REFUSED_AT_ROOT.iter().filter_map(|key| Some(((*key).to_owned(), keywords.shift_remove(*key)?)));
        let refused: Map<_, _> = refused.collect();
        if !refused.is_empty() {
            notes.push("`#`: what servers refuse at the root is in the description".to_owned());
            note::follow(keywords, &refused);
        }
    }
    let form = portable(&modern, &mut notes);
    ToolForm::new(form, notes)
}

/// Returns what a form only describes, or the error text if a schema has no form.
#[cfg(any(feature = "gemini", feature = "openai"))]
pub(crate) fn notes(form: Result<Arc<ToolForm>, Unsupported>) -> Result<Vec<String>, String> {
    form.map(|form| form.notes.clone()).map_err(|unsupported| unsupported.to_string())
}
