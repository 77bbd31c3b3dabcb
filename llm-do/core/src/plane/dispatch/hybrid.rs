//! Hybrids: code answers the calls of a worker if it is sure of the answer; otherwise the worker answers.

use std::collections::HashMap;

use llm_do_providers::{Message, ResponsePart};
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

use super::{Run, signature};
use crate::base::error::{CallError, chain};
use crate::declare::schema::{OutputShape, WRAPPER};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, CodeAnswer, EventKind, ItemKind};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::definition::RenderPrompt;
use crate::plane::registry::{Registry, WorkerPlan};

/// The tools that answer first, by the name of their worker.
#[derive(Debug, Default)]
pub(crate) struct Hybrids(HashMap<String, String>);

impl Hybrids {
    /// Registers pairs of a worker and a tool, or returns their faults.
    pub(crate) fn new(mut pairs: Vec<(String, String)>, registry: &Registry) -> Result<Self, Vec<String>> {
        // The server of the tool was not needed for these runs, or could not be used: the worker answers alone.
        pairs.retain(|(_, tool)| !registry.lacks(tool));
        let mut by_worker = HashMap::new();
        let mut faults: Vec<_> = pairs.iter().flat_map(|(worker, tool)| faults(worker, tool, registry)).collect();
        for (worker, tool) in pairs {
            if let Some(other) = by_worker.insert(worker.clone(), tool.clone()).filter(|other| *other != tool) {
                faults.push(format!("`{worker}` has two tools that answer first, `{other}` and `{tool}`: keep one"));
            }
        }
        if faults.is_empty() { Ok(Self(by_worker)) } else { Err(faults) }
    }

    /// Returns the tool that answers a call of a worker first.
    ///
    /// A shadow calls the worker itself. A worker that is defined for one call or at run time only shares the name.
    fn tool_for(&self, ctx: &CallContext) -> Option<&str> {
        let frame = ctx.frame();
        let is_asked = !self.0.is_empty() && !frame.is_shadow && frame.variant.is_none();
        self.0.get(ctx.name()).map(String::as_str).filter(|_| is_asked)
    }

    /// Returns whether the call is made by a hybrid for the first answer.
    pub(super) fn is_attempt(&self, ctx: &CallContext) -> bool {
        let tool = ctx.caller().and_then(|caller| self.tool_for(caller));
        tool == Some(ctx.name())
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

/// Returns the answer of the tool that answers first; `None` if the worker must answer.
///
/// With earlier messages, those of a thread too, the answer depends on more than the arguments, so the worker answers.
pub(super) async fn answer_by_code(
    run: &Run,
    plan: &WorkerPlan,
    ctx: &CallContext,
) -> Result<Option<ToolReturn>, CallError> {
    let tool = run.plane.hybrids.tool_for(ctx).filter(|_| !run.renders_only(ctx));
    let (Some(tool), Some(arguments)) = (tool, ctx.frame().arguments.get()) else { return Ok(None) };
    if run.conversation(ctx).is_some_and(|earlier| !earlier.history().messages().is_empty()) {
        return Ok(None);
    }
    let given = GivenArguments::Value(Value::clone(arguments));
    let (returned, answer, reason) = match ctx.dispatch(Callee::First(tool), given, Caller::Code).await {
        Ok(returned) => check(returned, plan.shape()),
        // The worker might repeat an effect that has already happened.
        Err(error) if !error.is_recoverable() || error.is_outcome_unknown() => return Err(error),
        Err(error) if error.is_unsure() => (None, CodeAnswer::Abstained, Some(chain(&error))),
        Err(error) => (None, CodeAnswer::Failed, Some(chain(&error))),
    };
    ctx.emit(|| EventKind::Hybrid { tool: tool.to_owned(), answer, reason });
    Ok(returned)
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
