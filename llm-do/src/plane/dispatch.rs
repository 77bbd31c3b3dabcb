//! The path of every call: find → decode → guard → depth, cycle, limits → approve → journal → run → guard →
//! report.

mod admit;
mod approve;
mod begun;
mod decode;
mod deep;
mod guard;
mod host;
mod hybrid;
mod instructions;
mod open_call;
mod perform;
mod record;
mod refuse;
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
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use futures_util::FutureExt;
use llm_do_providers::SettingWarning;
use tokio_util::task::TaskTracker;

use self::admit::{Admitted, Proposed};
pub(crate) use self::hybrid::Hybrids;
use self::open_call::OpenCall;
use self::perform::{Execution, WorkerSetup, close_instances, flatten_panic, panicked, perform, run_unless_stopped};
#[cfg(feature = "serve")]
pub(crate) use self::record::may_repeat_effects;
pub(crate) use self::record::recorded_outcome;
pub(crate) use self::root::{ChatParts, Root, fresh_id};
pub(crate) use self::run_settings::RunSettings;
pub(crate) use self::runtime_worker::{CreatedWorkers, StoredWorker};
use self::send::SentEvents;
pub use self::shadow::Shadow;
pub(crate) use self::shadow::Shadows;
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{ActiveRunSinks, Caller, EventKind, EventSink, RunSinks, SchemaDigests, ShownContent};
use crate::observe::journal::ChildSteps;
use crate::plane::approval::{Approvals, RunScope};
use crate::plane::config::SessionConfig;
use crate::plane::context::{CallContext, Host};
use crate::plane::conversation::{Conversation, Threads};
use crate::plane::guard::Guards;
use crate::plane::instance::CloseTasks;
use crate::plane::model_choice::ModelChoice;
use crate::plane::registry::{Prepared, Registered, Registry};

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

/// What reads the arguments and the result of a call, each including those before it.
#[derive(Clone, Copy, PartialEq)]
enum Readers {
    /// The tool alone: text stays text.
    Tool,
    /// Sinks, which take the arguments as the tool decoded them.
    Sinks,
    /// An approver, a guard, a journal or a shadow, which take the arguments as they were given too.
    Plane,
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

    /// Executes a call whose callee is found and whose arguments are decoded: the remaining steps listed above.
    ///
    /// Calls nest, so each call's future must stay small: rare branches are boxed, here and below. The common path is
    /// inlined, so that results are moved less.
    async fn execute(&self, ctx: CallContext, proposed: Proposed<'_>) -> Result<ToolReturn, CallError> {
        let cancel_on_drop = ctx.cancel_on_drop();
        yield_unless_cancelled(&ctx).await?;
        let admitted = self.admit(&ctx, proposed).await;
        let admitted =
            admitted.map_err(|refused| Box::pin(self.report_refusal(&ctx, refused.error, refused.arguments)));
        let result = match admitted {
            Ok(admitted) => self.run(admitted, &ctx).await,
            Err(refusal) => return refusal.await,
        };
        drop(cancel_on_drop);
        if ctx.frame().by == Caller::User { Box::pin(self.finish(&ctx, result)).await } else { result }
    }

    /// Finishes the run after its root call, and returns that call's result.
    async fn finish(&self, ctx: &CallContext, result: Result<ToolReturn, CallError>) -> Result<ToolReturn, CallError> {
        self.finish_tasks().await;
        // The usage of the run, including shadows.
        ctx.emit(|| EventKind::Usage { used: ctx.run_usage() });
        result
    }

    /// Waits for what runs beside the calls.
    async fn finish_tasks(&self) {
        self.finish_shadows().await;
        // Instances of cancelled calls may still be closing, and the application may exit after the run.
        self.close_tasks.finished().await;
    }

    /// Returns what reads the arguments and the result of a call.
    fn readers(&self, tool: &Registered) -> Readers {
        let is_read = self.journal().is_some()
            || self.guards.is_some()
            || self.plane.shadows.contains(tool)
            || self.approvals().pre_approved(tool).is_none();
        match (is_read, self.is_observed) {
            (true, _) => Readers::Plane,
            (false, true) => Readers::Sinks,
            (false, false) => Readers::Tool,
        }
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

    /// Runs an admitted call and reports its result.
    async fn run(&self, admitted: Admitted<'_>, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        let Admitted { tool, mut prepared, in_flight, attempt } = admitted;
        self.set_deadline(ctx, &tool);
        let shadowed = self.plane.shadows.prepare(&tool, ctx, &prepared).map(Box::new);
        let guarded = self.guards(ctx).map(|guards| Box::new((guards, guard::arguments_for_guards(&prepared))));
        let mut open = OpenCall::start(ctx, &tool, &mut prepared, attempt);
        let is_recorded = in_flight.is_some() || record::is_recorded_root(ctx, &tool);
        let result = self.perform_until_stopped(&tool, prepared, ctx, is_recorded.then_some(&mut open)).await;
        // Few calls open instances.
        let result = if ctx.frame().instances.is_unused() {
            result
        } else {
            Box::pin(close_instances(&tool, ctx, result)).await
        };
        let has_failed = result.is_err();
        let is_replayed_root = record::is_replayed_root(ctx, &tool);
        // Before guards make calls themselves.
        let causes = if is_replayed_root { record::failure_causes(&result, ctx) } else { Vec::new() };
        let result = match guarded {
            Some(guarded) => Box::pin(guard::after_call(guarded.0, ctx, &tool, guarded.1, result)).await,
            None => result,
        };
        let result =
            if is_replayed_root { Box::pin(ctx.record_root_result(result, &causes, &mut open)).await } else { result };
        let is_journaled_root = ctx.frame().by == Caller::User && ctx.journal().is_some();
        let result = if is_journaled_root {
            Box::pin(ctx.record_outcome_after_guards(has_failed, causes, result)).await
        } else {
            result
        };
        if let (Some(in_flight), Err(error)) = (&in_flight, &result) {
            if has_failed {
                in_flight.fail(error);
            }
            // The call itself may have no record. If a guard refused its result, the call is complete, but the failures in the
            // guard may be retried.
            in_flight.fail_by(record::failure_causes(&result, ctx), error);
        }
        let is_replayed = open.is_replayed;
        if in_flight.is_some() {
            ctx.pass_on_thread_changes();
        }
        open.finish(&result);
        if let Some(shadowed) = shadowed.filter(|_| !is_replayed) {
            self.spawn_shadows(&shadowed, ctx, &result);
        }
        result
    }

    /// Starts a call; a panic while it starts becomes its result.
    #[inline]
    fn start<'a>(&'a self, tool: &'a Registered, prepared: Prepared, ctx: &'a CallContext) -> Execution<'a> {
        let start = || perform(self.setup(ctx), tool, prepared, ctx);
        let execution = catch_unwind(AssertUnwindSafe(start));
        execution.unwrap_or_else(|payload| Execution::Done(Err(panicked(tool, &*payload))))
    }

    /// Runs a call until it finishes or is stopped; with `recorded`, through the journal.
    async fn perform_until_stopped(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
        recorded: Option<&mut OpenCall<'_>>,
    ) -> Result<ToolReturn, CallError> {
        let is_recorded = recorded.is_some();
        // A separate block, so that the future holds no finished result while it waits.
        let pending = {
            let execution = match recorded {
                Some(open) => Execution::composed(self.record(tool, prepared, ctx, open)),
                None => self.start(tool, prepared, ctx),
            };
            match execution {
                Execution::Done(result) => return result,
                Execution::Pending(pending) => pending,
            }
        };
        // A recorded call records its own timeout as its result, so that a replay does not wait again.
        let stopped = || if is_recorded { ctx.stopped_by_caller().boxed() } else { ctx.stopped().boxed() };
        let body = pin!(AssertUnwindSafe(pending.wait(tool, ctx)).catch_unwind());
        run_unless_stopped(stopped, body).await.and_then(|caught| flatten_panic(tool, caught))
    }
}

/// Yields to other tasks when due; returns an error if the caller is cancelled.
async fn yield_unless_cancelled(ctx: &CallContext) -> Result<(), CallError> {
    // Code that makes many quick calls must not starve other tasks. The thread of deep calls has no budget.
    if deep::is_deep(ctx.frame().nesting) {
        tokio::task::yield_now().await;
    } else {
        tokio::task::coop::consume_budget().await;
    }
    if ctx.caller().is_some_and(CallContext::is_cancelled) {
        // Code that keeps calling must wait here, so that the cancelled run can drop it.
        tokio::task::yield_now().await;
        return Err(CallError::Cancelled { tool: ctx.name().to_owned() });
    }
    Ok(())
}
