//! The callees that a caller may use by name at run time.

use std::sync::{Arc, OnceLock};

use llm_do_providers::ToolSpec;
use llm_do_worker_file::BACKGROUND_PARAMETER;
use serde_json::{Value, json};

use crate::declare::schema::CheckedSchema;
use crate::declare::worker_spec::WorkerSpec;
use crate::plane::call_stream::Pieces;

/// What the parameter `background` means, for models.
const IN_BACKGROUND: &str = "true: start the call in the background and go on; its result comes later. Default: false.";

/// The tools that an item declares, in order. A worker without toolsets has none.
#[derive(Debug, Default)]
pub struct Declared {
    tools: Vec<DeclaredTool>,
    offered: Vec<OfferedTool>,
    /// Built from `offered` when a model first needs them.
    specs: OnceLock<Arc<[ToolSpec]>>,
    /// As `specs`, with the parameter `background` of those that have it.
    background_specs: OnceLock<Arc<[ToolSpec]>>,
}

/// A declared tool as models see it; its schema may not be built yet.
#[derive(Debug)]
pub(crate) struct OfferedTool {
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    pub(crate) arguments: Arc<CheckedSchema>,
    /// Whether a model may start calls in the background.
    pub(crate) background: bool,
}

/// A declared tool.
#[derive(Debug)]
pub struct DeclaredTool {
    /// The name that models see and that calls by name use.
    pub shown: Arc<str>,
    /// The registered name.
    pub tool: Arc<str>,
}

impl Declared {
    /// Declares `tools`, which are offered to models as `offered`.
    pub(crate) fn new(tools: Vec<DeclaredTool>, offered: Vec<OfferedTool>) -> Self {
        Self { tools, offered, specs: OnceLock::new(), background_specs: OnceLock::new() }
    }

    /// Returns the specs of the tools, with the names that models see.
    pub(crate) fn specs(&self) -> &Arc<[ToolSpec]> {
        self.specs.get_or_init(|| self.offered.iter().map(OfferedTool::spec).collect())
    }

    /// Returns the specs of the tools, with a parameter `background` of those that a model may call in the background; `None` if it may
    /// call none so.
    pub(crate) fn background_specs(&self) -> Option<&Arc<[ToolSpec]>> {
        self.offered.iter().any(|tool| tool.background).then(|| {
            self.background_specs.get_or_init(|| self.offered.iter().map(OfferedTool::background_spec).collect())
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = &DeclaredTool> {
        self.tools.iter()
    }

    /// Returns the registered name of the tool with this shown name.
    pub(crate) fn tool(&self, shown: &str) -> Option<&str> {
        self.tools.iter().find(|tool| *tool.shown == *shown).map(|tool| &*tool.tool)
    }

    /// Returns the first shown name of the tool with this registered name.
    pub(crate) fn shown(&self, tool: &str) -> Option<&str> {
        self.tools.iter().find(|declared| *declared.tool == *tool).map(|declared| &*declared.shown)
    }
}

impl OfferedTool {
    fn spec(&self) -> ToolSpec {
        let Self { name, description, arguments, .. } = self;
        let parameters = Arc::clone(arguments.schema());
        ToolSpec { name: Arc::clone(name), description: Arc::clone(description), parameters }
    }

    /// Returns the spec, with the parameter `background` if it has it.
    fn background_spec(&self) -> ToolSpec {
        let spec = self.spec();
        if !self.background {
            return spec;
        }
        let mut parameters = Value::clone(&spec.parameters);
        if let Some(schema) = parameters.as_object_mut()
            && let Some(properties) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut()
        {
            properties
                .insert(BACKGROUND_PARAMETER.to_owned(), json!({ "type": "boolean", "description": IN_BACKGROUND }));
        }
        ToolSpec { parameters: Arc::new(parameters), ..spec }
    }
}

/// The callee of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee<'a> {
    /// The item with this registered name, in a typed call.
    Item(&'a str),
    /// The item with this registered name, which is the first call of a nested run.
    First(&'a str),
    /// The item with this registered name, which the plane calls for a worker, such as its evaluator.
    Implied(&'a str),
    /// The tool with this shown name; the registered name if the caller declares nothing.
    Shown(&'a str),
    /// The item with this registered name, in a typed call whose result arrives in pieces.
    Streamed(&'a str, &'a Arc<Pieces>),
    /// A worker that is defined for one call.
    Inline(&'a WorkerSpec),
    /// A worker that was created in this run or its chat.
    RuntimeWorker(&'a str),
}

impl<'a> Callee<'a> {
    /// Returns the item with this registered name, in a typed call; its result arrives in pieces if something receives them.
    pub(crate) fn typed(name: &'a str, pieces: Option<&'a Arc<Pieces>>) -> Self {
        pieces.map_or(Self::Item(name), |pieces| Self::Streamed(name, pieces))
    }

    /// Returns the name as given.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Item(name)
            | Self::First(name)
            | Self::Implied(name)
            | Self::Shown(name)
            | Self::RuntimeWorker(name)
            | Self::Streamed(name, _) => name,
            Self::Inline(spec) => spec.name(),
        }
    }

    /// Returns the registered name, or `None` if a caller with these declared tools may not call it.
    pub(crate) fn resolve(self, declared: Option<&'a Declared>) -> Option<&'a str> {
        match (self, declared) {
            (Self::Inline(_) | Self::RuntimeWorker(_), _) => None,
            (Self::First(name) | Self::Implied(name), _) => Some(name),
            (_, None) => Some(self.name()),
            (Self::Item(name) | Self::Streamed(name, _), Some(declared)) => declared.shown(name).map(|_| name),
            (Self::Shown(name), Some(declared)) => declared.tool(name),
        }
    }
}
