//! Counts the usage of a call, for it and its callers, and checks their limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use llm_do_providers::{Charge, Unpriced, Usage};

use super::{CallContext, CallFrame};
use crate::base::error::CallError;
use crate::base::usage::{Cost, Exceeded, Meter, ModelUsage, RunUsage, UsageRecorder, UsageTree};
use crate::observe::event::Caller;

impl<S> CallContext<S> {
    /// Returns what the call and all calls below it have used so far.
    #[must_use]
    pub fn usage(&self) -> RunUsage {
        self.frame().meter.used()
    }

    /// Returns what the whole run has used so far.
    pub(crate) fn run_usage(&self) -> RunUsage {
        self.frames().last().map(|user| user.meter.used()).unwrap_or_default()
    }

    /// Reserves a request for this call and all calls above it, unless one of their limits forbids it.
    ///
    /// `unpriced` returns the charges of the request without a known price; `None` if the price of the model is
    /// unknown.
    pub(crate) fn begin_request(
        &self,
        model: &str,
        unpriced: impl Fn() -> Option<Unpriced>,
    ) -> Result<ReservedRequest, CallError> {
        self.begin(model, unpriced, None)
    }

    /// Reserves a request that repeats one in flight, which has used `lost` so far.
    pub(crate) fn begin_repeat(
        &self,
        model: &str,
        unpriced: impl Fn() -> Option<Unpriced>,
        lost: &RunUsage,
    ) -> Result<ReservedRequest, CallError> {
        self.begin(model, unpriced, Some(lost))
    }

    fn begin(
        &self,
        model: &str,
        unpriced: impl Fn() -> Option<Unpriced>,
        lost: Option<&RunUsage>,
    ) -> Result<ReservedRequest, CallError> {
        self.check_deadline()?;
        self.check_priced(model, unpriced)?;
        self.reserve(|frame| frame.meter.reserve_request(frame.limits.as_deref(), lost), Meter::release_request)?;
        Ok(ReservedRequest { ctx: self.declaring(), is_counted: AtomicBool::new(false) })
    }

    /// Returns the error that `begin_request` would return now, without a reservation.
    pub(crate) fn check_request(&self, model: &str, unpriced: impl Fn() -> Option<Unpriced>) -> Result<(), CallError> {
        self.check_deadline()?;
        self.check_priced(model, unpriced)?;
        self.check_limits(|frame| frame.meter.request_exceeds(frame.limits.as_deref()?))
    }

    /// Returns an error for a model or a charge of unknown price if money is limited.
    fn check_priced(&self, model: &str, unpriced: impl Fn() -> Option<Unpriced>) -> Result<(), CallError> {
        self.check_limits(|frame| {
            let limits = frame.limits.as_deref().filter(|limits| limits.cost.is_some())?;
            match unpriced() {
                None => limits.unpriced_exceeds(model),
                Some(charges) => limits.charges_exceed(model, charges),
            }
        })
    }

    /// Reserves a call made by this one, unless a limit forbids it.
    pub(crate) fn reserve_tool_call(&self) -> Result<ReservedCall<'_, S>, CallError> {
        self.reserve(|frame| frame.meter.reserve_tool_call(frame.limits.as_deref()), Meter::release_tool_call)?;
        Ok(ReservedCall(Some(self)))
    }

    /// Reserves a unit for this call and all its callers, or fails without reserving any.
    ///
    /// All calls reserve from the innermost frame outwards. So if a reservation fails and is undone, only a call that
    /// fails at the same frame can have seen its units.
    fn reserve(
        &self,
        reserve: impl Fn(&CallFrame) -> Result<(), Exceeded>,
        release: fn(&Meter),
    ) -> Result<(), CallError> {
        for (reserved, frame) in self.frames().enumerate() {
            if let Err(exceeded) = reserve(frame) {
                self.frames().take(reserved).for_each(|frame| release(&frame.meter));
                return Err(CallError::Limit { tool: frame.name.to_string(), exceeded });
            }
        }
        Ok(())
    }

    /// Adds the recorded usage of a call, which another process may have made.
    pub(crate) fn add_recorded(&self, used: &UsageTree) {
        let total = used.total();
        self.frames().for_each(|frame| frame.meter.add(total));
        self.recorder().add_tree(used);
    }

    /// Returns the usage so far of this call and those below it, by callee.
    pub(crate) fn usage_tree(&self) -> UsageTree {
        self.recorder().tree()
    }

    fn recorder(&self) -> &Arc<UsageRecorder> {
        let name = || Arc::clone(&self.frame().name);
        match self.caller() {
            // The user's frame and the root call share the root node.
            Some(user) if self.frame().by == Caller::User => user.recorder(),
            // A journal records the usage of each call, so calls of the same name must not share a node.
            Some(caller) if self.journal().is_some() => {
                self.frame().recorder.get_or_init(|| caller.recorder().child_with_own_node(name()))
            }
            Some(caller) => self.frame().recorder.get_or_init(|| caller.recorder().child(name())),
            None => self.frame().recorder.get_or_init(|| UsageRecorder::root(name())),
        }
    }

    fn check_limits(&self, exceeded: impl Fn(&CallFrame) -> Option<Exceeded>) -> Result<(), CallError> {
        let reached = self.frames().find_map(|frame| Some((frame, exceeded(frame)?)));
        reached.map_or(Ok(()), |(frame, exceeded)| Err(CallError::Limit { tool: frame.name.to_string(), exceeded }))
    }
}

/// A reserved request; dropping it before it is counted releases the reservation.
pub(crate) struct ReservedRequest {
    ctx: CallContext,
    is_counted: AtomicBool,
}

impl ReservedRequest {
    /// Counts the request, answered or failed, with its charge if the price of its model is known.
    pub(crate) fn count(&self, model: &Arc<str>, usage: &Usage, charge: Option<Charge>) {
        if self.is_counted.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut used = ModelUsage { usage: *usage, cost: Cost::of_charge(charge) };
        // A request counts even if the model failed or reported no usage.
        used.usage.requests = usage.requests.max(1);
        self.ctx.frames().for_each(|frame| frame.meter.finish_request(&used));
        self.ctx.recorder().add_request(model, &used);
    }
}

impl Drop for ReservedRequest {
    fn drop(&mut self) {
        if !*self.is_counted.get_mut() {
            self.ctx.frames().for_each(|frame| frame.meter.release_request());
        }
    }
}

/// A reserved tool call; dropping it before it is made releases the reservation.
pub(crate) struct ReservedCall<'a, S>(Option<&'a CallContext<S>>);

impl<S> ReservedCall<'_, S> {
    /// Counts the call as made.
    pub(crate) fn make(mut self) {
        if let Some(caller) = self.0.take() {
            caller.frames().for_each(|frame| frame.meter.make_tool_call());
            caller.recorder().add_tool_call();
        }
    }
}

impl<S> Drop for ReservedCall<'_, S> {
    fn drop(&mut self) {
        if let Some(caller) = self.0 {
            caller.frames().for_each(|frame| frame.meter.release_tool_call());
        }
    }
}
