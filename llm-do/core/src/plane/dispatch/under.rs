//! Nested runs: a run that is started under a call of another run, as a child of that call.

use std::sync::Arc;

use futures_util::FutureExt;

use super::deep::with_stack;
use super::find::{callee, new_frame};
use super::pipeline::{CallResult, decode_and_execute};
use super::report::refuse;
use super::run_settings::lowest;
use super::{ChatParts, Plane, Root, Run, RunSettings};
use crate::base::cancellation::cancelled_with;
use crate::observe::event::{Caller, EventSink};
use crate::plane::context::{CallContext, CallFrame, Host};
use crate::plane::declared::Callee;
use crate::plane::guard::Guards;

impl Root {
    /// Executes the call under `caller`.
    pub(super) async fn run_under(self, caller: CallContext) -> CallResult {
        let outer = Run::of(&caller);
        let arguments = self.arguments?;
        let limits = self.settings.limits(&self.plane);
        let run = Arc::new(Run::under(outer, self.plane, self.chat, self.settings));
        let _open_sinks = run.open_sinks();
        let result = {
            let first = Callee::First(&self.name);
            let found = callee(&run, &caller, first, Caller::Code);
            let tool = found.as_deref().ok().map(AsRef::as_ref);
            let frame = new_frame(&run, &caller, first, tool, Caller::Code);
            let limits = lowest(frame.limits.clone(), limits);
            // A run takes as much of the stack as one more call.
            let nesting = frame.nesting + 1;
            let frame = CallFrame { limits, nesting, is_unguarded: false, ..frame };
            let host: Arc<dyn Host> = Arc::clone(&run) as _;
            let ctx = caller.into_child_of(host, frame);
            drop(self.user.set(ctx.clone()));
            let token = ctx.token().clone();
            let calling = match found {
                Ok(tool) => decode_and_execute(&run, ctx, tool, arguments, None).boxed(),
                Err(error) => refuse(&run, ctx, error, arguments.into()).boxed(),
            };
            cancelled_with(&self.cancellation, &token, with_stack(&self.name, nesting, calling)).await
        };
        run.finish_tasks().await;
        run.settle().await;
        result
    }
}

impl Run {
    /// Returns the run that a context belongs to.
    pub(super) fn of<S>(ctx: &CallContext<S>) -> Arc<Self> {
        let Ok(run) = Arc::clone(ctx.host()).into_any().downcast() else {
            unreachable!("every context belongs to a run")
        };
        run
    }

    /// Creates a run under `outer`; both share id, journal, approver, user and event numbers.
    fn under(outer: Arc<Self>, plane: Arc<Plane>, mut chat: ChatParts, mut settings: RunSettings) -> Self {
        // Created workers of another runtime may have tools that are unknown in this one.
        if let Some(same) = outer.innermost_of(&plane) {
            chat.created_workers = Arc::clone(&same.chat.created_workers);
        }
        // Nested parts of a dry run share its plan.
        settings.dry_run = outer.settings.dry_run.clone().or(settings.dry_run.take());
        let approvals = settings.approvals_under(&plane, outer.approvals());
        let is_repeated = outer.innermost_of(&plane).is_some();
        let guards = Guards::chained(outer.guards.as_ref(), plane.guards.as_ref().filter(|_| !is_repeated));
        let (id, scope, is_resumed) = (Arc::clone(&outer.id), outer.approved.clone(), outer.is_resumed);
        let mailbox = Arc::clone(&outer.mailbox);
        let mut run = Self::new(plane, id, chat, mailbox, is_resumed, scope, settings);
        run.events.is_observed |= outer.events.is_observed;
        run.has_flow = approvals.has_flow();
        run.tracks_origins |= outer.tracks_origins || approvals.use_origins() || guards.is_some();
        Self { approvals: Some(approvals), guards, is_repeated, outer: Some(outer), ..run }
    }

    /// Returns the innermost run of the runtime: this run, or one under which it was started.
    fn innermost_of(&self, plane: &Arc<Plane>) -> Option<&Self> {
        std::iter::once(self).chain(self.outer_runs()).find(|run| Arc::ptr_eq(&run.plane, plane))
    }

    /// Returns the run that no other run contains.
    pub(super) fn outermost(&self) -> &Self {
        self.outer.as_ref().map_or(self, |outer| outer.outermost())
    }

    /// Returns the runs under which this one was started, innermost first.
    pub(super) fn outer_runs(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(self.outer.as_deref(), |run| run.outer.as_deref())
    }

    /// Returns whether a denied call ends the run, by the setting of this runtime or of an outer one.
    pub(super) fn ends_on_denial(&self) -> bool {
        self.plane.config.end_on_denial || self.outer_runs().any(|run| run.plane.config.end_on_denial)
    }

    /// Returns the sinks of the runtime, unless a run that contains this one already sends its events to them.
    pub(super) fn runtime_sinks(&self) -> &[Arc<dyn EventSink>] {
        if self.is_repeated { &[] } else { &self.plane.sinks }
    }
}
