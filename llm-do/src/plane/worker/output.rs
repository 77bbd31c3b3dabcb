//! How a worker's model is asked for its output, and how the answer is read.

mod embedded;

use std::sync::Arc;

use llm_do_providers::{OutputSchema, Profile, Response, ToolSpec};
use serde_json::Value;

use crate::base::error::Fault;
use crate::declare::schema::{OutputShape, WRAPPER, run_blocking};
use crate::declare::toolset::OUTPUT_TOOL;
use crate::declare::worker_spec::OutputMode;

/// What a worker's output must be, and the way its model gives it.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    way: Way,
    shape: Arc<OutputShape>,
    check: fn(Value) -> Result<Value, Fault>,
    /// What was read off the async threads.
    read: Option<Arc<Read>>,
}

/// A result that was read.
#[derive(Debug)]
struct Read {
    text: String,
    value: Result<Value, Fault>,
}

#[derive(Clone, Debug)]
enum Way {
    /// Plain text.
    Text,
    /// The answer's text is JSON of this schema: the provider sees to it.
    Native(OutputSchema),
    /// The arguments of a call of this tool.
    Tool(ToolSpec),
    /// The answer's text is JSON of this schema: the instructions ask for it.
    Prompted(Arc<Value>),
}

impl Output {
    /// Chooses the way for an output of `shape`: the one of `mode`, or else from what the model can do.
    ///
    /// `check` returns a value of the worker's output type as that reads it, or says why it is none.
    ///
    /// # Errors
    ///
    /// Returns what the model cannot do, if `mode` asks for it.
    pub(crate) fn new(
        mode: OutputMode,
        shape: &Arc<OutputShape>,
        check: fn(Value) -> Result<Value, Fault>,
        profile: Profile,
        has_tools: bool,
    ) -> Result<Self, String> {
        let schema = || Arc::clone(&shape.schema.schema);
        let way = if shape.is_text {
            Way::Text
        } else {
            match chosen(mode, profile, has_tools)? {
                Chosen::Native => Way::Native(OutputSchema { name: OUTPUT_TOOL.into(), schema: schema() }),
                Chosen::Tool => Way::Tool(output_tool(&schema())),
                Chosen::Prompted => Way::Prompted(schema()),
            }
        };
        Ok(Self { way, shape: Arc::clone(shape), check, read: None })
    }

    /// Returns the instructions, with the schema where nothing else tells the model of it.
    pub(crate) fn instructed(&self, instructions: &Arc<str>) -> Arc<str> {
        match &self.way {
            Way::Prompted(schema) => format!(
                "{instructions}\n\nGive the final result as JSON, and nothing else with it, that follows this JSON \
                 schema:\n{schema:#}"
            )
            .into(),
            _ => Arc::clone(instructions),
        }
    }

    /// Returns the schema for models with native output.
    pub(crate) fn schema(&self) -> Option<&OutputSchema> {
        match &self.way {
            Way::Native(schema) => Some(schema),
            _ => None,
        }
    }

    /// Returns the output tool for models without.
    pub(crate) fn tool(&self) -> Option<&ToolSpec> {
        match &self.way {
            Way::Tool(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns the schema that only the instructions tell of.
    pub(crate) fn prompted(&self) -> Option<&Value> {
        match &self.way {
            Way::Prompted(schema) => Some(schema),
            _ => None,
        }
    }

    /// Reads the result in an answer off the async threads, if that may take long: returns what knows of it, then.
    pub(crate) async fn read_apart(&self, response: &Response) -> Option<Self> {
        let text = self.result_text(response)?;
        let output = self.clone();
        Some(
            run_blocking(move |_| Self {
                read: Some(Arc::new(Read { value: output.read_result(&text), text })),
                ..output
            })
            .await,
        )
    }

    /// Returns the text of the result, if to check it may take longer than an async thread may be held.
    fn result_text(&self, response: &Response) -> Option<String> {
        let text = match &self.way {
            Way::Text => return None,
            Way::Native(_) | Way::Prompted(_) => response.text(),
            Way::Tool(_) => response.tool_calls().find(|call| call.name == OUTPUT_TOOL)?.arguments.clone(),
        };
        self.shape.schema.is_untrusted().then_some(text).filter(|text| {
            let values = || match &self.way {
                Way::Prompted(_) => embedded::values(text),
                _ => serde_json::from_str(text).into_iter().collect(),
            };
            values().iter().any(|value| self.shape.schema.is_slow(value))
        })
    }

    fn read_result(&self, text: &str) -> Result<Value, Fault> {
        match &self.way {
            Way::Prompted(_) => self.read_text(text, false),
            _ => self.read_json(text),
        }
    }

    /// Reads an answer without tool calls; of one that is no more than files the value is null, where the type takes that.
    pub(crate) fn read_text(&self, text: &str, has_files: bool) -> Result<Value, Fault> {
        match &self.way {
            Way::Text if text.trim().is_empty() => {
                let files = has_files.then(|| (self.check)(Value::Null).ok()).flatten();
                files.ok_or_else(|| "the answer was empty; answer in plain text".into())
            }
            Way::Text => self.checked(Value::String(text.to_owned())),
            Way::Native(_) => self.read_json(text),
            Way::Prompted(_) if self.known(text).is_some() => self.read_json(text),
            Way::Prompted(_) => self.read_value(embedded::value(text, |value| self.shape.schema.check(value).is_ok())?),
            Way::Tool(_) => Err(format!("plain text is not the result; give it by calling `{OUTPUT_TOOL}`").into()),
        }
    }

    /// Reads the arguments of a call of the output tool, or the text of a native output.
    pub(crate) fn read_json(&self, json: &str) -> Result<Value, Fault> {
        if let Some(read) = self.known(json) {
            return read.value.clone();
        }
        self.read_value(serde_json::from_str(json).map_err(|error| embedded::no_json(&error))?)
    }

    /// Returns what was read of a text before.
    fn known(&self, text: &str) -> Option<&Read> {
        self.read.as_deref().filter(|read| read.text == text)
    }

    fn read_value(&self, value: Value) -> Result<Value, Fault> {
        self.shape.schema.check(&value).map_err(misfit)?;
        self.checked(self.unwrap(value))
    }

    fn unwrap(&self, value: Value) -> Value {
        match value {
            Value::Object(mut fields) if self.shape.is_wrapped => fields.remove(WRAPPER).unwrap_or_default(),
            other => other,
        }
    }

    fn checked(&self, value: Value) -> Result<Value, Fault> {
        (self.check)(value).map_err(misfit)
    }
}

/// A way for an output that is data.
enum Chosen {
    Native,
    Tool,
    Prompted,
}

/// Chooses the way: the one of `mode`, or the best that the model has.
fn chosen(mode: OutputMode, profile: Profile, has_tools: bool) -> Result<Chosen, String> {
    let lack = lacks_native(profile, has_tools);
    match (mode, lack) {
        (OutputMode::Auto | OutputMode::Native, None) => Ok(Chosen::Native),
        (OutputMode::Native, Some(lack)) => {
            Err(format!("{lack}; leave out `output = native`, or choose another model"))
        }
        (OutputMode::Auto | OutputMode::Tool, _) if profile.tools => Ok(Chosen::Tool),
        (OutputMode::Tool, _) => {
            Err("it calls no tools, and `output = tool` needs one; leave it out, or choose another model".to_owned())
        }
        (OutputMode::Auto | OutputMode::Prompted, _) => Ok(Chosen::Prompted),
    }
}

/// Says what keeps a model from giving the output by itself, if anything does.
fn lacks_native(profile: Profile, has_tools: bool) -> Option<&'static str> {
    match (profile.native_output, profile.native_output_with_tools || !has_tools) {
        (false, _) => Some("it has no structured output"),
        (true, false) => Some("it has no structured output while it may call tools"),
        (true, true) => None,
    }
}

fn output_tool(schema: &Arc<Value>) -> ToolSpec {
    let description = "Gives the final result and ends the task. Call it once, when everything else is done.";
    ToolSpec { name: OUTPUT_TOOL.into(), description: description.into(), parameters: Arc::clone(schema) }
}

fn misfit(fault: impl Into<Fault>) -> Fault {
    fault.into().within("the result does not follow its schema")
}
