//! Workers as prompts: the client's model receives the request that a worker would send to its model.

use llm_do_core::base::error::CallError;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::observe::event::ItemKind;
use llm_do_providers::UserPart;
use rmcp::ErrorData;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptResult, JsonObject, Prompt,
    PromptArgument, PromptMessage, Reference, Role,
};
use serde_json::Value;

use super::offer::{Offered, title};
use super::{Shared, result};

/// Returns a worker as a prompt; `None` for other items.
fn prompt(offered: &Offered) -> Option<Prompt> {
    let item = &offered.item;
    let required = item.parameters()["required"].as_array().cloned().unwrap_or_default();
    let argument = |(name, schema): (&String, &Value)| {
        let argument = PromptArgument::new(name).with_required(required.iter().any(|required| required == name));
        match schema["description"].as_str() {
            Some(description) => argument.with_description(description),
            None => argument,
        }
    };
    let arguments = properties(offered).map(argument).collect();
    let prompt = || Prompt::new(item.name(), Some(item.description()), Some(arguments)).with_title(title(item.name()));
    (item.kind() == ItemKind::Worker).then(prompt)
}

fn properties(offered: &Offered) -> impl Iterator<Item = (&String, &Value)> {
    offered.item.parameters()["properties"].as_object().into_iter().flatten()
}

impl Shared {
    pub(super) fn prompts(&self) -> Vec<Prompt> {
        self.offer.iter().filter_map(prompt).collect()
    }

    fn worker(&self, name: &str) -> Result<&Offered, ErrorData> {
        let found = self.offer.get(name).filter(|offered| offered.item.kind() == ItemKind::Worker);
        found
            .ok_or_else(|| ErrorData::invalid_params(format!("unknown prompt `{name}`{}", self.offer.hint(name)), None))
    }

    /// Returns a worker, and the arguments of the call that renders its prompt, from the texts of a form.
    pub(super) fn prompt_call(&self, name: &str, given: Option<JsonObject>) -> Result<(&Offered, Value), ErrorData> {
        let offered = self.worker(name)?;
        let mut arguments = given.unwrap_or_default();
        for (name, value) in &mut arguments {
            let schema = properties(offered).find(|(property, _)| *property == name).map(|(_, schema)| schema);
            parse(value, schema);
        }
        Ok((offered, Value::Object(arguments)))
    }

    /// Completes an argument of a prompt, if its schema lists its values.
    pub(super) fn completed(&self, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
        let Reference::Prompt(prompt) = &request.r#ref else { return Ok(CompleteResult::default()) };
        let offered = self.worker(&prompt.name)?;
        let schema = properties(offered).find(|(property, _)| **property == request.argument.name);
        let starts = request.argument.value.to_lowercase();
        let values = schema.into_iter().flat_map(|(_, schema)| listed(schema));
        let mut values: Vec<_> = values.filter(|value| value.to_lowercase().starts_with(&starts)).collect();
        values.truncate(CompletionInfo::MAX_VALUES);
        let info = CompletionInfo::with_all_values(values).map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(info))
    }
}

/// Returns the prompt that a call rendered.
pub(super) fn of_call(
    offered: &Offered,
    finished: Result<ToolReturn, CallError>,
) -> Result<GetPromptResult, ErrorData> {
    let returned = finished.map_err(|error| ErrorData::invalid_params(error.model_message(), None))?;
    let parts = serde_json::from_value::<Vec<UserPart>>(returned.into_value());
    let parts = parts.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    // The instructions of a worker without instructions are its description, which the client receives anyway.
    let description = offered.item.description();
    let is_description = |part: &UserPart| matches!(part, UserPart::Text { text } if text == description);
    let repeated = usize::from(parts.len() > 1 && parts.first().is_some_and(is_description));
    let messages = parts.into_iter().skip(repeated).filter_map(|part| {
        let content = match part {
            UserPart::Text { text } => ContentBlock::text(text),
            UserPart::Attachment(file) => result::content(&file),
            _ => return None,
        };
        Some(PromptMessage::new(Role::User, content))
    });
    Ok(GetPromptResult::new(messages.collect()).with_description(offered.item.description()))
}

/// Parses the text of an argument as a value of its schema.
fn parse(value: &mut Value, schema: Option<&Value>) {
    let is_text = schema.is_some_and(|schema| schema["type"] == "string" || !listed(schema).is_empty());
    if let Value::String(text) = &value
        && !is_text
        && let Ok(parsed) = serde_json::from_str(text)
    {
        *value = parsed;
    }
}

/// Returns the texts that a schema lists.
fn listed(schema: &Value) -> Vec<String> {
    let values = schema["enum"].as_array().into_iter().flatten();
    let constants = ["oneOf", "anyOf"].into_iter().flat_map(|key| schema[key].as_array().into_iter().flatten());
    values.chain(constants.map(|schema| &schema["const"])).filter_map(Value::as_str).map(str::to_owned).collect()
}
