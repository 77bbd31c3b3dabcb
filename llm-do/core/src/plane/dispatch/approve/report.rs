//! Events about the approval of a call.

use std::sync::Arc;

use tokio::sync::watch;

use crate::observe::event::{DecidedBy, EventKind, RuleSource};
use crate::plane::approval::{Approval, ApprovalRequest, RefusedEdit, SubmittedRequest};
use crate::plane::context::CallContext;
use crate::plane::registry::Prepared;

/// Reports a request, and then each edit that cannot run, each of them once.
pub(super) struct RequestReports<'c> {
    ctx: &'c CallContext,
    request: Arc<ApprovalRequest>,
    refused: Option<watch::Receiver<Vec<RefusedEdit>>>,
    pub(super) has_request: bool,
    /// The number of reported edits.
    edits: usize,
}

impl<'c> RequestReports<'c> {
    pub(super) fn new(ctx: &'c CallContext, submitted: &SubmittedRequest) -> Self {
        let (request, refused) = (Arc::clone(&submitted.request), submitted.refused.clone());
        Self { ctx, request, refused, has_request: false, edits: 0 }
    }

    /// Reports the request, unless it was reported before.
    pub(super) fn request(&mut self) {
        if std::mem::replace(&mut self.has_request, true) {
            return;
        }
        let request = &self.request;
        self.ctx.emit(|| EventKind::ApprovalAsked {
            summary: request.summary(),
            arguments: request.arguments.clone(),
            given: request.given_in_events(),
            position: request.position,
            total: if request.position == 0 { 0 } else { request.total() },
            origins: request.origins.arguments().to_vec(),
        });
    }

    /// Waits for the next edit that cannot run, and reports it; never returns once no further edit is possible.
    pub(super) async fn next_edit(&mut self) {
        let has_edit = match &mut self.refused {
            Some(refused) => refused.changed().await.is_ok(),
            None => false,
        };
        if !has_edit {
            std::future::pending::<()>().await;
        }
        self.finish();
    }

    /// Reports the request, and the edits that were refused, unless they were reported before.
    pub(super) fn finish(&mut self) {
        self.request();
        // The edits are copied, since a sink may take long, and the queue must not wait for it.
        let new = |refused: &mut watch::Receiver<Vec<RefusedEdit>>| refused.borrow_and_update()[self.edits..].to_vec();
        let edits = self.refused.as_mut().map(new).unwrap_or_default();
        self.edits += edits.len();
        for RefusedEdit { arguments, rule, reason } in edits {
            self.ctx.emit(|| EventKind::EditRefused { arguments, rule, reason });
        }
    }
}

/// Reports that a rule blocks the recorded edit of a call.
pub(super) fn emit_refused_edit(ctx: &CallContext, edited: &Prepared, rule: &RuleSource, reason: &str) {
    ctx.emit(|| EventKind::EditRefused {
        arguments: edited.arguments().map(|arguments| arguments.value().clone()).unwrap_or_default(),
        rule: Some(rule.clone()),
        reason: reason.to_owned(),
    });
}

/// Reports the decision about a call; `is_replayed` is whether the journal has it.
pub(in crate::plane::dispatch) fn emit_decision(
    ctx: &CallContext,
    rule: &RuleSource,
    approval: &Approval,
    is_replayed: bool,
) {
    if approval.by == DecidedBy::Reviewer
        && let Some(reason) = approval.denial_reason()
    {
        // A model wrote it that has read the arguments.
        ctx.note_reason(reason);
    }
    ctx.emit(|| approval.event(rule.clone(), is_replayed));
}
