//! A run that is started under a call of another run, as that call's child.

use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::admit::{Found, Proposed};
use super::perform::decode_async;
use super::{Plane, Root, Run, RunSettings};
use crate::base::error::CallError;
use crate::base::usage::Limits;
use crate::declare::tool::{ResultForm, ToolReturn};
use crate::observe::event::{Caller, EventSink};
use crate::plane::context::{CallContext, CallFrame, Host};
use crate::plane::declared::Callee;
use crate::plane::guard::Guards;
use crate::plane::history::Conversation;

impl Root {
    /// Executes the call under `caller`.
    pub(super) async fn run_under(self, caller: CallContext) -> Result<ToolReturn, CallError> {
        let Ok(outer) = Arc::clone(caller.host()).into_any().downcast::<Run>() else {
            unreachable!("every context belongs to a run")
        };
        let arguments = self.arguments?;
        let limits = self.settings.limits(&self.plane);
        let run = Arc::new(Run::under(outer, self.plane, self.conversation, self.settings));
        let _open_sinks = run.open_sinks();
        let call = FirstCall { run: &run, caller, limits, cancellation: self.cancellation };
        let result = call.make(&self.name, arguments, |ctx| drop(self.user.set(ctx.clone()))).await;
        run.finish_shadows().await;
        run.close_tasks.finished().await;
        run.settle().await;
        result
    }
}

/// The first call of a run that is started under another.
struct FirstCall<'r> {
    run: &'r Arc<Run>,
    caller: CallContext,
    limits: Option<Arc<Limits>>,
    /// Cancels the call, in addition to what cancels its caller.
    cancellation: CancellationToken,
}

impl FirstCall<'_> {
    async fn make(
        self,
        name: &str,
        arguments: Value,
        started: impl FnOnce(&CallContext),
    ) -> Result<ToolReturn, CallError> {
        let Self { run, caller, limits, cancellation } = self;
        let first = Callee::First(name);
        let found = run.callee(&caller, first, Caller::Code);
        let tool = found.as_deref().ok().map(AsRef::as_ref);
        let (caller, frame) = run.child(caller, first, tool, Caller::Code, ResultForm::Value);
        let limits = match (&frame.limits, limits) {
            (Some(own), Some(runs)) => Some(Arc::new(own.lowest(&runs))),
            (own, runs) => runs.or_else(|| own.clone()),
        };
        // A run takes as much of the stack as one more call.
        let nesting = frame.nesting + 1;
        let frame = CallFrame { limits, nesting, is_unguarded: false, ..frame };
        let host: Arc<dyn Host> = Arc::clone(run) as _;
        let ctx = caller.into_child_of(host, frame);
        started(&ctx);
        let token = ctx.token().clone();
        let cancelling = async {
            cancellation.cancelled().await;
            token.cancel();
            std::future::pending().await
        };
        // Boxed, here and below, since calls nest.
        let calling = Box::pin(run.call_first(ctx, found, arguments));
        tokio::select! {
            biased;
            result = cancelling => result,
            result = calling => result,
        }
    }
}

impl Run {
    /// Creates a run under `outer`, whose id, journal, approver, user and event numbers it shares.
    fn under(outer: Arc<Self>, plane: Arc<Plane>, conversation: Arc<Conversation>, mut settings: RunSettings) -> Self {
        let approvals = settings.approvals_under(&plane, outer.approvals());
        let guards = Guards::chained(outer.guards.as_ref(), plane.guards.as_ref().filter(|_| !outer.is_of(&plane)));
        let (id, scope, is_resumed) = (Arc::clone(&outer.id), outer.approved.clone(), outer.is_resumed);
        let run = Self::new(plane, id, conversation, is_resumed, scope, settings);
        Self { approvals: Some(approvals), guards, outer: Some(outer), ..run }
    }

    async fn call_first(
        &self,
        ctx: CallContext,
        found: Result<Found<'_>, CallError>,
        arguments: Value,
    ) -> Result<ToolReturn, CallError> {
        let calling = match found {
            Ok(tool) => match Box::pin(decode_async(&ctx, &tool, arguments, true)).await {
                Ok(prepared) => self.execute(ctx, Proposed::new(tool, prepared)).boxed(),
                Err(error) => self.refuse(ctx, error).boxed(),
            },
            Err(error) => self.refuse(ctx, error).boxed(),
        };
        calling.await
    }

    /// Returns whether this run, or one that it was started under, is a run of the runtime.
    fn is_of(&self, plane: &Arc<Plane>) -> bool {
        Arc::ptr_eq(&self.plane, plane) || self.outer.as_ref().is_some_and(|outer| outer.is_of(plane))
    }

    /// Returns the run that no other run contains.
    pub(super) fn outermost(&self) -> &Self {
        self.outer.as_ref().map_or(self, |outer| outer.outermost())
    }

    /// Returns the sinks of the runtime, unless a run that contains this one already sends its events to them.
    pub(super) fn runtime_sinks(&self) -> &[Arc<dyn EventSink>] {
        let is_repeated = self.outer.as_ref().is_some_and(|outer| outer.is_of(&self.plane));
        if is_repeated { &[] } else { &self.plane.sinks }
    }
}
