//! The one place where a call happens: find → decode → depth, cycle → approve → run → report.

mod admit;
mod approve;
mod open_call;
mod perform;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_do_providers::Settings;

use self::open_call::OpenCall;
use self::perform::{Prepared, panicked};
use crate::approval::Approvals;
use crate::context::{CallContext, Given, Host};
use crate::declared::Callee;
use crate::error::{BoxError, CallError, chain};
use crate::event::{Caller, Event, EventKind, EventSink};
use crate::model_choice::ModelChoice;
use crate::registry::{Registered, Registry};
use crate::tool::ToolReturn;

/// What the runs of a session share.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) registry: Registry,
    pub(crate) approvals: Approvals,
    pub(crate) models: ModelChoice,
    pub(crate) state: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    pub(crate) sinks: Vec<Arc<dyn EventSink>>,
    pub(crate) settings: Settings,
    pub(crate) project_root: PathBuf,
    pub(crate) max_depth: u32,
    pub(crate) streaming: bool,
    pub(crate) return_permission_errors: bool,
}

/// One run: a root call and all calls below it.
#[derive(Debug)]
pub(crate) struct Run {
    plane: Arc<Plane>,
    id: Arc<str>,
    calls: AtomicU64,
    /// The next event's number; held while the sinks take an event, so that they see them in order.
    seq: Mutex<u64>,
}

impl Host for Run {
    fn call<'a>(
        &'a self,
        caller: &'a CallContext,
        whom: Callee<'a>,
        arguments: Given,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        Box::pin(self.make(caller, whom, arguments, by))
    }

    fn is_observed(&self) -> bool {
        !self.plane.sinks.is_empty()
    }

    fn emit(&self, ctx: &CallContext, kind: EventKind) {
        let frame = ctx.frame();
        let mut seq = self.seq.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Event {
            run: Arc::clone(&self.id),
            call: frame.call,
            parent: ctx.caller().filter(|_| frame.by != Caller::User).map(|caller| caller.frame().call),
            seq: *seq,
            depth: frame.depth,
            name: Arc::clone(&frame.name),
            time: Timestamp::now(),
            kind,
        };
        *seq += 1;
        self.plane.sinks.iter().for_each(|sink| sink.emit(&event));
    }

    fn project_root(&self) -> &Path {
        &self.plane.project_root
    }

    fn state(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>> {
        self.plane.state.get(&of).cloned()
    }
}

impl Run {
    pub(crate) fn new(plane: Arc<Plane>) -> Self {
        let id = uuid::Uuid::now_v7().to_string().into();
        Self { plane, id, calls: AtomicU64::new(0), seq: Mutex::new(0) }
    }

    /// Makes a call: the sentence at the top of this file.
    async fn make(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        arguments: Given,
        by: Caller,
    ) -> Result<ToolReturn, CallError> {
        // Code that makes one quick call after the other must let others run too.
        tokio::task::coop::consume_budget().await;
        let found = self.find(caller.frame(), whom, by);
        let ctx = caller.child(self.frame(caller, whom, found.as_deref().ok(), by));
        let _cancel_on_drop = ctx.cancel_on_drop();
        if caller.is_cancelled() {
            // Code that calls again and again must come to a halt here, where the cancelled run can drop it.
            tokio::task::yield_now().await;
            return Err(CallError::Cancelled { tool: ctx.name().to_owned() });
        }
        let result = match self.admit(&ctx, found, arguments).await {
            Ok((tool, prepared)) => self.run(&tool, prepared, &ctx).await,
            Err(error) => {
                ctx.emit(|| EventKind::CallRefused { by, error: chain(&error) });
                Err(error)
            }
        };
        if by == Caller::User {
            ctx.emit(|| EventKind::Usage { used: ctx.usage() });
        }
        result
    }

    /// Returns the number of the next call.
    fn number(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs an admitted call and reports how it ended.
    async fn run(
        &self,
        tool: &Arc<Registered>,
        prepared: Prepared,
        ctx: &CallContext,
    ) -> Result<ToolReturn, CallError> {
        let open = OpenCall::start(ctx, tool.kind(), &prepared);
        let body = async {
            equip(tool, ctx).await?;
            prepared.perform(&self.plane, tool, ctx).await
        };
        let body = AssertUnwindSafe(body).catch_unwind();
        // The body goes first, so that calls inside it notice a cancellation, and report it, before it is dropped.
        let result = tokio::select! {
            biased;
            result = body => result.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref()))),
            error = stopped(ctx) => Err(error),
        };
        let closed = ctx.frame().instances.close().await;
        let result = result.and_then(|returned| closed.map(|()| returned).map_err(|error| unclosed(tool, &error)));
        open.finish(&result);
        result
    }
}

/// Waits until the call is cancelled, or has taken too long; returns which it is.
async fn stopped(ctx: &CallContext) -> CallError {
    let cancelled = async {
        ctx.cancelled().await;
        CallError::Cancelled { tool: ctx.name().to_owned() }
    };
    let Some(deadline) = &ctx.frame().deadline else { return cancelled.await };
    tokio::select! {
        error = cancelled => error,
        () = tokio::time::sleep_until(deadline.at) => deadline.error(),
    }
}

/// Opens the instances that a call needs: that of the toolset whose method it is, and those that it declares.
async fn equip(tool: &Registered, ctx: &CallContext) -> Result<(), CallError> {
    let own = &ctx.frame().instances;
    if let Some(def) = &tool.receiver {
        // A caller that does not declare the toolset has no instance: the call gets one to itself.
        let receiver = match ctx.caller().and_then(|caller| caller.frame().instances.get(def.key())) {
            Some(opened) => opened,
            None => def.open(ctx).await?,
        };
        own.receive(receiver);
    }
    for def in &tool.instances {
        own.push(def.open(ctx).await?);
    }
    Ok(())
}

fn unclosed(tool: &Registered, error: &BoxError) -> CallError {
    CallError::Failed { tool: tool.name().to_owned(), source: format!("a toolset did not close: {error}").into() }
}
