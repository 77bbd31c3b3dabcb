//! What a call uses, counted for it and for all that it is below of.

use std::sync::Arc;

use llm_do_providers::{Money, Usage};

use super::{CallContext, CallFrame};
use crate::error::CallError;
use crate::event::Caller;
use crate::usage::{Exceeded, RunUsage, UsageRecorder, UsageTree};

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

    /// Counts a request as under way, unless it would exceed a limit of this call or of one that it is below of.
    pub(crate) fn begin_request(&self, model: &str, is_priced: bool) -> Result<UnderWay<'_, S>, CallError> {
        self.in_time()?;
        let counted = UnderWay(self);
        self.frames().for_each(|frame| frame.meter.begin_request());
        self.within(|frame| {
            let limits = frame.limits.as_deref()?;
            // Under way are the others: this one is what is asked about.
            let under_way = frame.meter.requests_under_way().saturating_sub(1);
            let exceeded = limits.request_exceeds(&frame.meter.used(), under_way);
            exceeded.or_else(|| limits.unpriced_exceeds(model).filter(|_| !is_priced))
        })?;
        Ok(counted)
    }

    /// Adds a request that was answered, or failed, and what it cost, if that is known.
    pub(crate) fn add_request(&self, model: &Arc<str>, mut usage: Usage, cost: Option<Money>) {
        // A model that reports nothing, or fails, was asked all the same.
        usage.requests = usage.requests.max(1);
        self.frames().for_each(|frame| frame.meter.add_request(usage, cost));
        self.recorder().add_request(model, usage, cost);
    }

    /// Counts a call made by this one, unless it would exceed a limit.
    pub(crate) fn add_tool_call(&self) -> Result<(), CallError> {
        self.frames().for_each(|frame| frame.meter.add_tool_call());
        let exceeded = self.within(|frame| {
            let limits = frame.limits.as_deref()?;
            let mut used = frame.meter.used();
            used.tool_calls -= 1;
            limits.tool_call_exceeds(&used, 0)
        });
        match exceeded {
            Ok(()) => self.recorder().add_tool_call(),
            Err(_) => self.frames().for_each(|frame| frame.meter.take_tool_call()),
        }
        exceeded
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
                self.frame().recorder.get_or_init(|| Box::new(caller.recorder().child_apart(name())))
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

/// A request under way; dropped once it is answered or given up.
pub(crate) struct UnderWay<'a, S>(&'a CallContext<S>);

impl<S> Drop for UnderWay<'_, S> {
    fn drop(&mut self) {
        self.0.frames().for_each(|frame| frame.meter.end_request());
    }
}
