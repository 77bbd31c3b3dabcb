//! What workers ask of their models: evaluated once, and held against their output types.

use llm_do_providers::{ServerSideTool, Settings};
use serde_json::Value;

use crate::definition::{Implementation, OutputMode, ToolDef, WorkerDef, Written};
use crate::schema::{OutputShape, differences};

/// What a worker asks of its model besides its output.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) settings: Settings,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
}

impl Asked {
    /// Evaluates what the worker declares.
    pub(super) fn of(def: &ToolDef) -> Self {
        let Some(worker) = worker(def) else { return Self::default() };
        Self {
            settings: worker.settings.map(|settings| settings()).unwrap_or_default(),
            server_side_tools: worker.server_side_tools.map(|tools| tools()).unwrap_or_default(),
        }
    }
}

/// Returns how a model implements the item, if one does.
pub(super) fn worker(def: &ToolDef) -> Option<&WorkerDef> {
    match &def.implementation {
        Implementation::Worker { worker, .. } => Some(worker),
        Implementation::Function(_) => None,
    }
}

/// Says what of a worker does not go with its output type.
pub(super) fn faults(def: &ToolDef) -> Vec<String> {
    let Some((worker, schema)) = worker(def).zip(def.output) else { return Vec::new() };
    let needless = matches!(worker.output, OutputMode::Native | OutputMode::Prompted);
    let mut faults = Vec::new();
    if needless && OutputShape::new(schema()).is_text {
        let mode = worker.output.word();
        faults.push(format!(
            "`{}` ({}) has `output = {mode}`, but plain text needs no schema; leave it out, or write `output = tool`",
            def.name, def.location
        ));
    }
    faults.extend(worker.output_schema.and_then(|written| misfit(def, &written, &schema())));
    faults
}

/// Says in what the schema of a worker file differs from the return type's.
fn misfit(def: &ToolDef, written: &Written, actual: &Value) -> Option<String> {
    let differences = match serde_json::from_str(written.schema) {
        Ok(schema) => differences(&schema, actual),
        Err(error) => vec![format!("it is no JSON: {error}")],
    };
    (!differences.is_empty()).then(|| {
        format!(
            "`output_schema` ({}) is not that of `{}`, which `{}` ({}) returns: {}",
            written.place,
            written.ty,
            def.name,
            def.location,
            differences.join("; ")
        )
    })
}
