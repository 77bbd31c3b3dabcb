//! Requests the output of a worker from its model, and parses the answer.

use std::sync::Arc;

use llm_do_providers::{OutputSchema, Profile, Response, ToolSpec};
use serde_json::Value;

use crate::base::error::Fault;
use crate::base::mend::{self, Mends, Unmended};
use crate::declare::schema::{OutputShape, WRAPPER, run_blocking};
use crate::declare::toolset::OUTPUT_TOOL;
use crate::declare::worker_spec::OutputMode;
use crate::plane::call_stream::Form;

/// The type of a worker's output, and how the model returns it.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    method: OutputMethod,
    shape: Arc<OutputShape>,
    check: fn(Value) -> Result<Value, Fault>,
    /// Whether arguments of the output tool that are almost JSON are mended.
    mends_arguments: bool,
    /// The result that was parsed off the async threads, with its text.
    read: Option<Arc<(String, ReadResult)>>,
}

/// A parsed result.
#[derive(Clone, Debug)]
pub(crate) struct ReadResult {
    /// The result, or why it is invalid.
    pub(crate) value: Result<Value, Fault>,
    /// What was mended in its JSON before.
    pub(crate) mends: Mends,
}

impl ReadResult {
    /// Creates a result for which nothing was mended.
    fn new(value: Result<Value, Fault>) -> Self {
        Self { value, mends: Mends::default() }
    }
}

#[derive(Clone, Debug)]
enum OutputMethod {
    /// Plain text.
    Text,
    /// JSON text that the provider makes follow this schema.
    Native(OutputSchema),
    /// The arguments of a call of this tool.
    Tool(ToolSpec),
    /// JSON text that the instructions ask for, with this schema.
    Prompted(Arc<Value>),
}

impl Output {
    /// Chooses how to return an output of `shape`: according to `mode`, or to what the model supports.
    ///
    /// `check` decodes a value as the worker's output type and returns it encoded again, or returns the reason why it
    /// is invalid.
    ///
    /// # Errors
    ///
    /// Returns an error if the model does not support `mode`.
    pub(crate) fn new(
        mode: OutputMode,
        shape: &Arc<OutputShape>,
        check: fn(Value) -> Result<Value, Fault>,
        profile: Profile,
        has_tools: bool,
    ) -> Result<Self, String> {
        let schema = || Arc::clone(shape.schema.schema());
        let method = if shape.is_text {
            OutputMethod::Text
        } else {
            match choose(mode, profile, has_tools)? {
                Structured::Native => OutputMethod::Native(OutputSchema { name: OUTPUT_TOOL.into(), schema: schema() }),
                Structured::Tool => OutputMethod::Tool(output_tool(&schema())),
                Structured::Prompted => OutputMethod::Prompted(schema()),
            }
        };
        Ok(Self { method, shape: Arc::clone(shape), check, mends_arguments: profile.mend_arguments, read: None })
    }

    /// Returns the instructions, with the schema if the request contains it in no other way.
    pub(crate) fn instructed(&self, instructions: &Arc<str>) -> Arc<str> {
        match &self.method {
            OutputMethod::Prompted(schema) => format!(
                "{instructions}\n\nReturn the final result as JSON that follows this JSON schema, without any other \
                 text:\n{schema:#}"
            )
            .into(),
            _ => Arc::clone(instructions),
        }
    }

    /// Returns the schema for a model with native structured output.
    pub(crate) fn schema(&self) -> Option<&OutputSchema> {
        match &self.method {
            OutputMethod::Native(schema) => Some(schema),
            _ => None,
        }
    }

    /// Returns the output tool for a model without native structured output.
    pub(crate) fn tool(&self) -> Option<&ToolSpec> {
        match &self.method {
            OutputMethod::Tool(spec) => Some(spec),
            _ => None,
        }
    }

    /// Returns what the pieces of the result are.
    pub(crate) fn form(&self) -> Form {
        match &self.method {
            OutputMethod::Text => Form::Text,
            _ => Form::Json { is_wrapped: self.shape.is_wrapped },
        }
    }

    /// Returns the schema that is in the instructions.
    pub(crate) fn prompted(&self) -> Option<&Value> {
        match &self.method {
            OutputMethod::Prompted(schema) => Some(schema),
            _ => None,
        }
    }

    /// Parses the result of an answer on a blocking thread if that may take long; returns an output with the parsed
    /// result.
    pub(crate) async fn read_apart(&self, response: &Response) -> Option<Self> {
        let text = self.result_text(response)?;
        let output = self.clone();
        Some(
            run_blocking(move |_| {
                let read = output.read_result(&text);
                Self { read: Some(Arc::new((text, read))), ..output }
            })
            .await,
        )
    }

    /// Returns the text of the result in an answer, if it has one.
    pub(crate) fn written(&self, response: &Response) -> Option<String> {
        match &self.method {
            OutputMethod::Tool(_) => {
                response.tool_calls().find(|call| call.name == OUTPUT_TOOL).map(|call| call.arguments.clone())
            }
            _ => Some(response.text()),
        }
    }

    /// Returns the text of the result if checking it may block an async thread for too long.
    fn result_text(&self, response: &Response) -> Option<String> {
        if matches!(self.method, OutputMethod::Text) || !self.shape.schema.is_untrusted() {
            return None;
        }
        self.written(response).filter(|text| {
            let values =
                || if self.mends() { mend::values(text) } else { serde_json::from_str(text).into_iter().collect() };
            values().iter().any(|value| self.shape.schema.is_slow(value))
        })
    }

    /// Returns whether a result that is almost JSON is mended.
    fn mends(&self) -> bool {
        match &self.method {
            OutputMethod::Native(_) | OutputMethod::Prompted(_) => true,
            OutputMethod::Tool(_) => self.mends_arguments,
            OutputMethod::Text => false,
        }
    }

    fn read_result(&self, text: &str) -> ReadResult {
        if self.mends() {
            return self.read_almost(text);
        }
        match serde_json::from_str(text) {
            Ok(value) => ReadResult::new(self.read_value(value)),
            Err(error) => unread(&Unmended::Invalid(error.to_string())),
        }
    }

    /// Parses text that is JSON, or almost.
    fn read_almost(&self, text: &str) -> ReadResult {
        match mend::mend(text, |value| self.shape.schema.check(value).is_ok()) {
            Ok(mended) => ReadResult { value: self.read_value(mended.value), mends: mended.mends },
            Err(reason) => unread(&reason),
        }
    }

    /// Parses an answer without tool calls. An answer of files only is null, if the output type accepts that.
    pub(crate) fn read_text(&self, text: &str, has_files: bool) -> ReadResult {
        match &self.method {
            OutputMethod::Text if text.trim().is_empty() => {
                let files = has_files.then(|| (self.check)(Value::Null).ok()).flatten();
                ReadResult::new(files.ok_or_else(|| "the answer was empty; answer in plain text".into()))
            }
            OutputMethod::Text => ReadResult::new(self.checked(Value::String(text.to_owned()))),
            // Servers that accept a schema do not always enforce it: some fence the JSON, or write a thought before it.
            OutputMethod::Native(_) | OutputMethod::Prompted(_) => self.read_json(text),
            OutputMethod::Tool(_) => {
                let fault = format!("plain text is not accepted as the result; call the tool `{OUTPUT_TOOL}` instead");
                ReadResult::new(Err(fault.into()))
            }
        }
    }

    /// Parses the JSON of a result: the arguments of a call of the output tool, or an answer.
    pub(crate) fn read_json(&self, json: &str) -> ReadResult {
        match self.read.as_deref() {
            Some((text, read)) if text == json => read.clone(),
            _ => self.read_result(json),
        }
    }

    fn read_value(&self, value: Value) -> Result<Value, Fault> {
        self.shape.schema.check(&value).map_err(invalid)?;
        self.checked(self.unwrap(value))
    }

    fn unwrap(&self, value: Value) -> Value {
        match value {
            Value::Object(mut fields) if self.shape.is_wrapped => fields.remove(WRAPPER).unwrap_or_default(),
            other => other,
        }
    }

    fn checked(&self, value: Value) -> Result<Value, Fault> {
        (self.check)(value).map_err(invalid)
    }
}

/// How structured output is returned.
enum Structured {
    Native,
    Tool,
    Prompted,
}

/// Chooses how structured output is returned: according to `mode`, or the best method that the model supports.
fn choose(mode: OutputMode, profile: Profile, has_tools: bool) -> Result<Structured, String> {
    let lack = lacks_native(profile, has_tools);
    match (mode, lack) {
        (OutputMode::Auto | OutputMode::Native, None) => Ok(Structured::Native),
        (OutputMode::Native, Some(lack)) => Err(format!("{lack}; remove `output = native` or choose another model")),
        (OutputMode::Auto | OutputMode::Tool, _) if profile.tools => Ok(Structured::Tool),
        (OutputMode::Tool, _) => Err(
            "it does not support tools, which `output = tool` needs; remove `output = tool` or choose another model"
                .to_owned(),
        ),
        (OutputMode::Auto | OutputMode::Prompted, _) => Ok(Structured::Prompted),
    }
}

/// Returns why a model cannot return structured output natively, or `None` if it can.
fn lacks_native(profile: Profile, has_tools: bool) -> Option<&'static str> {
    match (profile.native_output, profile.native_output_with_tools || !has_tools) {
        (false, _) => Some("it does not support structured output"),
        (true, false) => Some("it does not support structured output together with tools"),
        (true, true) => None,
    }
}

fn output_tool(schema: &Arc<Value>) -> ToolSpec {
    let description = "Returns the final result and ends the task. Call it once, when everything else is done.";
    ToolSpec { name: OUTPUT_TOOL.into(), description: description.into(), parameters: Arc::clone(schema) }
}

fn unread(reason: &Unmended) -> ReadResult {
    ReadResult::new(Err(reason.to_string().into()))
}

fn invalid(fault: impl Into<Fault>) -> Fault {
    fault.into().within("the result does not follow its schema")
}
