//! The session: what runs share, and how they begin.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use llm_do_providers::{Model, Settings};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::approval::{ApprovalMode, ApprovalRequest, Approvals, Approver, ByFunction, Decision, Policy};
use crate::cancellation::Cancellation;
use crate::context::{CallContext, CallFrame, Host};
use crate::declared::Callee;
use crate::dispatch::{Plane, Run};
use crate::error::CallError;
use crate::event::{Caller, EventSink};
use crate::instance::Instances;
use crate::model_choice::ModelChoice;
use crate::registry::{Registry, RegistryError};
use crate::tool::{FromReturn, Tool, ToolReturn, from_result, to_arguments};
use crate::usage::Meter;

/// The variable that names the model of workers that declare none.
pub(crate) const MODEL_VARIABLE: &str = "LLM_DO_MODEL";

/// A session: the registry, approvals, models, state and event sinks that its runs share.
#[derive(Clone, Debug)]
pub struct Runtime {
    plane: Arc<Plane>,
    cancellation: CancellationToken,
}

impl Runtime {
    /// Begins to set up a session.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// Runs an entry, or a tool or worker by itself, as the root call: `runtime.run(main { .. })`.
    ///
    /// Dropping the future cancels the run.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] that says why nothing ran, or what the root call failed with.
    pub async fn run<T>(&self, call: T) -> Result<T::Output, CallError>
    where
        T: Tool<Output: FromReturn>,
    {
        from_result::<T>(self.root(T::NAME, to_arguments(&call)?).await?)
    }

    /// Runs an entry, tool or worker by its registered name, with arguments as JSON, as the root call.
    ///
    /// # Errors
    ///
    /// Returns a [`CallError`] as [`run`](Self::run) does, and [`CallError::NotFound`] for an unknown name.
    pub async fn run_named(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        Ok(self.root(name, arguments).await?.value)
    }

    async fn root(&self, name: &str, arguments: Value) -> Result<ToolReturn, CallError> {
        let cancellation = self.cancellation.child_token();
        let _cancel_on_drop = cancellation.clone().drop_guard();
        let frame = CallFrame {
            call: 0,
            depth: 0,
            nesting: 0,
            name: name.into(),
            by: Caller::User,
            declared: None,
            meter: Meter::default(),
            instances: Instances::default(),
            cancellation: Cancellation::of(cancellation),
            deadline: None,
            arguments: OnceLock::new(),
        };
        let run: Arc<dyn Host> = Arc::new(Run::new(Arc::clone(&self.plane)));
        let root = CallContext::root(Arc::clone(&run), frame);
        run.call(&root, Callee::Shown(name), Ok(arguments), Caller::User).await
    }

    /// Returns what is registered.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.plane.registry
    }
}

/// Sets up a [`Runtime`]; start with [`Runtime::builder`].
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder {
    mode: ApprovalMode,
    approver: Option<Arc<dyn Approver>>,
    policy: Policy,
    forced_model: Option<Arc<dyn Model>>,
    model: Option<String>,
    default_model: Option<String>,
    state: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    sinks: Vec<Arc<dyn EventSink>>,
    settings: Settings,
    project_root: Option<PathBuf>,
    max_depth: Option<u32>,
    streaming: bool,
    return_permission_errors: bool,
    cancellation: CancellationToken,
}

impl RuntimeBuilder {
    /// Sets how calls that need approval are decided. Default: [`ApprovalMode::Prompt`].
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode = mode;
        self
    }

    /// Asks `approver` about each call that needs approval. Default: nobody, so that such calls are denied.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Asks `approve` about each call that needs approval, as [`approver`](Self::approver) does; it takes one at a time.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::{Decision, Runtime};
    ///
    /// # fn main() -> llm_do::Result<()> {
    /// let runtime = Runtime::builder()
    ///     .approve_with(|request| async move {
    ///         if request.caller.starts_with("trusted_") { Decision::approve() } else { Decision::deny("not by you") }
    ///     })
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve_with<F, D>(self, approve: F) -> Self
    where
        F: Fn(ApprovalRequest) -> D + Send + Sync + 'static,
        D: Future<Output = Decision> + Send + 'static,
    {
        self.approver(ByFunction(approve))
    }

    /// Sets which calls need approval, where tools, toolsets and effects shall not say so. Default: no rule.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Tells a worker's model of a denied call, so that it goes on without. Default: false, a denial ends the run.
    pub fn return_permission_errors(mut self, yes: bool) -> Self {
        self.return_permission_errors = yes;
        self
    }

    /// Sets the model, `provider:model`, of workers that declare none. Default: `LLM_DO_MODEL`.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the model to use where neither the worker, [`model`](Self::model) nor `LLM_DO_MODEL` says one.
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Runs **every** worker on `model`, whatever it declares: for tests and offline use.
    pub fn force_model(mut self, model: impl Model + 'static) -> Self {
        self.forced_model = Some(Arc::new(model));
        self
    }

    /// Gives tools that take a `State<T>` this value; a second one of the same type replaces it.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Reports events to `sink`, after those given before.
    pub fn sink(mut self, sink: impl EventSink + 'static) -> Self {
        self.sinks.push(Arc::new(sink));
        self
    }

    /// Reports events to a sink that is kept for later, such as a file to be closed.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Sets what every request asks of its model. Default: everything is left to the provider.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the folder below which the files of prompts are read. Default: the current one.
    pub fn project_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.project_root = Some(path.into());
        self
    }

    /// Allows at most `depth` workers in one another. Default: 5.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Asks models to stream their answers. Default: false. Events are the same, in smaller pieces.
    pub fn streaming(mut self, yes: bool) -> Self {
        self.streaming = yes;
        self
    }

    /// Cancels all runs once `token` is cancelled.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Asks `approver` unless another was given.
    #[cfg(feature = "cli")]
    pub(crate) fn default_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Returns the token that cancels all runs.
    #[cfg(feature = "cli")]
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// Collects the registry and begins the session.
    ///
    /// # Errors
    ///
    /// Returns every fault at once: names that collide, names in `toolsets` that stand for nothing, state that a
    /// registered tool takes and that was not given, names in the policy that are not registered.
    pub fn build(self) -> Result<Runtime, BuildError> {
        self.build_on(Registry::collect()?)
    }

    /// Begins the session over a registry that was collected before.
    pub(crate) fn build_on(self, registry: Registry) -> Result<Runtime, BuildError> {
        let missing = registry.missing_state(|key| self.state.contains_key(&key.id));
        if !missing.is_empty() {
            return Err(BuildError::MissingState(missing));
        }
        let variable = || std::env::var(MODEL_VARIABLE).ok().filter(|name| !name.trim().is_empty());
        let model = self.model.or_else(variable).or(self.default_model);
        let approvals = Approvals::new(self.mode, self.approver, self.policy, &registry).map_err(BuildError::Policy)?;
        let plane = Plane {
            registry,
            approvals,
            models: ModelChoice::new(self.forced_model, model),
            state: self.state,
            sinks: self.sinks,
            settings: self.settings,
            project_root: self.project_root.unwrap_or_else(|| PathBuf::from(".")),
            max_depth: self.max_depth.unwrap_or(5),
            streaming: self.streaming,
            return_permission_errors: self.return_permission_errors,
        };
        Ok(Runtime { plane: Arc::new(plane), cancellation: self.cancellation })
    }
}

/// Why a session cannot begin.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The registry has faults.
    Registry(RegistryError),
    /// Tools take state that was not given: the types, each with the tools that take it.
    MissingState(Vec<String>),
    /// The approval policy has rules for what is not registered: each of these, with the name that may be meant.
    Policy(Vec<String>),
}

impl From<RegistryError> for BuildError {
    fn from(error: RegistryError) -> Self {
        Self::Registry(error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(error) => error.fmt(f),
            Self::MissingState(missing) => {
                write!(f, "missing state, to be given with `Runtime::builder().state(..)`:")?;
                missing.iter().try_for_each(|missing| write!(f, "\n  {missing}"))
            }
            Self::Policy(faults) => {
                write!(f, "the approval policy has rules for what is not registered:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
            }
        }
    }
}

impl std::error::Error for BuildError {}
