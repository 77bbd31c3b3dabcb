//! Finds what cannot be compiled to a grammar: of tools it goes into the description, and an output with it is rejected.
//!
//! llguidance supports most of JSON Schema
//! (<https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md>) and is set to ignore unsupported
//! keywords. That is right for keywords that narrow one value, which is validated afterwards, and wrong for keywords
//! that make values depend on other values.

#[cfg(test)]
mod grammar_tests;

use std::convert::Infallible;
use std::sync::Arc;

use serde_json::Value;

use super::fault;
use crate::error::ProviderError;
use crate::model::{Request, ToolSpec};
use crate::schema::{SchemaCache, check, in_words, modern_schema};

/// The name of these grammars in errors.
const NAME: &str = "the embedded model's grammars";

/// A schema that compiles.
#[derive(Debug)]
struct Supported {
    /// The schema without what does not compile; `None` if all of it does.
    changed: Option<Arc<Value>>,
    /// What is only in descriptions, each with its path.
    notes: Vec<String>,
}

/// Returns the tools with schemas that compile: other keywords are in descriptions, since arguments are validated afterwards.
pub(super) fn supported_tools(tools: &[ToolSpec]) -> Vec<ToolSpec> {
    let tools = tools.iter().map(|tool| match &supported(&tool.parameters).changed {
        Some(schema) => ToolSpec { parameters: Arc::clone(schema), ..tool.clone() },
        None => tool.clone(),
    });
    tools.collect()
}

/// Returns what the schema of a tool has only in words.
pub(super) fn notes(tool: &ToolSpec) -> Vec<String> {
    supported(&tool.parameters).notes.clone()
}

fn supported(schema: &Arc<Value>) -> Arc<Supported> {
    static CACHE: SchemaCache<Supported, Infallible> = SchemaCache::new();
    let Ok(supported) = CACHE.get_or_translate(schema, |schema| {
        if check(schema, NAME).is_ok() {
            return Ok(Supported { changed: None, notes: Vec::new() });
        }
        let mut schema = modern_schema(schema);
        let notes = in_words(&mut schema, NAME).iter().map(ToString::to_string).collect();
        Ok(Supported { changed: Some(Arc::new(schema)), notes })
    });
    supported
}

/// Checks the schema of the output.
///
/// # Errors
///
/// Returns an error with the unsupported keyword and its path.
pub(super) fn check_output(request: &Request<'_>) -> Result<(), ProviderError> {
    let Some(output) = request.output else { return Ok(()) };
    check(&output.schema, NAME)
        .map_err(|unsupported| fault::invalid(format!("unsupported output schema: {unsupported}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llm_do_corpus::all;
    use serde_json::{Value, json};

    use super::{check_output, notes, supported_tools};
    use crate::model::{OutputSchema, Request, ToolSpec};
    use crate::settings::Settings;

    fn tool(parameters: Value) -> ToolSpec {
        ToolSpec { name: "take".into(), description: "Takes.".into(), parameters: Arc::new(parameters) }
    }

    #[test]
    fn a_keyword_that_relates_values_is_in_the_description() {
        let list = json!({"type": "array", "contains": {"const": 1}});
        let schema =
            json!({"type": "object", "properties": {"a": {"items": {"anyOf": [{}, list]}}, "b": {"type": "string"}}});
        let tools = [tool(schema), tool(json!({"type": "object"}))];
        let sent = supported_tools(&tools);
        let words = r#"Must also follow: {"contains":{"const":1}}"#;
        let part = json!({"type": "array", "description": words});
        assert_eq!(sent[0].parameters["properties"]["a"]["items"]["anyOf"][1], part);
        assert_eq!(sent[0].parameters["properties"]["b"], json!({"type": "string"}));
        assert_eq!(sent[1], tools[1]);
        let place = "`#/properties/a/items/anyOf/1` uses `contains`, which the embedded model's grammars cannot express; remove it";
        assert_eq!((notes(&tools[0]), notes(&tools[1])), (vec![place.to_owned()], vec![]));
    }

    #[test]
    fn the_output_schema_is_checked_too() {
        let settings = Settings::default();
        let output = OutputSchema { name: "answer".into(), schema: Arc::new(json!({"dependentRequired": {}})) };
        let error =
            check_output(&Request::new(&[], &settings).output(Some(&output))).expect_err("the schema is unsupported");
        assert!(error.to_string().contains("unsupported output schema"), "{error}");
    }

    #[test]
    fn narrowing_keywords_and_keywords_in_data_are_accepted() {
        let schema =
            json!({"uniqueItems": true, "not": {"const": 1}, "const": {"if": 1}, "properties": {"contains": {}}});
        assert_eq!(notes(&tool(schema)), [""; 0]);
    }

    #[test]
    fn every_schema_of_the_corpus_is_supported() {
        for case in all() {
            assert_eq!(notes(&tool(case.schema)), [""; 0], "{}", case.name);
        }
    }
}
