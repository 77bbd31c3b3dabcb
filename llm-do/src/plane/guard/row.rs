//! The guards of a session in a row: what each decides is carried out and reported here.

use std::borrow::Cow;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use llm_do_providers::Response;
use serde_json::Value;

use super::{Guard, GuardedCall, GuardedRequest, Refusal};
use crate::base::error::{CallError, chain, panic_text};
use crate::declare::nesting;
use crate::declare::schema::dismantle;
use crate::declare::tool::{Effect, ToolReturn};
use crate::observe::event::{EventKind, GuardAction, GuardHook, ItemKind};
use crate::plane::context::CallContext;

/// The guards of a session, in the order given; at least one.
#[derive(Clone, Debug)]
pub(crate) struct Guards(Arc<[Posted]>);

/// A guard under the name that it had when the session began.
#[derive(Debug)]
pub(crate) struct Posted {
    name: Arc<str>,
    guard: Arc<dyn Guard>,
}

impl Guards {
    /// Returns a row of guards, unless there are none.
    pub(crate) fn new(guards: Vec<Arc<dyn Guard>>) -> Option<Self> {
        let posted: Arc<[_]> = guards.into_iter().map(|guard| Posted { name: guard.name().into(), guard }).collect();
        (!posted.is_empty()).then_some(Self(posted))
    }

    /// Returns the guards in the order in which they see what is to happen.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Posted> {
        self.0.iter()
    }

    /// Shows how a call ended, and returns what its caller gets. A result that is refused is shown on as an error.
    pub(crate) async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let mut shown = ShownResult(result);
        for posted in self.0.iter().rev() {
            let before = shown.0.as_ref().map(ToolReturn::clone).map_err(|error| chain(error));
            // The call's own time may be over; the caller's is what counts now.
            let waiting = call.call().caller().unwrap_or(call.call());
            let ruling = hold(waiting, posted.guard.after_call(call, &mut shown.0)).await?;
            match ruling.and_then(|()| shown.bound()) {
                Err(refusal) => shown.refuse(posted.refused(call.call(), GuardHook::AfterCall, refusal)),
                Ok(()) if differs(&before, &shown.0) => posted.changed(call.call(), GuardHook::AfterCall),
                Ok(()) => {}
            }
        }
        shown.take()
    }

    /// Shows what is to be asked of a model.
    pub(crate) async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), CallError> {
        let call = request.call();
        for posted in self.iter() {
            let before = request.wording().clone();
            let ruling = hold(call, posted.guard.before_request(request)).await?;
            ruling.map_err(|refusal| posted.refused(call, GuardHook::BeforeRequest, refusal))?;
            request.repair(&before);
            if *request.wording() != before {
                posted.changed(call, GuardHook::BeforeRequest);
            }
        }
        Ok(())
    }

    /// Shows what a model answered; returns why the model is asked again, if it is.
    ///
    /// An answer that is refused so is shown on: it stays in the history, and what others take out of it must go.
    pub(crate) async fn after_response(
        &self,
        request: &GuardedRequest<'_>,
        response: &mut Response,
    ) -> Result<Option<String>, CallError> {
        let call = request.call();
        let mut told = None;
        for posted in self.0.iter().rev() {
            let before = response.clone();
            match hold(call, posted.guard.after_response(request, response)).await? {
                Err(refusal) if refusal.stops() => return Err(posted.refused(call, GuardHook::AfterResponse, refusal)),
                Err(refusal) => {
                    posted.report(call, GuardHook::AfterResponse, GuardAction::Refused, Some(refusal.reason()));
                    told.get_or_insert_with(|| refusal.reason().to_owned());
                }
                Ok(()) if *response != before => posted.changed(call, GuardHook::AfterResponse),
                Ok(()) => {}
            }
        }
        Ok(told)
    }
}

impl Posted {
    /// Shows a call that is to be made; returns its arguments if they were changed.
    pub(crate) async fn before_call(
        &self,
        call: &CallContext,
        (kind, effect): (ItemKind, Effect),
        arguments: &Value,
    ) -> Result<Option<Value>, CallError> {
        let mut guarded = GuardedCall::new(call, kind, effect, Cow::Borrowed(arguments));
        let ruling = hold(call, self.guard.before_call(&mut guarded)).await?;
        ruling.map_err(|refusal| self.refused(call, GuardHook::BeforeCall, refusal))?;
        let changed = guarded.take_copied().map(nesting::shallow).transpose();
        let changed = changed.map_err(|fault| self.unfit(call, &fault))?;
        Ok(changed.filter(|changed| changed != arguments))
    }

    /// Refuses a call in the guard's name, since the arguments that it changed do not fit.
    pub(crate) fn unfit(&self, call: &CallContext, fault: &impl Display) -> CallError {
        let reason = format!("the arguments do not fit any more, as it changed them: {fault}");
        self.refused(call, GuardHook::BeforeCall, Refusal::tell(reason))
    }

    /// Reports that the guard changed something.
    pub(crate) fn changed(&self, call: &CallContext, hook: GuardHook) {
        self.report(call, hook, GuardAction::Changed, None);
    }

    /// Reports that the guard refused something; returns the error of it.
    pub(crate) fn refused(&self, call: &CallContext, hook: GuardHook, refusal: Refusal) -> CallError {
        self.report(call, hook, GuardAction::Refused, Some(refusal.reason()));
        refusal.into_error(call.name(), &self.name)
    }

    fn report(&self, call: &CallContext, hook: GuardHook, action: GuardAction, reason: Option<&str>) {
        call.emit(|| EventKind::Guarded {
            guard: Arc::clone(&self.name),
            hook,
            action,
            reason: reason.map(str::to_owned),
        });
    }
}

/// A result that guards are shown: however deep one nests it, it can be dropped.
struct ShownResult(Result<ToolReturn, CallError>);

impl ShownResult {
    /// Refuses a result that a guard nested too deep.
    fn bound(&mut self) -> Result<(), Refusal> {
        let Ok(returned) = &mut self.0 else { return Ok(()) };
        let value = nesting::shallow(std::mem::take(&mut returned.value));
        let told = |fault| Refusal::tell(format!("it changed the result, which is now {fault}"));
        returned.value = value.map_err(told)?;
        Ok(())
    }

    fn refuse(&mut self, error: CallError) {
        self.dismantle();
        self.0 = Err(error);
    }

    fn take(mut self) -> Result<ToolReturn, CallError> {
        std::mem::replace(&mut self.0, Ok(ToolReturn::default()))
    }

    fn dismantle(&mut self) {
        if let Ok(returned) = &mut self.0 {
            dismantle(std::mem::take(&mut returned.value));
        }
    }
}

impl Drop for ShownResult {
    fn drop(&mut self) {
        self.dismantle();
    }
}

/// Waits for what a guard decides, or for the end of who waits for it. A guard that panics has refused.
async fn hold(
    waiting: &CallContext,
    hook: impl Future<Output = Result<(), Refusal>>,
) -> Result<Result<(), Refusal>, CallError> {
    let hook = AssertUnwindSafe(hook).catch_unwind();
    // The guard goes first: one that does not wait decides about what was cancelled, too.
    tokio::select! {
        biased;
        ruling = hook => Ok(ruling.unwrap_or_else(|payload| {
            Err(Refusal::stop(format!("the guard panicked: {}", panic_text(payload.as_ref()))))
        })),
        error = waiting.stopped() => Err(error),
    }
}

/// Returns whether a result is another than before, as far as anybody can see.
fn differs(before: &Result<ToolReturn, String>, now: &Result<ToolReturn, CallError>) -> bool {
    match (before, now) {
        (Ok(before), Ok(now)) => before != now,
        (Err(before), Err(now)) => *before != chain(now),
        _ => true,
    }
}
