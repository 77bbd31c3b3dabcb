//! The instructions of a worker call: those of its definition, or the result of a function.

use std::sync::Arc;

use serde_json::Value;

use crate::base::error::CallError;
use crate::observe::journal::StepKind;
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::definition::ComputedInstructions;
use crate::plane::registry::WorkerPlan;

/// The name of the step that records computed instructions.
const STEP: &str = "instructions";

/// Returns the instructions of a call; if a function computes them, a journal records the text.
pub(super) async fn of_call(plan: &WorkerPlan, ctx: &CallContext) -> Result<Arc<str>, CallError> {
    let Some(computed) = plan.computed else { return Ok(Arc::clone(&plan.instructions)) };
    let text = Box::pin(computed_once(computed, ctx)).await?;
    Ok(if text.is_empty() { Arc::clone(&plan.instructions) } else { text.into() })
}

async fn computed_once(computed: ComputedInstructions, ctx: &CallContext) -> Result<String, CallError> {
    let own = ctx.clone();
    let local = async move { computed.text(&own).await };
    let text = if computed.may_call() {
        // The calls of the function are steps of the worker, so a resumed run repeats them; the text is that of the
        // first run.
        let text = local.await?;
        ctx.step(JournalMethod::Step, StepKind::Effect, STEP, || Value::Null, |_| async { Ok(text) }).await?
    } else {
        ctx.step(JournalMethod::Step, StepKind::Effect, STEP, || Value::Null, |_| local).await?
    };
    Ok(text.value)
}
