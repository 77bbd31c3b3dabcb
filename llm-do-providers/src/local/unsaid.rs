//! Schemas that no grammar can say.
//!
//! The library's grammars know most of JSON Schema
//! (<https://github.com/guidance-ai/llguidance/blob/main/docs/json_schema.md>) and are told to let pass what they do not. That
//! is right for what only narrows one value, which is checked afterwards, and wrong for what makes values depend on others.

#[cfg(test)]
mod followed;

use super::fault;
use crate::error::ProviderError;
use crate::model::Request;
use crate::schema::check;

/// What errors call the schemas that can be said.
const NAME: &str = "the embedded model's grammars";

/// Checks the schemas of the tools and the answer of a request.
///
/// # Errors
///
/// Returns an error that names what cannot be said, and where it is.
pub(super) fn refuse(request: &Request<'_>) -> Result<(), ProviderError> {
    for tool in request.tools {
        check(&tool.parameters, NAME).map_err(|unsaid| {
            fault::invalid(format!("the arguments of the tool `{}` cannot be made a grammar of: {unsaid}", tool.name))
        })?;
    }
    let Some(output) = request.output else { return Ok(()) };
    check(&output.schema, NAME)
        .map_err(|unsaid| fault::invalid(format!("the schema of the answer cannot be made a grammar of: {unsaid}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llm_do_corpus::all;
    use serde_json::{Value, json};

    use super::refuse;
    use crate::error::ErrorKind;
    use crate::model::{OutputSchema, Request, ToolSpec};
    use crate::settings::Settings;

    fn tool(parameters: Value) -> ToolSpec {
        ToolSpec { name: "take".into(), description: "Takes.".into(), parameters: Arc::new(parameters) }
    }

    fn refusal(schema: &Value) -> String {
        let (settings, tools) = (Settings::default(), [tool(schema.clone())]);
        let error = refuse(&Request::new(&[], &settings).tools(&tools)).expect_err("it cannot be said");
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        error.to_string()
    }

    #[test]
    fn what_makes_values_depend_on_others_is_refused_with_its_path() {
        let text = refusal(&json!({"properties": {"a": {"items": {"anyOf": [{}, {"contains": {"const": 1}}]}}}}));
        let expected = "local: the arguments of the tool `take` cannot be made a grammar of: `#/properties/a/items/anyOf/1` \
                        says `contains`, which the embedded model's grammars cannot; leave it out";
        assert_eq!(text, expected);
        let text = refusal(&json!({"$defs": {"A": {"additionalProperties": {"if": {}}}}}));
        assert!(text.contains("`#/$defs/A/additionalProperties` says `if`"), "{text}");
    }

    #[test]
    fn the_schema_of_an_answer_is_checked_too() {
        let settings = Settings::default();
        let output = OutputSchema { name: "answer".into(), schema: Arc::new(json!({"dependentRequired": {}})) };
        let error = refuse(&Request::new(&[], &settings).output(Some(&output))).expect_err("it cannot be said");
        assert!(error.to_string().contains("the schema of the answer cannot be made a grammar of"), "{error}");
    }

    #[test]
    fn what_only_narrows_a_value_is_let_pass_and_a_value_may_look_like_a_keyword() {
        let (settings, schema) = (
            Settings::default(),
            json!({"uniqueItems": true, "not": {"const": 1}, "const": {"if": 1}, "properties": {"contains": {}}}),
        );
        refuse(&Request::new(&[], &settings).tools(&[tool(schema)])).expect("it can be said");
    }

    #[test]
    fn every_schema_of_the_corpus_can_be_said() {
        let settings = Settings::default();
        for case in all() {
            refuse(&Request::new(&[], &settings).tools(&[tool(case.schema)])).expect(case.name);
        }
    }
}
