//! Runs the tool of an admitted call: a function, or a worker's turns.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use llm_do_providers::{Message, ServerSideTool, ToolSpec, UserPart};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::hybrid::{FirstAnswer, answer_first, as_answer, remember};
use super::pipeline::{Call, CallResult};
use super::{Plane, Run, instances, instructions};
use crate::base::error::{BoxError, CallError, UnknownOutcome, Unsure, panic_text};
use crate::declare::prompt::{AttachmentPolicy, Prompt};
use crate::declare::tool::{Body, Failure, ToolReturn};
use crate::observe::event::{Label, Labels};
use crate::plane::background::joined;
use crate::plane::context::CallContext;
use crate::plane::model_choice::ChosenModel;
use crate::plane::registry::{Prepared, PreparedWorker, Registered, WorkerPlan};
use crate::plane::worker::{Limits, Output, PartialAnswer, ShownMessages, ToolSearch, WorkerRun, mail_of};

/// The model of a worker, and the tools and output that its requests use.
pub(super) struct ModelPlan {
    pub(super) model: Arc<ChosenModel>,
    tools: Arc<[ToolSpec]>,
    output: Output,
}

/// A call that was started.
enum Execution<'a> {
    /// The call has finished, such as a function that runs in place.
    Done(CallResult),
    Pending(Pending<'a>),
}

/// A call that has not finished.
enum Pending<'a> {
    /// The future of an async function.
    Future(BoxFuture<'static, Result<ToolReturn, Failure>>),
    /// A function on a blocking thread; if this is dropped before the function starts, it never runs.
    Thread(AbortOnDropHandle<Result<ToolReturn, Failure>>),
    /// More steps than a function, such as a worker.
    Composed(BoxFuture<'a, CallResult>),
}

/// Runs the tool of a call until it finishes or is stopped; a panic becomes its result.
pub(super) async fn perform(call: &Call<'_>, prepared: Prepared) -> CallResult {
    let (run, ctx, is_in_journal) = (call.run, call.ctx, call.is_in_journal);
    let tool: &Registered = &call.tool;
    // The block drops the result before the future waits.
    let pending = {
        let started = catch_unwind(AssertUnwindSafe(|| start(run, tool, prepared, ctx)));
        match started.unwrap_or_else(|payload| Execution::Done(Err(panicked(ctx, &*payload)))) {
            Execution::Done(result) => return result,
            Execution::Pending(pending) => pending,
        }
    };
    let stopped = || if is_in_journal { ctx.own_timeout().boxed() } else { ctx.stopped().boxed() };
    let body = pin!(pending.wait(ctx));
    // A tool without a context starts no calls.
    let background = tool.is_composite().then(|| &ctx.frame().background);
    let body = pin!(joined(background, body));
    run_unless_stopped(ctx, stopped, body).await
}

/// Starts a call, which opens the instances that it needs and runs the subtask that it may return.
#[inline]
fn start<'a>(run: &'a Run, tool: &'a Registered, prepared: Prepared, ctx: &'a CallContext) -> Execution<'a> {
    // Boxed here and below, since functions nest deeper than workers.
    if instances::are_needed(tool) {
        return Execution::composed(async move {
            instances::open(tool, ctx).await?;
            match start_opened(run, prepared, ctx) {
                Execution::Done(result) => result,
                Execution::Pending(pending) => pending.wait(ctx).await,
            }
        });
    }
    start_opened(run, prepared, ctx)
}

/// Starts a call whose instances are already open.
#[inline]
fn start_opened<'a>(run: &'a Run, prepared: Prepared, ctx: &'a CallContext) -> Execution<'a> {
    match prepared {
        Prepared::Function { start, .. } => match start.start(ctx).0 {
            Body::Failed(error) => Execution::Done(Err(error)),
            Body::Inline(Ok(returned)) if returned.subtask.is_some() => Execution::composed(run_subtask(returned, ctx)),
            Body::Inline(result) => Execution::Done(result.map_err(|failure| failed(ctx, failure))),
            Body::Future(body) => Execution::Pending(Pending::Future(body)),
            Body::Blocking(body) => {
                Execution::Pending(Pending::Thread(AbortOnDropHandle::new(tokio::task::spawn_blocking(body))))
            }
        },
        Prepared::Worker(briefing) => Execution::composed(work(run, *briefing, ctx)),
    }
}

impl<'a> Execution<'a> {
    fn composed(body: impl Future<Output = CallResult> + Send + 'a) -> Self {
        Self::Pending(Pending::Composed(Box::pin(body)))
    }
}

impl Pending<'_> {
    /// Waits until the call and the subtask that it may return have finished.
    async fn wait(self, ctx: &CallContext) -> CallResult {
        // The block drops the result before the future waits for the subtask.
        let subtask = {
            let result = match self {
                Self::Future(body) => body.await,
                Self::Thread(body) => match body.await {
                    Ok(result) => result,
                    Err(error) if error.is_panic() => return Err(panicked(ctx, &*error.into_panic())),
                    Err(_) => return Err(CallError::Cancelled { tool: ctx.name().to_owned() }),
                },
                Self::Composed(body) => return body.await,
            };
            match result {
                Ok(returned) if returned.subtask.is_some() => Box::pin(run_subtask(returned, ctx)),
                result => return result.map_err(|failure| failed(ctx, failure)),
            }
        };
        subtask.await
    }
}

fn failed(ctx: &CallContext, Failure(source): Failure) -> CallError {
    match CallError::failed(ctx.name(), source) {
        CallError::Failed { tool, source } => reported(tool, source),
        error => error,
    }
}

/// Returns the error of a call that abstained or has an unknown outcome; otherwise the error of one that failed.
fn reported(tool: String, source: BoxError) -> CallError {
    let source = match source.downcast::<Unsure>() {
        Ok(unsure) => return CallError::Unsure { tool, reason: unsure.reason },
        Err(source) => source,
    };
    match source.downcast::<UnknownOutcome>() {
        Ok(unknown) => {
            let UnknownOutcome { reason, began } = *unknown;
            CallError::OutcomeUnknown { tool, began, reason }
        }
        Err(source) => CallError::Failed { tool, source },
    }
}

/// Runs the subtask that a tool returned; the worker's answer becomes the tool's result.
async fn run_subtask(returned: ToolReturn, ctx: &CallContext) -> CallResult {
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

/// Returns the parts of a prompt, after the instructions of its worker.
async fn rendered(instructions: &str, prompt: Prompt, policy: &AttachmentPolicy, ctx: &CallContext) -> CallResult {
    let fail = |source: BoxError| CallError::Failed { tool: ctx.name().to_owned(), source };
    let message = prompt.into_message(ctx.project_root(), policy).await.map_err(|text| fail(text.into()))?;
    let Message::User { parts } = message else { return Ok(Value::Null.into()) };
    let instructions = Some(instructions).filter(|text| !text.trim().is_empty());
    let instructions = instructions.map(|text| UserPart::Text { text: text.to_owned() });
    let parts: Vec<_> = instructions.into_iter().chain(parts).collect();
    serde_json::to_value(parts).map(Into::into).map_err(|error| fail(error.into()))
}

/// Runs a worker's turns.
async fn work(run: &Run, worker: PreparedWorker, ctx: &CallContext) -> CallResult {
    let PreparedWorker { plan, render, .. } = worker;
    let refinement = run.plane.refinements.of(ctx);
    let mut answer_of_code = None;
    let comparison = match Box::pin(answer_first(run, &plan, ctx)).await? {
        FirstAnswer::Code(returned) => {
            let text = as_answer(&plan, &returned);
            // A worker that improves the answer might repeat what code has changed.
            if let Some(refinement) = refinement.filter(|_| ctx.acted().is_empty()) {
                answer_of_code = Box::pin(refinement.score_code(ctx, &returned, &text)).await?;
            }
            if answer_of_code.is_none() {
                Box::pin(remember(run, &plan, ctx, render, text)).await;
                return Ok(returned);
            }
            None
        }
        FirstAnswer::Worker(comparison) => comparison,
    };
    let instructions = instructions::of_call(&plan, ctx).await?;
    let prompt = render(ctx).prompt().await?;
    if run.renders_only(ctx) {
        return rendered(&instructions, prompt, &plan.attachments, ctx).await;
    }
    let worker = worker_run(run, &plan, &instructions, ctx).await?;
    let worker = WorkerRun { refinement: refinement.cloned(), answer_of_code, ..worker };
    let limits = Limits { max_turns: plan.max_turns, retries: plan.retries };
    let result = worker.run(prompt, limits).await;
    if let Some(comparison) = comparison {
        Box::pin(comparison.finish(run, ctx, &result)).await;
    }
    result
}

/// Returns a worker call with its model and its tools, once its server-side tools are permitted.
pub(super) async fn worker_run(
    run: &Run,
    plan: &WorkerPlan,
    instructions: &Arc<str>,
    ctx: &CallContext,
) -> Result<WorkerRun, CallError> {
    let plane = &run.plane;
    let ModelPlan { model, tools, output } = plane.model_plan(plan, ctx)?;
    if !plan.server_side_tools.is_empty() {
        // Checked first, so that the approver is not asked about a request that would be refused.
        ctx.check_request(&model.name, || plane.unpriced(plan, &model))?;
    }
    let server_side_tools = ctx.permitted_server_side(&plan.server_side_tools).await?;
    if !server_side_tools.is_empty() && run.has_flow {
        // What the provider's tools read comes with the answers of the model.
        ctx.origin_notes().join(Labels::public(Label::Untrusted));
    }
    let tools = match &ctx.frame().declared {
        Some(declared) if server_side_tools.contains(&ServerSideTool::ProgrammaticToolCalling) => {
            plane.registry.specs_for_code(declared)
        }
        _ => tools,
    };
    let by_code = plan.code || server_side_tools.contains(&ServerSideTool::ProgrammaticToolCalling);
    let is_allowed = !by_code && ctx.journal().is_none_or(|journal| journal.allows_background());
    let offered = ctx.frame().declared.as_ref().filter(|_| is_allowed).and_then(|declared| declared.background_specs());
    let background = offered.is_some().then(Arc::default);
    let tools = offered.cloned().unwrap_or(tools);
    let has_search = model.profile().tool_search;
    let (tools, deferred, search) = match ToolSearch::over(&tools, plane.config.max_tools) {
        Some(_) if has_search => (Arc::default(), tools, None),
        Some(search) => (search.specs(), Arc::default(), Some(search)),
        None => (tools, Arc::default(), None),
    };
    Ok(WorkerRun {
        ctx: ctx.clone(),
        prices: Arc::clone(&plane.config.prices),
        model,
        instructions: output.instructed(&plan.with_code_rules(instructions)),
        tools,
        search,
        deferred,
        server_side_tools,
        output,
        settings: plan.settings.clone().over(&plane.config.settings),
        streaming: plane.config.streaming || ctx.frame().pieces().is_some(),
        end_on_denial: run.ends_on_denial(),
        processors: Arc::clone(&plane.config.processors),
        guards: run.guards(ctx).cloned(),
        conversation: run.conversation(ctx).cloned(),
        shown: ShownMessages::default(),
        mail: mail_of(ctx),
        partial: PartialAnswer::default(),
        max_result: plan.max_result.or(plane.config.max_result),
        attachments: plan.attachments.clone(),
        results: Arc::clone(&run.chat.results),
        compaction: plane.config.compaction.clone(),
        overhead: OnceLock::new(),
        asked_window: OnceLock::new(),
        background,
        refinement: None,
        answer_of_code: None,
    })
}

impl Plane {
    /// Chooses the model of a worker. Returns an error if there is no model, or if it does not support a feature that
    /// the worker requires.
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

/// Waits for the result of `body`, or returns the error of the future from `stop` if that finishes first. A panic of
/// `body` becomes its result.
///
/// `stop` is called once the body is pending, since many bodies finish on the first poll. The body is polled first, so that
/// nested calls notice and report a cancellation before the body is dropped.
pub(super) async fn run_unless_stopped<'a>(
    ctx: &CallContext,
    stop: impl Fn() -> BoxFuture<'a, CallError>,
    body: Pin<&mut impl Future<Output = CallResult>>,
) -> CallResult {
    let mut body = AssertUnwindSafe(body).catch_unwind();
    let mut stopping = None;
    poll_fn(|cx| match body.poll_unpin(cx) {
        Poll::Ready(caught) => Poll::Ready(caught.unwrap_or_else(|payload| Err(panicked(ctx, &*payload)))),
        Poll::Pending => stopping.get_or_insert_with(&stop).as_mut().poll(cx).map(Err),
    })
    .await
}

fn panicked(ctx: &CallContext, payload: &(dyn Any + Send)) -> CallError {
    CallError::Panicked { tool: ctx.name().to_owned(), message: panic_text(payload).to_owned() }
}
