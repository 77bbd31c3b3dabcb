//! How a model implements a worker: evaluated once, and checked against its output type.

use std::sync::{Arc, OnceLock};

use llm_do_providers::{ServerSideTool, Settings};
use serde_json::{Value, json};

use crate::base::error::Fault;
use crate::base::usage::Limits;
use crate::declare::prompt::AttachmentPolicy;
use crate::declare::schema::{OutputShape, differences};
use crate::declare::tool::Effect;
use crate::declare::worker_spec::{OutputMode, WorkerSpec};
use crate::plane::definition::{
    ComputedInstructions, DecodeForPrompt, FileSchema, Implementation, ToolDef, WorkerDef, by_json, by_prompt,
};

/// The maximum length of a description that is taken from the instructions, in characters.
const MAX_DESCRIPTION: usize = 200;

/// How a model implements a worker.
#[derive(Debug)]
#[doc(hidden)]
pub struct WorkerPlan {
    pub(crate) instructions: Arc<str>,
    /// The function that computes the instructions for each call, if any.
    pub(crate) computed: Option<ComputedInstructions>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) compatible_models: Vec<Arc<str>>,
    /// Whether its model calls the tools by code.
    pub(crate) code: bool,
    /// The text after the instructions, in code mode.
    pub(crate) code_rules: OnceLock<String>,
    pub(crate) settings: Settings,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
    /// The declared effect of a call; `Undeclared` if it is derived from its tools.
    pub(crate) stated_effect: Effect,
    /// The reason that it is weaker than the effects of its tools.
    pub(crate) effect_reason: Option<Arc<str>>,
    pub(crate) hints: Vec<Arc<str>>,
    pub(crate) output: OutputMode,
    /// Decodes the arguments for the prompt, and encodes them again with defaults filled in.
    pub(crate) ask: DecodeForPrompt,
    /// Decodes a value as the output type and returns it encoded again, or returns why it is invalid.
    pub(crate) check: fn(Value) -> Result<Value, Fault>,
    pub(crate) max_turns: u32,
    pub(crate) retries: u32,
    /// The limits of a call and all calls below it.
    pub(crate) limits: Option<Arc<Limits>>,
    /// How many bytes its model gets of a result.
    pub(crate) max_result: Option<u64>,
    /// Which files its prompt may have.
    pub(crate) attachments: AttachmentPolicy,
    schema: OutputSchema,
    shape: OnceLock<Arc<OutputShape>>,
}

/// The schema of the output, by its origin.
#[derive(Debug)]
enum OutputSchema {
    Linked(Option<fn() -> Value>),
    /// From a file, a program or a model.
    Foreign(Value),
    /// From a Rust type, or plain text.
    Typed(Value),
}

impl WorkerPlan {
    /// Evaluates the definition of a linked worker.
    pub(super) fn from_definition(
        def: &ToolDef,
        worker: &WorkerDef,
        ask: DecodeForPrompt,
        check: fn(Value) -> Result<Value, Fault>,
    ) -> Self {
        let instructions = if worker.instructions.is_empty() { def.description } else { worker.instructions };
        Self {
            instructions: instructions.into(),
            computed: worker.computed,
            model: worker.model.map(Into::into),
            code: worker.code,
            code_rules: OnceLock::new(),
            compatible_models: worker.compatible_models.iter().copied().map(Into::into).collect(),
            settings: worker.settings.map(|settings| settings()).unwrap_or_default(),
            server_side_tools: worker.server_side_tools.map(|tools| tools()).unwrap_or_default(),
            stated_effect: def.effect,
            effect_reason: worker.effect_reason.map(Into::into),
            hints: worker.hints.iter().copied().map(Into::into).collect(),
            output: worker.output,
            ask,
            check,
            max_turns: worker.max_turns,
            retries: worker.retries,
            limits: worker.limits.map(|limits| Arc::new(limits())),
            max_result: worker.max_result,
            attachments: worker.attachments.map(|policy| policy()).unwrap_or_default(),
            schema: OutputSchema::Linked(def.output),
            shape: OnceLock::new(),
        }
    }

    /// Converts a spec from a program or a file.
    pub(super) fn from_spec(spec: &WorkerSpec) -> Self {
        let shared = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect();
        let instructions = if spec.instructions.is_empty() { &spec.description } else { &spec.instructions };
        Self {
            instructions: instructions.as_str().into(),
            computed: None,
            model: spec.model.as_deref().map(Into::into),
            code: spec.code,
            code_rules: OnceLock::new(),
            compatible_models: shared(&spec.compatible_models),
            settings: spec.settings.clone(),
            server_side_tools: spec.server_side_tools.clone(),
            stated_effect: spec.effect,
            effect_reason: spec.effect_reason.as_deref().map(Into::into),
            hints: shared(&spec.hints),
            output: spec.mode,
            ask: if spec.input_schema.is_some() { by_json } else { by_prompt },
            check: spec.check,
            max_turns: spec.max_turns,
            retries: spec.retries,
            limits: spec.limits.clone().map(Arc::new),
            max_result: spec.max_result,
            attachments: spec.attachments.clone(),
            schema: match &spec.output_schema {
                Some(schema) if spec.is_typed => OutputSchema::Typed(schema.clone()),
                Some(schema) => OutputSchema::Foreign(schema.clone()),
                None => OutputSchema::Typed(json!({ "type": "string" })),
            },
            shape: OnceLock::new(),
        }
    }

    /// Returns the full definition of a run-time worker.
    pub(super) fn variant(&self) -> Value {
        // Serialized settings omit the headers, which may be secret.
        let headers: Vec<_> = self.settings.extra_headers.iter().collect();
        let mut variant = json!({
            "instructions": self.instructions,
            "model": self.model,
            "compatible_models": self.compatible_models,
            "settings": self.settings,
            "extra_headers": headers,
            // `Debug` includes all settings of each tool.
            "server_side_tools": format!("{:?}", self.server_side_tools),
            "hints": self.hints,
            "output": [json!(self.output.word()), self.output_schema()],
            "max_turns": self.max_turns,
            "retries": self.retries,
            "limits": self.limits.as_deref(),
        });
        // Each is left out without a value, so that journals of earlier versions still fit.
        if let Some(max) = self.max_result {
            variant["max_result"] = json!(max);
        }
        if self.attachments != AttachmentPolicy::default() {
            variant["attachments"] = json!(self.attachments);
        }
        variant
    }

    /// Returns the instructions, followed by the rules of code mode if present.
    pub(crate) fn with_code_rules(&self, instructions: &Arc<str>) -> Arc<str> {
        match self.code_rules.get() {
            Some(rules) => format!("{instructions}{rules}").into(),
            None => Arc::clone(instructions),
        }
    }

    /// Returns the schema of the output.
    pub(super) fn output_schema(&self) -> Value {
        match &self.schema {
            OutputSchema::Linked(schema) => schema.map_or(Value::Bool(true), |schema| schema()),
            OutputSchema::Foreign(schema) | OutputSchema::Typed(schema) => schema.clone(),
        }
    }

    /// Returns whether the output is text.
    pub fn is_text(&self) -> bool {
        self.shape().is_text
    }

    /// Returns the shape of the output, built once.
    pub(crate) fn shape(&self) -> &Arc<OutputShape> {
        self.shape.get_or_init(|| {
            let schema = &self.output_schema();
            let is_tool = self.output == OutputMode::Tool;
            let shape = if is_tool { OutputShape::structured(schema) } else { OutputShape::new(schema) };
            Arc::new(if matches!(self.schema, OutputSchema::Foreign(_)) { shape.untrusted() } else { shape })
        })
    }
}

/// Returns the description of a worker for callers, or the beginning of its instructions.
pub(super) fn description(spec: &WorkerSpec) -> String {
    let text = if spec.description.trim().is_empty() { &spec.instructions } else { return spec.description.clone() };
    match text.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.clone(),
    }
}

/// Returns the worker definition of an item, if it is a worker.
fn worker(def: &ToolDef) -> Option<&WorkerDef> {
    match &def.implementation {
        Implementation::Worker { worker, .. } => Some(worker),
        Implementation::Function(_) => None,
    }
}

/// Returns the faults of a worker's settings that do not match its output type.
pub(super) fn faults(def: &ToolDef) -> Vec<String> {
    let Some((worker, schema)) = worker(def).zip(def.output) else { return Vec::new() };
    let needless = matches!(worker.output, OutputMode::Native | OutputMode::Prompted);
    let mut faults = Vec::new();
    if needless && OutputShape::new(&schema()).is_text {
        let mode = worker.output.word();
        faults.push(format!(
            "`{}` ({}) has `output = {mode}`, but returns plain text, which needs no schema; remove `output`, or write `output = tool`",
            def.name, def.location
        ));
    }
    let policy = worker.attachments.map(|policy| policy()).unwrap_or_default();
    faults.extend(policy.faults().map(|fault| format!("`attachments` of `{}` ({}): {fault}", def.name, def.location)));
    faults.extend(worker.output_schema.and_then(|file| schema_mismatch(def, &file, &schema())));
    faults
}

/// Returns how the schema in a worker file differs from that of the return type, if it does.
fn schema_mismatch(def: &ToolDef, file: &FileSchema, actual: &Value) -> Option<String> {
    let differences = match serde_json::from_str(file.schema) {
        Ok(schema) => differences(&schema, actual),
        Err(error) => vec![format!("invalid JSON: {error}")],
    };
    (!differences.is_empty()).then(|| {
        format!(
            "`output_schema` ({}) does not match the type `{}` that `{}` ({}) returns: {}",
            file.place,
            file.ty,
            def.name,
            def.location,
            differences.join("; ")
        )
    })
}
