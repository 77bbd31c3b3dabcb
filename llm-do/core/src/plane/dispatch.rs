//! Executes the calls of runs; `pipeline` is the path of each call.

mod approve;
mod background;
mod begun;
mod decode;
mod deep;
mod dry_run;
mod find;
mod guard;
mod host;
mod hybrid;
mod instances;
mod instructions;
mod journal;
mod limits;
mod origins;
mod perform;
mod pipeline;
mod refine;
mod report;
mod respond;
mod root;
mod run_settings;
mod runtime_worker;
mod send;
mod server_side;
mod shadow;
mod signature;
mod subtask;
mod thread;
mod under;
mod unknown;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::task::TaskTracker;

pub(crate) use self::hybrid::Hybrids;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::journal::may_repeat_effects;
#[cfg(feature = "script")]
pub(crate) use self::journal::recorded_outcome_only;
#[doc(hidden)]
#[cfg(feature = "serve")]
pub use self::journal::without_content;
pub use self::journal::{recorded_outcome, unknown_calls};
use self::origins::KeptLabels;
use self::pipeline::CallResult;
pub(crate) use self::refine::Refinements;
#[doc(hidden)]
pub use self::root::fresh_id;
pub(crate) use self::root::{ChatParts, Root};
pub(crate) use self::run_settings::RunSettings;
pub(crate) use self::runtime_worker::{CreatedWorkers, StoredWorker};
use self::send::RunEvents;
pub use self::shadow::Shadow;
pub(crate) use self::shadow::Shadows;
use crate::observe::event::{ActiveRunSinks, EventKind, EventSink, SchemaDigests};
use crate::observe::journal::ChildSteps;
use crate::plane::approval::{Approvals, RunScope};
use crate::plane::config::SessionConfig;
use crate::plane::context::CallContext;
use crate::plane::conversation::Conversation;
use crate::plane::guarantee::EvidencePlace;
use crate::plane::guard::Guards;
use crate::plane::instance::CloseTasks;
use crate::plane::mailbox::Mailbox;
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
    /// Where the evidence of guarantees is kept.
    pub(crate) evidence: EvidencePlace,
    pub(crate) refinements: Refinements,
    /// The folder that the files of created workers are written to.
    pub(crate) worker_store: Option<PathBuf>,
}

/// One run: a root call and all calls below it.
#[derive(Debug)]
pub(crate) struct Run {
    plane: Arc<Plane>,
    id: Arc<str>,
    /// Whether an earlier process started the run.
    is_resumed: bool,
    settings: RunSettings,
    /// The parts of a chat that the run continues and extends.
    chat: ChatParts,
    /// The messages to it, or to the run that contains it.
    mailbox: Arc<Mailbox>,
    /// The run under which this one was started.
    outer: Option<Arc<Run>>,
    /// Whether a run that contains this one is of the same runtime.
    is_repeated: bool,
    calls: AtomicU64,
    events: RunEvents,
    background: Background,
    guards: Option<Guards>,
    /// The approvals of the run, if they replace those of the runtime.
    approvals: Option<Approvals>,
    /// The approvals that are remembered for the run.
    approved: RunScope,
    /// Whether anybody may decide about its calls: then they note what they read.
    tracks_origins: bool,
    /// Whether values are labelled.
    has_flow: bool,
    /// By toolset: the join of what its tools got, and may return again.
    kept: KeptLabels,
    /// The project's root and the working directory; set when an approval needs them.
    folders: OnceLock<[String; 2]>,
}

/// The tasks that run beside the calls of a run, and end before it.
#[derive(Debug)]
struct Background {
    /// Shadow calls in flight.
    shadows: TaskTracker,
    close_tasks: CloseTasks,
}

impl Run {
    pub(crate) fn new(
        plane: Arc<Plane>,
        id: Arc<str>,
        chat: ChatParts,
        mailbox: Arc<Mailbox>,
        is_resumed: bool,
        approved: RunScope,
        mut settings: RunSettings,
    ) -> Self {
        let approvals = settings.approvals(&plane);
        let used = approvals.as_ref().unwrap_or(&plane.approvals);
        let (tracks_origins, has_flow) = (used.use_origins() || plane.guards.is_some(), used.has_flow());
        Self {
            approvals,
            tracks_origins,
            has_flow,
            kept: KeptLabels::default(),
            events: RunEvents::new(&plane, std::mem::take(&mut settings.sinks)),
            guards: plane.guards.clone(),
            background: Background {
                shadows: TaskTracker::new(),
                close_tasks: CloseTasks::new(plane.config.close_timeout),
            },
            plane,
            id,
            is_resumed,
            settings,
            chat,
            mailbox,
            outer: None,
            is_repeated: false,
            calls: AtomicU64::new(0),
            approved,
            folders: OnceLock::new(),
        }
    }

    /// Finishes the run after its root call, and returns that call's result.
    async fn finish(&self, ctx: &CallContext, result: CallResult) -> CallResult {
        self.finish_tasks().await;
        // This usage of the run includes shadows.
        ctx.emit(|| EventKind::Usage { used: ctx.run_usage() });
        result
    }

    /// Waits for the tasks that run beside the calls.
    async fn finish_tasks(&self) {
        let Background { shadows, close_tasks } = &self.background;
        shadows.close();
        shadows.wait().await;
        // Instances of cancelled calls may still be closing, and the application may exit after the run.
        close_tasks.finished().await;
    }

    /// Returns the guards that apply to `ctx`, if any.
    fn guards(&self, ctx: &CallContext) -> Option<&Guards> {
        self.guards.as_ref().filter(|_| !ctx.is_unguarded())
    }

    /// Returns the conversation that a call continues, if the call is the first of the run or in a thread.
    fn conversation<'a>(&'a self, ctx: &'a CallContext) -> Option<&'a Arc<Conversation>> {
        match &ctx.frame().thread {
            Some(thread) => Some(thread.conversation()),
            None => Some(&self.chat.conversation).filter(|_| ctx.is_first()),
        }
    }

    /// Returns whether a worker call returns its prompt instead of asking its model.
    fn renders_only(&self, ctx: &CallContext) -> bool {
        self.settings.renders_only && ctx.is_first()
    }

    /// Returns a number for the next call.
    fn next_number(&self) -> u64 {
        self.outermost().calls.fetch_add(1, Ordering::Relaxed)
    }
}
