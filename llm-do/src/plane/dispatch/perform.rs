//! Executes an admitted call: a function, or a worker's turns.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;
use llm_do_providers::{Message, ServerSideTool, ToolSpec, UserPart};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::{Plane, instructions};
use crate::base::error::{BoxError, CallError, Unsure, panic_text};
use crate::declare::prompt::Prompt;
use crate::declare::tool::{Body, Failure, ToolReturn};
use crate::plane::context::CallContext;
use crate::plane::conversation::Conversation;
use crate::plane::guard::Guards;
use crate::plane::model_choice::ChosenModel;
use crate::plane::registry::{Prepared, PreparedWorker, Registered, WorkerPlan};
use crate::plane::worker::{Limits, Output, ShownMessages, ToolSearch, WorkerRun};

/// What a worker's call takes from its run.
#[derive(Clone, Copy)]
pub(super) struct WorkerSetup<'a> {
    pub(super) plane: &'a Arc<Plane>,
    pub(super) guards: Option<&'a Guards>,
    /// The conversation that the call continues, if it is the first of a run or in a thread.
    pub(super) conversation: Option<&'a Arc<Conversation>>,
    /// Whether the call returns its prompt instead of asking its model.
    pub(super) renders_only: bool,
    /// Whether a denied call ends the run instead of being returned to the worker's model.
    pub(super) end_on_denial: bool,
}

/// The model of a worker, and the tools and output that its requests use.
pub(super) struct ModelPlan {
    pub(super) model: Arc<ChosenModel>,
    tools: Arc<[ToolSpec]>,
    output: Output,
}

/// A call that has been started.
pub(super) enum Execution<'a> {
    /// It has finished, such as a function that runs in place.
    Done(Result<ToolReturn, CallError>),
    Pending(Pending<'a>),
}

/// A call that has not finished.
pub(super) enum Pending<'a> {
    /// The future of an async function.
    Future(BoxFuture<'static, Result<ToolReturn, Failure>>),
    /// A function on a blocking thread; if this is dropped before the function starts, it never runs.
    Thread(AbortOnDropHandle<Result<ToolReturn, Failure>>),
    /// More steps than a function, such as a worker or a recorded call.
    Composed(BoxFuture<'a, Result<ToolReturn, CallError>>),
}

/// Starts a call: opens the instances that it needs, and runs the subtask that it may return.
#[inline]
pub(super) fn perform<'a>(
    setup: WorkerSetup<'a>,
    tool: &'a Registered,
    prepared: Prepared,
    ctx: &'a CallContext,
) -> Execution<'a> {
    // Boxed, here and below: functions nest deeper than workers, and most calls do not take this branch.
    if tool.receiver.is_some() || !tool.instances.is_empty() {
        return Execution::composed(async move {
            open_instances(tool, ctx).await?;
            start(setup, tool, prepared, ctx).wait(tool, ctx).await
        });
    }
    start(setup, tool, prepared, ctx)
}

/// Starts a call whose instances are open.
#[inline]
fn start<'a>(setup: WorkerSetup<'a>, tool: &Registered, prepared: Prepared, ctx: &'a CallContext) -> Execution<'a> {
    match prepared {
        Prepared::Function { start, .. } => match start.start(ctx).0 {
            Body::Failed(error) => Execution::Done(Err(error)),
            Body::Inline(Ok(returned)) if returned.subtask.is_some() => Execution::composed(run_subtask(returned, ctx)),
            Body::Inline(result) => Execution::Done(result.map_err(|failure| failed(tool, failure))),
            Body::Future(body) => Execution::Pending(Pending::Future(body)),
            Body::Blocking(body) => {
                Execution::Pending(Pending::Thread(AbortOnDropHandle::new(tokio::task::spawn_blocking(body))))
            }
        },
        Prepared::Worker(briefing) => Execution::composed(setup.work(*briefing, ctx)),
    }
}

impl<'a> Execution<'a> {
    pub(super) fn composed(body: impl Future<Output = Result<ToolReturn, CallError>> + Send + 'a) -> Self {
        Self::Pending(Pending::Composed(Box::pin(body)))
    }

    /// Waits until the call has finished.
    pub(super) async fn wait(self, tool: &Registered, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        match self {
            Self::Done(result) => result,
            Self::Pending(pending) => pending.wait(tool, ctx).await,
        }
    }
}

impl Pending<'_> {
    /// Waits until the call and the subtask that it may return have finished.
    pub(super) async fn wait(self, tool: &Registered, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        // A separate block, so that the future holds no result while it waits for the subtask.
        let subtask = {
            let result = match self {
                Self::Future(body) => body.await,
                Self::Thread(body) => match body.await {
                    Ok(result) => result,
                    Err(error) if error.is_panic() => return Err(panicked(tool, error.into_panic().as_ref())),
                    Err(_) => return Err(CallError::Cancelled { tool: tool.name().to_owned() }),
                },
                Self::Composed(body) => return body.await,
            };
            match result {
                Ok(returned) if returned.subtask.is_some() => Box::pin(run_subtask(returned, ctx)),
                result => return result.map_err(|failure| failed(tool, failure)),
            }
        };
        subtask.await
    }
}

fn failed(tool: &Registered, Failure(source): Failure) -> CallError {
    match CallError::failed(tool.name(), source) {
        CallError::Failed { tool, source } => match source.downcast::<Unsure>() {
            Ok(unsure) => CallError::Unsure { tool, reason: unsure.reason },
            Err(source) => CallError::Failed { tool, source },
        },
        error => error,
    }
}

/// Runs the subtask that a tool returned; the worker's answer becomes the tool's result.
async fn run_subtask(returned: ToolReturn, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let ToolReturn { content, mut attachments, note, subtask } = returned;
    let content = match subtask {
        Some(request) => {
            let answer = ctx.delegate(*request).await?;
            attachments.extend(answer.attachments);
            answer.content
        }
        None => content,
    };
    Ok(ToolReturn { content, attachments, note, subtask: None })
}

/// Opens the instances that a call needs: the receiver of a method, and those of declared toolsets.
async fn open_instances(tool: &Registered, ctx: &CallContext) -> Result<(), CallError> {
    let own = &ctx.frame().instances;
    if let Some(def) = &tool.receiver {
        // A caller that does not declare the toolset has no instance, so the call gets a new one.
        let receiver = match ctx.caller().and_then(|caller| caller.frame().instances.get(def.key())) {
            Some(opened) => opened,
            None => def.open(ctx).await?,
        };
        own.set_receiver(receiver);
    }
    for def in &tool.instances {
        own.push(def.open(ctx).await?);
    }
    Ok(())
}

/// Closes the open instances of a finished call; if that fails, the call fails.
pub(super) async fn close_instances(
    tool: &Registered,
    ctx: &CallContext,
    result: Result<ToolReturn, CallError>,
) -> Result<ToolReturn, CallError> {
    let failed = |error| CallError::Failed {
        tool: tool.name().to_owned(),
        source: format!("a toolset could not be closed: {error}").into(),
    };
    let closed = ctx.frame().instances.close().await;
    result.and_then(|returned| closed.map(|()| returned).map_err(failed))
}

/// Returns the parts of a prompt, after the instructions of its worker.
async fn rendered(instructions: &str, prompt: Prompt, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let fail = |source: BoxError| CallError::Failed { tool: ctx.name().to_owned(), source };
    let message = prompt.into_message(ctx.project_root()).await.map_err(|text| fail(text.into()))?;
    let Message::User { parts } = message else { return Ok(Value::Null.into()) };
    let instructions = Some(instructions).filter(|text| !text.trim().is_empty());
    let instructions = instructions.map(|text| UserPart::Text { text: text.to_owned() });
    let parts: Vec<_> = instructions.into_iter().chain(parts).collect();
    serde_json::to_value(parts).map(Into::into).map_err(|error| fail(error.into()))
}

impl WorkerSetup<'_> {
    /// Runs a worker's turns.
    async fn work(self, worker: PreparedWorker, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        let PreparedWorker { plan, render, .. } = worker;
        if !self.renders_only
            && let Some(returned) = Box::pin(self.answer_by_code(&plan, ctx)).await?
        {
            return Ok(returned);
        }
        let instructions = instructions::of_call(&plan, ctx).await?;
        let prompt = render(ctx).prompt().await?;
        if self.renders_only {
            return rendered(&instructions, prompt, ctx).await;
        }
        let run = self.worker_run(&plan, &instructions, ctx).await?;
        let limits = Limits { max_turns: plan.max_turns, retries: plan.retries };
        run.run(prompt, limits).await
    }

    pub(super) async fn worker_run(
        self,
        plan: &WorkerPlan,
        instructions: &Arc<str>,
        ctx: &CallContext,
    ) -> Result<WorkerRun, CallError> {
        let ModelPlan { model, tools, output } = self.plane.model_plan(plan, ctx)?;
        if !plan.server_side_tools.is_empty() {
            // Do not ask the approver about a request that would be refused.
            ctx.check_request(&model.name, || self.plane.unpriced(plan, &model))?;
        }
        let server_side_tools = ctx.permitted_server_side(&plan.server_side_tools).await?;
        let tools = match &ctx.frame().declared {
            Some(declared) if server_side_tools.contains(&ServerSideTool::ProgrammaticToolCalling) => {
                self.plane.registry.specs_for_code(declared)
            }
            _ => tools,
        };
        let has_search = model.profile().tool_search;
        let (tools, deferred, search) = match ToolSearch::over(&tools, self.plane.config.max_tools) {
            Some(_) if has_search => (Arc::default(), tools, None),
            Some(search) => (search.specs(), Arc::default(), Some(search)),
            None => (tools, Arc::default(), None),
        };
        Ok(WorkerRun {
            ctx: ctx.clone(),
            prices: Arc::clone(&self.plane.config.prices),
            model,
            instructions: output.instructed(&plan.with_code_rules(instructions)),
            tools,
            search,
            deferred,
            server_side_tools,
            output,
            settings: plan.settings.clone().over(&self.plane.config.settings),
            streaming: self.plane.config.streaming,
            end_on_denial: self.end_on_denial,
            processors: Arc::clone(&self.plane.config.processors),
            guards: self.guards.cloned(),
            conversation: self.conversation.cloned(),
            shown: ShownMessages::default(),
        })
    }
}

impl Plane {
    /// Chooses the model of a worker, or returns why it has none or the model does not support what the worker needs.
    pub(super) fn model_plan(&self, plan: &WorkerPlan, ctx: &CallContext) -> Result<ModelPlan, CallError> {
        let model = self.models.choose(ctx.name(), plan)?;
        let tools = ctx.frame().declared.as_ref().map(|declared| Arc::clone(declared.specs())).unwrap_or_default();
        let unfit = |message| {
            let (worker, model) = (ctx.name().to_owned(), model.name.to_string());
            CallError::UnfitModel { worker, model, message }
        };
        let profile = model.profile();
        if !profile.tools
            && let Some(tool) = tools.first()
        {
            return Err(unfit(format!(
                "the model does not support tools, such as `{}`; choose another model, or declare no tools",
                tool.name
            )));
        }
        let mut wanted = plan.server_side_tools.iter().filter(|tool| !self.approvals.blocks_server_side(tool));
        if let Some(unsupported) = wanted.find(|tool| !profile.runs(tool)) {
            let instead = match unsupported {
                ServerSideTool::ProgrammaticToolCalling => {
                    "remove the tool, or set `code = true`, which has code run here"
                }
                _ => "or remove the tool",
            };
            return Err(unfit(format!(
                "the provider does not support `{unsupported}` for this model; choose another model, {instead}"
            )));
        }
        let output = Output::new(plan.output, plan.shape(), plan.check, profile, !tools.is_empty()).map_err(unfit)?;
        Ok(ModelPlan { model, tools, output })
    }
}

/// Waits for `body`, or returns the error of the future that `stop` creates if that finishes first.
///
/// `stop` is called once the body is pending, since many bodies finish on the first poll. The body is polled first, so that
/// nested calls notice and report a cancellation before the body is dropped.
pub(super) async fn run_unless_stopped<'a, T>(
    stop: impl Fn() -> BoxFuture<'a, CallError>,
    mut body: Pin<&mut impl Future<Output = T>>,
) -> Result<T, CallError> {
    let mut stopping = None;
    poll_fn(|cx| match body.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending => stopping.get_or_insert_with(&stop).as_mut().poll(cx).map(Err),
    })
    .await
}

/// Returns the result of a body, or an error if it panicked.
#[inline]
pub(super) fn flatten_panic(
    tool: &Registered,
    caught: Result<Result<ToolReturn, CallError>, Box<dyn Any + Send>>,
) -> Result<ToolReturn, CallError> {
    caught.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref())))
}

pub(super) fn panicked(tool: &Registered, payload: &(dyn Any + Send)) -> CallError {
    CallError::Panicked { tool: tool.name().to_owned(), message: panic_text(payload).to_owned() }
}
