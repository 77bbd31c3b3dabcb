//! Whether an admitted call may run: what its rule says, or whom it has asked.

use std::sync::Arc;

use super::Run;
use super::perform::Prepared;
use crate::approval::{Answer, ApprovalRequest, Question, State, Verdict};
use crate::context::{CallFrame, Host};
use crate::error::CallError;
use crate::event::{Caller, EventKind, Judge, RuleSource};
use crate::registry::Registered;

impl Run {
    /// Asks about a call whoever must be asked, and returns what is to run: the approver may change the arguments.
    pub(super) async fn approve(
        &self,
        caller: &CallFrame,
        frame: &CallFrame,
        tool: &Arc<Registered>,
        prepared: Prepared,
        by: Caller,
    ) -> Result<Prepared, CallError> {
        if by == Caller::User {
            self.decided(frame, RuleSource::User, &Answer::approved(Judge::Policy));
            return Ok(prepared);
        }
        let proposal = self.plane.approvals.propose(tool, by, &|| request(caller, tool, &prepared));
        let answer = match proposal.state {
            State::Ruled(answer) => answer,
            State::Asked(question) => self.ask(frame, question).await,
        };
        self.decided(frame, proposal.source, &answer);
        let name = || tool.name().to_owned();
        match answer.verdict {
            Verdict::Approved(None) => Ok(prepared),
            Verdict::Approved(Some(edited)) => Prepared::decode(tool, Ok(edited)),
            Verdict::Denied(_) if answer.by == Judge::Cancellation => Err(CallError::Cancelled { tool: name() }),
            Verdict::Denied(reason) => Err(CallError::Denied { tool: name(), reason }),
            Verdict::Blocked(reason) => Err(CallError::Blocked { tool: name(), reason }),
        }
    }

    /// Reports the question, and waits for its answer.
    async fn ask(&self, frame: &CallFrame, question: Question) -> Answer {
        let request = &question.request;
        self.emit(
            frame,
            EventKind::ApprovalAsked {
                summary: request.summary(),
                arguments: request.arguments.clone(),
                position: request.position,
                total: if request.position == 0 { 0 } else { request.total() },
            },
        );
        tokio::select! {
            biased;
            () = frame.cancellation.cancelled() => Answer::denied("the run was cancelled", Judge::Cancellation),
            answer = question.answer() => answer,
        }
    }

    fn decided(&self, frame: &CallFrame, rule: RuleSource, answer: &Answer) {
        let (approved, reason, edited) = match &answer.verdict {
            Verdict::Approved(edited) => (true, None, edited.clone()),
            Verdict::Denied(reason) | Verdict::Blocked(reason) => (false, Some(reason.clone()), None),
        };
        let (by, remembered) = (answer.by, answer.remembered);
        self.emit(frame, EventKind::ApprovalDecided { approved, by, rule, reason, edited, remembered });
    }
}

fn request(caller: &CallFrame, tool: &Registered, prepared: &Prepared) -> ApprovalRequest {
    let mut request = ApprovalRequest::new(Arc::clone(&tool.spec.name), prepared.arguments.clone());
    request.description = Arc::clone(&tool.spec.description);
    request.effect = tool.effect();
    request.caller = Arc::clone(&caller.name);
    request.path = vec![Arc::clone(&caller.name)];
    request.template = tool.def.summary.map(Arc::from);
    request
}
