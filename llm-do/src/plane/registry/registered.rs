//! One item of the registry: what was registered of it, and what is made of it once.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use llm_do_providers::ToolSpec;
use serde_json::{Value, json};

use super::plan::{self, WorkerPlan};
use crate::base::error::{CallError, Fault};
use crate::declare::argument::Sample;
use crate::declare::prompt::Prompt;
use crate::declare::schema::{self, CheckedSchema};
use crate::declare::tool::Effect;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::ItemKind;
use crate::plane::context::{StateKey, Variant};
use crate::plane::declared::Declared;
use crate::plane::definition::{DeclaredRule, Decode, Implementation, InstanceDef, Location, ToolDef};

/// The schema of a prompt: built once, since each question to a model is a worker that takes one.
static PROMPT: LazyLock<Arc<CheckedSchema>> =
    LazyLock::new(|| Arc::new(CheckedSchema::new(schema::of_arguments::<Prompt>())));

/// An item of the registry.
#[derive(Debug)]
pub struct Registered {
    pub(crate) spec: ToolSpec,
    /// Which it is in the registry, by name; none for what is put together meanwhile.
    pub(crate) place: Option<usize>,
    kind: ItemKind,
    effect: Effect,
    origin: Origin,
    pub(crate) timeout: Option<Duration>,
    /// What it may call; none for whatever is registered.
    pub(crate) declared: Option<Arc<Declared>>,
    /// The instances to be opened for a call of it, in order.
    pub(crate) instances: Vec<InstanceDef>,
    /// The toolset of whose instance it is a method.
    pub(crate) receiver: Option<InstanceDef>,
    pub(crate) code: Code,
    arguments: Arc<CheckedSchema>,
    takes_prompt: bool,
    /// What its macro registered, if one did.
    linked: Option<ToolDef>,
    variant: OnceLock<Variant>,
    /// The worker file that it was read from, as it would be written.
    file: Option<String>,
    unwritten: OnceLock<Option<String>>,
    may_skip_fields: OnceLock<bool>,
}

/// What runs when the item is called.
#[derive(Debug)]
pub(crate) enum Code {
    /// A function, once its arguments are decoded.
    Function(Decode),
    /// A model.
    Worker(Arc<WorkerPlan>),
}

/// Where an item comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is linked, or the program gave it to the runtime: the place in its source.
    Source(Location),
    /// A worker file.
    File(PathBuf),
    /// The program put it together while it ran.
    Session,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(location) => location.fmt(f),
            Self::File(path) => path.display().fmt(f),
            Self::Session => f.write_str("made while the program ran"),
        }
    }
}

impl Registered {
    pub(super) fn linked(def: &ToolDef) -> Self {
        let arguments = Arc::new(CheckedSchema::new((def.parameters)()));
        let parameters = Arc::clone(&arguments.schema);
        Self {
            spec: ToolSpec { name: def.name.into(), description: def.description.into(), parameters },
            place: None,
            kind: def.kind,
            effect: def.effect,
            origin: Origin::Source(def.location),
            timeout: def.timeout,
            declared: None,
            instances: Vec::new(),
            receiver: def.instance,
            code: match &def.implementation {
                Implementation::Function(decode) => Code::Function(*decode),
                Implementation::Worker { worker, ask, output } => {
                    Code::Worker(Arc::new(WorkerPlan::linked(def, worker, *ask, *output)))
                }
            },
            arguments,
            takes_prompt: (def.takes_prompt)(),
            linked: Some(*def),
            variant: OnceLock::new(),
            file: None,
            unwritten: OnceLock::new(),
            may_skip_fields: OnceLock::new(),
        }
    }

    /// Returns the worker that a program or a file describes; it may call nothing until that is resolved.
    pub(crate) fn written(spec: &WorkerSpec, origin: Origin) -> Self {
        let arguments = match &spec.input_schema {
            Some(schema) => Arc::new(CheckedSchema::new(schema.clone()).untrusted()),
            None => Arc::clone(&PROMPT),
        };
        let parameters = Arc::clone(&arguments.schema);
        let plan = WorkerPlan::written(spec);
        let file = matches!(origin, Origin::File(_)).then(|| spec.to_worker_file());
        Self {
            spec: ToolSpec { name: spec.name.as_str().into(), description: plan::description(spec).into(), parameters },
            place: None,
            kind: ItemKind::Worker,
            effect: Effect::Undeclared,
            origin,
            timeout: spec.timeout,
            declared: Some(Arc::default()),
            instances: Vec::new(),
            receiver: None,
            code: Code::Worker(Arc::new(plan)),
            arguments,
            takes_prompt: spec.input_schema.is_none(),
            linked: None,
            variant: OnceLock::new(),
            file,
            unwritten: OnceLock::new(),
            may_skip_fields: OnceLock::new(),
        }
    }

    /// Returns the registered name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Returns whether it is a tool, a worker or an entry.
    #[must_use]
    pub fn kind(&self) -> ItemKind {
        self.kind
    }

    /// Returns what it does, as its doc comment says.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// Returns what a call may change.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Returns `file:line` of its source, or the worker file.
    #[must_use]
    pub fn location(&self) -> String {
        self.origin.to_string()
    }

    /// Returns the JSON schema of its arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.spec.parameters
    }

    /// Returns the JSON schema of its result, where it is known.
    #[must_use]
    pub fn output(&self) -> Option<Value> {
        match &self.code {
            Code::Worker(plan) => Some(plan.output_schema()),
            Code::Function(_) => self.linked?.output.map(|schema| schema()),
        }
    }

    /// Returns whether its one argument is a [`Prompt`](crate::Prompt), so that files may come with it.
    #[must_use]
    pub fn takes_prompt(&self) -> bool {
        self.takes_prompt
    }

    /// Returns the names of what it may call, as a model sees them; none for whatever is registered.
    #[must_use]
    pub fn declared(&self) -> Option<impl Iterator<Item = &str>> {
        self.declared.as_deref().map(|declared| declared.iter().map(|tool| &*tool.shown))
    }

    /// Returns what a worker says it is good for, in the order of its `hints`.
    #[must_use]
    pub fn hints(&self) -> Vec<&str> {
        self.plan().map_or_else(Vec::new, |plan| plan.hints.iter().map(AsRef::as_ref).collect())
    }

    /// Returns whether it was read from a worker file that describes the same worker as `file`.
    pub(super) fn is_read_from(&self, file: &str) -> bool {
        // Read first, as its own file was: what is read and written again may look otherwise than what was made.
        let written = |spec: WorkerSpec| spec.to_worker_file();
        self.file.as_ref().is_some_and(|own| file.parse().map(written).is_ok_and(|file| file == *own))
    }

    /// Returns what its source says of approval, if anything.
    pub(crate) fn approval(&self) -> Option<DeclaredRule> {
        self.linked.as_ref()?.approval
    }

    /// Returns how it wants a call told in a line.
    pub(crate) fn summary(&self) -> Option<&'static str> {
        self.linked.as_ref()?.summary
    }

    /// Returns how its model implements it, if one does.
    pub(crate) fn plan(&self) -> Option<&Arc<WorkerPlan>> {
        match &self.code {
            Code::Worker(plan) => Some(plan),
            Code::Function(_) => None,
        }
    }

    /// Returns what tells it from others of its name, if it was put together while the program ran: all that makes it.
    pub(crate) fn variant(&self) -> Option<&Variant> {
        let plan = self.plan().filter(|_| self.place.is_none())?;
        Some(self.variant.get_or_init(|| {
            let declared = self.declared.iter().flat_map(|declared| declared.iter());
            let declared: Vec<_> = declared.map(|tool| [&*tool.shown, &*tool.tool]).collect();
            let item = json!([self.spec.description, self.spec.parameters, self.timeout, declared]);
            Variant::new(json!([item, plan.variant()]).to_string())
        }))
    }

    /// Returns whether it may make calls of its own.
    pub(crate) fn is_composite(&self) -> bool {
        self.linked.is_none_or(|def| def.is_composite || def.kind != ItemKind::Tool)
    }

    /// Lists the state that it takes.
    pub(crate) fn state(&self) -> Vec<StateKey> {
        let Some(def) = &self.linked else { return Vec::new() };
        let opening = def.instance.map(|instance| instance.state).unwrap_or_default();
        def.state.iter().chain(opening).map(|key| key()).collect()
    }

    /// Lists the defaults and examples of its arguments.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        self.linked.map(|def| (def.samples)()).unwrap_or_default()
    }

    /// Returns the field of an argument that its type reads and never writes, if there is one.
    pub(crate) fn unwritten(&self) -> Option<&str> {
        self.linked.as_ref()?;
        self.unwritten.get_or_init(|| schema::unwritten(&self.spec.parameters)).as_deref()
    }

    /// Returns whether values of the arguments' types may leave out fields when they are written.
    ///
    /// # Errors
    ///
    /// Refuses a call by a value of the arguments' type, if that never writes one of its fields.
    pub(crate) fn may_skip_fields(&self) -> Result<bool, CallError> {
        self.refuse_unwritten()?;
        let Some(linked) = &self.linked else { return Ok(false) };
        let skips = || schema::may_skip_fields(&self.spec.parameters, (linked.is_flattened)());
        Ok(*self.may_skip_fields.get_or_init(skips))
    }

    fn refuse_unwritten(&self) -> Result<(), CallError> {
        let refused = |field| {
            let fault = format!(
                "`{field}` is skipped when it is written, so that a typed call would lose it; remove \
                 `skip_serializing` from it, or call by name with JSON"
            );
            Err(CallError::invalid(self.name(), Fault::new(fault)))
        };
        self.unwritten().map_or(Ok(()), refused)
    }

    /// Returns the schema of its arguments.
    pub(super) fn schema(&self) -> &CheckedSchema {
        &self.arguments
    }

    /// Returns the schema of its arguments, if they may have parts without an order.
    pub(super) fn unordered(&self) -> Option<Arc<CheckedSchema>> {
        self.arguments.is_unordered().then(|| Arc::clone(&self.arguments))
    }

    /// Returns arguments with their sets and maps sorted.
    pub(crate) fn canonical(&self, arguments: Value) -> Value {
        self.arguments.canonical(arguments)
    }

    /// Returns whether to check `arguments` may take longer than an async thread may be held.
    pub(crate) fn is_checked_slowly(&self, arguments: &Value) -> bool {
        self.arguments.is_slow(arguments)
    }

    /// As [`validate`](Self::validate), off the async threads if it may take long.
    pub(crate) async fn validate_apart(&self, arguments: Value) -> (Value, Result<(), String>) {
        self.arguments.check_async(arguments).await
    }

    /// Says everything that is wrong with `arguments`, by the schema.
    pub(crate) fn validate(&self, arguments: &Value) -> Result<(), String> {
        self.arguments.check(arguments)
    }
}
