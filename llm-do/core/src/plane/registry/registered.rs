//! One item of the registry, with the data that is derived from its definition once.

mod program;
mod sources;
mod types;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use llm_do_providers::modern_schema;
use serde_json::{Value, json};

use super::Origin;
use super::plan::WorkerPlan;
use crate::base::error::ErrorType;
use crate::declare::flow::Reach;
use crate::declare::schema::CheckedSchema;
use crate::declare::tool::{Effect, OnUnknown};
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::ItemKind;
use crate::observe::journal::digest;
use crate::plane::context::{StateKey, Variant};
use crate::plane::declared::{Declared, OfferedTool};
use crate::plane::definition::{ComputedInstructions, DeclaredRule, Decode, InstanceDef, Preview, ToolDef};
use crate::plane::function_tool::{Acts, FunctionTool};

/// An item of the registry.
#[derive(Debug)]
pub struct Registered {
    /// The registered name.
    pub(crate) name: Arc<str>,
    pub(crate) description: Arc<str>,
    /// Its index in the registry, in the order of names; `None` for a worker from run time.
    pub(crate) place: Option<usize>,
    kind: ItemKind,
    pub(super) effect: Effect,
    /// Its declared effect, if a policy declares another effect.
    replaced_effect: Option<Effect>,
    /// What happens to a call with an unknown outcome, if its source or a policy has a setting.
    pub(super) on_unknown: Option<OnUnknown>,
    /// The read-only tool that finds out whether a call has happened.
    reconcile: Option<Arc<str>>,
    max_result: Option<u64>,
    /// Whether a model may start calls in the background.
    pub(super) background: bool,
    pub(super) origin: Origin,
    pub(crate) timeout: Option<Duration>,
    /// Its callees; `None` for all items.
    #[doc(hidden)]
    pub declared: Option<Arc<Declared>>,
    /// The instances that a call of it opens, in order.
    pub(crate) instances: Vec<InstanceDef>,
    /// The stateful toolset that it is a method of.
    pub(crate) receiver: Option<InstanceDef>,
    pub(crate) code: Code,
    arguments: Arc<CheckedSchema>,
    takes_prompt: bool,
    approval: Option<DeclaredRule>,
    /// The template for the one-line summary of a call.
    summary: Option<Arc<str>>,
    /// The definition that its macro registered, if any.
    linked: Option<&'static ToolDef>,
    /// The names of the tools that it stands for, besides its own: that of which it is an alias, and that of the type of its
    /// named instance.
    other_names: Vec<Arc<str>>,
    variant: OnceLock<Variant>,
    /// The worker file that it was loaded from, in normalized form.
    file: Option<String>,
    unwritten: OnceLock<Option<String>>,
    may_skip_fields: OnceLock<bool>,
    reads_text: OnceLock<bool>,
    known_output: OnceLock<Option<Value>>,
    data_arguments: OnceLock<Vec<String>>,
    is_untrusted: OnceLock<bool>,
}

/// The implementation of an item.
#[derive(Debug)]
pub(crate) enum Code {
    /// A function, which decodes its arguments first.
    Function(Decode),
    /// A function that the program added.
    Value(Arc<FunctionTool>),
    /// A model.
    Worker(Arc<WorkerPlan>),
}

impl Registered {
    /// Returns the registered name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether it is a tool, a worker or an entry.
    #[must_use]
    pub fn kind(&self) -> ItemKind {
        self.kind
    }

    /// Returns the description from its doc comment.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the possible effect of a call: for a worker, all effects of its tools, unless it declares another one.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Returns the effect that it declares itself.
    pub(crate) fn declared_effect(&self) -> Effect {
        self.replaced_effect.unwrap_or(self.effect)
    }

    /// Returns whether a policy declares its effect.
    pub(crate) fn has_effect_of_policy(&self) -> bool {
        self.replaced_effect.is_some()
    }

    /// Replaces its declared effect with that of a policy.
    pub(super) fn set_effect(&mut self, effect: Effect) {
        self.replaced_effect = Some(self.declared_effect());
        self.effect = effect;
    }

    /// Returns what happens to a call with an unknown outcome; `None` for the setting of the runtime.
    #[doc(hidden)]
    #[must_use]
    pub fn on_unknown(&self) -> Option<OnUnknown> {
        self.on_unknown
    }

    /// Returns the name of the read-only tool that finds out whether a call has happened, if any.
    pub(crate) fn reconcile(&self) -> Option<&str> {
        self.reconcile.as_deref()
    }

    /// Returns how many bytes a model gets of a result, if it sets that itself.
    pub(crate) fn max_result(&self) -> Option<u64> {
        self.max_result
    }

    /// Returns whether a model may start calls in the background.
    pub(crate) fn may_run_in_background(&self) -> bool {
        self.background
    }

    /// Returns whether it is a tool of a toolset in this crate.
    #[doc(hidden)]
    #[must_use]
    pub fn is_of_this_crate(&self) -> bool {
        matches!(self.origin, Origin::Source(location) if location.is_of_this_crate())
    }

    /// Returns whether it is a tool of a toolset in this crate, under any name.
    pub(crate) fn is_included(&self) -> bool {
        self.linked.is_some_and(|def| def.location.is_of_this_crate())
    }

    /// Returns its source location as `file:line`, or the path of its worker file.
    #[must_use]
    pub fn location(&self) -> String {
        self.origin.to_string()
    }

    /// Returns whether a file of another program defines it.
    pub(crate) fn is_external(&self) -> bool {
        self.origin.is_external()
    }

    /// Returns the location of its declaration of a tool: in a worker file, with the line.
    pub(super) fn location_of(&self, tool: &str) -> String {
        match &self.origin {
            Origin::File(file) => file.place_of(tool),
            Origin::Source(_) | Origin::Session => self.location(),
        }
    }

    /// Returns the JSON schema of the arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        self.arguments.schema()
    }

    /// Returns the JSON schema of the result, if it is known.
    #[must_use]
    pub fn output(&self) -> Option<Value> {
        let schema = match &self.code {
            Code::Worker(plan) => Some(plan.output_schema()),
            Code::Value(tool) => tool.output.clone(),
            Code::Function(_) => self.linked?.output.map(|schema| schema()),
        };
        schema.map(|schema| modern_schema(&schema))
    }

    /// Returns the schema of the result, if it is known; it is made once.
    pub(crate) fn known_output(&self) -> Option<&Value> {
        self.known_output.get_or_init(|| self.output()).as_ref()
    }

    /// Returns whether its type declares that its results may carry untrusted text; it is found out once.
    pub(crate) fn is_untrusted(&self) -> bool {
        *self.is_untrusted.get_or_init(|| self.untrusted_check().is_some_and(|is_untrusted| is_untrusted()))
    }

    /// Returns what finds out whether its type declares that its results may carry untrusted text, if its type is known.
    pub(crate) fn untrusted_check(&self) -> Option<fn() -> bool> {
        self.linked?.has_untrusted
    }

    /// Returns whether its source declares its results private.
    pub(crate) fn is_private(&self) -> bool {
        self.linked.is_some_and(|def| def.is_private)
    }

    /// Returns the arguments that it only passes on, by their types.
    pub(crate) fn data_arguments(&self) -> &[String] {
        self.data_arguments.get_or_init(|| self.linked.map(|def| (def.data)()).unwrap_or_default())
    }

    /// Returns where what it gets may arrive, if its source declares that.
    pub(crate) fn reach(&self) -> Option<Reach> {
        self.linked?.reach
    }

    /// Returns the schema of the result of a Rust function, if it is known.
    pub(crate) fn result_schema(&self) -> Option<Value> {
        match &self.code {
            Code::Function(_) => self.output(),
            Code::Value(_) | Code::Worker(_) => None,
        }
    }

    /// Returns the type of its errors, if a journal keeps it.
    pub(crate) fn error_type(&self) -> Option<ErrorType> {
        match (&self.code, self.linked) {
            (_, Some(def)) => def.error,
            (Code::Value(tool), None) => tool.error,
            (Code::Function(_) | Code::Worker(_), None) => None,
        }
    }

    /// Returns whether its only argument is a [`Prompt`](crate::declare::prompt::Prompt), which may have files.
    #[must_use]
    pub fn takes_prompt(&self) -> bool {
        self.takes_prompt
    }

    /// Returns the names of its callees, as a model sees them; `None` for all items.
    #[must_use]
    pub fn declared(&self) -> Option<impl Iterator<Item = &str>> {
        self.declared.as_deref().map(|declared| declared.iter().map(|tool| &*tool.shown))
    }

    /// Returns the `hints` of a worker, in order.
    #[must_use]
    pub fn hints(&self) -> Vec<&str> {
        self.plan().map_or_else(Vec::new, |plan| plan.hints.iter().map(AsRef::as_ref).collect())
    }

    /// Returns the model, `provider:model`, that the definition of a worker names.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.plan().and_then(|plan| plan.model.as_deref())
    }

    /// Returns whether it was loaded from a worker file that describes the same worker as `file`.
    pub(crate) fn is_read_from(&self, file: &str) -> bool {
        // Both are parsed and written again, so that formatting makes no difference.
        let normalized = |spec: WorkerSpec| spec.to_worker_file();
        self.file.as_ref().is_some_and(|own| file.parse().map(normalized).is_ok_and(|file| file == *own))
    }

    /// Returns whether it was loaded from a worker file.
    pub(crate) fn is_of_worker_file(&self) -> bool {
        self.file.is_some()
    }

    /// Returns the names that policies and toolsets may use for it, the registered one first: also that of the tool of which
    /// it is an alias, and that of the same tool of its type if it belongs to a named instance.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.name).chain(&self.other_names).map(AsRef::as_ref)
    }

    /// Returns the named instance that it belongs to, if any.
    pub(crate) fn instance(&self) -> Option<&'static str> {
        self.receiver.and_then(|receiver| receiver.name)
    }

    /// Returns the approval rule in its source, if any.
    pub(crate) fn approval(&self) -> Option<DeclaredRule> {
        self.approval
    }

    /// Returns the function that shows the effect of a call.
    pub(crate) fn preview(&self) -> Option<Preview> {
        self.linked.as_ref()?.preview
    }

    /// Returns the template for the one-line summary of a call.
    pub(crate) fn summary(&self) -> Option<&Arc<str>> {
        self.summary.as_ref()
    }

    /// Returns how a model implements it, if it is a worker.
    #[doc(hidden)]
    pub fn plan(&self) -> Option<&Arc<WorkerPlan>> {
        match &self.code {
            Code::Worker(plan) => Some(plan),
            Code::Function(_) | Code::Value(_) => None,
        }
    }

    /// Returns the definition of a run-time worker, which distinguishes it from other workers with its name.
    pub(crate) fn variant(&self) -> Option<&Variant> {
        let plan = self.plan().filter(|_| self.place.is_none())?;
        Some(self.variant.get_or_init(|| {
            let declared = self.declared.iter().flat_map(|declared| declared.iter());
            let declared: Vec<_> = declared.map(|tool| [&*tool.shown, &*tool.tool]).collect();
            let item = json!([self.description, self.parameters(), self.timeout, declared]);
            Variant::new(json!([item, plan.variant()]).to_string())
        }))
    }

    /// Returns a digest of its declaration and its code: the definition of a worker, the version of an added tool, or else that of the
    /// program.
    pub(crate) fn digest(&self) -> String {
        let declared = self.declared.iter().flat_map(|declared| declared.iter());
        let declared: Vec<_> = declared.map(|tool| [&*tool.shown, &*tool.tool]).collect();
        let code = match &self.code {
            Code::Worker(plan) => json!(plan.variant()),
            Code::Value(tool) => json!(tool.version.as_deref().unwrap_or(program::version())),
            Code::Function(_) => json!(program::version()),
        };
        digest(&json!([self.name, self.description, self.parameters(), declared, code]))
    }

    /// Returns the identity of the server of a tool that is not in this program, with the server's definition of the
    /// tool.
    pub(crate) fn server(&self) -> Option<&str> {
        match &self.code {
            Code::Value(tool) => tool.server.as_deref(),
            Code::Function(_) | Code::Worker(_) => None,
        }
    }

    /// Returns whether it may make calls.
    pub(crate) fn is_composite(&self) -> bool {
        self.linked.is_none_or(|def| def.is_composite || def.kind != ItemKind::Tool)
    }

    /// Returns where the changes of a call happen.
    #[doc(hidden)]
    pub fn acts(&self) -> Acts {
        match (&self.code, self.linked) {
            (Code::Value(tool), _) => tool.acts,
            (_, Some(def)) => Acts::of_linked(def),
            (_, None) => Acts::InSteps,
        }
    }

    /// Returns whether all changes of a call are nested calls and effects, which a dry run judges one by one.
    ///
    /// The body of another tool with separate steps may make further changes.
    pub(crate) fn changes_by_steps_only(&self) -> bool {
        match (self.kind, self.acts()) {
            (ItemKind::Worker | ItemKind::Entry, _) | (_, Acts::InCalls) => true,
            (_, Acts::InSteps) => self.is_included(),
            _ => false,
        }
    }

    /// Returns whether a repeated call may do harm.
    #[doc(hidden)]
    pub fn must_not_repeat(&self) -> bool {
        !matches!(self.effect, Effect::ReadOnly | Effect::Idempotent)
    }

    /// Returns whether its arguments can be decoded directly from their text.
    pub(super) fn reads_text(&self, decode: &Decode) -> bool {
        *self.reads_text.get_or_init(decode.reads_text)
    }

    /// Returns what was learned, if that implements it.
    #[cfg(feature = "learn")]
    #[doc(hidden)]
    #[must_use]
    pub fn learned(&self) -> Option<&llm_do_learn::Learned> {
        match &self.code {
            Code::Value(tool) => tool.learned.as_deref(),
            Code::Function(_) | Code::Worker(_) => None,
        }
    }

    /// Returns whether a macro registered it.
    #[cfg(feature = "script")]
    pub(crate) fn is_linked(&self) -> bool {
        self.linked.is_some()
    }

    /// Lists the state that it takes.
    pub(crate) fn state(&self) -> Vec<StateKey> {
        let Some(def) = self.linked else { return Vec::new() };
        let opening = def.instance.map(|instance| instance.state).unwrap_or_default();
        let computed = self.plan().and_then(|plan| plan.computed);
        let computed = computed.iter().flat_map(ComputedInstructions::state);
        let linked = def.state.iter().chain(opening).map(|key| key().inside(self.instance()));
        linked.chain(computed).collect()
    }

    /// Returns why values of a Rust type cannot be checked without the feature `json-schema`.
    ///
    /// Schemas from other sources were refused before this check.
    #[cfg(not(feature = "json-schema"))]
    pub(super) fn schema_fault(&self) -> Option<String> {
        let output = match &self.code {
            Code::Worker(plan) => plan.shape().schema.unsupported(),
            Code::Function(_) | Code::Value(_) => None,
        };
        // If the types alone decide which arguments are valid, their schema is not required, and not built here.
        let is_decided_by_types = matches!(&self.code, Code::Function(decode) if self.reads_text(decode));
        let arguments = Some(&self.arguments).filter(|_| !is_decided_by_types);
        let of_arguments = arguments.and_then(|schema| schema.unsupported()).map(|keyword| ("arguments", keyword));
        let (what, keyword) = of_arguments.or_else(|| Some(("output", output?)))?;
        Some(format!(
            "`{}` ({}): the schema of its {what} uses {keyword}; turn on the feature `json-schema` of `llm-do` to check it",
            self.name(),
            self.location()
        ))
    }

    /// Returns the tool as models see it under the name `shown`.
    pub(super) fn offered_as(&self, shown: Arc<str>) -> OfferedTool {
        OfferedTool {
            name: shown,
            description: Arc::clone(&self.description),
            arguments: Arc::clone(&self.arguments),
            background: self.background,
        }
    }

    /// Returns the schema of the arguments.
    pub(super) fn schema(&self) -> &CheckedSchema {
        &self.arguments
    }

    /// Returns the schema of the arguments, if they may contain sets or maps.
    pub(super) fn unordered(&self) -> Option<Arc<CheckedSchema>> {
        self.arguments.is_unordered().then(|| Arc::clone(&self.arguments))
    }

    /// Returns the arguments with sets and maps sorted.
    pub(crate) fn canonical(&self, arguments: Value) -> Value {
        self.arguments.canonical(arguments)
    }

    /// Returns whether checking `arguments` may block an async thread for too long.
    pub(crate) fn is_checked_slowly(&self, arguments: &Value) -> bool {
        self.arguments.is_slow(arguments)
    }

    /// Checks arguments like [`validate`](Self::validate), on a blocking thread if it may take long.
    pub(crate) async fn validate_apart(&self, arguments: Value) -> (Value, Result<(), String>) {
        self.arguments.check_async(arguments).await
    }

    /// Returns whether the schema accepts a value of one argument.
    #[doc(hidden)]
    pub fn accepts(&self, argument: &str, value: &Value) -> bool {
        CheckedSchema::check_property(self.parameters(), argument, value).is_ok()
    }

    /// Checks arguments against the schema, and returns all faults.
    #[doc(hidden)]
    pub fn validate(&self, arguments: &Value) -> Result<(), String> {
        self.arguments.check(arguments)
    }
}
