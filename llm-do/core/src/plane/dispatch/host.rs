//! The implementation of [`Host`] for runs, through which contexts make calls.

use std::any::Any;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use llm_do_providers::{Message, Response};
use llm_do_providers::{ServerSideTool, SettingWarning};
use serde_json::Value;

use super::deep::with_stack;
use super::pipeline::{self, CallResult};
use super::respond::respond;
use super::subtask::run_subtask;
use super::thread::continue_thread;
use super::{Run, background};
use crate::base::error::{BoxError, CallError, ErrorType, ErrorTypes};
use crate::declare::argument::Given;
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::Effect;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::{Caller, EventKind, Labels, ShownContent};
use crate::observe::journal::Journal;
use crate::plane::context::{CallContext, CallFrame, GivenArguments, Host};
use crate::plane::conversation::Threads;
use crate::plane::declared::Callee;
use crate::plane::instance::{CloseTasks, TypeKey};
use crate::plane::mailbox::Mailbox;
#[cfg(feature = "script")]
use crate::plane::origin::RepeatedCall;
use crate::plane::plan::DryRun;
use crate::plane::registry::Registered;
use crate::plane::user_input::InputHandler;

impl ErrorTypes for Run {
    fn error_type(&self, tool: &str) -> Option<ErrorType> {
        self.plane.registry.get(tool)?.error_type()
    }
}

impl Host for Run {
    fn call<'a>(
        &'a self,
        caller: CallContext,
        whom: Callee<'a>,
        given: GivenArguments<'a>,
        by: Caller,
    ) -> BoxFuture<'a, CallResult> {
        let nesting = caller.frame().nesting + 1;
        with_stack(whom.name(), nesting, pipeline::begin(self, caller, whom, given, by))
    }

    fn in_background(
        self: Arc<Self>,
        caller: CallContext,
        whom: Callee<'_>,
        arguments: Given,
        number: Option<u32>,
    ) -> (CallContext, BoxFuture<'static, CallResult>) {
        background::prepare(self, caller, whom, arguments, number)
    }

    fn may_skip_fields(&self, tool: &str) -> Result<bool, CallError> {
        self.plane.registry.get(tool).map_or(Ok(false), |tool| tool.may_skip_fields())
    }

    fn is_observed(&self) -> bool {
        self.events.is_observed
    }

    fn earlier_labels(&self, worker: &CallContext, shown: Option<&str>) -> Labels {
        self.earlier_labels(worker, shown)
    }

    fn unknown_labels(&self) -> Labels {
        self.approvals().unknown_labels()
    }

    fn has_flow(&self) -> bool {
        self.has_flow
    }

    #[cfg(feature = "script")]
    fn shows_code_results(&self, worker: &str) -> bool {
        self.approvals().shows_code_results(worker)
    }

    #[cfg(feature = "script")]
    fn note_repeated(&self, ctx: &CallContext, call: &RepeatedCall<'_>) {
        self.note_repeated(ctx, call);
    }

    fn tracks_origins(&self) -> bool {
        self.tracks_origins
    }

    fn emit(&self, call: &CallFrame, parent: Option<u64>, kind: EventKind) {
        self.send(call, parent, kind);
    }

    fn shown_content(&self) -> Option<&ShownContent> {
        self.has_content().then(|| &self.outermost().events.shown_content)
    }

    fn warn(&self, ctx: &CallContext, model: &Arc<str>, warning: &SettingWarning) {
        if !self.outermost().events.is_new(model, warning) {
            return;
        }
        let SettingWarning { setting, message, .. } = warning.clone();
        ctx.emit(|| EventKind::SettingWarning { model: Arc::clone(model), setting, message });
    }

    fn call_in_thread<'a>(
        &'a self,
        caller: CallContext,
        thread: &'a str,
        whom: Callee<'a>,
        arguments: Value,
    ) -> BoxFuture<'a, CallResult> {
        let nesting = caller.frame().nesting + 1;
        with_stack(whom.name(), nesting, Box::pin(continue_thread(self, caller, thread, whom, arguments)))
    }

    fn threads(&self) -> &Arc<Threads> {
        &self.chat.threads
    }

    fn subtask<'a>(&'a self, caller: &'a CallContext, request: SubtaskRequest) -> BoxFuture<'a, CallResult> {
        Box::pin(run_subtask(self, caller, request))
    }

    fn create_worker<'a>(
        &'a self,
        ctx: &'a CallContext,
        spec: WorkerSpec,
        replaces: bool,
    ) -> BoxFuture<'a, Result<Value, BoxError>> {
        Box::pin(self.create_worker(ctx, spec, replaces))
    }

    fn list_workers(&self, ctx: &CallContext) -> Value {
        self.list_workers(ctx)
    }

    fn call_runtime_worker<'a>(
        &'a self,
        caller: &'a CallContext,
        worker: &'a str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> BoxFuture<'a, CallResult> {
        Box::pin(self.call_worker(caller, worker, input, attachments))
    }

    fn must_not_repeat(&self, tool: &str) -> bool {
        self.plane.registry.get(tool).is_none_or(|tool| tool.must_not_repeat())
    }

    fn respond<'a>(
        &'a self,
        ctx: &'a CallContext,
        spec: &'a WorkerSpec,
        messages: Vec<Message>,
    ) -> BoxFuture<'a, Result<Response, CallError>> {
        Box::pin(respond(self, ctx, spec, messages))
    }

    fn permit_server_side<'a>(
        &'a self,
        worker: &'a CallContext,
        tools: &'a [ServerSideTool],
    ) -> BoxFuture<'a, Result<Vec<ServerSideTool>, CallError>> {
        Box::pin(self.permitted(worker, tools))
    }

    fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn run(&self) -> &Arc<str> {
        &self.id
    }

    fn now(&self) -> Timestamp {
        self.outermost().plane.config.clock.now()
    }

    fn journal(&self) -> Option<&Arc<dyn Journal>> {
        self.run_journal()
    }

    fn dry_run(&self) -> Option<&Arc<DryRun>> {
        self.settings.dry_run.as_ref()
    }

    fn plan_effect(&self, ctx: &CallContext, name: &str, input: &Value) -> Option<Result<Value, CallError>> {
        self.plan_effect(ctx, name, input)
    }

    fn is_read_only(&self, caller: &CallContext, shown: &str) -> bool {
        self.seen(caller, shown).is_some_and(|item| item.effect() == Effect::ReadOnly)
    }

    fn may_run_in_background(&self, caller: &CallContext, shown: &str) -> bool {
        self.seen(caller, shown).is_some_and(Registered::may_run_in_background)
    }

    fn max_result(&self, caller: &CallContext, shown: &str) -> Option<u64> {
        self.seen(caller, shown)?.max_result()
    }

    fn max_concurrent_calls(&self) -> usize {
        let own = self.plane.config.max_concurrent_calls;
        self.outer_runs().map(|run| run.plane.config.max_concurrent_calls).fold(own, NonZeroUsize::min).get()
    }

    fn input_handler(&self) -> Option<&Arc<dyn InputHandler>> {
        self.run_input_handler()
    }

    fn project_root(&self) -> &Path {
        self.run_project_root()
    }

    fn working_folder(&self) -> &Path {
        self.run_working_folder()
    }

    fn close_tasks(&self) -> &CloseTasks {
        &self.background.close_tasks
    }

    fn state(&self, of: TypeKey) -> Option<Arc<dyn Any + Send + Sync>> {
        self.run_state(of)
    }
}

impl Run {
    /// Returns the tool or worker that the caller sees as `shown`.
    fn seen<'a>(&'a self, caller: &'a CallContext, shown: &'a str) -> Option<&'a Registered> {
        let name = Callee::Shown(shown).resolve(caller.declared())?;
        self.plane.registry.get(name).map(AsRef::as_ref)
    }
}
