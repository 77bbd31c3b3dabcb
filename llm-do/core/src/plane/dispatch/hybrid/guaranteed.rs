//! A hybrid with a guarantee: evidence decides who answers a call, and the call adds to the evidence.

use llm_do_bounds::Guarantee;
use serde_json::json;

use super::super::Run;
use super::super::journal::has_result;
use super::super::pipeline::CallResult;
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{EventKind, EventValue, Outcome};
use crate::observe::journal::{StepKind, digest};
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::guarantee::{HybridState, Note, NoteKind, Subject, Turned};
use crate::plane::registry::{Registered, WorkerPlan};

/// The name of the step that records whether code may answer a call.
const DRAWN: &str = "guarantee";

/// A guarantee of a worker and the tool that answers first.
#[derive(Debug)]
pub(super) struct Guaranteed {
    guarantee: Guarantee,
    /// The digests of both.
    digests: [String; 2],
    tool: String,
}

impl Guaranteed {
    pub(super) fn new(worker: &Registered, tool: &Registered, guarantee: Guarantee) -> Self {
        Self { guarantee, digests: [worker.digest(), tool.digest()], tool: tool.name().to_owned() }
    }

    /// Returns what the evidence of a call is about.
    pub(super) fn subject(&self, run: &Run, plan: &WorkerPlan, ctx: &CallContext) -> Subject {
        let worker = ctx.name().to_owned();
        // A worker without a model fails once it has to answer.
        let model = run.plane.models.choose(&worker, plan).map(|model| model.name.to_string()).unwrap_or_default();
        let key = digest(&json!([self.digests, model, self.guarantee]));
        Subject { key, worker, tool: self.tool.clone(), model, guarantee: self.guarantee, now: ctx.clock_time() }
    }
}

/// Returns whether code may answer the call; otherwise the worker does, and is compared with code. A resumed run repeats the decision.
///
/// Without evidence that can be read, the worker answers.
pub(super) async fn draw(run: &Run, ctx: &CallContext, subject: &Subject) -> Result<bool, CallError> {
    let (store, key) = (run.plane.evidence.store(), subject.key.clone());
    // Not the key: a run is resumed by other versions of the program too.
    let input = || json!(subject.tool);
    let drawn = move |_| async move {
        let state = store.load(&key).await.ok().flatten();
        Ok::<_, CallError>(state.as_ref().is_some_and(HybridState::draws_code))
    };
    Ok(ctx.step(JournalMethod::Step, StepKind::Effect, DRAWN, input, drawn).await?.value)
}

/// Notes that code answered the call.
pub(super) async fn note_code(run: &Run, ctx: &CallContext, subject: &Subject) {
    note(run, ctx, subject, NoteKind::ByCode).await;
}

/// A call that the worker answers, and the answer of code, if it had one.
pub(in super::super) struct Comparison {
    subject: Subject,
    code: Option<ToolReturn>,
}

impl Comparison {
    pub(super) fn new(subject: Subject, code: Option<ToolReturn>) -> Self {
        Self { subject, code }
    }

    /// Compares the worker's answer with that of code, and notes the call. A call that failed shows nothing.
    pub(in super::super) async fn finish(self, run: &Run, ctx: &CallContext, result: &CallResult) {
        let Ok(returned) = result else { return };
        let Self { subject, code } = self;
        let disagrees = code.as_ref().map(|code| !Agreement::new().holds(code.value(), returned.value()));
        if let Some((code, disagrees)) = code.as_ref().zip(disagrees) {
            let outcome = |returned: &ToolReturn| Outcome::Result(EventValue::from_json(returned.content.clone()));
            ctx.emit(|| EventKind::Shadowed {
                worker: subject.worker.clone(),
                agrees: !disagrees,
                answer: outcome(code),
                other: outcome(returned),
            });
        }
        note(run, ctx, &subject, NoteKind::ByWorker { cost: ctx.usage().cost.known, disagrees }).await;
    }
}

/// Adds a call to the evidence, and reports whether the guarantee begins or ceases to hold. A replay of a finished run and a dry run add
/// nothing.
async fn note(run: &Run, ctx: &CallContext, subject: &Subject, kind: NoteKind) {
    if run.settings.dry_run.is_some() || has_result(ctx) {
        return;
    }
    let noted = run.plane.evidence.store().note(subject, Note { key: ctx.idempotency_key(), kind }).await;
    let tool = subject.tool.clone();
    match noted {
        Ok(None) => {}
        Ok(Some(Turned { holds, bound, comparisons, disagreements })) => {
            ctx.emit(|| EventKind::Guarantee { tool, holds, bound, comparisons, disagreements, reason: None });
        }
        Err(error) => {
            let reason = Some(chain(&*error));
            ctx.emit(|| EventKind::Guarantee {
                tool,
                holds: false,
                bound: 1.0,
                comparisons: 0,
                disagreements: 0,
                reason,
            });
        }
    }
}
