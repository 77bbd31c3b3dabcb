//! The decision about a call: by its records, by the approval rules, or by the approver.

use std::sync::Arc;

use super::super::Run;
use super::super::begun::unfinished;
use super::super::pipeline::Call;
use super::{RecordedCall, first_round};
use crate::base::error::CallError;
use crate::observe::event::Caller;
use crate::plane::context::CallContext;
use crate::plane::registry::{Prepared, Registered};

/// Decides about a call; one that began before and has no result is asked about again.
#[inline]
pub(in crate::plane::dispatch) async fn check(call: &mut Call<'_>, prepared: &mut Prepared) -> Result<(), CallError> {
    if let Some(begun) = unfinished(call.ctx, &call.tool) {
        call.attempt = Box::pin(call.run.decide_begun(call.ctx, &call.tool, prepared, begun)).await?;
        return Ok(());
    }
    call.run.decide(call.ctx, &call.tool, prepared, 0).await
}

impl Run {
    /// Decides about a call; if it is journaled, records a refusal.
    ///
    /// `attempt` is its 0-based number.
    #[inline]
    pub(in crate::plane::dispatch) async fn decide(
        &self,
        ctx: &CallContext,
        tool: &Arc<Registered>,
        prepared: &mut Prepared,
        attempt: u32,
    ) -> Result<(), CallError> {
        let is_journaled = ctx.frame().by != Caller::User && ctx.frame().step.get().is_some();
        if is_journaled
            && let Some(recorded) = RecordedCall::find(ctx, first_round(attempt))
            && Box::pin(self.decide_as_recorded(ctx, tool, prepared, recorded, attempt)).await?
        {
            return Ok(());
        }
        match self.check_rules(ctx, tool, prepared) {
            Ok(None) => Ok(()),
            Ok(Some(asked)) => Box::pin(self.approve(ctx, tool, prepared, *asked, attempt)).await,
            Err(refusal) if is_journaled => {
                Err(Box::pin(self.record_refusal(ctx, refusal, first_round(attempt))).await)
            }
            Err(refusal) => Err(refusal),
        }
    }
}
