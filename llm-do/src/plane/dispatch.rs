//! The one place where a call happens: find → decode → guard → depth, cycle, limits → approve → journal → run → guard → report.

mod admit;
mod approve;
mod guard;
mod host;
mod made;
mod open_call;
mod perform;
mod record;
mod root;
mod run_settings;
mod server_side;
mod shadow;
mod subtask;

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use llm_do_providers::{PriceTable, SettingWarning, Settings};
use tokio_util::task::TaskTracker;

use self::admit::{Admitted, Proposed};
pub(crate) use self::made::Made;
use self::open_call::OpenCall;
use self::perform::{Performing, closed, panicked, perform, unless, unpanicked};
pub(crate) use self::record::recorded_outcome;
pub(crate) use self::root::{Root, fresh_id};
pub(crate) use self::run_settings::RunSettings;
pub use self::shadow::Shadow;
pub(crate) use self::shadow::Shadows;
use crate::base::clock::Clock;
use crate::base::error::{CallError, chain};
use crate::base::usage::Limits;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{ActiveRunSinks, Caller, EventKind, EventSink, RunSinks};
use crate::observe::journal::{ChildSteps, Journal};
use crate::plane::approval::{Approvals, RunScope};
use crate::plane::context::{CallContext, Host};
use crate::plane::guard::Guards;
use crate::plane::history::{Conversation, HistoryProcessor};
use crate::plane::instance::CloseTasks;
use crate::plane::model_choice::ModelChoice;
use crate::plane::registry::{Prepared, Registered, Registry};
use crate::plane::user_input::InputHandler;

/// What the runs of a session share.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) registry: Registry,
    pub(crate) approvals: Approvals,
    pub(crate) models: ModelChoice,
    pub(crate) state: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    pub(crate) sinks: Vec<Arc<dyn EventSink>>,
    /// How many events may wait for a sink.
    pub(crate) sink_capacity: usize,
    /// The sinks that single runs have besides.
    pub(crate) run_sinks: Arc<ActiveRunSinks>,
    pub(crate) settings: Settings,
    pub(crate) project_root: PathBuf,
    pub(crate) max_depth: u32,
    pub(crate) limits: Option<Arc<Limits>>,
    /// Limits of workers, by name, beside their own.
    pub(crate) worker_limits: HashMap<String, Arc<Limits>>,
    pub(crate) prices: Arc<PriceTable>,
    pub(crate) timeouts: HashMap<String, Duration>,
    /// How long the `close` of an instance may take.
    pub(crate) close_timeout: Duration,
    pub(crate) streaming: bool,
    pub(crate) return_permission_errors: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) input_handler: Option<Arc<dyn InputHandler>>,
    pub(crate) processors: Arc<[Arc<dyn HistoryProcessor>]>,
    pub(crate) guards: Option<Guards>,
    pub(crate) journal: Option<Arc<dyn Journal>>,
    /// Where the journal keeps the root calls.
    pub(crate) places: ChildSteps,
    pub(crate) shadows: Shadows,
    /// Workers that were made meanwhile.
    pub(crate) made: Made,
}

impl Plane {
    /// Returns the guards that see what is done by `ctx`, if there are any.
    fn guards(&self, ctx: &CallContext) -> Option<&Guards> {
        self.guards.as_ref().filter(|_| !ctx.is_unguarded())
    }
}

/// One run: a root call and all calls below it.
#[derive(Debug)]
pub(crate) struct Run {
    plane: Arc<Plane>,
    id: Arc<str>,
    /// What was approved for it.
    approved: RunScope,
    calls: AtomicU64,
    /// What the root call goes on from, and what is said in it.
    conversation: Arc<Conversation>,
    /// The next event's number; held while the sinks take an event, so that they see them in order.
    seq: Mutex<u64>,
    /// The warnings about settings that were reported, each with its model.
    warned: Mutex<HashSet<(Arc<str>, SettingWarning)>>,
    /// Those under way.
    shadows: TaskTracker,
    close_tasks: CloseTasks,
    /// Whether an earlier process began it.
    is_resumed: bool,
    settings: RunSettings,
    /// In place of those of the runtime.
    approvals: Option<Approvals>,
    /// Besides those of the runtime.
    sinks: RunSinks,
}

impl Run {
    pub(crate) fn new(
        plane: Arc<Plane>,
        id: Arc<str>,
        conversation: Arc<Conversation>,
        is_resumed: bool,
        approved: RunScope,
        mut settings: RunSettings,
    ) -> Self {
        let approvals = settings.approvals(&plane);
        let sinks = RunSinks::new(std::mem::take(&mut settings.sinks));
        let close_tasks = CloseTasks::new(plane.close_timeout);
        Self {
            plane,
            id,
            calls: AtomicU64::new(0),
            conversation,
            seq: Mutex::new(0),
            warned: Mutex::default(),
            shadows: TaskTracker::new(),
            close_tasks,
            is_resumed,
            settings,
            approved,
            approvals,
            sinks,
        }
    }

    /// Makes a call: the sentence at the top of this file, once the callee is found and the arguments are decoded.
    ///
    /// What is rarely needed has a future of its own on the heap, here and below: each call has this one, and they nest. What
    /// all calls go through is inlined, so that results are moved less.
    async fn make(&self, ctx: CallContext, proposed: Proposed<'_>) -> Result<ToolReturn, CallError> {
        let cancel_on_drop = ctx.cancel_on_drop();
        going_on(&ctx).await?;
        let admitted = self.admit(&ctx, proposed).await.map_err(|error| Box::pin(self.refused(&ctx, error)));
        let result = match admitted {
            Ok(admitted) => self.run(admitted, &ctx).await,
            Err(refusing) => return refusing.await,
        };
        drop(cancel_on_drop);
        if ctx.frame().by == Caller::User { Box::pin(self.end(&ctx, result)).await } else { result }
    }

    /// Refuses a call of nothing that is there, or with arguments that it does not take.
    async fn refuse(&self, ctx: CallContext, error: CallError) -> Result<ToolReturn, CallError> {
        going_on(&ctx).await?;
        self.refused(&ctx, error).await
    }

    /// Reports that a call was refused.
    async fn refused(&self, ctx: &CallContext, error: CallError) -> Result<ToolReturn, CallError> {
        ctx.emit(|| EventKind::CallRefused { by: ctx.frame().by, error: chain(&error) });
        if ctx.frame().by == Caller::User { self.end(ctx, Err(error)).await } else { Err(error) }
    }

    /// Ends the run after its root call, and hands on what that came to.
    async fn end(&self, ctx: &CallContext, result: Result<ToolReturn, CallError>) -> Result<ToolReturn, CallError> {
        self.end_shadows().await;
        // What was cut off may still be closing: an application may end after its run.
        self.close_tasks.finished().await;
        // The user's, which has that of shadows too.
        ctx.emit(|| EventKind::Usage { used: ctx.run_usage() });
        result
    }

    /// Returns whether anybody may read the arguments of a call of the tool, beside itself.
    fn reads_arguments(&self, tool: &Registered) -> bool {
        let plane = &self.plane;
        let is_told = plane.journal.is_some() || self.is_observed();
        is_told || plane.guards.is_some() || plane.shadows.watch(tool) || self.approvals().pre_approved(tool).is_none()
    }

    /// Returns the number of the next call.
    fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs an admitted call and reports how it ended.
    async fn run(&self, admitted: Admitted<'_>, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        let Admitted { tool, prepared, visit } = admitted;
        self.begin_time(ctx, &tool);
        let shadowing = self.plane.shadows.of(&tool, ctx, &prepared).map(Box::new);
        let guarded = self.plane.guards(ctx).map(|guards| Box::new((guards, guard::written(&prepared))));
        let mut open = OpenCall::start(ctx, tool.kind(), &prepared);
        let is_recorded = visit.is_some() || record::is_recorded_root(ctx, &tool);
        let result = self.performed(&tool, prepared, ctx, is_recorded.then_some(&mut open)).await;
        // Few calls open anything.
        let result =
            if ctx.frame().instances.is_unused() { result } else { Box::pin(closed(&tool, ctx, result)).await };
        let has_failed = result.is_err();
        let is_replayed_root = record::is_replayed_root(ctx, &tool);
        // Before guards make calls of their own.
        let because = if is_replayed_root { record::led_to(&result, ctx) } else { Vec::new() };
        let result = match guarded {
            Some(guarded) => Box::pin(guard::after_call(guarded.0, ctx, &tool, guarded.1, result)).await,
            None => result,
        };
        let result =
            if is_replayed_root { Box::pin(ctx.keep_result(result, &because, &mut open)).await } else { result };
        let is_journaled_root = ctx.frame().by == Caller::User && ctx.journal().is_some();
        let result = if is_journaled_root { Box::pin(ctx.keep_end(has_failed, because, result)).await } else { result };
        if let (Some(visit), Err(error)) = (&visit, &result) {
            if has_failed {
                visit.fail(error);
            }
            // The call itself may have no record. If a guard refused its result, it has done its work, but what failed in the
            // guard may be tried again.
            visit.fail_by(record::led_to(&result, ctx), error);
        }
        let is_replayed = open.is_replayed;
        open.finish(&result);
        if let Some(shadowing) = shadowing.filter(|_| !is_replayed) {
            self.shadow(&shadowing, ctx, &result);
        }
        result
    }

    /// Begins to perform a call; one that panics in place has ended.
    #[inline]
    fn begin<'a>(&'a self, tool: &'a Registered, prepared: Prepared, ctx: &'a CallContext) -> Performing<'a> {
        let begin = || perform(&self.plane, tool, prepared, ctx, Some(&self.conversation));
        let performing = catch_unwind(AssertUnwindSafe(begin));
        performing.unwrap_or_else(|payload| Performing::Ended(Err(panicked(tool, &*payload))))
    }

    /// Performs a call until it has ended, or is stopped; one that is `recorded` has its place in the journal.
    async fn performed(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
        recorded: Option<&mut OpenCall<'_>>,
    ) -> Result<ToolReturn, CallError> {
        let is_recorded = recorded.is_some();
        // In a block of its own, so that no room is kept for what has ended while there is something to wait for.
        let waiting = {
            let performing = match recorded {
                Some(open) => Performing::composed(self.record(tool, prepared, ctx, open)),
                None => self.begin(tool, prepared, ctx),
            };
            match performing {
                Performing::Ended(result) => return result,
                Performing::Waiting(waiting) => waiting,
            }
        };
        // That a call had no time left is recorded as its end, so that no replay takes that time again.
        let stopped = || if is_recorded { ctx.stopped_by_caller().boxed() } else { ctx.stopped().boxed() };
        let body = pin!(AssertUnwindSafe(waiting.ended(tool, ctx)).catch_unwind());
        unless(stopped, body).await.and_then(|caught| unpanicked(tool, caught))
    }
}

/// Lets others run, and goes on unless the caller is cancelled.
async fn going_on(ctx: &CallContext) -> Result<(), CallError> {
    // Code that makes one quick call after the other must let others run too.
    tokio::task::coop::consume_budget().await;
    if ctx.caller().is_some_and(CallContext::is_cancelled) {
        // Code that calls again and again must come to a halt here, where the cancelled run can drop it.
        tokio::task::yield_now().await;
        return Err(CallError::Cancelled { tool: ctx.name().to_owned() });
    }
    Ok(())
}
