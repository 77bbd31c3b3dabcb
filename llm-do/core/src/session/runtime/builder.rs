//! Configures a session.

mod approval;
mod bounds;
mod items;
mod models;
mod observation;
mod preset;
mod sources;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use llm_do_bounds::Guarantee;
use llm_do_providers::PriceTable;
use llm_do_providers::{CapabilityTable, Model};
use tokio_util::sync::CancellationToken;

pub use self::preset::Preset;
use self::sources::WaitNotice;
use super::root_calls::WeakRuntime;
use super::{BuildError, Runtime, named_limits};
use crate::declare::refine::Refine;
use crate::declare::toolset::NamedInstance;
use crate::declare::worker_file;
use crate::observe::event::{self, EventSink};
use crate::observe::journal::{ChildSteps, Journal};
use crate::plane::approval::{ApprovalMode, Approvals, Approver, FlowMode, Policy};
use crate::plane::config::SessionConfig;
use crate::plane::config::WorkingFolder;
use crate::plane::dispatch::{Hybrids, Plane, Refinements, Shadow, Shadows};
use crate::plane::guarantee::{EvidencePlace, EvidenceStore};
use crate::plane::guard::{Guard, Guards};
use crate::plane::instance::TypeKey;
use crate::plane::model_choice::SessionModel;
use crate::plane::registry::{Contents, Origin, Registry, adds_tools};
use crate::plane::tool_source::ToolSource;
use crate::plane::user_input::InputHandler;

/// Configures a [`Runtime`]; created by [`Runtime::builder`].
#[must_use = "a builder does nothing until `build` is called"]
#[derive(Debug, Default)]
pub struct RuntimeBuilder {
    config: SessionConfig,
    mode: Option<ApprovalMode>,
    /// How strict the rule about where values came from is, if that replaces what policies set.
    flow: Option<FlowMode>,
    approver: Option<Arc<dyn Approver>>,
    policy: Policy,
    guards: Vec<Arc<dyn Guard>>,
    forced_model: Option<Arc<dyn Model>>,
    model: Option<SessionModel>,
    default_model: Option<String>,
    /// The workers that use the model that is set in place of the one that they declare.
    overridden: BTreeSet<String>,
    capabilities: CapabilityTable,
    sinks: Vec<Arc<dyn EventSink>>,
    shadows: Vec<Shadow>,
    /// Workers, each with the tool that answers first.
    hybrids: Vec<(String, String)>,
    /// The workers that answer alone, although their files may name a tool.
    without_hybrids: Vec<String>,
    /// The guarantees of workers.
    guarantees: Vec<(String, Guarantee)>,
    /// Where the evidence of guarantees is kept.
    evidence: Option<Arc<dyn EvidenceStore>>,
    /// Workers with their evaluators.
    refined: Vec<Refine>,
    contents: Contents,
    sources: Vec<(Arc<dyn ToolSource>, Origin)>,
    /// The items whose runs need tools of sources; `None` for all.
    roots: Option<Vec<String>>,
    /// Shows the wait for a source.
    wait_notice: Option<WaitNotice>,
    /// The warnings of the sources.
    warnings: Vec<String>,
    worker_dirs: Vec<PathBuf>,
    worker_store: Option<PathBuf>,
    /// Whether missing state is accepted, because no calls are made.
    state_comes_later: bool,
    cancellation: CancellationToken,
}

impl RuntimeBuilder {
    /// Sets the value for tools with a `State<T>` parameter, replacing an earlier one of the same type.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.config.state.insert(TypeKey::of::<T>(None), Arc::new(value));
        self
    }

    /// Sets the value for the tools of a [named instance](NamedInstance), replacing an earlier one of the same type:
    /// `state_for::<orders>(value)`.
    ///
    /// They get no state of other tools, so a forgotten value is an error of [`build`](Self::build).
    /// [`toolset!`](macro@llm_do_macros::toolset) declares named instances.
    pub fn state_for<I: NamedInstance>(mut self, value: impl Send + Sync + 'static) -> Self {
        self.config.state.insert(TypeKey::of_value(&value, I::NAME), Arc::new(value));
        self
    }

    /// Builds a session without the state that tools need, since it makes no calls.
    #[doc(hidden)]
    pub fn state_comes_later(mut self) -> Self {
        self.state_comes_later = true;
        self
    }

    /// Sets the folder that files of prompts are read from; files outside it are refused. Default: the current
    /// folder.
    pub fn project_root(mut self, path: impl Into<PathBuf>) -> Self {
        self.config.project_root = path.into();
        self
    }

    /// Sets the root of the project as the working folder of tools, unless the user named a folder.
    #[doc(hidden)]
    pub fn working_in_project(mut self) -> Self {
        if self.config.working_folder == WorkingFolder::OfProcess {
            self.config.working_folder = WorkingFolder::OfProject;
        }
        self
    }

    /// Sets the folder that tools of the working directory use.
    #[doc(hidden)]
    pub fn working_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.config.working_folder = WorkingFolder::Given(folder.into());
        self
    }

    /// Sets the handler of questions that tools ask the user. Default: none, and asking is an error.
    pub fn input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.config.input_handler = Some(Arc::new(handler));
        self
    }

    /// Records every effect in `journal`, and replays recorded effects. Default: none.
    ///
    /// The approver's decisions are recorded too. Modes, rules and approvals for the session are evaluated again when
    /// a run is resumed, unless the call's result is already recorded.
    ///
    /// A finished run returns its recorded result, and nothing runs again. A failed run is resumed: the failures that
    /// led to its error are retried; failures that the run recovered from stay recorded.
    ///
    /// Use a journal for one runtime only. Another runtime with a clone of it would treat an equal run of this one as
    /// its own, and return its result.
    pub fn journal(mut self, journal: impl Journal) -> Self {
        self.config.journal = Some(Arc::new(journal));
        self
    }

    /// Sets the handler of questions to the user, unless one is set.
    #[doc(hidden)]
    pub fn default_input_handler(mut self, handler: impl InputHandler + 'static) -> Self {
        self.config.input_handler.get_or_insert_with(|| Arc::new(handler));
        self
    }

    /// Removes the journal, the shadows and the guarantees, for runs that do not belong to the application.
    #[doc(hidden)]
    pub fn without_journal_and_shadows(mut self) -> Self {
        self.config.journal = None;
        self.shadows.clear();
        self.guarantees.clear();
        self
    }

    /// Returns a copy of a builder whose items were collected, to build another session on the same registry.
    #[doc(hidden)]
    pub fn copy_without_items(&self) -> Self {
        Self {
            config: self.config.clone(),
            mode: self.mode,
            flow: self.flow,
            approver: self.approver.clone(),
            policy: self.policy.clone(),
            guards: self.guards.clone(),
            forced_model: self.forced_model.clone(),
            model: self.model.clone(),
            default_model: self.default_model.clone(),
            overridden: self.overridden.clone(),
            capabilities: self.capabilities.clone(),
            sinks: self.sinks.clone(),
            shadows: self.shadows.clone(),
            hybrids: self.hybrids.clone(),
            without_hybrids: self.without_hybrids.clone(),
            guarantees: self.guarantees.clone(),
            evidence: self.evidence.clone(),
            refined: self.refined.clone(),
            contents: Contents::default(),
            sources: self.sources.clone(),
            roots: self.roots.clone(),
            wait_notice: self.wait_notice,
            warnings: self.warnings.clone(),
            worker_dirs: Vec::new(),
            worker_store: self.worker_store.clone(),
            state_comes_later: self.state_comes_later,
            cancellation: self.cancellation.clone(),
        }
    }

    /// Builds the session.
    ///
    /// # Errors
    ///
    /// Returns all errors of one kind. The kinds are checked in this order: worker files; sources of tools; names that
    /// collide, prefixes of two model providers, unknown names in `toolsets` and in [`only`](Self::only), invalid workers and
    /// tools; missing state of registered tools; unknown names in limits and timeouts; malformed model names and providers
    /// that are not linked, unless [`force_model`](Self::force_model) is set; unknown names in the policy; unknown names in
    /// shadows; faults of hybrids; faults of evaluators.
    ///
    /// A missing API key is not an error here, since the program may never use that model: the worker that uses it
    /// fails. A worker without a model is not an error either: a run that may call it, according to the declarations of
    /// its items, is refused before anything runs. The command `check` reports both.
    pub fn build(mut self) -> Result<Runtime, BuildError> {
        let registry = self.collect()?;
        self.build_on(registry)
    }

    /// Collects the linked items and those that were added.
    #[doc(hidden)]
    pub fn collect(&mut self) -> Result<Registry, BuildError> {
        let mut contents = std::mem::take(&mut self.contents);
        let store = self.worker_store.as_deref();
        let read = worker_file::read_dirs(&self.worker_dirs, store).map_err(BuildError::WorkerFiles)?;
        contents.workers.extend(read.into_iter().map(|(spec, path)| (spec, Origin::File(path))));
        contents.workers.iter().for_each(|(spec, _)| self.add_pairs(spec));
        contents.implied = self.implied_calls();
        let faults = self.load_sources(&mut contents);
        if !faults.is_empty() {
            return Err(BuildError::Sources(faults));
        }
        contents.effects = self.policy.effect_layers();
        contents.adds_tools = adds_tools(&self.config.settings);
        let registry = Registry::with(contents)?;
        self.warnings.extend(registry.warnings.iter().cloned());
        self.warnings.extend(self.policy.ignored(&registry));
        Ok(registry)
    }

    /// Returns the prices of models.
    #[doc(hidden)]
    #[must_use]
    pub fn price_table(&self) -> &PriceTable {
        &self.config.prices
    }

    /// Builds the session with a registry that was collected before.
    #[doc(hidden)]
    pub fn build_on(mut self, registry: Registry) -> Result<Runtime, BuildError> {
        let missing = registry.missing_state(|key| self.config.state.contains_key(&key.id));
        if !missing.is_empty() && !self.state_comes_later {
            return Err(BuildError::MissingState(missing));
        }
        let invalid = named_limits::errors(&self.config, &registry);
        if !invalid.is_empty() {
            return Err(BuildError::Bounds(invalid));
        }
        let models = self.models();
        let unusable = models.faults(&registry);
        if !unusable.is_empty() {
            return Err(BuildError::Models(unusable));
        }
        self.warnings.extend(models.foreign_faults(&registry));
        let policy = self.policy.with_flow_mode(self.flow);
        let approvals = Approvals::new(self.mode.unwrap_or_default(), self.approver, policy, &registry)
            .map_err(BuildError::Policy)?;
        let shadows = Shadows::new(self.shadows, &registry).map_err(BuildError::Shadow)?;
        let answers_alone = |worker: &String| self.without_hybrids.contains(worker);
        self.guarantees.retain(|(worker, _)| !answers_alone(worker));
        let hybrids = Hybrids::new(self.hybrids, &self.guarantees, &registry).map_err(BuildError::Hybrid)?;
        let refinements = Refinements::new(self.refined, &registry).map_err(BuildError::Refine)?;
        let capacity = self.config.sink_capacity;
        let plane = Plane {
            config: self.config,
            registry,
            approvals,
            models,
            sinks: self.sinks.into_iter().map(|sink| event::delivered(sink, capacity)).collect(),
            run_sinks: Arc::default(),
            schema_digests: Arc::default(),
            guards: Guards::new(self.guards),
            root_steps: ChildSteps::default(),
            shadows,
            hybrids,
            evidence: EvidencePlace::new(self.evidence),
            refinements,
            worker_store: self.worker_store,
        };
        let runtime =
            Runtime { plane: Arc::new(plane), cancellation: self.cancellation, warnings: self.warnings.into() };
        self.sources.iter().for_each(|(source, _)| source.built(WeakRuntime::new(&runtime)));
        Ok(runtime)
    }
}
