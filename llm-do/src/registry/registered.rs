//! One item of the registry: its definition, and what is made of that once.

use std::sync::{Arc, OnceLock};

use llm_do_providers::ToolSpec;
use serde_json::Value;

use super::worker::{self, Asked};
use crate::declared::Declared;
use crate::definition::{OutputMode, ToolDef};
use crate::event::Kind;
use crate::schema::{CheckedSchema, OutputShape};
use crate::tool::Effect;

/// An item of the registry.
#[derive(Debug)]
pub struct Registered {
    pub(crate) def: ToolDef,
    pub(crate) spec: ToolSpec,
    /// What it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<Declared>>,
    /// What a worker asks of its model.
    pub(crate) asked: Asked,
    arguments: CheckedSchema,
    output_shape: OnceLock<Arc<OutputShape>>,
}

impl Registered {
    pub(super) fn new(def: &ToolDef) -> Self {
        let arguments = CheckedSchema::new((def.parameters)());
        let parameters = Arc::clone(&arguments.schema);
        let spec = ToolSpec { name: def.name.into(), description: def.description.into(), parameters };
        Self { def: *def, spec, declared: None, asked: Asked::of(def), arguments, output_shape: OnceLock::new() }
    }

    /// Returns the registered name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.def.name
    }

    /// Returns whether it is a tool, a worker or an entry.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.def.kind
    }

    /// Returns what it does, as its doc comment says.
    #[must_use]
    pub fn description(&self) -> &'static str {
        self.def.description
    }

    /// Returns what a call may change.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.def.effect
    }

    /// Returns `file:line` of its source.
    #[must_use]
    pub fn location(&self) -> String {
        self.def.location.to_string()
    }

    /// Returns the JSON schema of its arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.spec.parameters
    }

    /// Returns the JSON schema of its result, where it is known.
    #[must_use]
    pub fn output(&self) -> Option<Value> {
        self.def.output.map(|schema| schema())
    }

    /// Returns whether its one argument is a [`Prompt`](crate::Prompt), so that files may come with it.
    #[must_use]
    pub fn takes_prompt(&self) -> bool {
        (self.def.takes_prompt)()
    }

    /// Returns the names of what it may call, as a model sees them; none for whatever is registered.
    pub fn declared(&self) -> Option<impl Iterator<Item = &str>> {
        self.declared.as_deref().map(|declared| declared.iter().map(|tool| &*tool.shown))
    }

    /// Returns what a worker says it is good for, in the order of its `hints`.
    #[must_use]
    pub fn hints(&self) -> &'static [&'static str] {
        worker::worker(&self.def).map_or(&[], |worker| worker.hints)
    }

    /// Returns how a worker's model gives its output; `Auto` for anything else.
    pub(crate) fn output_mode(&self) -> OutputMode {
        worker::worker(&self.def).map_or(OutputMode::Auto, |worker| worker.output)
    }

    /// Returns the shape of a worker's output, built once.
    pub(crate) fn output_shape(&self) -> &Arc<OutputShape> {
        self.output_shape.get_or_init(|| {
            let schema = self.output().unwrap_or(Value::Bool(true));
            let is_tool = self.output_mode() == OutputMode::Tool;
            Arc::new(if is_tool { OutputShape::structured(schema) } else { OutputShape::new(schema) })
        })
    }

    /// Says everything that is wrong with `arguments`, by the schema.
    pub(crate) fn validate(&self, arguments: &Value) -> Result<(), String> {
        self.arguments.check(arguments)
    }
}
