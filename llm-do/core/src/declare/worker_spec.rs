//! Workers that are defined at run time.

use std::time::Duration;

use llm_do_bounds::Guarantee;
use llm_do_providers::{ServerSideTool, Settings};
use llm_do_worker_file::{
    BLANK_REASON, MODEL_CHOICE, NOT_AN_OBJECT, REASON_WITHOUT_EFFECT, ZERO_TIMEOUT, ZERO_TURNS, check_max_result,
    check_worker_name,
};
use serde_json::Value;

use crate::base::error::Fault;
use crate::base::usage::Limits;
use crate::declare::nesting;
use crate::declare::prompt::AttachmentPolicy;
use crate::declare::schema::{depth_fault, untrusted_schema_fault};
use crate::declare::tool::{Effect, WorkerOutput};

/// How a worker's model returns structured output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputMode {
    /// The provider's structured output if the model supports it, otherwise the output tool if it supports tools,
    /// otherwise [`Prompted`](Self::Prompted).
    #[default]
    Auto,
    /// The provider's structured output. The call fails before the request if the model does not support it.
    Native,
    /// The output tool, even if the model supports structured output; plain text is returned through it too. The call
    /// fails before the request if the model does not support tools.
    Tool,
    /// JSON in the answer's text, with the schema in the instructions. If there is other text around it, the only
    /// JSON object is used, or the only one that follows the schema.
    Prompted,
}

impl OutputMode {
    /// Returns the value of `output` in a worker's definition.
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

/// A worker that is defined at run time, with the same settings as `#[worker]`.
///
/// It takes a prompt (`input` and `attachments`), unless [`input_schema`](Self::input_schema) is set, and returns
/// plain text, unless [`output`](Self::output) is set. It may call only what [`toolsets`](Self::toolsets) lists.
///
/// # Schemas
///
/// A JSON schema is read in the draft that its `$schema` names, from draft 4 to 2020-12, which is the default. It reaches models and clients
/// in the words of draft 2020-12.
///
/// A JSON schema that does not come from a Rust type has limits, which bound the time and memory that it takes:
///
/// - 256 KiB as compact JSON, 64 nested arrays and objects, 200 patterns of at most 1 MiB compiled, without
///   look-around and back-references;
/// - 100,000 schemas after each `$ref` is replaced by its target, 128 of them nested, 32 of them for one value. A
///   recursive schema counts once; between it and the reference to itself there must be a property or an item;
/// - a `$ref` is a path within the schema, such as `#/$defs/NAME`; `$dynamicRef` is not supported.
///
/// A worker with a schema beyond these limits is rejected when the runtime is built, a file is read or a model
/// creates it. A value that takes too much work to validate is invalid.
///
/// # Examples
///
/// ```
/// use llm_do::worker::WorkerSpec;
///
/// let spec = WorkerSpec::new("translator", "Translate into French. Return only the translation.")
///     .description("Translates a text into French.")
///     .max_turns(3);
/// assert_eq!(spec.name(), "translator");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct WorkerSpec {
    #[doc(hidden)]
    pub name: String,
    #[doc(hidden)]
    pub description: String,
    #[doc(hidden)]
    pub instructions: String,
    #[doc(hidden)]
    pub model: Option<String>,
    #[doc(hidden)]
    pub compatible_models: Vec<String>,
    #[doc(hidden)]
    pub toolsets: Vec<String>,
    #[doc(hidden)]
    pub settings: Settings,
    #[doc(hidden)]
    pub hints: Vec<String>,
    /// Whether its model calls the tools by code.
    #[doc(hidden)]
    pub code: bool,
    #[doc(hidden)]
    pub server_side_tools: Vec<ServerSideTool>,
    /// The declared effect of a call; `Undeclared` if it is derived from its tools.
    #[doc(hidden)]
    pub effect: Effect,
    /// The reason that it is weaker than the effects of its tools.
    #[doc(hidden)]
    pub effect_reason: Option<String>,
    #[doc(hidden)]
    pub mode: OutputMode,
    #[doc(hidden)]
    pub input_schema: Option<Value>,
    /// The registered item whose arguments it takes, until a registry has replaced this with their schema.
    #[doc(hidden)]
    pub input_of: Option<String>,
    #[doc(hidden)]
    pub output_schema: Option<Value>,
    /// Whether the schema of the output comes from a Rust type.
    #[doc(hidden)]
    pub is_typed: bool,
    /// The names of schemas that were dropped because they are nested too deeply.
    #[doc(hidden)]
    pub too_deep: Vec<&'static str>,
    /// Decodes a value as the output type and returns it encoded again, or returns why it is invalid.
    #[doc(hidden)]
    pub check: fn(Value) -> Result<Value, Fault>,
    #[doc(hidden)]
    pub max_turns: u32,
    #[doc(hidden)]
    pub retries: u32,
    #[doc(hidden)]
    pub limits: Option<Limits>,
    #[doc(hidden)]
    pub max_result: Option<u64>,
    #[doc(hidden)]
    pub attachments: AttachmentPolicy,
    /// Whether the model of a caller may start a call in the background.
    #[doc(hidden)]
    pub background: bool,
    #[doc(hidden)]
    pub timeout: Option<Duration>,
    /// The tool that answers first.
    #[doc(hidden)]
    pub hybrid: Option<String>,
    /// While which evidence that tool answers.
    #[doc(hidden)]
    pub guarantee: Option<Guarantee>,
    /// The tool that it is compared with, at every how many calls.
    #[doc(hidden)]
    pub shadow: Option<(String, u64)>,
    /// The evaluator of its results, how many there are at most, and the score that is accepted.
    #[doc(hidden)]
    pub refine: Option<(String, u32, f64)>,
}

impl WorkerSpec {
    /// Defines a worker with this name, 1 to 64 letters, digits, `_` or `-`, and these instructions.
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
            code: false,
            server_side_tools: Vec::new(),
            effect: Effect::Undeclared,
            effect_reason: None,
            mode: OutputMode::Auto,
            input_schema: None,
            input_of: None,
            output_schema: None,
            is_typed: false,
            too_deep: Vec::new(),
            check: Ok,
            max_turns: 20,
            retries: 2,
            limits: None,
            max_result: None,
            attachments: AttachmentPolicy::default(),
            background: false,
            timeout: None,
            hybrid: None,
            guarantee: None,
            shadow: None,
            refine: None,
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the description for callers. Default: the first 200 characters of the instructions.
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

    /// Sets the settings of its requests. Default: the runtime's.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the hints, words by which a `subtask` finds the worker. Default: none.
    pub fn hints(mut self, hints: impl IntoIterator<Item: Into<String>>) -> Self {
        self.hints = hints.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the server-side tools. Default: none.
    pub fn server_side_tools(mut self, tools: impl IntoIterator<Item = ServerSideTool>) -> Self {
        self.server_side_tools = tools.into_iter().collect();
        self
    }

    /// Sets the effect of a call. Default: the combined effects of its tools, which [`Effect::Undeclared`] also stands
    /// for.
    ///
    /// An effect that is weaker than the effect of one of its tools is an error when the runtime is built, unless
    /// [`effect_reason`](Self::effect_reason) states why it holds.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Sets the reason that a call has a weaker effect than its tools, such as that its instructions only let it read.
    /// Default: none.
    ///
    /// It belongs to [`effect`](Self::effect). The runtime does not check it.
    pub fn effect_reason(mut self, reason: impl Into<String>) -> Self {
        self.effect_reason = Some(reason.into());
        self
    }

    /// Sets the JSON schema of the arguments. Default: that of a [`Prompt`](crate::declare::prompt::Prompt).
    ///
    /// It has [limits](#schemas), and needs the feature `json-schema`.
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = self.keep_shallow("input_schema", schema);
        self.input_of = None;
        self
    }

    /// Sets the type of the result: any type with a schema, or [`ToolReturn`](crate::declare::tool::ToolReturn) for a text with the
    /// files that the model creates. Default: plain text.
    pub fn output<T: WorkerOutput>(mut self) -> Self {
        self.output_schema = Some(T::schema());
        self.is_typed = true;
        self.check = T::check;
        self
    }

    /// Sets the JSON schema of the result. Default: plain text.
    ///
    /// It has [limits](#schemas), and needs the feature `json-schema`.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = self.keep_shallow("output_schema", schema);
        self.is_typed = false;
        self.check = Ok;
        self
    }

    /// Returns a schema that is shallow enough for recursive functions; drops a deeper schema and records its name.
    fn keep_shallow(&mut self, what: &'static str, schema: Value) -> Option<Value> {
        self.too_deep.retain(|known| *known != what);
        let shallow = nesting::shallow(schema).ok();
        self.too_deep.extend(shallow.is_none().then_some(what));
        shallow
    }

    /// Sets how the model returns the output. Default: [`OutputMode::Auto`].
    pub fn output_mode(mut self, mode: OutputMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets whether its model calls the tools by code, in one tool `run_code`. Default: false.
    ///
    /// This needs the feature `script`, whose module describes it, and works for workers that are added to a runtime.
    pub fn code(mut self, code: bool) -> Self {
        self.code = code;
        self
    }

    /// Sets the maximum number of requests in one call. Default: 20.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = turns;
        self
    }

    /// Sets the maximum number of consecutive retries of the output, of invalid arguments of one tool, or of equal
    /// calls that fail. Default: 2.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the limits of a call and all calls below it. Default: the run's limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets how many bytes its model gets of a result of a tool, at least 1,024. Default: set by the
    /// [runtime](crate::session::runtime::RuntimeBuilder::max_result), where it is described what becomes of a longer one.
    pub fn max_result(mut self, bytes: u64) -> Self {
        self.max_result = Some(bytes);
        self
    }

    /// Sets which files its prompt may have. Default: any, of at most 20 MiB each if they are read.
    pub fn attachments(mut self, policy: AttachmentPolicy) -> Self {
        self.attachments = policy;
        self
    }

    /// Lets the model of a caller start a call in the background, as `#[worker(background)]` does. Default: not.
    pub fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Sets the timeout of a call. Default: none; the caller's timeout applies in any case.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Has this tool answer first, as [`RuntimeBuilder::hybrid`](https://docs.rs/llm-do/latest/llm_do/runtime/struct.RuntimeBuilder.html#method.hybrid)
    /// does, which takes precedence. Default: none. A worker that a model or code creates during a run answers alone.
    pub fn hybrid(mut self, tool: impl Into<String>) -> Self {
        self.hybrid = Some(tool.into());
        self
    }

    /// Has the tool of [`hybrid`](Self::hybrid) answer only while comparisons show that it disagrees seldom enough, as
    /// [`RuntimeBuilder::guarantee`](https://docs.rs/llm-do/latest/llm_do/runtime/struct.RuntimeBuilder.html#method.guarantee) does, which takes
    /// precedence. Default: none.
    pub fn guarantee(mut self, guarantee: Guarantee) -> Self {
        self.guarantee = Some(guarantee);
        self
    }

    /// Compares it with a tool at every `every`-th call. Default: none.
    ///
    /// Of the tool of [`hybrid`](Self::hybrid), the worker checks the answers in the background; any other tool runs beside the worker.
    /// An event reports whether they agree.
    pub fn shadow(mut self, tool: impl Into<String>, every: u64) -> Self {
        self.shadow = Some((tool.into(), every));
        self
    }

    /// Has an evaluator score each result, as [`RuntimeBuilder::refine`](https://docs.rs/llm-do/latest/llm_do/runtime/struct.RuntimeBuilder.html#method.refine)
    /// does, which takes precedence: the best of `at_most` results stands, or the first with the score `accept`. Default: none. The results
    /// of a worker that a model or code creates during a run are not scored.
    pub fn refine(mut self, evaluator: impl Into<String>, at_most: u32, accept: f64) -> Self {
        self.refine = Some((evaluator.into(), at_most, accept));
        self
    }

    /// Returns the tools that it names beside its own: the one that answers first, the one that it is compared with, and its evaluator.
    #[doc(hidden)]
    pub fn further_tools(&self) -> impl Iterator<Item = &String> {
        let compared = self.shadow.as_ref().map(|(tool, _)| tool);
        self.hybrid.iter().chain(compared).chain(self.refine.as_ref().map(|(evaluator, ..)| evaluator))
    }

    /// Returns all faults of the definition.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend(check_worker_name(&self.name).err());
        if self.model.is_some() && !self.compatible_models.is_empty() {
            faults.push(MODEL_CHOICE.to_owned());
        }
        match &self.effect_reason {
            Some(_) if self.effect == Effect::Undeclared => faults.push(REASON_WITHOUT_EFFECT.to_owned()),
            Some(reason) if reason.trim().is_empty() => faults.push(BLANK_REASON.to_owned()),
            _ => {}
        }
        if self.max_turns == 0 {
            faults.push(ZERO_TURNS.to_owned());
        }
        if self.timeout.is_some_and(|time| time.is_zero()) {
            faults.push(ZERO_TIMEOUT.to_owned());
        }
        faults.extend(self.max_result.and_then(|bytes| check_max_result(bytes).err()));
        faults.extend(self.attachments.faults().map(|fault| format!("`attachments`: {fault}")));
        let schemas = [("input_schema", &self.input_schema), ("output_schema", &self.output_schema)];
        for (what, schema) in schemas.into_iter().filter_map(|(what, schema)| Some((what, schema.as_ref()?))) {
            if !(self.is_typed && what == "output_schema") {
                faults.extend(untrusted_schema_fault(schema).map(|fault| format!("`{what}` {fault}")));
            }
        }
        faults.extend(self.too_deep.iter().map(|what| depth_fault(&format!("`{what}`"))));
        let input = self.input_schema.as_ref();
        if input.is_some_and(|schema| schema.get("type").and_then(Value::as_str) != Some("object")) {
            faults.push(NOT_AN_OBJECT.to_owned());
        }
        faults
    }
}
