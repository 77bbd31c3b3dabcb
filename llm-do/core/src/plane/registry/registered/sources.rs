//! Creates items from macros, worker files and values.

use std::sync::{Arc, LazyLock, OnceLock};

use super::super::plan::{self, WorkerPlan};
use super::{Code, Origin, Registered};
use crate::declare::prompt::Prompt;
use crate::declare::schema::{self, CheckedSchema};
use crate::declare::tool::Effect;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::ItemKind;
use crate::plane::definition::{Implementation, ToolDef};
use crate::plane::function_tool::{Alias, FunctionTool};

/// The schema of a prompt, built once, since each `llm_ask` is a worker that takes one.
static PROMPT: LazyLock<Arc<CheckedSchema>> =
    LazyLock::new(|| Arc::new(CheckedSchema::new(&schema::of_arguments::<Prompt>())));

impl Registered {
    /// Returns the item of a macro's definition.
    pub(in crate::plane::registry) fn from_definition(def: &'static ToolDef) -> Self {
        let arguments = Arc::new(CheckedSchema::of_type(def.parameters));
        let code = match &def.implementation {
            Implementation::Function(decode) => Code::Function(*decode),
            Implementation::Worker { worker, ask, output } => {
                Code::Worker(Arc::new(WorkerPlan::from_definition(def, worker, *ask, *output)))
            }
        };
        Self {
            kind: def.kind,
            effect: def.effect,
            timeout: def.timeout,
            receiver: def.instance,
            takes_prompt: (def.takes_prompt)(),
            approval: def.approval,
            on_unknown: def.on_unknown,
            reconcile: def.reconcile.map(Arc::from),
            max_result: def.max_result,
            background: def.background,
            summary: def.summary.map(Arc::from),
            linked: Some(def),
            other_names: def.instance_of.map(Arc::from).into_iter().collect(),
            ..Self::new(def.name, def.description, Origin::Source(def.location), arguments, code)
        }
    }

    /// Returns the worker of a spec; it has no callees until its toolsets are resolved.
    pub(crate) fn from_spec(spec: &WorkerSpec, origin: Origin) -> Self {
        let arguments = match &spec.input_schema {
            Some(schema) => Arc::new(CheckedSchema::new(schema).untrusted()),
            None => Arc::clone(&PROMPT),
        };
        let file = matches!(origin, Origin::File(_)).then(|| spec.to_worker_file());
        let code = Code::Worker(Arc::new(WorkerPlan::from_spec(spec)));
        Self {
            kind: ItemKind::Worker,
            effect: spec.effect,
            timeout: spec.timeout,
            background: spec.background,
            declared: Some(Arc::default()),
            takes_prompt: spec.input_schema.is_none(),
            file,
            ..Self::new(&spec.name, &plan::description(spec), origin, arguments, code)
        }
    }

    /// Returns a tool that the program added; it may call every item until its toolsets are resolved.
    pub(in crate::plane::registry) fn from_tool(tool: FunctionTool, origin: Origin) -> Self {
        let mut arguments = CheckedSchema::new(&tool.parameters);
        if let Some(checked) = &tool.checked {
            arguments = arguments.checked_by(checked.clone());
        }
        let arguments = Arc::new(if tool.is_typed { arguments } else { arguments.untrusted() });
        let tool = Arc::new(tool);
        Self {
            effect: tool.effect,
            timeout: tool.timeout,
            approval: tool.approval,
            on_unknown: tool.on_unknown,
            reconcile: tool.reconcile.clone(),
            max_result: tool.max_result,
            background: tool.background,
            summary: tool.summary.clone(),
            ..Self::new(&tool.name, &tool.description, origin, arguments, Code::Value(Arc::clone(&tool)))
        }
    }

    /// Returns a linked tool under an alias.
    pub(in crate::plane::registry) fn from_alias(alias: Alias, def: &'static ToolDef, origin: Origin) -> Self {
        let others = [Some(def.name), def.instance_of].into_iter().flatten().filter(|other| *other != alias.name);
        let other_names = others.map(Arc::from).collect();
        let summary = def.summary.map(Arc::from);
        Self {
            other_names,
            receiver: def.instance,
            takes_prompt: (def.takes_prompt)(),
            linked: Some(def),
            summary,
            ..Self::from_tool(alias.into_tool(def), origin)
        }
    }

    /// Returns a tool without an effect, a rule or a declaration.
    fn new(name: &str, description: &str, origin: Origin, arguments: Arc<CheckedSchema>, code: Code) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            place: None,
            kind: ItemKind::Tool,
            effect: Effect::Undeclared,
            replaced_effect: None,
            on_unknown: None,
            reconcile: None,
            max_result: None,
            background: false,
            origin,
            timeout: None,
            declared: None,
            instances: Vec::new(),
            receiver: None,
            code,
            arguments,
            takes_prompt: false,
            approval: None,
            summary: None,
            linked: None,
            other_names: Vec::new(),
            variant: OnceLock::new(),
            file: None,
            unwritten: OnceLock::new(),
            may_skip_fields: OnceLock::new(),
            reads_text: OnceLock::new(),
            known_output: OnceLock::new(),
            data_arguments: OnceLock::new(),
            is_untrusted: OnceLock::new(),
        }
    }
}
