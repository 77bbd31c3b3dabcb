//! Subtasks: chooses the best matching worker and calls it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Run;
use crate::base::error::CallError;
use crate::declare::subtask::{Candidate, SubtaskRequest, best, score};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind, ItemKind};
use crate::observe::journal::StepKind;
use crate::plane::context::{CallContext, GivenArguments, Host, JournalMethod, StepOutcome};
use crate::plane::declared::Callee;
use crate::plane::registry::Registered;

/// The worker that was chosen for a subtask, and the score of each candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Choice {
    worker: String,
    points: BTreeMap<String, u32>,
}

/// Calls the best matching worker among those that the caller may call.
pub(super) async fn run_subtask(
    run: &Run,
    caller: &CallContext,
    request: SubtaskRequest,
) -> Result<ToolReturn, CallError> {
    if let Some(fault) = request.fault() {
        return Err(no_worker(caller, fault));
    }
    let Choice { worker, points } = recorded_choice(run, caller, &request).await?;
    caller.emit(|| EventKind::Subtask {
        description: request.description().to_owned(),
        worker: worker.clone(),
        points,
    });
    let chosen = workers(run, caller).find(|candidate| candidate.name() == worker);
    let given = match chosen {
        Some(chosen) => arguments(chosen, &request).await,
        None => None,
    };
    let given =
        given.ok_or_else(|| no_worker(caller, &format!("`{worker}` no longer accepts the inputs of the subtask")))?;
    run.call(caller.clone(), Callee::Item(&worker), GivenArguments::Value(given), Caller::Code).await
}

/// Chooses the worker. With a journal, the choice is recorded, since a resumed run may have loaded further workers from
/// files.
async fn recorded_choice(run: &Run, caller: &CallContext, request: &SubtaskRequest) -> Result<Choice, CallError> {
    let Some(journal) = caller.journal() else { return choose(run, caller, request).await };
    let (step, _in_flight) = caller.next_step(StepKind::Effect, "subtask", json!(request));
    caller.record_denials().await?;
    let choice = if journal.is_recorded(&step.key) { None } else { Some(choose(run, caller, request).await?) };
    let tool = caller.name().to_owned();
    // Without a choice, the result must be recorded, and this future is not polled.
    let chosen = async move { choice.ok_or(CallError::Cancelled { tool }) };
    let StepOutcome { value, .. } = caller.recorded(JournalMethod::Step, step, chosen).await?;
    Ok(value)
}

/// Chooses the best matching worker.
async fn choose(run: &Run, caller: &CallContext, request: &SubtaskRequest) -> Result<Choice, CallError> {
    let mut points = Vec::new();
    for worker in workers(run, caller) {
        if arguments(worker, request).await.is_some() {
            points.push((worker.name(), score_of(worker, request)));
        }
    }
    let worker = best(&points).map_err(|fault| no_worker(caller, &fault))?.to_owned();
    Ok(Choice { worker, points: points.into_iter().map(|(name, points)| (name.to_owned(), points)).collect() })
}

/// Returns the workers that a call may call, sorted by name.
fn workers<'r>(run: &'r Run, caller: &'r CallContext) -> impl Iterator<Item = &'r Arc<Registered>> {
    let declared = caller.declared();
    let may_call = move |item: &&Arc<Registered>| declared.is_none_or(|declared| declared.shown(item.name()).is_some());
    run.plane.registry.iter().filter(|item| item.kind() == ItemKind::Worker).filter(may_call)
}

fn no_worker(caller: &CallContext, why: &str) -> CallError {
    CallError::NoWorker { tool: caller.name().to_owned(), message: why.to_owned() }
}

/// Returns the first form of the request that is valid for a worker.
async fn arguments(worker: &Registered, request: &SubtaskRequest) -> Option<Value> {
    for form in request.forms() {
        if let (arguments, Ok(())) = worker.validate_apart(form).await {
            return Some(arguments);
        }
    }
    None
}

fn score_of(worker: &Registered, request: &SubtaskRequest) -> u32 {
    let hints = worker.hints();
    score(request, Candidate { name: worker.name(), description: worker.description(), hints: &hints })
}
