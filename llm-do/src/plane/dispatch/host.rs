//! The implementation of [`Host`] for runs, through which contexts make calls.

use std::any::{Any, TypeId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_do_providers::{ServerSideTool, SettingWarning};
use serde_json::Value;

use super::Run;
use super::admit::Proposed;
use crate::base::error::{BoxError, CallError};
use crate::base::mutex::IgnorePoison;
use crate::declare::nesting::shallow;
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::{Effect, ToolReturn};
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{Caller, Event, EventKind, ItemKind};
use crate::observe::journal::Journal;
use crate::plane::context::{CallContext, Host, RawArguments};
use crate::plane::declared::Callee;
use crate::plane::instance::CloseTasks;
use crate::plane::user_input::InputHandler;

impl Host for Run {
    fn call<'a>(
        &'a self,
        caller: CallContext,
        whom: Callee<'a>,
        arguments: RawArguments,
        by: Caller,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        let arguments = arguments.and_then(|arguments| shallow(arguments).map_err(|fault| fault.to_string()));
        let found = self.callee(&caller, whom, by);
        let frame = self.frame(&caller, whom, found.as_deref().ok().map(AsRef::as_ref), by);
        let ctx = caller.into_child(frame);
        let proposed = match (found, arguments) {
            (Ok(tool), Ok(arguments)) if tool.is_checked_slowly(&arguments) => {
                return Box::pin(self.decode_and_execute(ctx, tool, arguments));
            }
            (found, arguments) => found.and_then(|tool| Proposed::new(self, tool, arguments)),
        };
        match proposed {
            Ok(proposed) => Box::pin(self.execute(ctx, proposed)),
            Err(error) => Box::pin(self.refuse(ctx, error)),
        }
    }

    fn may_skip_fields(&self, tool: &str) -> Result<bool, CallError> {
        self.plane.registry.get(tool).map_or(Ok(false), |tool| tool.may_skip_fields())
    }

    fn is_observed(&self) -> bool {
        !self.plane.sinks.is_empty() || self.sinks.is_open()
    }

    fn emit(&self, ctx: &CallContext, kind: EventKind) {
        let frame = ctx.frame();
        let mut seq = self.seq.lock().ignore_poison();
        let event = Arc::new(Event {
            run: Arc::clone(&self.id),
            call: frame.call,
            parent: ctx.caller().filter(|_| frame.by != Caller::User).map(|caller| caller.frame().call),
            seq: *seq,
            depth: frame.depth,
            name: Arc::clone(&frame.name),
            time: self.now(),
            kind,
        });
        *seq += 1;
        self.plane.sinks.iter().for_each(|sink| sink.emit(&event));
        self.sinks.emit(&event);
    }

    fn warn(&self, ctx: &CallContext, model: &Arc<str>, warning: &SettingWarning) {
        let key = (Arc::clone(model), warning.clone());
        if !self.warned.lock().ignore_poison().insert(key) {
            return;
        }
        let SettingWarning { setting, message, .. } = warning.clone();
        self.emit(ctx, EventKind::SettingWarning { model: Arc::clone(model), setting, message });
    }

    fn subtask<'a>(
        &'a self,
        caller: &'a CallContext,
        request: SubtaskRequest,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        Box::pin(self.run_subtask(caller, request))
    }

    fn make_worker<'a>(&'a self, ctx: &'a CallContext, spec: WorkerSpec) -> BoxFuture<'a, Result<Value, BoxError>> {
        Box::pin(self.create_worker(ctx, spec))
    }

    fn call_made<'a>(
        &'a self,
        caller: &'a CallContext,
        worker: &'a str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> BoxFuture<'a, Result<ToolReturn, CallError>> {
        Box::pin(self.call_worker(caller, worker, input, attachments))
    }

    fn permit_server_side<'a>(
        &'a self,
        worker: &'a CallContext,
        tools: &'a [ServerSideTool],
    ) -> BoxFuture<'a, Result<Vec<ServerSideTool>, CallError>> {
        Box::pin(self.permitted(worker, tools))
    }

    fn run(&self) -> &str {
        &self.id
    }

    fn now(&self) -> Timestamp {
        self.plane.config.clock.now()
    }

    fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.plane.config.journal.as_ref()
    }

    fn is_read_only(&self, caller: &CallContext, shown: &str) -> bool {
        let found = Callee::Shown(shown).resolve(caller.declared()).and_then(|name| self.plane.registry.get(name));
        found.is_some_and(|tool| tool.kind() == ItemKind::Tool && tool.effect() == Effect::ReadOnly)
    }

    fn input_handler(&self) -> Option<&Arc<dyn InputHandler>> {
        self.run_input_handler()
    }

    fn project_root(&self) -> &Path {
        self.run_project_root()
    }

    fn close_tasks(&self) -> &CloseTasks {
        &self.close_tasks
    }

    fn state(&self, of: TypeId) -> Option<Arc<dyn Any + Send + Sync>> {
        self.run_state(of)
    }
}
