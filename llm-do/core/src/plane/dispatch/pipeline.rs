//! The path of every call: find → decode → guard → limits → dry run → approve → journal → run → guard → report.
//!
//! [`begin`] finds the callee and decodes the arguments. [`admit`] lists the steps that may refuse the call, in their order.
//! [`WRAPPERS`] lists the wrappers around the tool while it runs, outermost first.

use futures_util::future::BoxFuture;

use super::decode::{decode_async_or_keep, decode_or_keep};
use super::find::{Found, callee, new_frame};
use super::perform::perform;
use super::report::{OpenCall, refuse};
use super::unknown::Settled;
use super::{
    Run, approve, background, deep, dry_run, find, guard, hybrid, instances, journal, limits, origins, report, shadow,
};
use crate::base::error::CallError;
use crate::declare::argument::Given;
use crate::declare::tool::ToolReturn;
use crate::observe::event::Caller;
use crate::observe::journal::{AnnouncedCall, InFlightStep};
use crate::plane::context::{CallContext, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::guard::Guards;
use crate::plane::registry::{Prepared, Registered};

/// The result of a call for its caller.
pub(super) type CallResult = Result<ToolReturn, CallError>;

/// A call whose callee is found, on its path through the steps.
pub(super) struct Call<'a> {
    pub(super) run: &'a Run,
    pub(super) ctx: &'a CallContext,
    pub(super) tool: Found<'a>,
    /// The decision of a dry run about the call, if the call needs approval or changes something.
    pub(super) judgment: Option<Box<dry_run::Judgment>>,
    /// Set once the call waits for something before it has its position in the journal.
    pub(super) announced: Option<AnnouncedCall>,
    /// Reports the end of the call; set when it starts.
    pub(super) open: Option<OpenCall<'a>>,
    /// What its caller notes once it has finished, if it notes anything.
    pub(super) read: Option<origins::OpenReading>,
    /// The step in the journal, if there is a journal; the call is in flight until this is dropped.
    pub(super) in_flight: Option<InFlightStep>,
    /// The 0-based number of the attempt: more than 0 if the call began before and its result is not recorded.
    pub(super) attempt: u32,
    /// The known outcome of a call that does not run: it began before, and its result is not recorded.
    pub(super) settled: Option<Settled>,
    /// The end of the call before its guards saw the result, if it has guards.
    pub(super) own_end: Option<journal::OwnEnd>,
    /// Whether a journal runs the call: only its own timeout stops it here, while the journal step waits for its
    /// caller.
    pub(super) is_in_journal: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new(run: &'a Run, ctx: &'a CallContext, tool: Found<'a>) -> Self {
        Self {
            run,
            ctx,
            tool,
            judgment: None,
            announced: None,
            open: None,
            read: None,
            in_flight: None,
            attempt: 0,
            settled: None,
            own_end: None,
            is_in_journal: false,
        }
    }

    /// Returns the guards that apply to the call, if any.
    pub(super) fn guards(&self) -> Option<&'a Guards> {
        self.run.guards(self.ctx)
    }

    /// Records whether the result comes from the journal.
    pub(super) fn set_replayed(&mut self, is_replayed: bool) {
        if let Some(open) = &mut self.open {
            open.is_replayed = is_replayed;
        }
    }
}

/// Finds the callee and decodes the arguments; returns the rest of the call.
#[inline]
pub(super) fn begin<'a>(
    run: &'a Run,
    caller: CallContext,
    whom: Callee<'a>,
    given: GivenArguments<'a>,
    by: Caller,
) -> BoxFuture<'a, CallResult> {
    let found = callee(run, &caller, whom, by);
    let tool = found.as_deref().ok().map(AsRef::as_ref);
    let instance = tool.and_then(Registered::instance);
    let ctx = caller.into_child(|caller| new_frame(run, caller, whom, tool, by)).inside(instance);
    let tool = match found {
        Ok(tool) => tool,
        Err(error) => return Box::pin(refuse(run, ctx, error, given)),
    };
    let text = given.text();
    let mut refused = None;
    let decoded = match text.and_then(|text| Prepared::decode_text(&tool, text, run.events.is_observed)) {
        Some(prepared) => Ok(prepared),
        None => match given.into_value() {
            Ok(given) if tool.is_checked_slowly(&given.value) => {
                return Box::pin(decode_and_execute(run, ctx, tool, given, None));
            }
            given => decode_or_keep(&tool, given, &mut refused),
        },
    };
    match decoded {
        Ok(prepared) => Box::pin(execute(run, ctx, tool, prepared, None)),
        Err(error) => Box::pin(refuse(run, ctx, error, GivenArguments::refused(text, refused))),
    }
}

/// Executes a call whose arguments take long to check. It is announced, unless it was announced before.
pub(super) async fn decode_and_execute(
    run: &Run,
    ctx: CallContext,
    tool: Found<'_>,
    arguments: impl Into<Given>,
    announced: Option<AnnouncedCall>,
) -> CallResult {
    let announced = announced.or_else(|| ctx.announce());
    let mut refused = None;
    match decode_async_or_keep(&ctx, &tool, arguments, &mut refused).await {
        Ok(prepared) => execute(run, ctx, tool, prepared, announced).await,
        Err(error) => refuse(run, ctx, error, GivenArguments::refused(None, refused)).await,
    }
}

/// Executes a call whose callee is found and whose arguments are decoded.
///
/// Calls nest, so each call's future must stay small: rare branches are boxed, here and below.
async fn execute(
    run: &Run,
    ctx: CallContext,
    tool: Found<'_>,
    mut prepared: Prepared,
    announced: Option<AnnouncedCall>,
) -> CallResult {
    let cancel_on_drop = ctx.cancel_on_drop();
    yield_unless_cancelled(&ctx).await?;
    let mut call = Call { announced, ..Call::new(run, &ctx, tool) };
    origins::note_root(&call, &prepared);
    if let Err(error) = admit(&mut call, &mut prepared).await {
        let arguments = if ctx.is_observed() { prepared.arguments_of_event().ok() } else { None };
        return Box::pin(report::refusal(run, &ctx, error, arguments)).await;
    }
    let result = run_admitted(&mut call, prepared).await;
    if ctx.frame().by != Caller::User {
        return result;
    }
    drop(cancel_on_drop);
    Box::pin(run.finish(&ctx, result)).await
}

/// The steps before a call runs, in their order: the first that fails refuses the call.
#[inline]
async fn admit(call: &mut Call<'_>, prepared: &mut Prepared) -> Result<(), CallError> {
    find::check_models(call)?;
    guard::check(call, prepared).await?;
    limits::check(call, prepared)?;
    journal::place(call, prepared).await?;
    let reserved = limits::reserve(call)?;
    dry_run::check(call, prepared)?;
    approve::check(call, prepared).await?;
    limits::count(call, prepared, reserved);
    Ok(())
}

/// Runs an admitted call inside its wrappers, and reports its start and its end; a planned call already has its result.
#[inline]
async fn run_admitted(call: &mut Call<'_>, prepared: Prepared) -> CallResult {
    if let Some(result) = dry_run::take_result(call) {
        return result;
    }
    let _permit = if let Some(background) = call.ctx.frame().in_background() {
        background.started.cancel();
        Box::pin(background::permit(call.ctx)).await
    } else {
        None
    };
    limits::start(call);
    report::start(call, &prepared);
    hybrid::note_effect(call);
    origins::begin(call, &prepared);
    let result = Next(&WRAPPERS).run(call, prepared).await;
    let labels = origins::finish(call, &result);
    report::finish(call, &result, labels);
    result
}

/// The wrappers of a running call, outermost first.
static WRAPPERS: [Wrapper; 5] =
    [shadow::WRAPPER, journal::OUTCOME, guard::WRAPPER, journal::WRAPPER, instances::WRAPPER];

/// A wrapper around some calls while they run.
pub(super) struct Wrapper {
    /// Returns whether the wrapper applies to the call.
    pub(super) applies: fn(&Call<'_>) -> bool,
    /// Runs the call through its `Next`. Boxed, since few calls have wrappers.
    pub(super) around: for<'c> fn(&'c mut Call<'_>, Prepared, Next) -> BoxFuture<'c, CallResult>,
}

/// The inner part of a wrapped call: the remaining wrappers, and the tool.
#[derive(Clone, Copy)]
pub(super) struct Next(&'static [Wrapper]);

impl Next {
    /// Runs the call.
    #[inline]
    pub(super) async fn run(self, call: &mut Call<'_>, prepared: Prepared) -> CallResult {
        let Self(mut wrappers) = self;
        while let Some((wrapper, inner)) = wrappers.split_first() {
            wrappers = inner;
            if (wrapper.applies)(call) {
                return (wrapper.around)(call, prepared, Self(inner)).await;
            }
        }
        perform(call, prepared).await
    }
}

/// Yields to other tasks when due; returns an error if the caller is cancelled.
pub(super) async fn yield_unless_cancelled(ctx: &CallContext) -> Result<(), CallError> {
    // Code that makes many quick calls must not starve other tasks. The thread of deep calls has no task budget.
    if deep::is_deep(ctx.frame().nesting) {
        tokio::task::yield_now().await;
    } else {
        tokio::task::coop::consume_budget().await;
    }
    if ctx.caller().is_some_and(CallContext::is_cancelled) {
        // Code that keeps calling must wait here, so that the cancelled run can drop it.
        tokio::task::yield_now().await;
        return Err(CallError::Cancelled { tool: ctx.name().to_owned() });
    }
    Ok(())
}
