//! Hybrids: code answers the calls of a worker if it is sure of the answer; otherwise the worker answers.

mod guaranteed;

use std::collections::HashMap;
use std::sync::Arc;

use llm_do_bounds::Guarantee;
use llm_do_providers::{Message, ResponsePart};
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

use self::guaranteed::{Comparison, Guaranteed, note_code};
use super::pipeline::Call;
use super::{Run, signature};
use crate::base::error::{CallError, chain};
use crate::declare::schema::{OutputShape, WRAPPER};
use crate::declare::tool::{Effect, ToolReturn};
use crate::observe::event::{Caller, CodeAnswer, EventKind, ItemKind};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::definition::RenderPrompt;
use crate::plane::function_tool::Acts;
use crate::plane::registry::{Registered, Registry, WorkerPlan};

/// The tools that answer first, by the name of their worker.
#[derive(Debug, Default)]
pub(crate) struct Hybrids(HashMap<String, Pair>);

/// A tool that answers first.
#[derive(Debug)]
pub(super) struct Pair {
    tool: String,
    guaranteed: Option<Guaranteed>,
}

/// Who answers a call of a worker.
pub(super) enum FirstAnswer {
    /// Code, with this answer.
    Code(ToolReturn),
    /// The worker; with a guarantee, the call is noted once it has answered.
    Worker(Option<Box<Comparison>>),
}

impl Hybrids {
    /// Registers pairs of a worker and a tool with the guarantees of workers, or returns their faults.
    pub(crate) fn new(
        mut pairs: Vec<(String, String)>,
        guarantees: &[(String, Guarantee)],
        registry: &Registry,
    ) -> Result<Self, Vec<String>> {
        let is_first = |worker: &str| pairs.iter().any(|(other, _)| other == worker);
        let alone = guarantees.iter().filter(|(worker, _)| !is_first(worker));
        let alone: Vec<_> = alone
            .map(|(worker, _)| {
                format!("`{worker}` has a guarantee, but no tool that answers first: name one as its `hybrid`")
            })
            .collect();
        // The server of the tool was not needed for these runs, or could not be used: the worker answers alone.
        pairs.retain(|(_, tool)| !registry.lacks(tool));
        let mut by_worker = HashMap::new();
        let mut faults: Vec<_> = pairs.iter().flat_map(|(worker, tool)| faults(worker, tool, registry)).collect();
        faults.extend(alone);
        for (worker, tool) in pairs {
            // Of a worker that is listed twice, the last guarantee counts.
            let guarantee =
                guarantees.iter().rev().find(|(other, _)| *other == worker).map(|(_, guarantee)| *guarantee);
            let items = registry.get(&worker).zip(registry.get(&tool)).zip(guarantee);
            let checked = items.map(|((worker, tool), guarantee)| Guaranteed::new(worker, tool, guarantee));
            faults.extend(
                registry.get(&tool).filter(|_| guarantee.is_some()).and_then(|tool| effect_fault(&worker, tool)),
            );
            let pair = Pair { tool: tool.clone(), guaranteed: checked };
            if let Some(other) = by_worker.insert(worker.clone(), pair).filter(|other| other.tool != tool) {
                let other = other.tool;
                faults.push(format!("`{worker}` has two tools that answer first, `{other}` and `{tool}`: keep one"));
            }
        }
        if faults.is_empty() { Ok(Self(by_worker)) } else { Err(faults) }
    }

    /// Returns the tool that answers a call of a worker first.
    ///
    /// A shadow calls the worker itself. A worker that is defined for one call or at run time only shares the name.
    fn pair_of(&self, ctx: &CallContext) -> Option<&Pair> {
        let frame = ctx.frame();
        let is_asked = !self.0.is_empty() && !frame.is_shadow && frame.variant.is_none();
        self.0.get(ctx.name()).filter(|_| is_asked)
    }

    /// Returns whether the call is made by a hybrid for the first answer.
    pub(super) fn is_attempt(&self, ctx: &CallContext) -> bool {
        let pair = ctx.caller().and_then(|caller| self.pair_of(caller));
        pair.is_some_and(|pair| pair.tool == ctx.name())
    }
}

fn faults(worker: &str, tool: &str, registry: &Registry) -> Vec<String> {
    let names = || registry.iter().map(|item| item.name());
    let unknown = |name: &&str| registry.get(name).is_none();
    let missing = [worker, tool].into_iter().filter(unknown);
    let mut faults: Vec<_> =
        missing.map(|name| format!("unknown name `{name}`{}", did_you_mean(name, names()))).collect();
    if registry.get(worker).is_some_and(|item| item.kind() != ItemKind::Worker) {
        faults.push(format!("`{worker}` is not a worker: name the worker first, then the tool"));
    }
    if worker == tool {
        faults.push(format!("`{worker}` cannot answer before itself"));
    }
    if faults.is_empty()
        && let (Some(worker), Some(tool)) = (registry.get(worker), registry.get(tool))
        && let Some(fault) = signature::fault(worker, tool)
    {
        faults.push(format!("`{}` cannot answer for `{}`: {fault}", tool.name(), worker.name()));
    }
    faults
}

/// Returns the answer of the tool that answers first, or that the worker must answer.
///
/// With earlier messages, those of a thread too, the answer depends on more than the arguments, so the worker answers. With a guarantee,
/// evidence decides whether code answers, or is compared with the worker.
pub(super) async fn answer_first(run: &Run, plan: &WorkerPlan, ctx: &CallContext) -> Result<FirstAnswer, CallError> {
    let pair = run.plane.hybrids.pair_of(ctx).filter(|_| !run.renders_only(ctx));
    let (Some(pair), Some(arguments)) = (pair, ctx.frame().arguments.get()) else {
        return Ok(FirstAnswer::Worker(None));
    };
    if run.conversation(ctx).is_some_and(|earlier| !earlier.history().messages().is_empty()) {
        return Ok(FirstAnswer::Worker(None));
    }
    let Some(guaranteed) = &pair.guaranteed else {
        let returned = ask(plan, ctx, &pair.tool, arguments, true).await?;
        return Ok(returned.map_or(FirstAnswer::Worker(None), FirstAnswer::Code));
    };
    let subject = guaranteed.subject(run, plan, ctx);
    let may_answer = Box::pin(guaranteed::draw(run, ctx, &subject)).await?;
    match ask(plan, ctx, &pair.tool, arguments, may_answer).await? {
        Some(returned) if may_answer => {
            Box::pin(note_code(run, ctx, &subject)).await;
            Ok(FirstAnswer::Code(returned))
        }
        returned => Ok(FirstAnswer::Worker(Some(Box::new(Comparison::new(subject, returned))))),
    }
}

/// Asks the tool; returns its answer, unless it abstains, fails or returns what the worker may not return.
async fn ask(
    plan: &WorkerPlan,
    ctx: &CallContext,
    tool: &str,
    arguments: &Value,
    may_answer: bool,
) -> Result<Option<ToolReturn>, CallError> {
    let given = GivenArguments::Value(arguments.clone());
    ctx.set_answers_first();
    let (returned, answer, reason) = match ctx.dispatch(Callee::First(tool), given, Caller::Code).await {
        Ok(returned) => check(returned, plan.shape()),
        // The worker might repeat an effect that has already happened.
        Err(error) if !error.is_recoverable() || error.is_outcome_unknown() => return Err(error),
        Err(error) if error.is_unsure() => (None, CodeAnswer::Abstained, Some(chain(&error))),
        Err(error) => (None, CodeAnswer::Failed, Some(chain(&error))),
    };
    let acted = if returned.is_none() { acted_inside(ctx, tool) } else { None };
    if let Some(acted) = acted {
        let reason = reason.unwrap_or_default();
        let stopped = stopped(ctx, tool, &acted, &reason);
        ctx.emit(|| EventKind::Hybrid { tool: tool.to_owned(), answer: CodeAnswer::Stopped, reason: Some(reason) });
        return Err(stopped);
    }
    let answer = if returned.is_some() && !may_answer { CodeAnswer::Compared } else { answer };
    ctx.emit(|| EventKind::Hybrid { tool: tool.to_owned(), answer, reason });
    Ok(returned)
}

/// Notes a call that may change something itself, for the hybrids whose code makes it.
pub(super) fn note_effect(call: &Call<'_>) {
    let tool: &Registered = &call.tool;
    let may_act = tool.kind() == ItemKind::Tool && tool.acts() != Acts::InCalls;
    if may_act && tool.effect() != Effect::ReadOnly {
        call.ctx.note_acted(&tool.name);
    }
}

/// Returns the first tool whose call may have changed something in the attempt of a hybrid. What the tool that answers first does itself does
/// not count: it abstains or fails only if it has changed nothing.
fn acted_inside(ctx: &CallContext, first: &str) -> Option<Arc<str>> {
    ctx.acted().into_iter().find(|tool| **tool != *first)
}

/// Returns the error of a call whose code stopped after an effect. It has only the text of the cause: it is itself no abstention.
fn stopped(ctx: &CallContext, first: &str, acted: &str, reason: &str) -> CallError {
    let text = format!(
        "`{first}` stopped after a call of `{acted}`, which has an effect that the worker might repeat, so the worker does not answer: {reason}"
    );
    CallError::Failed { tool: ctx.name().to_owned(), source: text.into() }
}

/// Returns the fault of a tool that changes something: a call that is compared would do so beside the worker.
fn effect_fault(worker: &str, tool: &Registered) -> Option<String> {
    (tool.effect() != Effect::ReadOnly).then(|| {
        format!(
            "`{worker}` has a guarantee, so `{}` must be `effect = read_only`: it is compared with the worker",
            tool.name()
        )
    })
}

/// Returns the answer of code as the worker's model would write it.
pub(super) fn as_answer(plan: &WorkerPlan, returned: &ToolReturn) -> String {
    match returned.value() {
        Value::String(text) if plan.shape().is_text => text.clone(),
        value if plan.shape().is_wrapped => json!({ WRAPPER: value }).to_string(),
        value => value.to_string(),
    }
}

/// Adds what code answered to the chat or the thread that the call begins, as an answer of the worker's model: later messages continue it.
/// No prompt is rendered for other calls, since the body of a worker may make calls of its own.
///
/// The answer holds even if the prompt cannot be rendered, which would be a failure of the worker; then nothing is added.
pub(super) async fn remember(run: &Run, plan: &WorkerPlan, ctx: &CallContext, render: RenderPrompt, text: String) {
    let continues = run.chat.is_chat || ctx.frame().thread.is_some();
    let Some(conversation) = run.conversation(ctx).filter(|_| continues) else { return };
    let Ok(prompt) = render(ctx).prompt().await else { return };
    let Ok(question) = prompt.into_message(ctx.project_root(), &plan.attachments).await else { return };
    let (history, kept) = conversation.take();
    let mut messages = Vec::from(history);
    messages.extend([question, Message::Assistant { parts: vec![ResponsePart::Text { text }] }]);
    let labels = ctx.labels_to_keep().map(|labels| labels.join(conversation.labels().unwrap_or_default()));
    conversation.save(messages, kept, labels);
}

/// Returns the result of a tool if it is valid for the worker.
fn check(returned: ToolReturn, shape: &OutputShape) -> (Option<ToolReturn>, CodeAnswer, Option<String>) {
    let value = returned.value();
    let fault = if shape.is_text {
        (!value.is_string()).then(|| "it is not a text".to_owned())
    } else if shape.is_wrapped {
        shape.schema.check(&json!({ WRAPPER: value })).err()
    } else {
        shape.schema.check(value).err()
    };
    match fault {
        None => (Some(returned), CodeAnswer::Answered, None),
        Some(fault) => (None, CodeAnswer::Failed, Some(format!("its result is not one of the worker: {fault}"))),
    }
}
