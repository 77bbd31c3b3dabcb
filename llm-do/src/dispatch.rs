//! The one place where a call happens: find → decode → depth → approve → run → report.

mod approve;
mod open_call;
mod perform;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use llm_do_providers::Settings;

use self::open_call::OpenCall;
use self::perform::{Prepared, panicked};
use crate::approval::Approvals;
use crate::context::{CallContext, CallFrame, Given, Host};
use crate::declared::Callee;
use crate::error::{BoxError, CallError, chain};
use crate::event::{Caller, Event, EventKind, EventSink, Kind};
use crate::model_choice::ModelChoice;
use crate::registry::{Registered, Registry};
use crate::tool::ToolReturn;

/// How many calls of any kind may be in one another: more than programs need, and less than a stack of 2 MiB holds.
const MAX_NESTING: u32 = 50;

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

#[async_trait]
impl Host for Run {
    async fn call(
        &self,
        caller: &CallContext,
        whom: Callee<'_>,
        arguments: Given,
        by: Caller,
    ) -> Result<ToolReturn, CallError> {
        // Code that makes one quick call after the other must let others run too.
        tokio::task::coop::consume_budget().await;
        let name = whom.resolve(caller.frame().declared.as_deref()).unwrap_or(whom.name());
        if caller.is_cancelled() {
            // Code that calls again and again must come to a halt here, where the cancelled run can drop it.
            tokio::task::yield_now().await;
            return Err(CallError::Cancelled { tool: name.to_owned() });
        }
        let mut frame = self.open(caller, name, by);
        let _cancel_on_drop = frame.cancellation.clone().drop_guard();
        let admitted = self.admit(caller.frame(), whom, &mut frame, arguments, by).await;
        let ctx = caller.child(frame);
        let result = match admitted {
            Ok((tool, prepared)) => self.run(&tool, prepared, caller, &ctx, by).await,
            Err(error) => {
                ctx.emit(EventKind::CallRefused { by, error: chain(&error) });
                Err(error)
            }
        };
        if by == Caller::User {
            ctx.emit(EventKind::Usage { used: ctx.usage() });
        }
        result
    }

    fn emit(&self, frame: &CallFrame, kind: EventKind) {
        let mut seq = self.seq.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Event {
            run: Arc::clone(&self.id),
            call: frame.call,
            parent: frame.parent,
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

    /// Begins the frame of a call; what the callee's definition decides is filled in once it is found.
    fn open(&self, caller: &CallContext, name: &str, by: Caller) -> CallFrame {
        let caller = caller.frame();
        CallFrame {
            call: self.calls.fetch_add(1, Ordering::Relaxed),
            parent: (by != Caller::User).then_some(caller.call),
            depth: caller.depth,
            nesting: caller.nesting + 1,
            name: name.into(),
            declared: None,
            meter: caller.meter.child(),
            instances: Arc::default(),
            cancellation: caller.cancellation.child_token(),
        }
    }

    /// Finds the callee, decodes its arguments and decides whether the call may run.
    async fn admit(
        &self,
        caller: &CallFrame,
        whom: Callee<'_>,
        frame: &mut CallFrame,
        arguments: Given,
        by: Caller,
    ) -> Result<(Arc<Registered>, Prepared), CallError> {
        let tool = self.find(caller, whom, by)?;
        let prepared = Prepared::decode(&tool, arguments)?;
        self.descend(caller, frame, &tool)?;
        let prepared = self.approve(caller, frame, &tool, prepared, by).await?;
        Ok((tool, prepared))
    }

    /// Finds what the caller may call. A model is not told of what it may not.
    fn find(&self, caller: &CallFrame, whom: Callee<'_>, by: Caller) -> Result<Arc<Registered>, CallError> {
        let registry = &self.plane.registry;
        let declared = caller.declared.as_deref();
        if let Some(tool) = whom.resolve(declared).and_then(|name| registry.get(name)) {
            return Ok(Arc::clone(tool));
        }
        let (name, tool) = (whom.name(), whom.name().to_owned());
        let is_shown = declared.is_some_and(|declared| declared.shown(name).is_some());
        if by != Caller::Model && !is_shown && registry.get(name).is_some() {
            return Err(CallError::NotDeclared { tool, caller: caller.name.to_string() });
        }
        Err(CallError::NotFound { tool, hint: registry.hint(name, declared) })
    }

    /// Sets the callee's depth and declaration; a worker is one deeper than its caller.
    fn descend(&self, caller: &CallFrame, frame: &mut CallFrame, tool: &Registered) -> Result<(), CallError> {
        let name = || tool.name().to_owned();
        if frame.nesting > MAX_NESTING {
            return Err(CallError::Nesting { tool: name(), limit: MAX_NESTING });
        }
        frame.declared.clone_from(&tool.declared);
        if tool.kind() != Kind::Worker {
            return Ok(());
        }
        let (depth, limit) = (caller.depth, self.plane.max_depth);
        if depth >= limit {
            return Err(CallError::Depth { tool: name(), caller: caller.name.to_string(), depth, limit });
        }
        frame.depth = depth + 1;
        frame.declared.get_or_insert_default();
        Ok(())
    }

    /// Runs an admitted call and reports how it ended.
    async fn run(
        &self,
        tool: &Registered,
        prepared: Prepared,
        caller: &CallContext,
        ctx: &CallContext,
        by: Caller,
    ) -> Result<ToolReturn, CallError> {
        let open = OpenCall::start(ctx, tool.kind(), by, prepared.arguments.clone());
        let body = async {
            equip(tool, caller, ctx).await?;
            prepared.perform(&self.plane, tool, ctx).await
        };
        let body = AssertUnwindSafe(body).catch_unwind();
        // The body goes first, so that calls inside it notice a cancellation, and report it, before it is dropped.
        let result = tokio::select! {
            biased;
            result = body => result.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref()))),
            () = ctx.cancelled() => Err(CallError::Cancelled { tool: tool.name().to_owned() }),
        };
        let closed = ctx.frame().instances.close().await;
        let result = result.and_then(|returned| closed.map(|()| returned).map_err(|error| unclosed(tool, &error)));
        open.finish(&result);
        result
    }
}

/// Opens the instances that a call needs: that of the toolset whose method it is, and those that it declares.
async fn equip(tool: &Registered, caller: &CallContext, ctx: &CallContext) -> Result<(), CallError> {
    let own = &ctx.frame().instances;
    if let Some(def) = &tool.def.instance {
        // A caller that does not declare the toolset has no instance: the call gets one to itself.
        let receiver = match caller.frame().instances.get(def.key()) {
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
