//! The end of a journaled call, after its guards: records the outcome of a run, and the failures of nested calls.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::call_record::{CallRecord, RecordedOutcome};
use super::retry::{AFTER_GUARDS, AfterGuards, forgettable, with_causes};
use super::{failure_causes, is_journaled_root, leaves_no_time, result_step};
use crate::observe::event::{Caller, ItemKind};
use crate::observe::journal::StepKind;
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::dispatch::pipeline::{Call, CallResult, Next, Wrapper};
use crate::plane::registry::Prepared;

/// Ends a journaled call.
pub(in crate::plane::dispatch) const WRAPPER: Wrapper =
    Wrapper { applies: |call| call.in_flight.is_some() || is_journaled_root(call), around };

/// The end of a call before its guards.
pub(in crate::plane::dispatch) struct OwnEnd {
    has_failed: bool,
    /// The causes of the failure of a root worker.
    causes: Vec<Arc<str>>,
}

impl OwnEnd {
    pub(in crate::plane::dispatch) fn new(call: &Call<'_>, result: &CallResult) -> Self {
        let causes = if is_replayed_root(call) { failure_causes(result, call.ctx) } else { Vec::new() };
        Self { has_failed: result.is_err(), causes }
    }
}

fn around<'c>(call: &'c mut Call<'_>, prepared: Prepared, next: Next) -> BoxFuture<'c, CallResult> {
    Box::pin(async move {
        let result = next.run(call, prepared).await;
        let own = call.own_end.take().unwrap_or_else(|| OwnEnd::new(call, &result));
        if call.ctx.frame().by == Caller::User {
            let result = record_root_result(call, &own, result).await;
            return record_after_guards(call.ctx, own, result).await;
        }
        if let (Some(in_flight), Err(error)) = (&call.in_flight, &result) {
            if own.has_failed {
                in_flight.fail(error);
            }
            // The call itself may have no record. If a guard refused its result, the call is complete, but the failures
            // in the guard may be retried.
            in_flight.fail_by(failure_causes(&result, call.ctx), error);
        }
        call.ctx.pass_on_thread_changes();
        result
    })
}

/// Returns whether a call is a root worker, whose result is recorded when it finishes.
fn is_replayed_root(call: &Call<'_>) -> bool {
    is_journaled_root(call) && call.tool.kind() == ItemKind::Worker
}

/// Records the result of a root worker, and returns the recorded result. The results of other calls are already
/// recorded.
async fn record_root_result(call: &mut Call<'_>, own: &OwnEnd, result: CallResult) -> CallResult {
    let ctx = call.ctx;
    let Some(run) = ctx.frame().step.get().filter(|_| is_replayed_root(call)) else { return result };
    let causes = [&*own.causes, &failure_causes(&result, ctx)].concat();
    // A call that was stopped by the deadline is retried, so it is not recorded.
    let outcome = match result {
        Err(error) if error.is_timeout() && leaves_no_time(ctx) => return Err(error),
        result => RecordedOutcome::from_result(result, ctx.error_types())?,
    };
    ctx.record_denials().await?;
    ctx.check_all_replayed()?;
    let record = CallRecord::new(outcome, causes);
    let recorded = ctx.recorded(JournalMethod::Step, result_step(run), async { Ok(record) }).await?;
    call.set_replayed(recorded.is_replayed);
    recorded.value.outcome.into_result(&run.name, ctx.error_types())
}

/// Records the outcome of the run after the guards of its root call, and returns it.
///
/// Records nothing if the outcome follows from the call's own result.
async fn record_after_guards(ctx: &CallContext, own: OwnEnd, result: CallResult) -> CallResult {
    let Some(steps) = ctx.steps_after() else { return retry_later(ctx, own.causes, result).await };
    let causes = if result.is_err() { steps.led_to(result.as_ref().err()) } else { Vec::new() };
    let is_recovered = own.has_failed && result.is_ok();
    if causes.is_empty() && !is_recovered {
        return result;
    }
    let (step, _in_flight) = ctx.next_step(StepKind::Effect, AFTER_GUARDS, Value::Null);
    let record = AfterGuards { has_failed: result.is_err(), causes };
    ctx.recorded(JournalMethod::Step, step, async { Ok(record) }).await?;
    result
}

/// Removes the causes of a failed run from the journal if its result is not recorded, for example because a guard
/// refused it.
async fn retry_later(ctx: &CallContext, mut causes: Vec<Arc<str>>, result: CallResult) -> CallResult {
    let (Err(error), Some(journal), Some(run)) = (&result, ctx.journal(), ctx.frame().step.get()) else {
        return result;
    };
    // A timeout is not caused by earlier failures.
    if error.is_timeout() || journal.is_recorded(&result_step(run).key) {
        return result;
    }
    causes.extend(failure_causes(&result, ctx));
    let causes = forgettable(journal.as_ref(), causes).await;
    if !causes.is_empty() {
        let keys = with_causes(journal.as_ref(), causes).await;
        journal.forget(keys).await.map_err(|source| ctx.journal_error(source))?;
    }
    result
}
