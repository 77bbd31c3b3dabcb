//! The guards of a session: runs their hooks in order, applies their decisions and reports them.

use std::borrow::Cow;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use llm_do_providers::Response;
use serde_json::Value;

use super::{Guard, GuardedCall, GuardedItem, GuardedRequest, Refusal};
use crate::base::error::{CallError, chain, panic_text};
use crate::declare::nesting;
use crate::declare::schema::dismantle;
use crate::declare::tool::ToolReturn;
use crate::observe::event::{EventKind, GuardAction, GuardHook};
use crate::plane::context::CallContext;

/// The guards of a session, outermost first; at least one.
#[derive(Clone, Debug)]
pub(crate) struct Guards(Arc<[NamedGuard]>);

/// A guard, with its name at the start of the session.
#[derive(Clone, Debug)]
pub(crate) struct NamedGuard {
    name: Arc<str>,
    hooks: Arc<dyn Guard>,
}

impl Guards {
    /// Creates the chain; returns `None` if `guards` is empty.
    pub(crate) fn new(guards: Vec<Arc<dyn Guard>>) -> Option<Self> {
        let named: Arc<[_]> =
            guards.into_iter().map(|guard| NamedGuard { name: guard.name().into(), hooks: guard }).collect();
        (!named.is_empty()).then_some(Self(named))
    }

    /// Returns the guards of a nested run; those of the outer run come first.
    pub(crate) fn chained(outer: Option<&Self>, own: Option<&Self>) -> Option<Self> {
        let (Some(Self(outer)), Some(Self(own))) = (outer, own) else { return outer.or(own).cloned() };
        Some(Self(outer.iter().chain(own.iter()).cloned().collect()))
    }

    /// Returns the guards in the order of their `before_*` hooks.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, NamedGuard> {
        self.0.iter()
    }

    /// Runs the `after_call` hooks; returns the result for the caller.
    ///
    /// If a guard refuses the result, the following guards receive its refusal as an error.
    pub(crate) async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: Result<ToolReturn, CallError>,
    ) -> Result<ToolReturn, CallError> {
        let mut shown = GuardedResult(result);
        for guard in self.0.iter().rev() {
            let before = shown.0.as_ref().map(ToolReturn::clone).map_err(|error| chain(error));
            // The caller's deadline applies, since that of the call may have passed.
            let waiting = call.call().caller().unwrap_or(call.call());
            let outcome = run_hook(waiting, guard.hooks.after_call(call, &mut shown.0)).await?;
            match outcome.and_then(|()| shown.check_nesting()) {
                Err(refusal) => shown.refuse(guard.report_refusal(call.call(), GuardHook::AfterCall, refusal)),
                Ok(()) if differs(&before, &shown.0) => guard.report_change(call.call(), GuardHook::AfterCall),
                Ok(()) => {}
            }
        }
        shown.take()
    }

    /// Runs the `before_request` hooks.
    pub(crate) async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), CallError> {
        let call = request.call();
        for guard in self.iter() {
            let before = request.changeable().clone();
            let outcome = run_hook(call, guard.hooks.before_request(request)).await?;
            outcome.map_err(|refusal| guard.report_refusal(call, GuardHook::BeforeRequest, refusal))?;
            request.repair(&before);
            if *request.changeable() != before {
                guard.report_change(call, GuardHook::BeforeRequest);
            }
        }
        Ok(())
    }

    /// Runs the `after_response` hooks; returns the reason if the model must be asked again.
    ///
    /// A refused response is passed to the other guards too: it stays in the history, so they must be able to redact
    /// it.
    pub(crate) async fn after_response(
        &self,
        request: &GuardedRequest<'_>,
        response: &mut Response,
    ) -> Result<Option<String>, CallError> {
        let call = request.call();
        let mut retry_reason = None;
        for guard in self.0.iter().rev() {
            let before = response.clone();
            match run_hook(call, guard.hooks.after_response(request, response)).await? {
                Err(refusal) if refusal.stops() => {
                    return Err(guard.report_refusal(call, GuardHook::AfterResponse, refusal));
                }
                Err(refusal) => {
                    call.note_guarded(GuardHook::AfterResponse);
                    guard.report(call, GuardHook::AfterResponse, GuardAction::Refused, Some(refusal.reason()));
                    retry_reason.get_or_insert_with(|| refusal.reason().to_owned());
                }
                Ok(()) if *response != before => guard.report_change(call, GuardHook::AfterResponse),
                Ok(()) => {}
            }
        }
        Ok(retry_reason)
    }
}

impl NamedGuard {
    /// Runs the `before_call` hook; returns the arguments if the guard changed them.
    pub(crate) async fn before_call(
        &self,
        call: &CallContext,
        item: GuardedItem<'_>,
        arguments: &Value,
    ) -> Result<Option<Value>, CallError> {
        let mut guarded = GuardedCall::new(call, item, Cow::Borrowed(arguments));
        let outcome = run_hook(call, self.hooks.before_call(&mut guarded)).await?;
        outcome.map_err(|refusal| self.report_refusal(call, GuardHook::BeforeCall, refusal))?;
        let changed = guarded.take_copied().map(nesting::shallow).transpose();
        let changed = changed.map_err(|fault| self.invalid_arguments(call, &fault))?;
        Ok(changed.filter(|changed| changed != arguments))
    }

    /// Refuses a call whose arguments the guard made invalid; the error names the guard.
    pub(crate) fn invalid_arguments(&self, call: &CallContext, fault: &impl Display) -> CallError {
        let reason = format!("the guard changed the arguments, which are now invalid: {fault}");
        self.report_refusal(call, GuardHook::BeforeCall, Refusal::reject(reason))
    }

    /// Reports that the guard changed the arguments, request, response or result.
    pub(crate) fn report_change(&self, call: &CallContext, hook: GuardHook) {
        // Values of arguments are looked up one by one.
        if hook != GuardHook::BeforeCall {
            call.note_guarded(hook);
        }
        self.report(call, hook, GuardAction::Changed, None);
    }

    /// Reports that the guard refused; returns the error.
    pub(crate) fn report_refusal(&self, call: &CallContext, hook: GuardHook, refusal: Refusal) -> CallError {
        call.note_guarded(hook);
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

/// A result that guards may change; dropping it is safe even if a guard nested it deeply.
struct GuardedResult(Result<ToolReturn, CallError>);

impl GuardedResult {
    /// Refuses a result that a guard nested too deeply.
    fn check_nesting(&mut self) -> Result<(), Refusal> {
        let Ok(returned) = &mut self.0 else { return Ok(()) };
        let value = nesting::shallow(std::mem::take(returned.value_mut()));
        let refuse = |fault| Refusal::reject(format!("the guard changed the result, which is now {fault}"));
        *returned.value_mut() = value.map_err(refuse)?;
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
            dismantle(std::mem::take(returned.value_mut()));
        }
    }
}

impl Drop for GuardedResult {
    fn drop(&mut self) {
        self.dismantle();
    }
}

/// Runs a hook until it finishes, or until `waiting` is cancelled or timed out. A panic is a refusal.
async fn run_hook(
    waiting: &CallContext,
    hook: impl Future<Output = Result<(), Refusal>>,
) -> Result<Result<(), Refusal>, CallError> {
    let hook = AssertUnwindSafe(hook).catch_unwind();
    // The hook is polled first, so that a hook that does not wait also runs for a cancelled call.
    tokio::select! {
        biased;
        outcome = hook => Ok(outcome.unwrap_or_else(|payload| {
            Err(Refusal::stop(format!("the guard panicked: {}", panic_text(payload.as_ref()))))
        })),
        error = waiting.stopped() => Err(error),
    }
}

/// Returns whether the result differs from the one before the hook; errors are compared by their text.
fn differs(before: &Result<ToolReturn, String>, now: &Result<ToolReturn, CallError>) -> bool {
    match (before, now) {
        (Ok(before), Ok(now)) => before != now,
        (Err(before), Err(now)) => *before != chain(now),
        _ => true,
    }
}
