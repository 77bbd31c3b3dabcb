//! What runs once a call is admitted: a function, or a worker's turns.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;
use llm_do_providers::{Model, ToolSpec};
use serde_json::{Map, Value};
use tokio_util::task::AbortOnDropHandle;

use super::Plane;
use crate::base::error::{CallError, Fault, panic_text};
use crate::declare::tool::{Failure, ToolReturn, Way};
use crate::observe::event::Caller;
use crate::plane::context::{CallContext, RawArguments};
use crate::plane::history::Conversation;
use crate::plane::registry::{Prepared, PreparedWorker, Registered, WorkerPlan};
use crate::plane::worker::{Limits, Output, WorkerRun};

/// Checks and decodes the arguments of a call; none at all stands for an empty object.
///
/// `is_read` says whether anybody may read them before or beside the call.
pub(super) fn decode(tool: &Registered, arguments: RawArguments, is_read: bool) -> Result<Prepared, CallError> {
    let given = arguments.map_err(Fault::new);
    let decoded = given.and_then(|given| Prepared::decode(tool, or_empty(given), is_read));
    decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
}

/// The same; arguments that take long to check are checked off the async threads, until the call of `ctx` is stopped.
pub(super) async fn decode_apart(
    ctx: &CallContext,
    tool: &Registered,
    arguments: Value,
    is_read: bool,
) -> Result<Prepared, CallError> {
    tokio::select! {
        biased;
        decoded = Prepared::decode_apart(tool, or_empty(arguments), is_read) => {
            decoded.map_err(|fault| CallError::invalid(tool.name(), fault))
        }
        error = ctx.stopped() => Err(error),
    }
}

fn or_empty(arguments: Value) -> Value {
    if arguments.is_null() { Value::Object(Map::new()) } else { arguments }
}

/// What a worker's model is asked with.
pub(super) struct Fitted {
    pub(super) model: Arc<dyn Model>,
    tools: Arc<[ToolSpec]>,
    output: Output,
}

/// A call that is performed.
pub(super) enum Performing<'a> {
    /// It has ended already, as a function that runs in place has.
    Ended(Result<ToolReturn, CallError>),
    Waiting(Waiting<'a>),
}

/// A call that is waited for.
pub(super) enum Waiting<'a> {
    /// A function's body.
    Body(BoxFuture<'static, Result<ToolReturn, Failure>>),
    /// A function off the async threads. One that has not begun when nobody waits any more never does.
    Thread(AbortOnDropHandle<Result<ToolReturn, Failure>>),
    /// What is more than a function.
    Composed(BoxFuture<'a, Result<ToolReturn, CallError>>),
}

/// Begins to perform a call: in the instances that it needs, and with the subtask that it may ask for.
#[inline]
pub(super) fn perform<'a>(
    plane: &'a Plane,
    tool: &'a Registered,
    prepared: Prepared,
    ctx: &'a CallContext,
    conversation: Option<&'a Arc<Conversation>>,
) -> Performing<'a> {
    // On the heap, here and below: functions nest deeper than workers, and their calls need none of it on the stack.
    if tool.receiver.is_some() || !tool.instances.is_empty() {
        return Performing::composed(async move {
            equip(tool, ctx).await?;
            equipped(plane, tool, prepared, ctx, conversation).ended(tool, ctx).await
        });
    }
    equipped(plane, tool, prepared, ctx, conversation)
}

/// The same, of a call that has its instances.
#[inline]
fn equipped<'a>(
    plane: &'a Plane,
    tool: &Registered,
    prepared: Prepared,
    ctx: &'a CallContext,
    conversation: Option<&'a Arc<Conversation>>,
) -> Performing<'a> {
    match prepared {
        Prepared::Function { start, .. } => match start.start(ctx).0 {
            Way::Failed(error) => Performing::Ended(Err(error)),
            Way::Inline(Ok(returned)) if returned.subtask.is_some() => Performing::composed(hand_over(returned, ctx)),
            Way::Inline(result) => Performing::Ended(result.map_err(|failure| failed(tool, failure))),
            Way::Future(body) => Performing::Waiting(Waiting::Body(body)),
            Way::Blocking(body) => {
                Performing::Waiting(Waiting::Thread(AbortOnDropHandle::new(tokio::task::spawn_blocking(body))))
            }
        },
        Prepared::Worker(worker) => Performing::composed(plane.work(*worker, ctx, conversation)),
    }
}

impl<'a> Performing<'a> {
    pub(super) fn composed(body: impl Future<Output = Result<ToolReturn, CallError>> + Send + 'a) -> Self {
        Self::Waiting(Waiting::Composed(Box::pin(body)))
    }

    /// Waits until the call has ended.
    pub(super) async fn ended(self, tool: &Registered, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        match self {
            Self::Ended(result) => result,
            Self::Waiting(waiting) => waiting.ended(tool, ctx).await,
        }
    }
}

impl Waiting<'_> {
    /// Waits until the call has ended; with it the subtask that it may ask for.
    pub(super) async fn ended(self, tool: &Registered, ctx: &CallContext) -> Result<ToolReturn, CallError> {
        // In a block of its own, so that no room is kept for the result while there is something to wait for.
        let handing_over = {
            let result = match self {
                Self::Body(body) => body.await,
                Self::Thread(body) => match body.await {
                    Ok(result) => result,
                    Err(error) if error.is_panic() => return Err(panicked(tool, error.into_panic().as_ref())),
                    Err(_) => return Err(CallError::Cancelled { tool: tool.name().to_owned() }),
                },
                Self::Composed(body) => return body.await,
            };
            match result {
                Ok(returned) if returned.subtask.is_some() => Box::pin(hand_over(returned, ctx)),
                result => return result.map_err(|failure| failed(tool, failure)),
            }
        };
        handing_over.await
    }
}

fn failed(tool: &Registered, Failure(source): Failure) -> CallError {
    CallError::Failed { tool: tool.name().to_owned(), source }
}

/// Gives the subtask that a tool asks for to a worker, whose answer is the tool's.
async fn hand_over(returned: ToolReturn, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let ToolReturn { value, mut attachments, note, subtask } = returned;
    let value = match subtask {
        Some(request) => {
            let answer = ctx.delegate(*request).await?;
            attachments.extend(answer.attachments);
            answer.value
        }
        None => value,
    };
    Ok(ToolReturn { value, attachments, note, subtask: None })
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
        own.set_receiver(receiver);
    }
    for def in &tool.instances {
        own.push(def.open(ctx).await?);
    }
    Ok(())
}

/// Closes the instances of a call that has ended, if they are not closed yet; one that does not close is its failure.
pub(super) async fn closed(
    tool: &Registered,
    ctx: &CallContext,
    result: Result<ToolReturn, CallError>,
) -> Result<ToolReturn, CallError> {
    let unclosed = |error| CallError::Failed {
        tool: tool.name().to_owned(),
        source: format!("a toolset did not close: {error}").into(),
    };
    let closed = ctx.frame().instances.close().await;
    result.and_then(|returned| closed.map(|()| returned).map_err(unclosed))
}

impl Plane {
    /// Runs a worker's turns.
    async fn work(
        &self,
        worker: PreparedWorker,
        ctx: &CallContext,
        conversation: Option<&Arc<Conversation>>,
    ) -> Result<ToolReturn, CallError> {
        let PreparedWorker { plan, render, .. } = worker;
        let prompt = render(ctx).prompt().await?;
        let mut run = self.worker_run(&plan, ctx).await?;
        run.conversation = conversation.filter(|_| ctx.frame().by == Caller::User).cloned();
        let limits = Limits { max_turns: plan.max_turns, retries: plan.retries };
        run.run(prompt, limits).await
    }

    /// Chooses the model of a worker, or says why it has none, or one that does not do for it.
    pub(super) fn fitted(&self, plan: &WorkerPlan, ctx: &CallContext) -> Result<Fitted, CallError> {
        let model = self.models.choose(ctx.name(), plan)?;
        let tools = ctx.frame().declared.as_ref().map(|declared| Arc::clone(declared.specs())).unwrap_or_default();
        let unfit = |message| {
            let (worker, model) = (ctx.name().to_owned(), model.name().to_owned());
            CallError::UnfitModel { worker, model, message }
        };
        let profile = model.profile();
        if !profile.tools
            && let Some(tool) = tools.first()
        {
            return Err(unfit(format!(
                "it calls no tools, such as `{}`; choose another model, or declare none",
                tool.name
            )));
        }
        let mut wanted = plan.server_side_tools.iter().filter(|tool| !self.approvals.blocks_server_side(tool));
        if let Some(lacking) = wanted.find(|tool| !profile.runs(tool)) {
            return Err(unfit(format!(
                "its provider has no `{lacking}` for it; choose another model, or leave it out"
            )));
        }
        let output = Output::new(plan.output, plan.shape(), plan.check, profile, !tools.is_empty()).map_err(unfit)?;
        Ok(Fitted { model, tools, output })
    }

    async fn worker_run(&self, plan: &WorkerPlan, ctx: &CallContext) -> Result<WorkerRun, CallError> {
        let Fitted { model, tools, output } = self.fitted(plan, ctx)?;
        if !plan.server_side_tools.is_empty() {
            // Nobody is asked about them for a request that would be refused.
            ctx.check_request(model.name(), self.prices.price(model.name()).is_some())?;
        }
        let server_side_tools = ctx.permitted_server_side(&plan.server_side_tools).await?;
        Ok(WorkerRun {
            ctx: ctx.clone(),
            model_name: model.name().into(),
            prices: Arc::clone(&self.prices),
            model,
            instructions: output.instructed(&plan.instructions),
            tools,
            server_side_tools,
            output,
            settings: plan.settings.clone().over(&self.settings),
            streaming: self.streaming,
            return_denials: self.return_permission_errors,
            processors: Arc::clone(&self.processors),
            guards: self.guards(ctx).cloned(),
            conversation: None,
        })
    }
}

/// Waits for `body`, unless what `stop` makes comes first: made once the body has to wait, since many never do.
///
/// The body is asked first, so that calls inside it notice a cancellation, and report it, before it is dropped.
pub(super) async fn unless<'a, T>(
    stop: impl Fn() -> BoxFuture<'a, CallError>,
    mut body: Pin<&mut impl Future<Output = T>>,
) -> Result<T, CallError> {
    let mut stopping = None;
    poll_fn(|cx| match body.as_mut().poll(cx) {
        Poll::Ready(ended) => Poll::Ready(Ok(ended)),
        Poll::Pending => stopping.get_or_insert_with(&stop).as_mut().poll(cx).map(Err),
    })
    .await
}

/// Returns the error of a body that panicked, or else what it ended with.
#[inline]
pub(super) fn unpanicked(
    tool: &Registered,
    caught: Result<Result<ToolReturn, CallError>, Box<dyn Any + Send>>,
) -> Result<ToolReturn, CallError> {
    caught.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref())))
}

pub(super) fn panicked(tool: &Registered, payload: &(dyn Any + Send)) -> CallError {
    CallError::Panicked { tool: tool.name().to_owned(), message: panic_text(payload).to_owned() }
}
