//! The positions of a call's steps in the journal.

use std::sync::Arc;

use serde_json::Value;

use crate::observe::event::Caller;
use crate::observe::journal::{AnnouncedCall, ChildSteps, InFlightStep, StepKind, StepSpec};
use crate::plane::context::{CallContext, CallFrame};

/// The part of a root call's key that precedes the steps after its result.
const AFTER: &str = "after";

impl<S> CallContext<S> {
    /// Starts an effect of this call: returns its step, and a guard that keeps the step in flight until dropped.
    pub(crate) fn next_step(
        &self,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: Value,
    ) -> (StepSpec, InFlightStep) {
        self.begin_step(None, kind, name, input, None)
    }

    /// Starts an effect that may have been announced; `call` is the frame of the call that it is, if it is one.
    pub(crate) fn begin_step(
        &self,
        announced: Option<AnnouncedCall>,
        kind: StepKind,
        name: impl Into<Arc<str>>,
        input: impl Into<Arc<Value>>,
        call: Option<&CallFrame>,
    ) -> (StepSpec, InFlightStep) {
        let frame = self.frame();
        let (parent, steps) = self.own_steps();
        let step = StepSpec::new(parent, 0, kind, name, input);
        let step = match call.and_then(|call| call.thread.as_deref()) {
            Some(thread) => step.in_thread(thread.name(), thread.messages()),
            None => step,
        };
        let step = match call.and_then(CallFrame::in_background) {
            Some(background) => step.in_background(background.number),
            None => step,
        };
        let (step, in_flight) = steps.begin(step, announced, self.is_for_guard);
        let step = match frame.step.get() {
            Some(own) => step.called_by(own),
            None => step,
        };
        (step, in_flight)
    }

    /// Returns the key that precedes the steps that this call makes now, with the steps so far.
    pub(super) fn own_steps(&self) -> (Arc<str>, &ChildSteps) {
        match self.frame().extras().and_then(|extras| extras.steps.after.get()) {
            Some((parent, steps)) => (Arc::clone(parent), steps),
            None => (self.key(), &self.frame().child_steps),
        }
    }

    /// Announces this call, if it receives a position in the journal later.
    pub(crate) fn announce(&self) -> Option<AnnouncedCall> {
        let caller = self.caller().filter(|caller| !caller.is_for_guard)?;
        if self.journal().is_none() || self.frame().by == Caller::User {
            return None;
        }
        Some(caller.steps_after().unwrap_or(&caller.frame().child_steps).announce())
    }

    /// Puts further steps below a separate key, since a replay of the call's result skips the steps inside the call.
    ///
    /// `result` is a digest of the result, since other steps may follow another result.
    pub(crate) fn begin_steps_after(&self, result: &str) {
        let parent = CallContext::key_after(&self.key(), result);
        drop(self.frame().extras_or_default().steps.after.set((parent, ChildSteps::default())));
    }

    /// Returns the steps after the result of the call, if [`begin_steps_after`](Self::begin_steps_after) was called.
    pub(crate) fn steps_after(&self) -> Option<&ChildSteps> {
        self.frame().extras()?.steps.after.get().map(|after| &after.1)
    }

    /// Returns the key of this call, which precedes the keys of its steps.
    pub(crate) fn key(&self) -> Arc<str> {
        self.frame().step.get().map(|step| Arc::clone(&step.key)).unwrap_or_default()
    }
}

impl CallContext {
    /// Returns the key that precedes the steps after a root call; `result` is a digest of its result.
    pub(crate) fn key_after(call: &str, result: &str) -> Arc<str> {
        format!("{call}/{AFTER}:{result}").into()
    }
}
