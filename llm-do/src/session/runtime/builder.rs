//! Configures a session.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use llm_do_providers::{CapabilityTable, Model, PriceTable, Settings};
use tokio_util::sync::CancellationToken;

use super::{BuildError, Runtime, named_limits};
use crate::base::clock::{Clock, SystemClock};
use crate::base::usage::Limits;
use crate::declare::worker_file;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{self, Callback, Event, EventSink};
use crate::observe::journal::{ChildSteps, Journal};
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approvals, Approver, ByFunction, Decision, Policy};
use crate::plane::definition::Location;
use crate::plane::dispatch::{Plane, RuntimeWorkers, Shadow, Shadows};
use crate::plane::guard::{Guard, Guards};
use crate::plane::history::HistoryProcessor;
use crate::plane::instance::CLOSE_TIMEOUT;
use crate::plane::model_choice::{ModelChoice, SessionModel};
use crate::plane::registry::{Origin, Registry};
use crate::plane::user_input::InputHandler;

/// The environment variable with the model of workers that declare none.
const MODEL_VARIABLE: &str = "LLM_DO_MODEL";

/// Configures a [`Runtime`]; created by [`Runtime::builder`].
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
    sink_capacity: Option<usize>,
    settings: Settings,
    project_root: Option<PathBuf>,
    max_depth: Option<u32>,
    limits: Option<Limits>,
    worker_limits: HashMap<String, Limits>,
    prices: Option<PriceTable>,
    capabilities: Option<CapabilityTable>,
    timeouts: HashMap<String, Duration>,
    close_timeout: Option<Duration>,
    streaming: bool,
    return_permission_errors: bool,
    clock: Option<Arc<dyn Clock>>,
    input_handler: Option<Arc<dyn InputHandler>>,
    processors: Vec<Arc<dyn HistoryProcessor>>,
    guards: Vec<Arc<dyn Guard>>,
    journal: Option<Arc<dyn Journal>>,
    shadows: Vec<Shadow>,
    workers: Vec<(WorkerSpec, Origin)>,
    worker_dirs: Vec<PathBuf>,
    worker_store: Option<PathBuf>,
    cancellation: CancellationToken,
}

impl RuntimeBuilder {
    /// Sets how calls that need approval are decided. Default: [`ApprovalMode::Prompt`].
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the approver that decides about calls that need approval. Default: none, and such calls are denied.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets a function that decides about calls that need approval, one at a time; see [`approver`](Self::approver).
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::Decision;
    /// use llm_do::Runtime;
    ///
    /// # fn main() -> llm_do::Result<()> {
    /// let runtime = Runtime::builder()
    ///     .approve_with(|request| async move {
    ///         if request.caller.starts_with("trusted_") { Decision::approve() } else { Decision::deny("not trusted") }
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

    /// Sets rules for which calls need approval, which override those of tools, toolsets and effects. Default: no
    /// rules.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets whether a worker's model is informed of a denied call and may continue. Default: false, a denial fails the
    /// run.
    pub fn return_permission_errors(mut self, yes: bool) -> Self {
        self.return_permission_errors = yes;
        self
    }

    /// Sets the model, `provider:model`, of workers that declare none. Default: the variable `LLM_DO_MODEL`.
    ///
    /// [`build`](Self::build) returns an error if no linked provider accepts the name.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Sets the model to use if neither the worker, [`model`](Self::model) nor `LLM_DO_MODEL` names one. Default:
    /// none.
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Runs **every** worker on `model`, regardless of its own `model`, for tests and offline use.
    pub fn force_model(mut self, model: impl Model + 'static) -> Self {
        self.forced_model = Some(Arc::new(model));
        self
    }

    /// Sets the value for tools with a `State<T>` parameter, replacing an earlier one of the same type.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.state.insert(TypeId::of::<T>(), Arc::new(value));
        self
    }

    /// Adds a sink, which receives all events.
    ///
    /// It is called on a thread of its own, unless it chooses otherwise, so runs do not wait for it: see
    /// [`EventSink`]. Dropping the last clone of the runtime waits until the sink has processed its events, at most 2
    /// seconds.
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Adds a sink that the program also keeps, such as a file to close later.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Adds a closure as a sink: calls `f` with each event, on a thread of its own.
    ///
    /// ```standalone_crate
    /// use std::sync::{Arc, Mutex};
    ///
    /// use llm_do::event::EventKind;
    /// use llm_do::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(effect = read_only)]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let called = Arc::new(Mutex::new(Vec::new()));
    /// let names = called.clone();
    /// let builder = Runtime::builder().on_event(move |event| {
    ///     if matches!(event.kind, EventKind::CallStarted { .. }) {
    ///         names.lock().unwrap().push(event.name.clone());
    ///     }
    /// });
    /// let runtime = builder.build()?;
    /// runtime.run(add { a: 1, b: 2 }).await?;
    /// runtime.flush().await;
    /// assert_eq!(*called.lock().unwrap(), ["add".into()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_event(self, f: impl FnMut(&Arc<Event>) + Send + 'static) -> Self {
        self.sink(Callback::new(f))
    }

    /// Sets how many events may wait for a sink that is called on a thread of its own. Default: 4,096.
    ///
    /// Once as many wait, new events are dropped until half of the queue is free; an
    /// [`EventKind::Dropped`](crate::event::EventKind::Dropped) reports how many are missing.
    pub fn sink_capacity(mut self, events: usize) -> Self {
        self.sink_capacity = Some(events);
        self
    }

    /// Sets the default settings of all requests to models. Default: those of the provider.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the folder that files of prompts are read from; files outside it are refused. Default: the current
    /// folder.
    pub fn project_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.project_root = Some(path.into());
        self
    }

    /// Sets the maximum number of nested workers. Default: 5.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = Some(depth);
        self
    }

    /// Limits what a run may use in total. Default: unlimited, except for [`max_depth`](Self::max_depth).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Limits what each call of the worker `name`, and all calls below it, may use, replacing the limits that the
    /// worker declares.
    ///
    /// The name may also be that of a worker that is created at run time, or `llm_ask`. If the name is not registered
    /// but resembles one that is, [`build`](Self::build) returns an error.
    pub fn worker_limits(mut self, name: impl Into<String>, limits: Limits) -> Self {
        self.worker_limits.insert(name.into(), limits);
        self
    }

    /// Sets the timeout of calls of the tool, worker or entry `name`, replacing the one that it declares.
    ///
    /// [`build`](Self::build) returns an error for a timeout of 0, and for a name that is not registered but
    /// resembles one that is. A timeout cannot stop a tool that runs `inline`.
    pub fn timeout(mut self, name: impl Into<String>, timeout: Duration) -> Self {
        self.timeouts.insert(name.into(), timeout);
        self
    }

    /// Sets the timeout of `close` for one instance of a toolset. Default: 10 seconds.
    ///
    /// This time does not count towards the call that opened the instance: `close` also runs after a timeout and if
    /// the run is dropped. A root call waits for it before it returns. If `close` times out, the call that waits for
    /// it fails.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = Some(timeout);
        self
    }

    /// Sets the prices of models. Default: [`PriceTable::builtin`].
    pub fn prices(mut self, prices: PriceTable) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets the capabilities of models that are set by name; a model that is passed as a value has its own. Default:
    /// [`CapabilityTable::builtin`].
    pub fn capabilities(mut self, capabilities: CapabilityTable) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Sets the clock of events and of [`CallContext::now`](crate::CallContext::now). Default: the system clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Sets the handler of questions that tools ask the user. Default: none, and asking is an error.
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.input_handler = Some(Arc::new(handler));
        self
    }

    /// Adds a processor that may change the history before each request of a worker, after those added before.
    pub fn history_processor(mut self, processor: impl HistoryProcessor + 'static) -> Self {
        self.processors.push(Arc::new(processor));
        self
    }

    /// Adds a guard, which sees every call and every request to a model, and may change or refuse it. Default: none.
    ///
    /// Before a call or request, guards run in the order in which they were added; afterwards, in reverse order.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Records every effect in `journal`, and replays what is recorded there. Default: none.
    ///
    /// The approver's decisions are recorded too. Modes, rules and approvals for the session are evaluated again when
    /// a run is resumed, unless the call's result is already recorded.
    ///
    /// A finished run returns its recorded result, and nothing runs again. A failed run is resumed: the failures that
    /// led to its error are retried; failures that the run recovered from stay recorded.
    ///
    /// Use a journal for one runtime only: another runtime with a clone of it would take an equal run of this one for
    /// its own, and return its result.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Adds a shadow, which runs a worker alongside a tool in the background and reports whether they agree. Default:
    /// none.
    pub fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadows.push(shadow);
        self
    }

    /// Adds a worker, which models, code and toolsets find by its name like a linked one. Default: none.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// use llm_do::worker::WorkerSpec;
    /// use llm_do::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let translator = WorkerSpec::new("translator", "Translate into French.");
    /// let model = TestModel::new().text("Bonjour !");
    /// let runtime = Runtime::builder().worker(translator).force_model(model).build()?;
    /// assert_eq!(runtime.run_named("translator", json!({ "input": "Hello!" })).await?, "Bonjour !");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn worker(mut self, spec: WorkerSpec) -> Self {
        let caller = std::panic::Location::caller();
        self.workers.push((spec, Origin::Source(Location::new(caller.file(), caller.line()))));
        self
    }

    /// Adds the workers of all files named `*.worker` and `*.agent` directly inside a folder, in addition to earlier
    /// folders. Default: none.
    ///
    /// The files are read when the runtime is built, and their workers are found by name like linked ones. See
    /// [`worker`](macro@crate::worker#a-worker-file-at-run-time) for the format.
    pub fn worker_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_dirs.push(path.into());
        self
    }

    /// Sets the folder where each worker that a model creates is written, as the worker file `NAME.worker`. Default:
    /// none is written.
    ///
    /// No file is overwritten: creating a worker whose file exists fails. The folder is created with the first file.
    /// Pass it to [`worker_dir`](Self::worker_dir) too to load the workers of earlier sessions; a missing folder
    /// counts as empty.
    ///
    /// A file is completely written to disk before its worker can be called. A run that is resumed from a
    /// [journal](Self::journal) has the workers that it created before, even if their files were loaded since; if a
    /// file was changed, resuming fails with an error.
    #[cfg(feature = "workers")]
    pub fn worker_store(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_store = Some(path.into());
        self
    }

    /// Sets whether models stream their answers. Default: false. Streaming splits the same events into smaller
    /// pieces.
    pub fn streaming(mut self, yes: bool) -> Self {
        self.streaming = yes;
        self
    }

    /// Cancels all runs once `token` is cancelled.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Sets the approver, unless one is set.
    #[cfg(feature = "cli")]
    pub(crate) fn default_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Returns whether calls that need approval would be denied, because no approver is set.
    #[cfg(feature = "cli")]
    pub(crate) fn has_no_approver(&self) -> bool {
        self.mode == ApprovalMode::Prompt && self.approver.is_none()
    }

    /// Returns the approvals of a session over this registry.
    #[cfg(feature = "cli")]
    pub(crate) fn approvals(self, registry: &Registry) -> Result<Approvals, BuildError> {
        Approvals::new(self.mode, self.approver, self.policy, registry).map_err(BuildError::Policy)
    }

    /// Sets the handler of questions to the user, unless one is set.
    #[cfg(feature = "cli")]
    pub(crate) fn default_input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.input_handler.get_or_insert_with(|| Arc::new(handler));
        self
    }

    /// Removes the journal and the shadows, for runs that do not belong to the application.
    #[cfg(feature = "cli")]
    pub(crate) fn without_journal_and_shadows(mut self) -> Self {
        self.journal = None;
        self.shadows.clear();
        self
    }

    /// Changes the limits of runs.
    #[cfg(feature = "cli")]
    pub(crate) fn map_limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        let limits = change(self.limits.take().unwrap_or_default());
        self.limits = Some(limits).filter(|limits| *limits != Limits::default());
        self
    }

    /// Returns the token that cancels all runs.
    #[cfg(feature = "cli")]
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// Builds the session.
    ///
    /// # Errors
    ///
    /// Returns all errors of one kind. The kinds are checked in this order: worker files; names that collide,
    /// prefixes of two model providers, unknown names in `toolsets` and invalid workers; missing state of registered
    /// tools; unknown names in limits and timeouts; malformed model names and providers that are not linked, unless
    /// [`force_model`](Self::force_model) is set; unknown names in the policy; unknown names in shadows.
    ///
    /// A missing API key is not an error here, since the program may never use that model: the worker that uses it
    /// fails. A worker without a model is not an error either: a run that may call it, according to the declarations of
    /// its items, is refused before anything runs. The command `check` reports both.
    pub fn build(mut self) -> Result<Runtime, BuildError> {
        let registry = self.collect()?;
        self.build_on(registry)
    }

    /// Collects the linked items and the added workers.
    pub(crate) fn collect(&mut self) -> Result<Registry, BuildError> {
        let mut workers = std::mem::take(&mut self.workers);
        let store = self.worker_store.as_deref();
        let read = worker_file::read_dirs(&self.worker_dirs, store).map_err(BuildError::WorkerFiles)?;
        workers.extend(read.into_iter().map(|(spec, path)| (spec, Origin::File(path))));
        Ok(Registry::with_workers(workers)?)
    }

    /// Returns the choice of models: the builder's model, then the environment's, then the default.
    pub(crate) fn models(&self) -> ModelChoice {
        let set_by = |set_by| move |name| SessionModel { name, set_by };
        let given = || self.model.clone().map(set_by("`model` of the runtime"));
        let variable = || std::env::var(MODEL_VARIABLE).ok().filter(|name| !name.trim().is_empty());
        let default = || self.default_model.clone().map(set_by("the default model"));
        let session = given().or_else(|| variable().map(set_by("`LLM_DO_MODEL`"))).or_else(default);
        ModelChoice::new(self.forced_model.clone(), session, self.capabilities.clone().unwrap_or_default())
    }

    /// Returns the prices of models.
    pub(crate) fn price_table(&self) -> PriceTable {
        self.prices.clone().unwrap_or_default()
    }

    /// Builds the session with a registry that was collected before.
    pub(crate) fn build_on(self, registry: Registry) -> Result<Runtime, BuildError> {
        let missing = registry.missing_state(|key| self.state.contains_key(&key.id));
        if !missing.is_empty() {
            return Err(BuildError::MissingState(missing));
        }
        let invalid = named_limits::errors(&self.worker_limits, &self.timeouts, &registry);
        if !invalid.is_empty() {
            return Err(BuildError::Bounds(invalid));
        }
        let models = self.models();
        let unusable = models.faults(&registry);
        if !unusable.is_empty() {
            return Err(BuildError::Models(unusable));
        }
        let capacity = self.sink_capacity.unwrap_or(event::CAPACITY);
        let approvals = Approvals::new(self.mode, self.approver, self.policy, &registry).map_err(BuildError::Policy)?;
        let shadows = Shadows::new(self.shadows, &registry).map_err(BuildError::Shadow)?;
        let plane = Plane {
            registry,
            approvals,
            models,
            state: self.state,
            sinks: self.sinks.into_iter().map(|sink| event::delivered(sink, capacity)).collect(),
            sink_capacity: capacity,
            run_sinks: Arc::default(),
            settings: self.settings,
            project_root: self.project_root.unwrap_or_else(|| PathBuf::from(".")),
            max_depth: self.max_depth.unwrap_or(5),
            limits: self.limits.map(Arc::new),
            worker_limits: self.worker_limits.into_iter().map(|(name, limits)| (name, Arc::new(limits))).collect(),
            prices: Arc::new(self.prices.unwrap_or_else(PriceTable::builtin)),
            timeouts: self.timeouts,
            close_timeout: self.close_timeout.unwrap_or(CLOSE_TIMEOUT),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            input_handler: self.input_handler,
            processors: self.processors.into(),
            guards: Guards::new(self.guards),
            journal: self.journal,
            places: ChildSteps::default(),
            shadows,
            runtime_workers: RuntimeWorkers::new(self.worker_store),
            streaming: self.streaming,
            return_permission_errors: self.return_permission_errors,
        };
        Ok(Runtime { plane: Arc::new(plane), cancellation: self.cancellation })
    }
}
