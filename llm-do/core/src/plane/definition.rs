//! The definitions that macros register.

mod declaration;
mod environment;
mod instructions;
mod linked;
mod preview;
mod rendering;
mod rule;
#[cfg(feature = "mcp-snapshots")]
mod snapshot;
mod stateful;
mod worker;

use std::time::Duration;

use serde_json::Value;

pub use self::declaration::{Declaration, Location, ToolsetDef};
#[doc(hidden)]
pub use self::environment::EnvironmentDef;
pub(crate) use self::instructions::ComputedInstructions;
pub use self::instructions::{
    Awaits, Computes, Computing, InjectedFrom, InstructionsText, Returns, awaited_instructions,
    instructions_are_awaited, instructions_parameters, returned_instructions,
};
#[doc(hidden)]
pub use self::linked::linked_items;
pub(crate) use self::preview::Preview;
pub use self::preview::preview;
pub(crate) use self::rendering::{DecodeForPrompt, RenderPrompt, by_json, by_prompt};
pub use self::rendering::{Rendering, Renders};
pub use self::rule::DeclaredRule;
#[cfg(feature = "mcp-snapshots")]
pub(crate) use self::snapshot::LiveTool;
#[cfg(feature = "mcp-snapshots")]
pub use self::snapshot::SnapshotDef;
pub(crate) use self::stateful::InstanceDef;
pub use self::stateful::{Closing, Instance, OpenByDefault, Opening, Stateful, assert_stateful};
pub(crate) use self::worker::FileSchema;
pub use self::worker::{
    AttachmentsValue, LimitsValue, SettingsValue, WorkerDef, assert_max_result, assert_turns, json_value,
};
use crate::base::error::{ErrorType, Fault};
use crate::base::json::Json;
use crate::declare::argument::{self, Sample, TextFields};
use crate::declare::flow::Reach;
use crate::declare::prompt::Attached;
use crate::declare::schema;
use crate::declare::tool::{Effect, OnUnknown, Running, Tool, TypeSchema, WorkerOutput};
use crate::declare::toolset::{HasEffects, Keyed, NoWorker, assert_separate};
use crate::observe::event::ItemKind;
use crate::plane::context::{CallContext, StateKey};

/// A tool, worker or entry as registered by its macro.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ToolDef {
    #[doc(hidden)]
    pub name: &'static str,
    #[doc(hidden)]
    pub kind: ItemKind,
    pub(crate) description: &'static str,
    pub(crate) location: Location,
    #[doc(hidden)]
    pub effect: Effect,
    /// Its approval rule, if any.
    #[doc(hidden)]
    pub approval: Option<DeclaredRule>,
    /// What happens to a call with an unknown outcome, if it has a setting.
    pub(crate) on_unknown: Option<OnUnknown>,
    /// The read-only tool that finds out whether a call has happened, if it has one.
    pub(crate) reconcile: Option<&'static str>,
    /// How many bytes a model gets of a result, if it sets that.
    pub(crate) max_result: Option<u64>,
    /// Whether a model may start calls in the background.
    pub(crate) background: bool,
    /// The template for the one-line summary of a call, with `{argument}` for values.
    pub(crate) summary: Option<&'static str>,
    /// Shows the effect of a call to the approver.
    pub(crate) preview: Option<Preview>,
    pub(crate) state: &'static [fn() -> StateKey],
    pub(crate) declaration: Option<&'static Declaration>,
    /// The maximum duration of a call.
    pub(crate) timeout: Option<Duration>,
    /// Whether it may make calls through a context.
    pub(crate) is_composite: bool,
    /// The stateful toolset that it is a method of.
    pub(crate) instance: Option<InstanceDef>,
    /// The tool of the type, if it is the same tool of a named instance.
    pub(crate) instance_of: Option<&'static str>,
    pub(crate) parameters: fn() -> Value,
    /// Returns whether the only argument is a prompt.
    pub(crate) takes_prompt: fn() -> bool,
    /// Returns whether the fields of an argument are flattened into the arguments.
    pub(crate) is_flattened: fn() -> bool,
    /// Returns the faults of the arguments that would keep models from calling it.
    pub(crate) faults: fn() -> Vec<String>,
    /// Returns the defaults and examples of the arguments.
    pub(crate) samples: fn() -> Vec<Sample>,
    /// Returns the form in events of arguments that cannot be decoded.
    pub(crate) shown: fn(Value) -> Value,
    pub(crate) output: Option<fn() -> Value>,
    /// Returns whether the type of its output has untrusted parts, if that is known.
    pub(crate) has_untrusted: Option<fn() -> bool>,
    /// Returns the arguments that it only passes on, by their types.
    pub(crate) data: fn() -> Vec<String>,
    /// Whether its results are private.
    pub(crate) is_private: bool,
    /// Where what it gets may arrive, if it declares that.
    pub(crate) reach: Option<Reach>,
    /// The type of its errors, if a journal keeps it.
    pub(crate) error: Option<ErrorType>,
    pub(crate) implementation: Implementation,
}

/// The implementation of an item.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::large_enum_variant, reason = "constant code makes it, which cannot use a `Box`")]
pub(crate) enum Implementation {
    /// A function, which decodes its arguments first.
    Function(Decode),
    /// A model.
    Worker {
        worker: WorkerDef,
        /// Decodes the arguments for the prompt, and encodes them again with defaults filled in.
        ask: DecodeForPrompt,
        /// Decodes a value as the output type and returns it encoded again, or returns why it is invalid.
        output: fn(Value) -> Result<Value, Fault>,
    },
}

/// Decodes a function's arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decode {
    /// Decodes a value that passed the schema.
    pub(crate) value: fn(Value) -> Result<Box<dyn Start>, Fault>,
    /// Decodes text directly; `None` if its value must be checked against the schema. Used if `reads_text` returns
    /// true. The second argument is whether an event has the arguments.
    pub(crate) text: fn(&str, bool) -> Option<Box<dyn Start>>,
    pub(crate) reads_text: fn() -> bool,
}

impl Decode {
    const fn new<T: Function>() -> Self {
        Self { value: start::<T>, text: start_from_text::<T>, reads_text: argument::are_decided_by_types::<T> }
    }
}

/// A function with its arguments, ready to start.
pub(crate) trait Start: Send {
    /// Encodes the arguments with defaults filled in; called only if something reads them.
    fn arguments(&self) -> Result<Json, Fault>;

    /// Returns whether the arguments contain files.
    fn has_files(&self) -> bool;

    /// Starts the function.
    fn start(self: Box<Self>, ctx: &CallContext) -> Running;
}

/// Decoded arguments, with their files.
struct Decoded<T> {
    arguments: T,
    attached: Vec<Attached>,
    /// What the arguments are encoded as, if that is known and an event has them.
    encoded: Option<Json>,
}

impl<T: Function> Start for Decoded<T> {
    fn arguments(&self) -> Result<Json, Fault> {
        match &self.encoded {
            Some(encoded) => Ok(encoded.clone()),
            None => argument::write(&self.arguments).map(Json::from),
        }
    }

    fn has_files(&self) -> bool {
        !self.attached.is_empty()
    }

    fn start(self: Box<Self>, ctx: &CallContext) -> Running {
        ctx.attach(self.attached);
        self.arguments.start(ctx)
    }
}

/// A function that the plane can run; implemented by `#[tool]` and `#[entry]`.
#[doc(hidden)]
pub trait Function: Tool {
    /// Starts the function with these arguments.
    fn start(self, ctx: &CallContext) -> Running;
}

#[doc(hidden)]
impl ToolDef {
    /// Defines a tool.
    #[must_use]
    pub const fn tool<T: Function>(description: &'static str, location: Location) -> Self {
        Self::new::<T>(ItemKind::Tool, description, location, Implementation::Function(Decode::new::<T>()))
    }

    /// Defines an entry.
    #[must_use]
    pub const fn entry<T: Function>(description: &'static str, location: Location) -> Self {
        Self::new::<T>(ItemKind::Entry, description, location, Implementation::Function(Decode::new::<T>()))
    }

    /// Defines a worker whose prompt is its arguments.
    #[must_use]
    #[track_caller]
    pub const fn worker<T, O>(description: &'static str, location: Location, worker: WorkerDef) -> Self
    where
        T: Keyed + Tool<Output = O>,
        O: WorkerOutput,
    {
        Self::worker_with::<T, O>(description, location, worker, rendering::by_arguments::<T>)
    }

    /// Defines a worker whose body renders the prompt.
    #[must_use]
    #[track_caller]
    pub const fn worker_with_body<T, O>(description: &'static str, location: Location, worker: WorkerDef) -> Self
    where
        T: Keyed + Renders + Tool<Output = O>,
        O: WorkerOutput,
    {
        Self::worker_with::<T, O>(description, location, worker, rendering::by_body::<T>)
    }

    #[track_caller]
    const fn worker_with<T, O>(
        description: &'static str,
        location: Location,
        worker: WorkerDef,
        ask: DecodeForPrompt,
    ) -> Self
    where
        T: Keyed + Tool<Output = O>,
        O: WorkerOutput,
    {
        if !worker.code && worker.flow_reason.is_none() {
            assert_separate(T::NAME, <T::Calls<NoWorker> as HasEffects>::STRONGEST);
        }
        let implementation = Implementation::Worker { worker, ask, output: O::check };
        let mut def = Self::new::<T>(ItemKind::Worker, description, location, implementation);
        def.output = Some(O::schema);
        def.has_untrusted = Some(O::has_untrusted);
        def
    }

    const fn new<T: Tool>(
        kind: ItemKind,
        description: &'static str,
        location: Location,
        implementation: Implementation,
    ) -> Self {
        Self {
            name: T::NAME,
            kind,
            description,
            location,
            effect: Effect::Undeclared,
            approval: None,
            on_unknown: None,
            reconcile: None,
            max_result: None,
            background: false,
            summary: None,
            preview: None,
            state: &[],
            declaration: None,
            timeout: None,
            is_composite: false,
            instance: None,
            instance_of: None,
            parameters: schema::of_arguments::<T>,
            takes_prompt: argument::is_prompt::<T>,
            is_flattened: argument::is_flattened::<T>,
            faults: argument::faults::<T>,
            samples: argument::samples::<T>,
            shown: argument::shown::<T>,
            output: None,
            has_untrusted: None,
            data: schema::untrusted_properties::<T>,
            is_private: false,
            reach: None,
            error: None,
            implementation,
        }
    }

    /// Sets the effect of a call. Default: [`Effect::Undeclared`].
    #[must_use]
    pub const fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }

    /// Sets whether a call needs approval. Default: according to its toolset or its effect.
    #[must_use]
    pub const fn approval(mut self, rule: DeclaredRule) -> Self {
        self.approval = Some(rule);
        self
    }

    /// Sets what happens to a call with an unknown outcome. Default: set by a policy, or by the runtime.
    #[must_use]
    pub const fn on_unknown(mut self, setting: OnUnknown) -> Self {
        self.on_unknown = Some(setting);
        self
    }

    /// Sets the read-only tool that finds out whether a call has happened. Default: none.
    #[must_use]
    pub const fn reconcile(mut self, tool: &'static str) -> Self {
        self.reconcile = Some(tool);
        self
    }

    /// Sets how many bytes a model gets of a result. Default: set by the worker, or by the runtime.
    #[must_use]
    pub const fn max_result(mut self, bytes: u64) -> Self {
        self.max_result = Some(bytes);
        self
    }

    /// Lets a model start calls in the background. Default: not.
    #[must_use]
    pub const fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Sets the template for the one-line summary of a call. Default: its name and arguments.
    #[must_use]
    pub const fn summary(mut self, template: &'static str) -> Self {
        self.summary = Some(template);
        self
    }

    /// Sets the function that shows the effect of a call to the approver. Default: none.
    #[must_use]
    pub const fn preview(mut self, preview: Preview) -> Self {
        self.preview = Some(preview);
        self
    }

    /// Sets the state that it takes. Default: none.
    #[must_use]
    pub const fn state(mut self, state: &'static [fn() -> StateKey]) -> Self {
        self.state = state;
        self
    }

    /// Sets the timeout of a call. Default: none; the caller's timeout applies in any case.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Marks it as taking a context, so that it may make calls. Default: it takes no context.
    #[must_use]
    pub const fn composite(mut self) -> Self {
        self.is_composite = true;
        self
    }

    /// Makes it a method of the stateful toolset `S`. Default: a function.
    #[must_use]
    pub const fn method_of<S: Stateful>(mut self) -> Self {
        self.instance = Some(InstanceDef::new::<S>());
        self
    }

    /// Sets its callees. Default: every registered item.
    #[must_use]
    pub const fn declares(mut self, declaration: &'static Declaration) -> Self {
        self.declaration = Some(declaration);
        self
    }

    /// Sets the schema of its output. Default: unknown.
    #[must_use]
    pub const fn output(mut self, output: Option<TypeSchema>) -> Self {
        if let Some(TypeSchema { schema, has_untrusted }) = output {
            self.output = Some(schema);
            self.has_untrusted = Some(has_untrusted);
        }
        self
    }

    /// Makes its results private. Default: public.
    #[must_use]
    pub const fn private(mut self) -> Self {
        self.is_private = true;
        self
    }

    /// Sets where what it gets may arrive. Default: outside, for a tool whose effect is not `read_only`.
    #[must_use]
    pub const fn reach(mut self, reach: Reach) -> Self {
        self.reach = Some(reach);
        self
    }

    /// Sets the type of its errors. Default: none, so a journal keeps their text only.
    #[must_use]
    pub const fn error(mut self, error: Option<ErrorType>) -> Self {
        self.error = error;
        self
    }
}

fn start_from_text<T: Function>(text: &str, is_observed: bool) -> Option<Box<dyn Start>> {
    let mut fields = TextFields::of(text, is_observed)?;
    let arguments = argument::read_text::<T>(&mut fields)?;
    let encoded = fields.is_as_written().then(|| Json::from_text(text.to_owned()));
    // Types with files are not decoded from text.
    Some(Box::new(Decoded { arguments, attached: Vec::new(), encoded }))
}

fn start<T: Function>(arguments: Value) -> Result<Box<dyn Start>, Fault> {
    Ok(Box::new(decode::<T>(arguments)?))
}

/// Decodes arguments that are valid for the schema, so any error comes from their type.
fn decode<T: Tool>(arguments: Value) -> Result<Decoded<T>, Fault> {
    let (arguments, attached) = argument::read(arguments).map_err(|fault| fault.within("cannot be decoded"))?;
    Ok(Decoded { arguments, attached, encoded: None })
}

/// Checks that a timeout is not 0.
///
/// # Panics
///
/// Panics, at compile time, if it is 0.
#[doc(hidden)]
#[track_caller]
pub const fn assert_timeout(timeout: Duration) {
    assert!(!timeout.is_zero(), "`timeout` is 0, so every call would time out; remove it for no timeout");
}

inventory::collect!(ToolDef);
inventory::collect!(ToolsetDef);
#[cfg(feature = "mcp-snapshots")]
inventory::collect!(SnapshotDef);
