//! What runs once a call is admitted: a function, or a worker's turns.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::Plane;
use crate::context::{CallContext, Given};
use crate::definition::Start;
use crate::error::{CallError, Fault, panic_text};
use crate::event::Caller;
use crate::history::Conversation;
use crate::registry::{Briefing, Prepared, Registered, WorkerPlan};
use crate::tool::{Failure, ToolReturn, Way};
use crate::worker::{Limits, Output, WorkerRun};

/// Checks and decodes the arguments of a call; none at all stands for an empty object.
pub(super) fn decode(tool: &Registered, arguments: Given) -> Result<Prepared, CallError> {
    let given =
        arguments.map_err(Fault::new).map(|given| if given.is_null() { Value::Object(Map::new()) } else { given });
    given.and_then(|given| Prepared::decode(tool, given)).map_err(|fault| CallError::invalid(tool.name(), fault))
}

/// Runs a call to its end: in the instances that it needs, and with the subtask that it may ask for.
pub(super) async fn perform(
    plane: &Plane,
    tool: &Registered,
    prepared: Prepared,
    ctx: &CallContext,
    conversation: Option<&Arc<Conversation>>,
) -> Result<ToolReturn, CallError> {
    if tool.receiver.is_some() || !tool.instances.is_empty() {
        Box::pin(equip(tool, ctx)).await?;
    }
    match prepared {
        Prepared::Function(start) => {
            let returned = function(tool, start, ctx).await?;
            if returned.subtask.is_some() { Box::pin(hand_over(returned, ctx)).await } else { Ok(returned) }
        }
        // On the heap: functions nest deeper than workers, and their calls need none of it on the stack.
        Prepared::Worker(briefing) => Box::pin(plane.work(*briefing, ctx, conversation)).await,
    }
}

/// Gives the subtask that a tool asks for to a worker, whose answer is the tool's.
async fn hand_over(returned: ToolReturn, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let ToolReturn { value, mut attachments, note, subtask } = returned;
    let value = match subtask {
        Some(request) => {
            let answer = ctx.give(*request).await?;
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
        own.receive(receiver);
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
        briefing: Briefing,
        ctx: &CallContext,
        conversation: Option<&Arc<Conversation>>,
    ) -> Result<ToolReturn, CallError> {
        let Briefing { plan, ask, .. } = briefing;
        let prompt = ask(ctx).prompt().await?;
        let mut run = self.worker_run(&plan, ctx)?;
        run.conversation = conversation.filter(|_| ctx.frame().by == Caller::User).cloned();
        let limits = Limits { max_turns: plan.max_turns, retries: plan.retries };
        run.run(prompt, limits).await
    }

    fn worker_run(&self, plan: &WorkerPlan, ctx: &CallContext) -> Result<WorkerRun, CallError> {
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
        if let Some(lacking) = plan.server_side_tools.iter().find(|tool| !profile.runs(tool)) {
            return Err(unfit(format!(
                "its provider has no `{lacking}` for it; choose another model, or leave it out"
            )));
        }
        let output = Output::new(plan.output, plan.shape(), plan.check, profile, !tools.is_empty()).map_err(unfit)?;
        Ok(WorkerRun {
            ctx: ctx.clone(),
            model_name: model.name().into(),
            prices: Arc::clone(&self.prices),
            model,
            instructions: output.instructed(&plan.instructions),
            tools,
            server_side_tools: plan.server_side_tools.clone(),
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

/// Runs a function where it belongs: in place, or off the async threads.
async fn function(tool: &Registered, start: Box<dyn Start>, ctx: &CallContext) -> Result<ToolReturn, CallError> {
    let result = match start.start(ctx).0 {
        Way::Failed(error) => return Err(error),
        Way::Inline(result) => result,
        Way::Future(body) => body.await,
        Way::Blocking(body) => match tokio::task::spawn_blocking(body).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => return Err(panicked(tool, error.into_panic().as_ref())),
            Err(_) => return Err(CallError::Cancelled { tool: tool.name().to_owned() }),
        },
    };
    result.map_err(|Failure(source)| CallError::Failed { tool: tool.name().to_owned(), source })
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
pub(super) fn unpanicked(
    tool: &Registered,
    caught: Result<Result<ToolReturn, CallError>, Box<dyn Any + Send>>,
) -> Result<ToolReturn, CallError> {
    caught.unwrap_or_else(|payload| Err(panicked(tool, payload.as_ref())))
}

fn panicked(tool: &Registered, payload: &(dyn Any + Send)) -> CallError {
    CallError::Panicked { tool: tool.name().to_owned(), message: panic_text(payload).to_owned() }
}
