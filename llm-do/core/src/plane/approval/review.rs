//! Asks the approver about one request until there is a decision.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, poll_immediate};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::edit::ValidEdit;
use super::{Approval, ApprovalRequest, Approver, CallReview, Decision, RefusedEdit, ReviewVerdict, Reviewer};
use crate::base::error::chain;
use crate::declare::nesting;
use crate::declare::schema::CheckedSchema;
use crate::observe::event::DecidedBy;
use crate::observe::journal::{Journal, Promise, too_deep};
use crate::plane::context::CallContext;

/// The maximum number of invalid edits for one call; stops an approver that ignores the problem.
const MAX_EDITS: u32 = 10;

/// The nesting depth of a result inside the record of an answer.
const ANSWER_DEPTH: usize = 2;

/// Why the arguments of a call with recorded steps cannot be edited.
const HAS_BEGUN: &str = "steps of this call are recorded with its original arguments; approve it unchanged, or deny it";

/// Validates the approver's arguments, and returns them as they would run, defaults filled in.
pub(super) type ValidateEdit = Box<dyn Fn(Value) -> BoxFuture<'static, Result<ValidEdit, RefusedEdit>> + Send + Sync>;

/// The approver's arguments that could not run, so far.
pub(super) type RefusedEdits = watch::Receiver<Vec<RefusedEdit>>;

/// Returns the text that shows the effect of the call to the approver; nothing runs until it is polled.
pub(crate) type ShowPreview = BoxFuture<'static, String>;

/// Opens the context in which a request is reviewed: what is asked there is counted and recorded with the caller.
pub(crate) type OpenReview = Box<dyn Fn(&ApprovalRequest) -> CallContext + Send + Sync>;

/// The dependencies of a review besides the request and its preview.
pub(super) struct Review {
    validate: ValidateEdit,
    /// Stores the request before the approver is asked.
    pub(super) journal: Option<Arc<dyn Journal>>,
    open: OpenReview,
    /// Decides before the approver is asked, if there is one.
    reviewer: Option<Arc<Reviewer>>,
    /// Cancelled once the request can be found by clients that answer it.
    pub(super) announced: CancellationToken,
    pub(super) refused: watch::Sender<Vec<RefusedEdit>>,
}

impl Review {
    pub(super) fn new(
        validate: ValidateEdit,
        journal: Option<Arc<dyn Journal>>,
        open: OpenReview,
        reviewer: Option<Arc<Reviewer>>,
    ) -> Self {
        let (refused, _) = watch::channel(Vec::new());
        Self { validate, journal, open, reviewer, announced: CancellationToken::new(), refused }
    }

    /// Asks for a decision: the reviewer, if there is one, and then the approver.
    pub(super) async fn ask(
        &self,
        approver: &dyn Approver,
        request: &ApprovalRequest,
        preview: Option<ShowPreview>,
    ) -> Approval {
        let mut request = request.clone();
        if let Some(preview) = preview {
            request.preview = Some(preview.await);
        }
        let ctx = (self.open)(&request);
        let mut approval = match self.reviewed_by_worker(&mut request, &ctx).await {
            Some(approval) => approval,
            None => self.ask_approver(approver, request, &ctx).await,
        };
        approval.usage = ctx.journal().map(|_| ctx.usage_tree()).filter(|used| !used.is_zero()).map(Box::new);
        approval
    }

    /// Returns the decision of the reviewer; `None` without one, or if a person has to decide.
    async fn reviewed_by_worker(&self, request: &mut ApprovalRequest, ctx: &CallContext) -> Option<Approval> {
        // Only a person may know what became of a call that began before, and a model may obey an untrusted text.
        let reviewer = self.reviewer.as_ref().filter(|_| request.began.is_none() && !request.is_held())?;
        // A panic is a failure of the review.
        let review = AssertUnwindSafe(reviewer.review(request, ctx)).catch_unwind().await;
        let Ok(CallReview { verdict, reason }) = review else {
            request.review = Some("the review panicked".to_owned());
            return None;
        };
        match verdict {
            ReviewVerdict::Pass => Some(Approval::approved(DecidedBy::Reviewer)),
            ReviewVerdict::Refuse => Some(Approval::denied(reason, DecidedBy::Reviewer)),
            ReviewVerdict::Ask => {
                request.review = Some(reason);
                None
            }
        }
    }

    /// Asks the approver; asks again while edited arguments cannot run, and passes them on.
    async fn ask_approver(&self, approver: &dyn Approver, mut request: ApprovalRequest, ctx: &CallContext) -> Approval {
        for edits in 0..MAX_EDITS {
            let is_repeated = edits > 0 || request.is_asked_again;
            // A panic denies the call.
            let review = AssertUnwindSafe(self.decide(approver, &mut request, is_repeated, ctx));
            let edit = match review.catch_unwind().await {
                Ok(Decision::Approved) => return Approval::approved(DecidedBy::Approver),
                Ok(Decision::ApprovedFor { scope }) => {
                    return Approval { scope, ..Approval::approved(DecidedBy::Approver) };
                }
                Ok(Decision::Happened { result }) => match happened_fault(&request, &result) {
                    None => return Approval::happened(result),
                    Some(fault) => {
                        request.problem = Some(fault);
                        request.refused_edit = None;
                        tokio::task::yield_now().await;
                        continue;
                    }
                },
                Ok(Decision::Denied { reason }) => return Approval::denied(reason, DecidedBy::Approver),
                Ok(Decision::DeniedAndStopped { reason }) => return Approval::stopped(reason, DecidedBy::Approver),
                Ok(Decision::Undecided { reason }) => return Approval::undecided(reason),
                Ok(Decision::ApprovedWith { arguments }) => match self.validated(arguments).await {
                    Ok(ValidEdit { arguments, shown }) => {
                        // Compared with the arguments that would run, which may contain more than the displayed
                        // arguments.
                        let requested = request.given.as_ref().unwrap_or(&request.arguments);
                        let edited = (arguments != *requested).then_some(arguments);
                        if edited.is_none() || !request.has_begun {
                            return Approval::edited(edited);
                        }
                        RefusedEdit::invalid(shown, HAS_BEGUN)
                    }
                    Err(edit) => edit,
                },
                Err(_) => return Approval::undecided("the approver panicked"),
            };
            request.problem = Some(edit.problem());
            self.refused.send_modify(|edits| edits.push(edit.clone()));
            request.refused_edit = Some(edit);
            // Without this, an approver that never waits would block cancellation.
            tokio::task::yield_now().await;
        }
        let reason = format!("the approver's edited arguments, or results, were invalid {MAX_EDITS} times");
        Approval::denied(reason, DecidedBy::Approver)
    }

    /// Stores a request, and waits for the first decision: from the approver, or under the id of the promise.
    async fn decide(
        &self,
        approver: &dyn Approver,
        request: &mut ApprovalRequest,
        is_repeated: bool,
        ctx: &CallContext,
    ) -> Decision {
        let promise = match (&self.journal, request.promise_spec(is_repeated)) {
            (Some(journal), Some(asked)) => journal.promise(asked).await,
            _ => Ok(None),
        };
        match promise {
            Ok(None) => self.reviewed(approver, request, ctx).await,
            Ok(Some(Promise { id, answer, .. })) => {
                request.promise = Some(id);
                // In a resumed run, the answer may be stored already; equal concurrent calls join the request first.
                tokio::task::yield_now().await;
                tokio::select! {
                    biased;
                    answer = answer => answer.map_or_else(|error| Decision::undecided(chain(&error)), Decision::from_json),
                    decision = self.reviewed(approver, request, ctx) => decision,
                }
            }
            Err(error) => Decision::undecided(chain(&error)),
        }
    }

    /// Asks the approver, and announces the request: either before, or once the approver has listed it.
    async fn reviewed(&self, approver: &dyn Approver, request: &ApprovalRequest, ctx: &CallContext) -> Decision {
        if !approver.lists_requests() {
            if !self.announced.is_cancelled() {
                self.announced.cancel();
                // The event about the request comes first.
                tokio::task::yield_now().await;
            }
            return approver.review(request, ctx).await;
        }
        let mut review = approver.review(request, ctx);
        let decided = poll_immediate(&mut review).await;
        self.announced.cancel();
        match decided {
            Some(decision) => decision,
            None => review.await,
        }
    }

    /// Returns the approver's arguments in the form in which the call would run.
    async fn validated(&self, arguments: Value) -> Result<ValidEdit, RefusedEdit> {
        let shallow = nesting::shallow(arguments);
        let shallow = shallow.map_err(|fault| RefusedEdit::invalid(Value::Null, fault.to_string()))?;
        (self.validate)(shallow).await
    }
}

/// Returns the reason that a result is invalid for a call that has happened.
fn happened_fault(request: &ApprovalRequest, result: &Value) -> Option<String> {
    if request.began.is_none() {
        return Some("this call has not begun, so it cannot have happened: approve it, or deny it".to_owned());
    }
    if let Some(fault) = too_deep(result, ANSWER_DEPTH) {
        return Some(fault);
    }
    let schema = CheckedSchema::new(request.result_schema.as_ref()?);
    let fault = schema.check(result).err()?;
    Some(format!("the result does not match the schema of the tool's result: {fault}"))
}
