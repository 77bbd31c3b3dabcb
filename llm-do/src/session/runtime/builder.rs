//! How a session is set up.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use llm_do_providers::{CapabilityTable, Model, PriceTable, Settings};
use tokio_util::sync::CancellationToken;

use super::{BuildError, Runtime, bound};
use crate::base::clock::{Clock, SystemClock};
use crate::base::usage::Limits;
use crate::declare::worker_file;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{self, Callback, Event, EventSink};
use crate::observe::journal::{Journal, Places};
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approvals, Approver, ByFunction, Decision, Policy};
use crate::plane::definition::Location;
use crate::plane::dispatch::{Plane, RuntimeWorkers, Shadow, Shadows};
use crate::plane::guard::{Guard, Guards};
use crate::plane::history::HistoryProcessor;
use crate::plane::instance::CLOSE_TIMEOUT;
use crate::plane::model_choice::{ModelChoice, SessionModel};
use crate::plane::registry::{Origin, Registry};
use crate::plane::user_input::InputHandler;

/// The variable that names the model of workers that declare none.
const MODEL_VARIABLE: &str = "LLM_DO_MODEL";

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
    /// use llm_do::approval::Decision;
    /// use llm_do::Runtime;
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
    ///
    /// A name that no linked provider takes is an error of [`build`](Self::build).
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
    ///
    /// Unless the sink says otherwise, it is called on a thread of its own, so that no run waits for it: see
    /// [`EventSink`]. Dropping the last clone of the runtime waits for what is left, at most 2 seconds for a sink.
    pub fn sink(self, sink: impl EventSink + 'static) -> Self {
        self.shared_sink(Arc::new(sink))
    }

    /// Reports events to a sink that is kept for later, such as a file to be closed.
    pub fn shared_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Calls `f` with each event, on a thread of its own: a sink that is a closure.
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
    /// What comes while as many wait is dropped, until half of them are taken; an
    /// [`EventKind::Dropped`](crate::event::EventKind::Dropped) tells the sink how much is missing.
    pub fn sink_capacity(mut self, events: usize) -> Self {
        self.sink_capacity = Some(events);
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

    /// Limits what a run may use: all its calls together. Default: nothing but [`max_depth`](Self::max_depth).
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Limits what a call of the worker `name`, and all below it, may use, in place of what the worker says itself.
    ///
    /// A worker that is made while the program runs is limited by its name too, and a question by `llm_ask`. A name that
    /// is not registered, but much like one that is, is a fault when the runtime is built.
    pub fn worker_limits(mut self, name: impl Into<String>, limits: Limits) -> Self {
        self.worker_limits.insert(name.into(), limits);
        self
    }

    /// Sets how long a call of the tool, worker or entry `name` may take, in place of what it says itself.
    ///
    /// Of 0, or of a name that is not registered, but much like one that is, it is a fault when the runtime is built. A tool
    /// that runs `inline` takes as long as it takes.
    pub fn timeout(mut self, name: impl Into<String>, timeout: Duration) -> Self {
        self.timeouts.insert(name.into(), timeout);
        self
    }

    /// Sets how long the `close` of one instance of a toolset may take. Default: 10 seconds.
    ///
    /// It is no part of the time of the call that opened the instance: `close` runs to its end after a timeout too, and if
    /// the run is dropped. A root call that ends waits for it. A `close` that takes longer fails the call that waits for it.
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = Some(timeout);
        self
    }

    /// Sets what models cost. Default: [`PriceTable::builtin`].
    pub fn prices(mut self, prices: PriceTable) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Sets what models take and can do, for models that are named: a model that is given built has its own. Default:
    /// [`CapabilityTable::builtin`].
    pub fn capabilities(mut self, capabilities: CapabilityTable) -> Self {
        self.capabilities = Some(capabilities);
        self
    }

    /// Sets the clock that events, and [`CallContext::now`](crate::CallContext::now), have their time from. Default: the
    /// system's.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Asks `handler` what tools ask the user. Default: nobody, so that asking is an error.
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.input_handler = Some(Arc::new(handler));
        self
    }

    /// Lets `processor` change what was said before each request of a worker, after those given before.
    pub fn history_processor(mut self, processor: impl HistoryProcessor + 'static) -> Self {
        self.processors.push(Arc::new(processor));
        self
    }

    /// Shows `guard` every call and every request to a model, to be changed or refused. Default: no guard.
    ///
    /// Before a call or a request, guards see it in the order given; afterwards they see what came of it in reverse.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Records every effect in `journal`, and replays what it has recorded. Default: none.
    ///
    /// What the approver decided is recorded too, and lasts. Modes, rules and approvals for the session decide again when a
    /// run is resumed, unless the call's result is recorded already.
    ///
    /// A run that has ended returns its recorded result, and nothing runs again. One that ended in an error is resumed: the
    /// failures that led to the error are tried again; those that the run went on from stay recorded.
    ///
    /// It is for this runtime alone: another with a clone of it would take equal runs of this one for its own, and do nothing.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Asks a worker alongside a tool, in the background, and reports whether they agree. Default: none.
    pub fn shadow(mut self, shadow: Shadow) -> Self {
        self.shadows.push(shadow);
        self
    }

    /// Adds a worker to those that are linked: models, code and toolsets find it by its name. Default: none.
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

    /// Adds the workers whose files, `*.worker` and `*.agent`, are directly inside a folder, besides those of folders
    /// given before. Default: none.
    ///
    /// They are read when the runtime is built, and found by their names as if they were linked;
    /// [`worker`](macro@crate::worker#a-worker-file-at-run-time) says what is in such a file.
    pub fn worker_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_dirs.push(path.into());
        self
    }

    /// Writes each worker that a model makes into this folder, as the worker file `NAME.worker`. Default: none is written.
    ///
    /// No file is overwritten: a worker of such a name is not made. The folder is made with the first. Give it to
    /// [`worker_dir`](Self::worker_dir) too to have the workers of earlier sessions; until it is made, it is an empty folder.
    ///
    /// A file is on the disk, whole, before its worker is there. A run that is resumed from a
    /// [journal](Self::journal) has the workers that it made before, whether or not their files were read meanwhile; if a file
    /// was changed since, resuming fails and says so.
    #[cfg(feature = "workers")]
    pub fn worker_store(mut self, path: impl Into<PathBuf>) -> Self {
        self.worker_store = Some(path.into());
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

    /// Returns whether calls that need approval would be denied, since no approver is set.
    #[cfg(feature = "cli")]
    pub(crate) fn has_nobody_to_ask(&self) -> bool {
        self.mode == ApprovalMode::Prompt && self.approver.is_none()
    }

    /// Returns the approvals of a session over this registry.
    #[cfg(feature = "cli")]
    pub(crate) fn approvals(self, registry: &Registry) -> Result<Approvals, BuildError> {
        Approvals::new(self.mode, self.approver, self.policy, registry).map_err(BuildError::Policy)
    }

    /// Asks `handler` what tools ask the user, unless another was given.
    #[cfg(feature = "cli")]
    pub(crate) fn default_input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.input_handler.get_or_insert_with(|| Arc::new(handler));
        self
    }

    /// Leaves out the journal and the shadows: for runs that are none of the application's own.
    #[cfg(feature = "cli")]
    pub(crate) fn apart(mut self) -> Self {
        self.journal = None;
        self.shadows.clear();
        self
    }

    /// Changes what a run may use.
    #[cfg(feature = "cli")]
    pub(crate) fn limited(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        let limits = change(self.limits.take().unwrap_or_default());
        self.limits = Some(limits).filter(|limits| *limits != Limits::default());
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
    /// Returns every fault of a kind at once. The kinds are, one after the other: what is wrong in worker files; names that
    /// collide, prefixes that two model providers have, names in `toolsets` that stand for nothing, workers that are none;
    /// state that a registered tool takes and that was not given; names that are not registered, of limits and timeouts;
    /// names of models that are malformed or of a provider that is not linked, unless
    /// [`force_model`](Self::force_model) is set; names that are not registered, in the policy, of shadows.
    ///
    /// A missing API key is no fault here, since the program may never ask that model: the worker that asks it fails. A
    /// worker without any model is no fault either: a run that may come to call it, by what its items declare, is refused
    /// before anything runs. The command `check` reports both.
    pub fn build(mut self) -> Result<Runtime, BuildError> {
        let registry = self.collect()?;
        self.build_on(registry)
    }

    /// Collects what is linked, and the workers that were added.
    pub(crate) fn collect(&mut self) -> Result<Registry, BuildError> {
        let mut workers = std::mem::take(&mut self.workers);
        let store = self.worker_store.as_deref();
        let read = worker_file::read_dirs(&self.worker_dirs, store).map_err(BuildError::WorkerFiles)?;
        workers.extend(read.into_iter().map(|(spec, path)| (spec, Origin::File(path))));
        Ok(Registry::with_workers(workers)?)
    }

    /// Returns the choice of models: what the program says goes before the environment, and that before the default.
    pub(crate) fn models(&self) -> ModelChoice {
        let set_by = |set_by| move |name| SessionModel { name, set_by };
        let given = || self.model.clone().map(set_by("`model` of the runtime"));
        let variable = || std::env::var(MODEL_VARIABLE).ok().filter(|name| !name.trim().is_empty());
        let default = || self.default_model.clone().map(set_by("the default model"));
        let session = given().or_else(|| variable().map(set_by("`LLM_DO_MODEL`"))).or_else(default);
        ModelChoice::new(self.forced_model.clone(), session, self.capabilities.clone().unwrap_or_default())
    }

    /// Returns what models cost.
    pub(crate) fn price_table(&self) -> PriceTable {
        self.prices.clone().unwrap_or_default()
    }

    /// Begins the session over a registry that was collected before.
    pub(crate) fn build_on(self, registry: Registry) -> Result<Runtime, BuildError> {
        let missing = registry.missing_state(|key| self.state.contains_key(&key.id));
        if !missing.is_empty() {
            return Err(BuildError::MissingState(missing));
        }
        let unbound = bound::faults(&self.worker_limits, &self.timeouts, &registry);
        if !unbound.is_empty() {
            return Err(BuildError::Bounds(unbound));
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
            places: Places::default(),
            shadows,
            runtime_workers: RuntimeWorkers::new(self.worker_store),
            streaming: self.streaming,
            return_permission_errors: self.return_permission_errors,
        };
        Ok(Runtime { plane: Arc::new(plane), cancellation: self.cancellation })
    }
}
