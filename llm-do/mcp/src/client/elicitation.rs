//! Questions of a server to the user, asked in the run whose call the server is answering.

use std::collections::HashMap;

use llm_do_core::base::error::CallError;
use llm_do_core::declare::question::Question;
use llm_do_core::declare::schema::{CheckedSchema, untrusted_schema_fault};
use llm_do_core::plane::context::CallContext;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

use super::text;

const ANSWER: &str = "answer";
const DECLINE: &str = "decline";
const DONE: &str = "done";
/// The choice of no value.
const SKIP: &str = "(leave empty)";
/// The maximum number of values in one form.
const MAX_FIELDS: usize = 20;
/// The maximum number of invalid answers for one value.
const MAX_ASKED: usize = 3;
/// The longest message of a server, in characters.
const MAX_MESSAGE: usize = 2_000;

/// Asks the user for the values that a server requests. The user first sees who asks for what, and may decline.
pub(super) async fn ask(
    ctx: &CallContext,
    server: &str,
    tool: &str,
    request: &ElicitRequestParams,
) -> Result<ElicitResult, CallError> {
    let asked = match request {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            form(ctx, &introduction(server, tool, message), requested_schema).await
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            visit(ctx, &introduction(server, tool, message), url).await
        }
        _ => Ok(declined()),
    };
    match asked {
        // No user can answer.
        Err(CallError::NoInput { .. }) => Ok(declined()),
        asked => asked,
    }
}

fn introduction(server: &str, tool: &str, message: &str) -> String {
    let message = text::visible(message, MAX_MESSAGE);
    format!(
        "The MCP server `{}` asks during the call of its tool `{}`:\n{message}",
        text::line(server),
        text::line(tool)
    )
}

fn declined() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Decline)
}

/// Asks the user to open an address, which is shown unchanged, and never opened automatically.
async fn visit(ctx: &CallContext, introduction: &str, url: &str) -> Result<ElicitResult, CallError> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    if !is_web || url.len() > MAX_MESSAGE {
        return Ok(declined());
    }
    let url = llm_do_core::base::printable::printable_line(url);
    let prompt = format!(
        "{introduction}\nThe server asks you to open this address in a browser. Open it only if you trust the \
         server:\n{url}"
    );
    let answer = ctx.request_user_input(Question::new(prompt).choices([DONE, DECLINE])).await?;
    Ok(if answer == DONE { ElicitResult::new(ElicitationAction::Accept) } else { declined() })
}

/// Asks for each value of a form.
async fn form(ctx: &CallContext, introduction: &str, schema: &ElicitationSchema) -> Result<ElicitResult, CallError> {
    let Ok(schema) = serde_json::to_value(schema) else { return Ok(declined()) };
    let count = schema["properties"].as_object().map_or(0, Map::len);
    if count > MAX_FIELDS || untrusted_schema_fault(&schema).is_some() {
        return Ok(declined());
    }
    let fields = fields(&schema);
    let names: Vec<_> = fields.iter().map(|field| field.title.clone()).collect();
    let wanted = if names.is_empty() { String::new() } else { format!("\nThe server asks for: {}", names.join(", ")) };
    let first = Question::new(format!("{introduction}{wanted}")).choices([ANSWER, DECLINE]);
    if ctx.request_user_input(first).await? != ANSWER {
        return Ok(declined());
    }
    let mut content = Map::new();
    for field in fields {
        match field.ask(ctx).await? {
            FieldAnswer::Value(value) => drop(content.insert(field.name.to_owned(), value)),
            FieldAnswer::Empty => {}
            FieldAnswer::Unfit => return Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }
    Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content)))
}

/// Returns the values that a schema requests.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_required = |name: &str| required.iter().any(|required| required == name);
    let properties = schema["properties"].as_object().into_iter().flatten();
    let titles = properties
        .clone()
        .map(|(name, schema)| (text::line(schema["title"].as_str().unwrap_or(name)), Value::from(name.as_str())));
    let titles = distinct(titles.collect(), &[]).into_iter().map(|(title, _)| title);
    let fields = properties.zip(titles);
    fields.map(|((name, schema), title)| Field { is_required: is_required(name), name, title, schema }).collect()
}

/// Makes texts distinct that are equal or in use, by adding their values, so that the user can distinguish them.
fn distinct(mut shown: Vec<(String, Value)>, taken: &[&str]) -> Vec<(String, Value)> {
    let mut counts: HashMap<String, usize> = taken.iter().map(|text| ((*text).to_owned(), 1)).collect();
    for (text, _) in &shown {
        *counts.entry(text.clone()).or_default() += 1;
    }
    for (text, value) in shown.iter_mut().filter(|(text, _)| counts[text] > 1) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *text = text::line(&format!("{text} ({value})"));
    }
    shown
}

/// A requested value.
struct Field<'a> {
    name: &'a str,
    /// The text for the user.
    title: String,
    schema: &'a Value,
    is_required: bool,
}

enum FieldAnswer {
    Value(Value),
    Empty,
    /// The value cannot be requested.
    Unfit,
}

impl Field<'_> {
    async fn ask(&self, ctx: &CallContext) -> Result<FieldAnswer, CallError> {
        let checked = CheckedSchema::new(self.schema).untrusted();
        let mut problem = String::new();
        for _ in 0..MAX_ASKED {
            let given = ctx.request_user_choices(self.question(&problem)).await?;
            problem = match self.value(&given) {
                None if !self.is_required => return Ok(FieldAnswer::Empty),
                None => "\nInvalid answer: a value is required".to_owned(),
                Some(value) => match checked.check(&value) {
                    Ok(()) => return Ok(FieldAnswer::Value(value)),
                    Err(fault) => format!("\nInvalid answer: {}", text::line(&fault)),
                },
            };
        }
        Ok(FieldAnswer::Unfit)
    }

    fn question(&self, problem: &str) -> Question {
        let about = self.schema["description"].as_str().map(|about| format!(": {}", text::line(about)));
        let optional = if self.is_required { "" } else { " (may be empty)" };
        let question = Question::new(format!("{}{}{optional}{problem}", self.title, about.unwrap_or_default()));
        let mut options: Vec<_> = self.options().into_iter().map(|(shown, _)| shown).collect();
        let default = self.default();
        if self.is_several() {
            return question.choices(options).several();
        }
        let may_skip = !options.is_empty() && !self.is_required && default.is_none();
        options.extend(may_skip.then(|| SKIP.to_owned()));
        let question = question.choices(options);
        match default.or(may_skip.then(|| SKIP.to_owned())) {
            Some(default) => question.with_default(default),
            None => question,
        }
    }

    fn is_several(&self) -> bool {
        self.schema["type"] == "array"
    }

    /// Returns the choices: what is shown, and its value.
    fn options(&self) -> Vec<(String, Value)> {
        let schema = if self.is_several() { &self.schema["items"] } else { self.schema };
        if schema["type"] == "boolean" {
            return vec![("yes".to_owned(), json!(true)), ("no".to_owned(), json!(false))];
        }
        let titled = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
        if let Some(titled) = titled {
            let option = |option: &Value| Some((text::line(option["title"].as_str()?), option["const"].clone()));
            return distinct(titled.iter().filter_map(option).collect(), &[SKIP]);
        }
        let names = schema["enumNames"].as_array();
        let values = schema["enum"].as_array().into_iter().flatten().enumerate();
        let shown = |(index, value): (usize, &Value)| {
            let name = names.and_then(|names| names.get(index)).and_then(Value::as_str).or(value.as_str())?;
            Some((text::line(name), value.clone()))
        };
        distinct(values.filter_map(shown).collect(), &[SKIP])
    }

    /// Returns the answer if the user gives an empty one.
    fn default(&self) -> Option<String> {
        let default = self.schema.get("default")?;
        let options = self.options();
        if let Some((shown, _)) = options.iter().find(|(_, value)| value == default) {
            return Some(shown.clone());
        }
        match default {
            _ if !options.is_empty() => None,
            Value::String(text) => Some(text::line(text)),
            value => Some(value.to_string()),
        }
    }

    /// Returns the value of an answer; `None` for an empty one.
    fn value(&self, given: &[String]) -> Option<Value> {
        let options = self.options();
        let option =
            |answer: &String| options.iter().find(|(shown, _)| shown == answer).map(|(_, value)| value.clone());
        if self.is_several() {
            let default = || self.schema.get("default").cloned();
            let chosen: Vec<_> = given.iter().filter_map(option).collect();
            return if chosen.is_empty() { default() } else { Some(Value::Array(chosen)) };
        }
        let answer = given.first().filter(|answer| !answer.trim().is_empty())?;
        if self.default().as_ref() == Some(answer) {
            return self.schema.get("default").cloned();
        }
        if !options.is_empty() {
            return option(answer);
        }
        Some(match self.schema["type"].as_str() {
            Some("integer" | "number") => serde_json::from_str(answer.trim()).unwrap_or_else(|_| json!(answer)),
            _ => json!(answer),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_titles_are_shown_with_what_they_stand_for() {
        let color = json!([{ "const": "1", "title": "Red" }, { "const": "2", "title": "Red" }, { "const": "3", "title": "Blue" }]);
        let schema = json!({ "properties": {
            "a": { "type": "string", "title": "Name" },
            "b": { "type": "string", "title": "Name" },
            "c": { "type": "string", "oneOf": color },
            "d": { "type": "string", "enum": ["x", "y"], "enumNames": [SKIP, "Y"] },
        } });
        let fields = fields(&schema);
        let titles: Vec<_> = fields.iter().map(|field| field.title.as_str()).collect();
        assert_eq!(titles, ["Name (a)", "Name (b)", "c", "d"]);
        let shown = |field: &Field<'_>| field.options().into_iter().map(|(shown, _)| shown).collect::<Vec<_>>();
        assert_eq!(shown(&fields[2]), ["Red (1)", "Red (2)", "Blue"]);
        assert_eq!(fields[2].value(&["Red (2)".to_owned()]), Some(json!("2")));
        assert_eq!(shown(&fields[3]), ["(leave empty) (x)", "Y"]);
    }
}
