//! Makes the calls of runs; [`pipeline`] is the path of each.

mod approve;
mod begun;
mod decode;
mod deep;
mod find;
mod guard;
mod host;
mod hybrid;
mod instances;
mod journal;
mod limits;
mod perform;
mod pipeline;
mod report;
#[cfg(feature = "mcp")]
mod respond;
mod root;
mod run_settings;
mod runtime_worker;
mod send;
mod server_side;
mod shadow;
mod subtask;
mod thread;
mod under;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use llm_do_providers::SettingWarning;
use tokio_util::task::TaskTracker;

pub(crate) use self::hybrid::Hybrids;
#[cfg(feature = "serve")]
pub(crate) use self::journal::may_repeat_effects;
pub(crate) use self::journal::recorded_outcome;
use self::perform::WorkerSetup;
use self::pipeline::CallResult;
pub(crate) use self::root::{ChatParts, Root, fresh_id};
pub(crate) use self::run_settings::RunSettings;
pub(crate) use self::runtime_worker::{CreatedWorkers, StoredWorker};
use self::send::SentEvents;
pub use self::shadow::Shadow;
pub(crate) use self::shadow::Shadows;
use crate::observe::event::{ActiveRunSinks, EventKind, EventSink, RunSinks, SchemaDigests, ShownContent};
use crate::observe::journal::ChildSteps;
use crate::plane::approval::{Approvals, RunScope};
use crate::plane::config::SessionConfig;
use crate::plane::context::CallContext;
use crate::plane::conversation::{Conversation, Threads};
use crate::plane::guard::Guards;
use crate::plane::instance::CloseTasks;
use crate::plane::model_choice::ModelChoice;
use crate::plane::registry::Registry;

/// The parts of a session that its runs share.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) config: SessionConfig,
    pub(crate) registry: Registry,
    pub(crate) approvals: Approvals,
    pub(crate) models: ModelChoice,
    pub(crate) sinks: Vec<Arc<dyn EventSink>>,
    /// The additional sinks of single runs.
    pub(crate) run_sinks: Arc<ActiveRunSinks>,
    /// The digests of schemas in events with content.
    pub(crate) schema_digests: Arc<SchemaDigests>,
    pub(crate) guards: Option<Guards>,
    /// The steps of root calls in the journal.
    pub(crate) root_steps: ChildSteps,
    pub(crate) shadows: Shadows,
    pub(crate) hybrids: Hybrids,
    /// The folder that the files of created workers are written to.
    pub(crate) worker_store: Option<PathBuf>,
}

/// One run: a root call and all calls below it.
#[derive(Debug)]
pub(crate) struct Run {
    plane: Arc<Plane>,
    id: Arc<str>,
    /// Approvals that are remembered for the run.
    approved: RunScope,
    /// The project's root and the working directory, once an approval needs them.
    folders: OnceLock<[String; 2]>,
    calls: AtomicU64,
    /// The conversation that the root call continues and extends.
    conversation: Arc<Conversation>,
    threads: Arc<Threads>,
    /// The workers created in the run, or in its chat.
    created_workers: Arc<CreatedWorkers>,
    /// Locked while the sinks receive an event, so that they receive events in order.
    sent: Mutex<SentEvents>,
    /// The setting warnings already reported, with the model.
    warned: Mutex<HashSet<(Arc<str>, SettingWarning)>>,
    /// What the events have shown of requests to models.
    shown_content: ShownContent,
    /// Shadow calls in flight.
    shadows: TaskTracker,
    close_tasks: CloseTasks,
    /// Whether an earlier process started the run.
    is_resumed: bool,
    settings: RunSettings,
    /// The run that this one was started under.
    outer: Option<Arc<Run>>,
    /// Whether a run that contains this one is of the same runtime.
    is_repeated: bool,
    guards: Option<Guards>,
    /// Approvals that replace those of the runtime.
    approvals: Option<Approvals>,
    /// Sinks in addition to those of the runtime.
    sinks: RunSinks,
    /// Whether a sink receives events: a run has all its sinks from the start.
    is_observed: bool,
}

impl Run {
    pub(crate) fn new(
        plane: Arc<Plane>,
        id: Arc<str>,
        ChatParts { conversation, threads, created_workers }: ChatParts,
        is_resumed: bool,
        approved: RunScope,
        mut settings: RunSettings,
    ) -> Self {
        let approvals = settings.approvals(&plane);
        let is_observed = !plane.sinks.is_empty() || !settings.sinks.is_empty();
        let sinks = RunSinks::new(std::mem::take(&mut settings.sinks));
        let guards = plane.guards.clone();
        let close_tasks = CloseTasks::new(plane.config.close_timeout);
        let shown_content = ShownContent::new(&plane.schema_digests);
        Self {
            plane,
            id,
            folders: OnceLock::new(),
            calls: AtomicU64::new(0),
            conversation,
            threads,
            created_workers,
            sent: Mutex::default(),
            warned: Mutex::default(),
            shown_content,
            shadows: TaskTracker::new(),
            close_tasks,
            is_resumed,
            settings,
            outer: None,
            is_repeated: false,
            guards,
            approved,
            approvals,
            sinks,
            is_observed,
        }
    }

    /// Finishes the run after its root call, and returns that call's result.
    async fn finish(&self, ctx: &CallContext, result: CallResult) -> CallResult {
        self.finish_tasks().await;
        // The usage of the run, including shadows.
        ctx.emit(|| EventKind::Usage { used: ctx.run_usage() });
        result
    }

    /// Waits for what runs beside the calls.
    async fn finish_tasks(&self) {
        self.shadows.close();
        self.shadows.wait().await;
        // Instances of cancelled calls may still be closing, and the application may exit after the run.
        self.close_tasks.finished().await;
    }

    /// Returns the guards that apply to `ctx`, if any.
    fn guards(&self, ctx: &CallContext) -> Option<&Guards> {
        self.guards.as_ref().filter(|_| !ctx.is_unguarded())
    }

    /// Returns what a worker's call takes from this run.
    fn setup<'a>(&'a self, ctx: &'a CallContext) -> WorkerSetup<'a> {
        let conversation = match &ctx.frame().thread {
            Some(thread) => Some(thread.conversation()),
            None => Some(&self.conversation).filter(|_| ctx.is_first()),
        };
        let renders_only = self.settings.renders_only && ctx.is_first();
        let end_on_denial = self.ends_on_denial();
        WorkerSetup { plane: &self.plane, guards: self.guards(ctx), conversation, renders_only, end_on_denial }
    }

    /// Returns a number for the next call.
    fn next_number(&self) -> u64 {
        self.outermost().calls.fetch_add(1, Ordering::Relaxed)
    }
}
