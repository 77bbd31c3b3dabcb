//! The context in which a call is reviewed: inside its caller, where usage, limits and the journal are those of the run.

use std::sync::Arc;

use super::super::Run;
use super::approval_step;
use crate::observe::event::Caller;
use crate::observe::journal::{REVIEW, StepKind, StepSpec};
use crate::plane::approval::{Approval, ApprovalRequest, OpenReview, Reviewer};
use crate::plane::context::{CallContext, CallFrame, Host};
use crate::plane::origin::WrittenCode;

/// Returns what opens the context of a review of the call of `ctx`, in the runtime that has the reviewer.
///
/// `round` is the 0-based number of the request among those for the call.
pub(in crate::plane::dispatch) fn open_review(
    ctx: &CallContext,
    round: u32,
    reviewer: Option<&Arc<Reviewer>>,
) -> OpenReview {
    let place = ReviewPlace::of(ctx, run_with(ctx, reviewer));
    let step = ctx.frame().step.get().map(|step| approval_step(step, round).within(StepKind::Approval, REVIEW));
    Box::new(move |request: &ApprovalRequest| {
        // Another request is reviewed again.
        let part = |step: &StepSpec| step.within(StepKind::Approval, &request.review_digest());
        place.open(step.as_ref().map(part))
    })
}

/// Counts what the review of a call used, whose answer is replayed.
pub(super) fn recount_review(ctx: &CallContext, answer: &Approval) {
    if let Some(used) = &answer.usage {
        ReviewPlace::of(ctx, Run::of(ctx)).open(None).add_recorded(used);
    }
}

/// Where a call is reviewed.
struct ReviewPlace {
    run: Arc<Run>,
    caller: CallContext,
    /// The number and the name of the call.
    call: u64,
    name: Arc<str>,
}

impl ReviewPlace {
    fn of(ctx: &CallContext, run: Arc<Run>) -> Self {
        let caller = ctx.caller().unwrap_or(ctx).clone();
        Self { run, caller, call: ctx.frame().call, name: Arc::clone(&ctx.frame().name) }
    }

    /// Returns a context inside the caller, whose calls are never asked about.
    fn open(&self, step: Option<StepSpec>) -> CallContext {
        let from = self.caller.frame();
        let frame = CallFrame {
            depth: from.depth,
            nesting: from.nesting + 1,
            is_shadow: from.is_shadow,
            is_review: true,
            is_unguarded: self.caller.is_unguarded(),
            is_unobserved: !self.run.events.is_observed,
            ..CallFrame::new(self.call, Arc::clone(&self.name), Caller::Code)
        };
        if self.run.has_flow {
            // What is asked there is made of the call, which may be an attacker's.
            let (notes, labels) = (&frame.extras_or_default().origins, self.run.approvals().unknown_labels());
            notes.set_code(WrittenCode::of_model());
            notes.join(labels);
        }
        if let Some(mut step) = step {
            // Without a parent, the steps of the review do not show that the call itself began.
            step.parent = Arc::default();
            drop(frame.step.set(Box::new(step)));
        }
        self.caller.clone().into_child_of(Arc::clone(&self.run) as Arc<dyn Host>, frame)
    }
}

/// Returns the run of the runtime that has the reviewer: that of the call, or one around it.
fn run_with(ctx: &CallContext, reviewer: Option<&Arc<Reviewer>>) -> Arc<Run> {
    let own = Run::of(ctx);
    let Some(reviewer) = reviewer else { return own };
    let has = |run: &Arc<Run>| run.plane.approvals.reviewer().is_some_and(|other| Arc::ptr_eq(other, reviewer));
    let mut runs = std::iter::successors(Some(Arc::clone(&own)), |run| run.outer.clone());
    runs.find(has).unwrap_or(own)
}
