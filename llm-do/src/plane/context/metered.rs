//! What a call uses, counted for it and for all that it is below of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use llm_do_providers::{Money, Usage};

use super::{CallContext, CallFrame};
use crate::base::error::CallError;
use crate::base::usage::{Exceeded, Meter, RunUsage, UsageRecorder, UsageTree};
use crate::observe::event::Caller;

impl<S> CallContext<S> {
    /// Returns what the call and all calls below it used so far.
    #[must_use]
    pub fn usage(&self) -> RunUsage {
        self.frame().meter.used()
    }

    /// Returns what the whole run used so far.
    pub(crate) fn run_usage(&self) -> RunUsage {
        self.frames().last().map(|user| user.meter.used()).unwrap_or_default()
    }

    /// Reserves a request of this call and of all that it is below of: everywhere, or nowhere if it would exceed a limit.
    pub(crate) fn begin_request(&self, model: &str, is_priced: bool) -> Result<RequestUnderWay, CallError> {
        self.in_time()?;
        self.priced(model, is_priced)?;
        self.reserve(|frame| frame.meter.reserve_request(frame.limits.as_deref()), Meter::release_request)?;
        Ok(RequestUnderWay { ctx: self.declaring(), is_counted: AtomicBool::new(false) })
    }

    /// Refuses what `begin_request` would refuse now, and reserves nothing.
    pub(crate) fn may_request(&self, model: &str, is_priced: bool) -> Result<(), CallError> {
        self.in_time()?;
        self.priced(model, is_priced)?;
        self.within(|frame| frame.meter.request_exceeds(frame.limits.as_deref()?))
    }

    /// Refuses a model of unknown price where money is limited.
    fn priced(&self, model: &str, is_priced: bool) -> Result<(), CallError> {
        self.within(|frame| frame.limits.as_deref()?.unpriced_exceeds(model).filter(|_| !is_priced))
    }

    /// Reserves a call made by this one, unless it would exceed a limit.
    pub(crate) fn reserve_tool_call(&self) -> Result<ReservedCall<'_, S>, CallError> {
        self.reserve(|frame| frame.meter.reserve_tool_call(frame.limits.as_deref()), Meter::release_tool_call)?;
        Ok(ReservedCall(Some(self)))
    }

    /// Reserves a unit in this call and in all that it is below of, or in none of them.
    ///
    /// From the inside out, as every call does: what one that fails holds for a moment could only be missed by one that
    /// fails at the same place.
    fn reserve(
        &self,
        take: impl Fn(&CallFrame) -> Result<(), Exceeded>,
        give_back: fn(&Meter),
    ) -> Result<(), CallError> {
        for (taken, frame) in self.frames().enumerate() {
            if let Err(exceeded) = take(frame) {
                self.frames().take(taken).for_each(|frame| give_back(&frame.meter));
                return Err(CallError::Limit { tool: frame.name.to_string(), exceeded });
            }
        }
        Ok(())
    }

    /// Adds what a call used in the process that recorded it.
    pub(crate) fn add_recorded(&self, used: &UsageTree) {
        let total = used.total();
        self.frames().for_each(|frame| frame.meter.add(total));
        self.recorder().add_tree(used);
    }

    /// Returns who used what so far, of this call and those below it.
    pub(crate) fn usage_tree(&self) -> UsageTree {
        self.recorder().tree()
    }

    fn recorder(&self) -> &UsageRecorder {
        let name = || Arc::clone(&self.frame().name);
        match self.caller() {
            // The user's call is the root.
            Some(user) if self.frame().by == Caller::User => user.recorder(),
            // A journal keeps what each call used, so that equal names do not do.
            Some(caller) if self.journal().is_some() => {
                self.frame().recorder.get_or_init(|| Box::new(caller.recorder().child_with_own_node(name())))
            }
            Some(caller) => self.frame().recorder.get_or_init(|| Box::new(caller.recorder().child(name()))),
            None => self.frame().recorder.get_or_init(|| Box::new(UsageRecorder::root(name()))),
        }
    }

    fn within(&self, exceeded: impl Fn(&CallFrame) -> Option<Exceeded>) -> Result<(), CallError> {
        let met = self.frames().find_map(|frame| Some((frame, exceeded(frame)?)));
        met.map_or(Ok(()), |(frame, exceeded)| Err(CallError::Limit { tool: frame.name.to_string(), exceeded }))
    }
}

/// A request under way; it is given back if it is dropped before it is counted.
pub(crate) struct RequestUnderWay {
    ctx: CallContext,
    is_counted: AtomicBool,
}

impl RequestUnderWay {
    /// Counts the request, which was answered, or failed, and what it cost, if that is known.
    pub(crate) fn count(&self, model: &Arc<str>, mut usage: Usage, cost: Option<Money>) {
        if self.is_counted.swap(true, Ordering::Relaxed) {
            return;
        }
        // A model that reports nothing, or fails, was asked all the same.
        usage.requests = usage.requests.max(1);
        self.ctx.frames().for_each(|frame| frame.meter.finish_request(usage, cost));
        self.ctx.recorder().add_request(model, usage, cost);
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        if !*self.is_counted.get_mut() {
            self.ctx.frames().for_each(|frame| frame.meter.release_request());
        }
    }
}

/// A call of a tool that may be made; dropped before it is, it is given back.
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
