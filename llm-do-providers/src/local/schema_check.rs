//! Rejects schemas that cannot be compiled to a grammar.
//!
//! llguidance supports most of JSON Schema
//! (<https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md>) and is set to ignore unsupported
//! keywords. That is right for keywords that narrow one value, which is validated afterwards, and wrong for keywords
//! that make values depend on other values.

#[cfg(test)]
mod grammar_tests;

use super::fault;
use crate::error::ProviderError;
use crate::model::Request;
use crate::schema::check;

/// The name of these grammars in errors.
const NAME: &str = "the embedded model's grammars";

/// Checks the schemas of the tools and of the output.
///
/// # Errors
///
/// Returns an error with the unsupported keyword and its path.
pub(super) fn check_request(request: &Request<'_>) -> Result<(), ProviderError> {
    for tool in request.tools {
        check(&tool.parameters, NAME).map_err(|unsupported| {
            fault::invalid(format!("unsupported parameter schema of the tool `{}`: {unsupported}", tool.name))
        })?;
    }
    let Some(output) = request.output else { return Ok(()) };
    check(&output.schema, NAME)
        .map_err(|unsupported| fault::invalid(format!("unsupported output schema: {unsupported}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llm_do_corpus::all;
    use serde_json::{Value, json};

    use super::check_request;
    use crate::error::ErrorKind;
    use crate::model::{OutputSchema, Request, ToolSpec};
    use crate::settings::Settings;

    fn tool(parameters: Value) -> ToolSpec {
        ToolSpec { name: "take".into(), description: "Takes.".into(), parameters: Arc::new(parameters) }
    }

    fn rejection(schema: &Value) -> String {
        let (settings, tools) = (Settings::default(), [tool(schema.clone())]);
        let error = check_request(&Request::new(&[], &settings).tools(&tools)).expect_err("the schema is unsupported");
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        error.to_string()
    }

    #[test]
    fn a_keyword_that_relates_values_is_rejected_with_its_path() {
        let text = rejection(&json!({"properties": {"a": {"items": {"anyOf": [{}, {"contains": {"const": 1}}]}}}}));
        let expected = "local: unsupported parameter schema of the tool `take`: `#/properties/a/items/anyOf/1` \
                        uses `contains`, which the embedded model's grammars cannot express; remove it";
        assert_eq!(text, expected);
        let text = rejection(&json!({"$defs": {"A": {"additionalProperties": {"if": {}}}}}));
        assert!(text.contains("`#/$defs/A/additionalProperties` uses `if`"), "{text}");
    }

    #[test]
    fn the_output_schema_is_checked_too() {
        let settings = Settings::default();
        let output = OutputSchema { name: "answer".into(), schema: Arc::new(json!({"dependentRequired": {}})) };
        let error =
            check_request(&Request::new(&[], &settings).output(Some(&output))).expect_err("the schema is unsupported");
        assert!(error.to_string().contains("unsupported output schema"), "{error}");
    }

    #[test]
    fn narrowing_keywords_and_keywords_in_data_are_accepted() {
        let (settings, schema) = (
            Settings::default(),
            json!({"uniqueItems": true, "not": {"const": 1}, "const": {"if": 1}, "properties": {"contains": {}}}),
        );
        check_request(&Request::new(&[], &settings).tools(&[tool(schema)])).expect("the schema is supported");
    }

    #[test]
    fn every_schema_of_the_corpus_is_supported() {
        let settings = Settings::default();
        for case in all() {
            check_request(&Request::new(&[], &settings).tools(&[tool(case.schema)])).expect(case.name);
        }
    }
}
