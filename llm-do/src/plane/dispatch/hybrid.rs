//! Hybrids: code answers the calls of a worker that it is sure of, and the worker answers the rest.

use std::collections::HashMap;

use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

use super::Run;
use crate::base::error::{CallError, chain};
use crate::declare::schema::{OutputShape, WRAPPER};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, CodeAnswer, EventKind, ItemKind};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::registry::{Registry, WorkerPlan};

/// The tools that answer first, by the name of their worker.
#[derive(Debug, Default)]
pub(crate) struct Hybrids(HashMap<String, String>);

impl Hybrids {
    /// Registers pairs of a worker and a tool, or returns their faults.
    pub(crate) fn new(pairs: Vec<(String, String)>, registry: &Registry) -> Result<Self, Vec<String>> {
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
    /// A shadow is the worker itself, and a worker that is defined for one call or at run time only shares the name.
    fn tool_for(&self, ctx: &CallContext) -> Option<&str> {
        let frame = ctx.frame();
        let is_asked = !self.0.is_empty() && !frame.is_shadow && frame.variant.is_none();
        self.0.get(ctx.name()).map(String::as_str).filter(|_| is_asked)
    }

    /// Returns whether a call is that of a tool that answers first.
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
    faults
}

/// Returns the answer of the tool that answers first; `None` if the worker is to answer.
///
/// In a thread or with earlier messages, the answer depends on more than the arguments, so the worker answers.
pub(super) async fn answer_by_code(
    run: &Run,
    plan: &WorkerPlan,
    ctx: &CallContext,
) -> Result<Option<ToolReturn>, CallError> {
    let tool = run.plane.hybrids.tool_for(ctx).filter(|_| !run.renders_only(ctx));
    let (Some(tool), None, Some(arguments)) = (tool, &ctx.frame().thread, ctx.frame().arguments.get()) else {
        return Ok(None);
    };
    if run.conversation(ctx).is_some_and(|earlier| !earlier.history().messages().is_empty()) {
        return Ok(None);
    }
    let given = GivenArguments::Value(Value::clone(arguments));
    let (returned, answer, reason) = match ctx.dispatch(Callee::First(tool), given, Caller::Code).await {
        Ok(returned) => check(returned, plan.shape()),
        // The worker may make an effect that has happened already.
        Err(error) if !error.is_recoverable() || error.is_outcome_unknown() => return Err(error),
        Err(error) if error.is_unsure() => (None, CodeAnswer::Abstained, Some(chain(&error))),
        Err(error) => (None, CodeAnswer::Failed, Some(chain(&error))),
    };
    ctx.emit(|| EventKind::Hybrid { tool: tool.to_owned(), answer, reason });
    Ok(returned)
}

/// Returns the result of a tool if it is one that the worker may return.
fn check(returned: ToolReturn, shape: &OutputShape) -> (Option<ToolReturn>, CodeAnswer, Option<String>) {
    let ToolReturn { content, attachments, note, subtask } = returned;
    let value = content.into_value();
    let fault = if shape.is_text {
        (!value.is_string()).then(|| "it is not a text".to_owned())
    } else if shape.is_wrapped {
        shape.schema.check(&json!({ WRAPPER: value })).err()
    } else {
        shape.schema.check(&value).err()
    };
    match fault {
        None => (Some(ToolReturn { attachments, note, subtask, ..value.into() }), CodeAnswer::Answered, None),
        Some(fault) => (None, CodeAnswer::Failed, Some(format!("its result is not one of the worker: {fault}"))),
    }
}
