//! Tools as values, which a program adds to a runtime when it is built.

mod alias;
#[cfg(feature = "learn")]
mod learned_tool;
#[cfg(feature = "script")]
mod script_tool;
mod subtask_tool;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use llm_do_worker_file::{check_max_result, check_worker_name};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[doc(hidden)]
pub use self::alias::Alias;
#[cfg(feature = "learn")]
pub use self::learned_tool::{LearnedFault, LearnedTool};
#[cfg(feature = "script")]
pub use self::script_tool::{ScriptFault, ScriptTool};
pub use self::subtask_tool::SubtaskTool;
use crate::base::error::{ErrorType, Fault, Result};
use crate::base::json::Json;
use crate::declare::nesting;
use crate::declare::schema::{self, depth_fault, untrusted_schema_fault};
use crate::declare::tool::{Effect, Failure, OnUnknown, Running, ToolOutput};
use crate::observe::event::ItemKind;
use crate::plane::context::CallContext;
use crate::plane::definition::{DeclaredRule, Start, ToolDef};
#[cfg(feature = "script")]
use crate::plane::script::Script;

/// Where the changes of a call happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Acts {
    /// In its body, which the journal does not see.
    Itself,
    /// In the calls and effects that it makes, which are separate steps in the journal.
    InSteps,
    /// In its body, unless it has made steps.
    Either,
    /// Only in the calls that it makes: its body cannot change anything.
    InCalls,
}

impl Acts {
    /// Returns where the changes of a linked item happen, by its declaration in the source, regardless of how a runtime
    /// approves it.
    ///
    /// A tool with a context that is pre-approved in its source and declares no effect calls other tools, as `shell`
    /// does.
    pub(crate) fn of_linked(def: &ToolDef) -> Self {
        let only_calls = def.approval == Some(DeclaredRule::PreApproved) && def.effect == Effect::Undeclared;
        match def.kind {
            ItemKind::Tool if !def.is_composite => Self::Itself,
            ItemKind::Tool if !only_calls => Self::Either,
            _ => Self::InSteps,
        }
    }
}

/// Decodes arguments that passed the schema.
pub(crate) type DecodeValue = dyn Fn(Value) -> std::result::Result<Box<dyn Start>, Fault> + Send + Sync;

/// A tool as a value: a function with a name, a description and a schema, added by
/// [`RuntimeBuilder::tool`](crate::session::runtime::RuntimeBuilder::tool).
///
/// For tools that are known only at run time, such as those of a plugin or of another service; a function that is known
/// when the program is compiled is a [`#[tool]`](macro@llm_do_macros::tool). Models, code and worker files find it by its name,
/// and every call of it takes the same path as a call of a linked tool. It may call everything in the runtime,
/// unless [`toolsets`](Self::toolsets) lists what.
///
/// # Examples
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::runtime::FunctionTool;
/// use llm_do::{Effect, Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let schema = json!({
///     "type": "object",
///     "properties": { "city": { "type": "string", "description": "The name of the city." } },
///     "required": ["city"],
/// });
/// let degrees = 21;
/// let weather = FunctionTool::new(
///     "weather",
///     "Return the temperature in a city.",
///     schema,
///     Effect::ReadOnly,
///     move |_ctx, arguments| async move { Ok(format!("{degrees} °C in {}", arguments["city"])) },
/// );
/// let runtime = Runtime::builder().tool(weather).build()?;
/// assert_eq!(runtime.run_named("weather", json!({ "city": "Rome" })).await?, "21 °C in \"Rome\"");
/// # Ok(())
/// # }
/// ```
///
/// With [`typed`](Self::typed), the arguments are a struct, from which the schema is made:
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::runtime::FunctionTool;
/// use llm_do::{Effect, json};
///
/// /// Arguments of `add`.
/// #[llm_do::data]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let sum = |_, Add { a, b }: Add| async move { Ok(a + b) };
/// let add = FunctionTool::typed("add", "Add two numbers.", Effect::ReadOnly, sum);
/// let runtime = Runtime::builder().tool(add).build()?;
/// assert_eq!(runtime.run_named("add", json!({ "a": 1, "b": 2 })).await?, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct FunctionTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) parameters: Value,
    /// The schema by which arguments are checked, if it differs: parts of a server's schema may not be supported here.
    #[doc(hidden)]
    pub checked: Option<Value>,
    pub(crate) output: Option<Value>,
    /// The type of its errors, if a journal keeps it.
    pub(crate) error: Option<ErrorType>,
    pub(crate) effect: Effect,
    pub(crate) approval: Option<DeclaredRule>,
    /// What happens to a call with an unknown outcome, if it has a setting.
    pub(crate) on_unknown: Option<OnUnknown>,
    /// The name of the read-only tool that finds out whether a call has happened, if it has one.
    pub(crate) reconcile: Option<Arc<str>>,
    /// How many bytes a model gets of a result, if it sets that.
    pub(crate) max_result: Option<u64>,
    /// Whether a model may start calls in the background.
    pub(crate) background: bool,
    pub(crate) summary: Option<Arc<str>>,
    pub(crate) timeout: Option<Duration>,
    /// The tools and toolsets that it may call; `None` for all items.
    pub(crate) toolsets: Option<Vec<String>>,
    /// Whether the schema of the arguments comes from a Rust type.
    pub(crate) is_typed: bool,
    /// The names of schemas that were dropped because they are nested too deeply.
    too_deep: Vec<&'static str>,
    pub(crate) decode: Arc<DecodeValue>,
    #[doc(hidden)]
    pub acts: Acts,
    /// The version of its code, if it is known.
    pub(crate) version: Option<String>,
    /// The identity of the server that runs it, with the server's definition of the tool; `None` for other tools.
    #[doc(hidden)]
    pub server: Option<Arc<str>>,
    /// What was learned, if that implements it.
    #[cfg(feature = "learn")]
    pub(crate) learned: Option<Arc<llm_do_learn::Learned>>,
    /// The script that implements it, if any.
    #[cfg(feature = "script")]
    pub(crate) script: Option<Arc<Script>>,
    /// Whether the effect of a script is given, and not derived from its tools.
    #[cfg(feature = "script")]
    pub(crate) has_effect: bool,
}

impl FunctionTool {
    /// Defines a tool with this name, 1 to 64 letters, digits, `_` or `-`, and this JSON schema of its arguments.
    ///
    /// The schema must have `type: object`, and has the limits of a [worker's schemas](crate::declare::worker_spec::WorkerSpec#schemas).
    /// The function receives arguments that are valid for the schema; defaults in the schema are not filled in.
    /// This needs the feature `json-schema`; without it, building the runtime fails.
    pub fn new<F, R, T>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
        effect: Effect,
        function: F,
    ) -> Self
    where
        F: Fn(CallContext, Value) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
        T: ToolOutput + 'static,
    {
        let function = Arc::new(function);
        let decode = move |given: Value| -> std::result::Result<Box<dyn Start>, Fault> {
            Ok(Box::new(FunctionCall { function: Arc::clone(&function), arguments: given.clone(), given }))
        };
        let mut tool = Self::defined(name.into(), description.into(), effect, Arc::new(decode));
        tool.parameters = tool.keep_shallow("the schema of the arguments", schema).unwrap_or_default();
        tool
    }

    /// Defines a tool whose arguments are decoded as a type, from which their schema is made.
    ///
    /// The type is a struct with [`#[data]`](macro@llm_do_macros::data), or with derives of `Deserialize` and `JsonSchema`.
    pub fn typed<A, F, R, T>(
        name: impl Into<String>,
        description: impl Into<String>,
        effect: Effect,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(CallContext, A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T>> + Send + 'static,
        T: ToolOutput + 'static,
    {
        let function = Arc::new(function);
        let decode = move |given: Value| -> std::result::Result<Box<dyn Start>, Fault> {
            let arguments: A = serde_json::from_value(given.clone())
                .map_err(|error| Fault::reading(&error).within("cannot be decoded"))?;
            Ok(Box::new(FunctionCall { function: Arc::clone(&function), arguments, given }))
        };
        let tool = Self::defined(name.into(), description.into(), effect, Arc::new(decode));
        Self { parameters: schema::of::<A>(), is_typed: true, ..tool }
    }

    pub(super) fn defined(name: String, description: String, effect: Effect, decode: Arc<DecodeValue>) -> Self {
        Self {
            name,
            description,
            parameters: Value::Null,
            checked: None,
            output: None,
            error: None,
            effect,
            approval: None,
            on_unknown: None,
            reconcile: None,
            max_result: None,
            background: false,
            summary: None,
            timeout: None,
            toolsets: None,
            is_typed: false,
            too_deep: Vec::new(),
            decode,
            acts: Acts::Either,
            version: None,
            server: None,
            #[cfg(feature = "learn")]
            learned: None,
            #[cfg(feature = "script")]
            script: None,
            #[cfg(feature = "script")]
            has_effect: true,
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the JSON schema of the result, for readers of the registry; results are not checked. Default: unknown.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = self.keep_shallow("the schema of the result", schema);
        self
    }

    /// Sets the type of its errors, which a journal keeps, as by [`#[tool(error = ..)]`](https://docs.rs/llm-do/latest/llm_do/attr.tool.html#errors).
    /// Default: none; with a journal, callers get the text of an error.
    pub fn error_type<E>(mut self) -> Self
    where
        E: std::error::Error + Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        self.error = Some(ErrorType::for_error::<E>());
        self
    }

    /// Runs calls without approval. Default: the effect decides.
    ///
    /// As for linked tools, a [policy](crate::plane::approval::Policy) with a rule for the tool replaces this.
    pub fn pre_approved(mut self) -> Self {
        self.approval = Some(DeclaredRule::PreApproved);
        self
    }

    /// Sets what happens to a call that began and has an unknown outcome, such as after its process died in it. Default:
    /// the setting of the [runtime](crate::session::runtime::RuntimeBuilder::on_unknown).
    ///
    /// As for linked tools, a [policy](crate::plane::approval::Policy::on_unknown) with a setting for the tool replaces this.
    pub fn on_unknown(mut self, setting: OnUnknown) -> Self {
        self.on_unknown = Some(setting);
        self
    }

    /// Sets the tool that finds out whether a call with an unknown outcome has happened: a read-only tool with the same
    /// arguments. Default: none.
    ///
    /// Its [idempotency key](CallContext::idempotency_key) is the key of the call. It returns the result of the call,
    /// or `null` if the call has not happened.
    pub fn reconcile(mut self, tool: impl Into<Arc<str>>) -> Self {
        self.reconcile = Some(tool.into());
        self
    }

    /// Sets how many bytes a model gets of a result, at least 1,024. Default: set by the worker, or else by the
    /// [runtime](crate::session::runtime::RuntimeBuilder::max_result), where it is described what becomes of a longer one.
    pub fn max_result(mut self, bytes: u64) -> Self {
        self.max_result = Some(bytes);
        self
    }

    /// Lets a model start calls in the background, as [`#[tool(background)]`](macro@llm_do_macros::tool) does. Default: not.
    pub fn background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Sets the template for the one-line summary of a call, with `{argument}` for values. Default: the name and the
    /// arguments.
    pub fn summary(mut self, template: impl Into<Arc<str>>) -> Self {
        self.summary = Some(template.into());
        self
    }

    /// Sets the timeout of a call. Default: none; the caller's timeout applies in any case.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the tools and toolsets that it may call, by name. Default: all items of the runtime.
    pub fn toolsets(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.toolsets = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the version of its code, such as a digest. Default: that of the program. When it changes, the evidence of a
    /// [guarantee](crate::session::runtime::RuntimeBuilder::guarantee) starts again.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Returns a schema that is shallow enough for recursive functions; drops a deeper schema and records its name.
    fn keep_shallow(&mut self, what: &'static str, schema: Value) -> Option<Value> {
        let shallow = nesting::shallow(schema).ok();
        self.too_deep.extend(shallow.is_none().then_some(what));
        shallow
    }

    /// Returns all faults of the definition.
    #[doc(hidden)]
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        faults.extend(check_worker_name(&self.name).err());
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            faults.push(
                "its timeout is 0, so every call would time out; remove the timeout, or set a longer one".to_owned(),
            );
        }
        faults.extend(self.max_result.and_then(|bytes| check_max_result(bytes).err()));
        faults.extend(self.too_deep.iter().map(|what| depth_fault(what)));
        if self.too_deep.is_empty() {
            faults.extend(self.parameters_fault());
        }
        faults
    }

    fn parameters_fault(&self) -> Option<String> {
        if self.parameters.get("type").and_then(Value::as_str) != Some("object") {
            return Some("the schema of the arguments must have `type: object`: arguments have names".to_owned());
        }
        let checked = self.checked.as_ref().unwrap_or(&self.parameters);
        let fault = Some(checked).filter(|_| !self.is_typed).and_then(untrusted_schema_fault);
        fault.map(|fault| format!("the schema of the arguments {fault}"))
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("name", &self.name).field("effect", &self.effect).finish_non_exhaustive()
    }
}

/// A call of a function with its arguments.
struct FunctionCall<F, A> {
    function: Arc<F>,
    arguments: A,
    /// The arguments before decoding.
    given: Value,
}

impl<F, A, R, T> Start for FunctionCall<F, A>
where
    F: Fn(CallContext, A) -> R + Send + Sync + 'static,
    A: Send + 'static,
    R: Future<Output = Result<T>> + Send + 'static,
    T: ToolOutput + 'static,
{
    fn arguments(&self) -> std::result::Result<Json, Fault> {
        Ok(self.given.clone().into())
    }

    fn has_files(&self) -> bool {
        false
    }

    fn start(self: Box<Self>, ctx: &CallContext) -> Running {
        let running = (self.function)(ctx.clone(), self.arguments);
        Running::future(async move { running.await.and_then(ToolOutput::into_return).map_err(Failure) })
    }
}
