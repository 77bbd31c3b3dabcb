//! A worker that is put together while the program runs.

use std::time::Duration;

use llm_do_providers::{ServerSideTool, Settings};
use llm_do_worker_file::{MODEL_CHOICE, NOT_AN_OBJECT, ZERO_TIMEOUT, ZERO_TURNS, check_worker_name};
use serde_json::Value;

use crate::base::error::Fault;
use crate::base::usage::Limits;
use crate::declare::schema::{MAX_VALUE_DEPTH, dismantle, is_shallow, untrusted_schema_fault};
use crate::declare::tool::WorkerOutput;

/// How a worker's model gives its output, where the output is not plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputMode {
    /// By the provider's structured output if the model has it, else through the output tool if the model calls tools, else
    /// as [`Prompted`](Self::Prompted).
    #[default]
    Auto,
    /// By the provider's structured output; a model without it fails the call before it is asked.
    Native,
    /// Through the output tool, also where the model has structured output. Plain text, too, is then given through it. A
    /// model that calls no tools fails the call before it is asked.
    Tool,
    /// As JSON in the answer's text: the schema is in the instructions. Of an answer with a fence or words around it, the one
    /// JSON object is read; of several the one that follows the schema.
    Prompted,
}

impl OutputMode {
    /// Returns the word in `output` of a worker.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Tool => "tool",
            Self::Prompted => "prompted",
        }
    }
}

/// A worker that is put together while the program runs: what `#[worker]` says of one, as values.
///
/// It takes a prompt (`input` and `attachments`), unless [`input_schema`](Self::input_schema) says otherwise, and gives
/// plain text, unless [`output`](Self::output) does. It may call nothing but what [`toolsets`](Self::toolsets) names.
///
/// # Schemas
///
/// A JSON schema that is not made of a Rust type has limits, so that no schema takes more time or memory than it is worth:
///
/// - 256 KiB as compact JSON, 64 arrays and objects inside each other, 200 patterns of at most 1 MiB compiled,
///   without look-around and back-references;
/// - 100,000 schemas once each `$ref` is replaced by its target, 128 of them inside each other, 32 of them for one value. A
///   schema inside itself counts once; it must not lead back to itself without a property or an item between;
/// - a `$ref` is a path within the schema, such as `#/$defs/NAME`; there is no `$dynamicRef`.
///
/// A worker with a schema beyond them is refused where it is taken: when the runtime is built, a file is read or a model
/// makes it. A value that takes too much work to be held to such a schema is invalid.
///
/// # Examples
///
/// ```
/// use llm_do::worker::WorkerSpec;
///
/// let spec = WorkerSpec::new("translator", "Translate into French. Give nothing but the translation.")
///     .description("Translates a text into French.")
///     .max_turns(3);
/// assert_eq!(spec.name(), "translator");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkerSpec {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) instructions: String,
    pub(crate) model: Option<String>,
    pub(crate) compatible_models: Vec<String>,
    pub(crate) toolsets: Vec<String>,
    pub(crate) settings: Settings,
    pub(crate) hints: Vec<String>,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
    pub(crate) mode: OutputMode,
    pub(crate) input_schema: Option<Value>,
    pub(crate) output_schema: Option<Value>,
    /// Whether the schema of the output is made of a Rust type.
    pub(crate) is_typed: bool,
    /// The schemas that were not kept, since they are nested too deep.
    pub(crate) too_deep: Vec<&'static str>,
    /// Returns a value of the output's type as that reads it, or says why it is none.
    pub(crate) check: fn(Value) -> Result<Value, Fault>,
    pub(crate) max_turns: u32,
    pub(crate) retries: u32,
    pub(crate) limits: Option<Limits>,
    pub(crate) timeout: Option<Duration>,
}

impl WorkerSpec {
    /// Describes a worker of this name, 1 to 64 letters, digits, `_` or `-`, with these instructions.
    pub fn new(name: impl Into<String>, instructions: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            instructions: instructions.into(),
            model: None,
            compatible_models: Vec::new(),
            toolsets: Vec::new(),
            settings: Settings::default(),
            hints: Vec::new(),
            server_side_tools: Vec::new(),
            mode: OutputMode::Auto,
            input_schema: None,
            output_schema: None,
            is_typed: false,
            too_deep: Vec::new(),
            check: Ok,
            max_turns: 20,
            retries: 2,
            limits: None,
            timeout: None,
        }
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Says what it does, to whoever may call it. Default: its instructions, cut after 200 characters.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.description = text.into();
        self
    }

    /// Sets the model, `provider:model`. Default: the run's.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the models that the run may choose, as globs. Default: any.
    pub fn compatible_models(mut self, globs: impl IntoIterator<Item: Into<String>>) -> Self {
        self.compatible_models = globs.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the tools and toolsets that it may call, by name. Default: none.
    pub fn toolsets(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.toolsets = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what its requests ask of the model. Default: what the runtime's settings say.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Says what it is good for: a `subtask` finds it by these words. Default: nothing.
    pub fn hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints = hints.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the tools that the provider may run. Default: none.
    pub fn server_side_tools(mut self, tools: impl IntoIterator<Item = ServerSideTool>) -> Self {
        self.server_side_tools = tools.into_iter().collect();
        self
    }

    /// Sets the JSON schema of its arguments. Default: that of a [`Prompt`](crate::Prompt).
    ///
    /// It has [limits](#schemas).
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = self.shallow("input_schema", schema);
        self
    }

    /// Gives its result as a `T`: whatever has a schema, or a [`ToolReturn`](crate::ToolReturn), a text with the files that
    /// the model made. Default: plain text.
    pub fn output<T: WorkerOutput>(mut self) -> Self {
        self.output_schema = Some(T::schema());
        self.is_typed = true;
        self.check = T::check;
        self
    }

    /// Gives its result as JSON of this schema. Default: plain text.
    ///
    /// It has [limits](#schemas).
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = self.shallow("output_schema", schema);
        self.is_typed = false;
        self.check = Ok;
        self
    }

    /// Returns a schema that can be cloned, written and dropped by recursion; of another, its name is kept.
    fn shallow(&mut self, what: &'static str, schema: Value) -> Option<Value> {
        self.too_deep.retain(|known| *known != what);
        if is_shallow(&schema, MAX_VALUE_DEPTH) {
            return Some(schema);
        }
        self.too_deep.push(what);
        dismantle(schema);
        None
    }

    /// Sets how the model gives the output. Default: [`OutputMode::Auto`].
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the limit on requests in one call. Default: 20.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// Sets how often in a row the same thing may fail and be tried again. Default: 2.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Limits what a call of it, and all below that, may use together. Default: what the run may.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets how long a call of it may take. Default: as long as its caller may.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Lists what makes it none.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend(check_worker_name(&self.name).err());
        if self.model.is_some() && !self.compatible_models.is_empty() {
            faults.push(MODEL_CHOICE.to_owned());
        }
        if self.max_turns == 0 {
            faults.push(ZERO_TURNS.to_owned());
        }
        if self.timeout.is_some_and(|time| time.is_zero()) {
            faults.push(ZERO_TIMEOUT.to_owned());
        }
        let schemas = [("input_schema", &self.input_schema), ("output_schema", &self.output_schema)];
        for (what, schema) in schemas.into_iter().filter_map(|(what, schema)| Some((what, schema.as_ref()?))) {
            if !(self.is_typed && what == "output_schema") {
                faults.extend(untrusted_schema_fault(schema).map(|fault| format!("`{what}` {fault}")));
            }
        }
        let too_deep =
            |what| format!("`{what}` is nested deeper than {MAX_VALUE_DEPTH} levels; put parts of it into `$defs`");
        faults.extend(self.too_deep.iter().map(too_deep));
        let input = self.input_schema.as_ref();
        if input.is_some_and(|schema| schema.get("type").and_then(Value::as_str) != Some("object")) {
            faults.push(NOT_AN_OBJECT.to_owned());
        }
        faults
    }
}
