//! Denials after which a call continued. They are recorded, so that a replay in another mode has the same denials.

use std::collections::VecDeque;

use serde_json::Value;

use super::{CallContext, JournalMethod};
use crate::base::error::CallError;
use crate::observe::journal::StepSpec;

impl<S> CallContext<S> {
    /// Remembers a denial of a call that this call made, in case this call continues after it.
    pub(crate) fn add_denial(&self, approval: StepSpec, answer: Value) {
        self.frame().extras_or_default().steps.denials.get_or_default().push((approval, answer));
    }

    /// Records the denials after which this call continues, so that a replay in another mode gets the same denials.
    pub(crate) async fn record_denials(&self) -> Result<(), CallError> {
        let mut denials = Unrecorded { ctx: self, denials: self.take_denials().into() };
        while let Some((step, answer)) = denials.denials.front().cloned() {
            Box::pin(self.recorded(JournalMethod::Decision, step, async { Ok(answer) })).await?;
            denials.denials.pop_front();
        }
        Ok(())
    }

    /// Passes the denials on to the caller, since this call ends with an error that is not recorded.
    pub(crate) fn pass_on_denials(&self) {
        let Some(caller) = self.caller() else { return };
        let denials = self.take_denials();
        if !denials.is_empty() {
            caller.frame().extras_or_default().steps.denials.get_or_default().extend(denials);
        }
    }

    fn take_denials(&self) -> Vec<(StepSpec, Value)> {
        let denials = self.frame().extras().and_then(|extras| extras.steps.denials.get());
        denials.map(|mut denials| std::mem::take(&mut *denials)).unwrap_or_default()
    }
}

/// Denials that are being recorded. On drop, the remaining ones return to their call, which may continue with another
/// future.
struct Unrecorded<'c, S> {
    ctx: &'c CallContext<S>,
    denials: VecDeque<(StepSpec, Value)>,
}

impl<S> Drop for Unrecorded<'_, S> {
    fn drop(&mut self) {
        if !self.denials.is_empty() {
            self.ctx.frame().extras_or_default().steps.denials.get_or_default().extend(self.denials.drain(..));
        }
    }
}
