//! The one place where a call happens: find → decode → depth → approve → run → report.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::FutureExt;
use jiff::Timestamp;
use llm_do_providers::{Settings, ToolSpec};
use serde_json::{Map, Value};

use crate::approval::{ApprovalRequest, Approvals, needs_approval};
use crate::context::{CallContext, CallFrame, Host};
use crate::definition::{Implementation, Start, WorkerDef};
use crate::error::{CallError, chain};
use crate::event::{Caller, Event, EventKind, EventSink, Judge, Kind, Outcome};
use crate::model_choice::ModelChoice;
use crate::registry::{Registered, Registry};
use crate::tool::{Failure, Way};
use crate::worker::{Limits, Output, WorkerRun, prompt};

/// What the runs of a session share.
#[derive(Debug)]
pub(crate) struct Plane {
    pub(crate) registry: Registry,
    pub(crate) approvals: Approvals,
    pub(crate) models: ModelChoice,
    pub(crate) state: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    pub(crate) sinks: Vec<Arc<dyn EventSink>>,
    pub(crate) settings: Settings,
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

/// Decoded arguments, and what they are for.
enum Prepared {
    Function(Start),
    Worker(WorkerDef, fn(&Value) -> Result<(), String>),
}

#[async_trait]
impl Host for Run {
    async fn call(&self, caller: &CallContext, name: &str, arguments: Value, by: Caller) -> Result<Value, CallError> {
        let mut frame = self.open(caller, name, by);
        match self.admit(caller.frame(), &mut frame, arguments, by).await {
            Ok((tool, prepared, arguments)) => {
                let ctx = caller.child(frame);
                self.run(&tool, prepared, arguments, &ctx, by).await
            }
            Err(error) => {
                self.emit(&frame, EventKind::CallRefused { by, error: chain(&error) });
                Err(error)
            }
        }
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
            name: name.into(),
            declared: None,
            meter: caller.meter.child(),
            cancellation: caller.cancellation.clone(),
        }
    }

    /// Finds the callee, decodes its arguments and decides whether the call may run.
    async fn admit(
        &self,
        caller: &CallFrame,
        frame: &mut CallFrame,
        arguments: Value,
        by: Caller,
    ) -> Result<(Arc<Registered>, Prepared, Value), CallError> {
        if frame.cancellation.is_cancelled() {
            return Err(CallError::Cancelled { tool: frame.name.to_string() });
        }
        let tool = self.find(caller, &frame.name)?;
        let (prepared, arguments) = decode(&tool, arguments)?;
        self.descend(caller, frame, &tool)?;
        self.approve(caller, frame, &tool, &arguments, by).await?;
        Ok((tool, prepared, arguments))
    }

    fn find(&self, caller: &CallFrame, name: &str) -> Result<Arc<Registered>, CallError> {
        let registry = &self.plane.registry;
        let unknown = || CallError::NotFound { tool: name.to_owned(), hint: registry.hint(name) };
        let tool = registry.get(name).ok_or_else(unknown)?;
        match &caller.declared {
            Some(declared) if !declared.iter().any(|declared| **declared == *name) => {
                Err(CallError::NotDeclared { tool: name.to_owned(), caller: caller.name.to_string() })
            }
            _ => Ok(Arc::clone(tool)),
        }
    }

    /// Sets the callee's depth and declaration; a worker is one deeper than its caller.
    fn descend(&self, caller: &CallFrame, frame: &mut CallFrame, tool: &Registered) -> Result<(), CallError> {
        frame.declared.clone_from(&tool.declared);
        if tool.kind() != Kind::Worker {
            return Ok(());
        }
        let limit = self.plane.max_depth;
        if caller.depth >= limit {
            let (tool, caller_name) = (tool.name().to_owned(), caller.name.to_string());
            return Err(CallError::Depth { tool, caller: caller_name, depth: caller.depth, limit });
        }
        frame.depth = caller.depth + 1;
        frame.declared.get_or_insert_default();
        Ok(())
    }

    async fn approve(
        &self,
        caller: &CallFrame,
        frame: &CallFrame,
        tool: &Registered,
        arguments: &Value,
        by: Caller,
    ) -> Result<(), CallError> {
        if by == Caller::User || !needs_approval(tool) {
            self.decided(frame, Judge::Policy, None);
            return Ok(());
        }
        self.emit(frame, EventKind::ApprovalAsked { arguments: arguments.clone() });
        let request = ApprovalRequest {
            tool: Arc::clone(&tool.spec.name),
            description: Arc::clone(&tool.spec.description),
            effect: tool.effect(),
            arguments: arguments.clone(),
            caller: Arc::clone(&caller.name),
        };
        let cancelled = || CallError::Cancelled { tool: tool.name().to_owned() };
        let (ruling, judge) = tokio::select! {
            biased;
            () = frame.cancellation.cancelled() => return Err(cancelled()),
            ruling = self.plane.approvals.decide(&request) => ruling,
        };
        self.decided(frame, judge, ruling.as_ref().err().cloned());
        ruling.map_err(|reason| CallError::Denied { tool: tool.name().to_owned(), reason })
    }

    fn decided(&self, frame: &CallFrame, by: Judge, reason: Option<String>) {
        self.emit(frame, EventKind::ApprovalDecided { approved: reason.is_none(), by, reason });
    }

    /// Runs an admitted call and reports how it ended.
    async fn run(
        &self,
        tool: &Registered,
        prepared: Prepared,
        arguments: Value,
        ctx: &CallContext,
        by: Caller,
    ) -> Result<Value, CallError> {
        let begun = Instant::now();
        ctx.emit(EventKind::CallStarted { what: tool.kind(), by, arguments: arguments.clone() });
        let body = AssertUnwindSafe(self.perform(tool, prepared, arguments, ctx)).catch_unwind();
        let cancelled = || CallError::Cancelled { tool: tool.name().to_owned() };
        // The body goes first, so that calls inside it notice a cancellation, and report it, before it is dropped.
        let result = tokio::select! {
            biased;
            result = body => result.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref()))),
            () = ctx.cancelled() => Err(cancelled()),
        };
        if by != Caller::User {
            ctx.frame().meter.add_tool_call();
        }
        let outcome = match &result {
            Ok(value) => Outcome::Result(value.clone()),
            Err(error) => Outcome::Error(chain(error)),
        };
        let elapsed_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        ctx.emit(EventKind::CallFinished { outcome, elapsed_ms });
        result
    }

    async fn perform(
        &self,
        tool: &Registered,
        prepared: Prepared,
        arguments: Value,
        ctx: &CallContext,
    ) -> Result<Value, CallError> {
        match prepared {
            Prepared::Function(start) => function(tool, start, ctx).await,
            Prepared::Worker(worker, check) => self.worker(tool, worker, check, &arguments, ctx).await,
        }
    }

    async fn worker(
        &self,
        tool: &Registered,
        worker: WorkerDef,
        check: fn(&Value) -> Result<(), String>,
        arguments: &Value,
        ctx: &CallContext,
    ) -> Result<Value, CallError> {
        let plane = &self.plane;
        let model = plane.models.choose(tool.name(), &worker)?;
        let tools = self.specs(ctx);
        let output = Output::new(tool.output_shape(), check, model.profile(), !tools.is_empty());
        let instructions = if worker.instructions.is_empty() { tool.description() } else { worker.instructions };
        let run = WorkerRun {
            ctx: ctx.clone(),
            model,
            instructions: instructions.into(),
            tools,
            output,
            settings: plane.settings.clone(),
            streaming: plane.streaming,
            return_denials: plane.return_permission_errors,
        };
        run.run(prompt(arguments), Limits { max_turns: worker.max_turns, retries: worker.retries }).await
    }

    /// Lists the tools that the callee may call, as a model sees them.
    fn specs(&self, ctx: &CallContext) -> Vec<ToolSpec> {
        let declared = ctx.frame().declared.as_deref().unwrap_or_default();
        declared.iter().filter_map(|name| self.plane.registry.get(name)).map(|tool| tool.spec.clone()).collect()
    }
}

/// Checks and decodes arguments; none at all stands for an empty object.
fn decode(tool: &Registered, arguments: Value) -> Result<(Prepared, Value), CallError> {
    let invalid = |message| CallError::InvalidArguments { tool: tool.name().to_owned(), message };
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    tool.validate(&arguments).map_err(invalid)?;
    match tool.def.implementation {
        Implementation::Function(start) => {
            Ok((Prepared::Function(start(arguments.clone()).map_err(invalid)?), arguments))
        }
        Implementation::Worker { worker, arguments: rewrite, output } => {
            Ok((Prepared::Worker(worker, output), rewrite(arguments).map_err(invalid)?))
        }
    }
}

/// Runs a function where it belongs: in place, or off the async threads.
async fn function(tool: &Registered, start: Start, ctx: &CallContext) -> Result<Value, CallError> {
    let result = match start(ctx).0 {
        Way::Failed(error) => return Err(error),
        Way::Inline(body) => body(),
        Way::Future(body) => body.await,
        Way::Blocking(body) => match tokio::task::spawn_blocking(body).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => return Err(panicked(tool, error.into_panic().as_ref())),
            Err(_) => return Err(CallError::Cancelled { tool: tool.name().to_owned() }),
        },
    };
    result.map_err(|Failure(source)| CallError::Failed { tool: tool.name().to_owned(), source })
}

fn panicked(tool: &Registered, payload: &(dyn Any + Send)) -> CallError {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    CallError::Panicked { tool: tool.name().to_owned(), message: text.unwrap_or("no text").to_owned() }
}
