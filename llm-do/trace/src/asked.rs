//! Requests, approvals and questions of a call, with their answers.

use std::sync::Arc;

use llm_do_core::observe::event::{DecidedBy, Event, EventKind, RuleSource};
use llm_do_core::plane::approval::RefusedEdit;

use super::call::{Approval, Call, Decided, ModelRequest, Question};

/// Records a request, an approval or a question, or the answer to one.
pub(super) fn ask_or_answer(call: &mut Call, event: &Event) {
    match &event.kind {
        EventKind::ApprovalAsked { arguments, origins, .. } => {
            if call.arguments.is_null() {
                call.arguments = arguments.clone();
            }
            // An unanswered approval is asked for again.
            if !reopen_approval(call) && open_approval(call).is_none_or(|open| call.repeats.approvals.is_new(open)) {
                let (asked, origins) = (Some(event.time), origins.clone());
                call.approvals.push(Approval { asked, origins, ..Approval::default() });
            }
        }
        EventKind::EditRefused { arguments, rule, reason } => {
            refuse_edit(call, RefusedEdit::new(arguments.clone(), rule.clone(), reason.clone()));
        }
        EventKind::ApprovalDecided { approved, by, rule, reason, edited, scope, replayed } => {
            let decided = Decided {
                time: event.time,
                approved: *approved,
                by: *by,
                rule: rule.clone(),
                reason: reason.clone(),
                edited: edited.clone(),
                scope: *scope,
                replayed: false,
            };
            decide(call, decided, *replayed || *rule == RuleSource::Journal);
        }
        EventKind::InputAsked { question } => {
            let repeated = call.repeats.questions.next(|place| call.questions[place].prompt == question.prompt);
            let Some(place) = repeated else {
                let prompt = question.prompt.clone();
                call.questions.push(Question { prompt, asked_at: event.time, answered_at: None, answer: None });
                return;
            };
            call.repeats.answers += usize::from(call.questions[place].answered_at.is_some());
        }
        EventKind::InputAnswered { answer } => {
            if call.repeats.answers > 0 {
                call.repeats.answers -= 1;
                return;
            }
            let is_answered = |question: &Question| question.answered_at.is_some();
            if let Some(open) = first_open(&mut call.answered_questions, &call.questions, is_answered) {
                let open = &mut call.questions[open];
                (open.answered_at, open.answer) = (Some(event.time), Some(answer.clone()));
                call.waits.add(open.asked_at, event.time);
            }
        }
        EventKind::ModelRequest { .. } | EventKind::ModelResponse { .. } => exchange(call, event),
        EventKind::ModelRetry { reason } => call.retry(reason),
        _ => {}
    }
}

/// Returns the index of the first open item; `closed` is the number of leading items known to be closed, so that each
/// is examined once.
fn first_open<T>(closed: &mut usize, items: &[T], is_closed: impl Fn(&T) -> bool) -> Option<usize> {
    *closed += items[*closed..].iter().take_while(|item| is_closed(item)).count();
    (*closed < items.len()).then_some(*closed)
}

fn open_approval(call: &mut Call) -> Option<usize> {
    first_open(&mut call.decided_approvals, &call.approvals, |approval| approval.decided.is_some())
}

/// Reopens the next approval to repeat if the end of an earlier attempt decided it; returns whether it did.
fn reopen_approval(call: &mut Call) -> bool {
    let is_interrupted = |decided: &Decided| decided.by == DecidedBy::Cancellation;
    let is_next = |place: usize| call.approvals[place].decided.as_ref().is_some_and(is_interrupted);
    let Some(place) = call.repeats.approvals.next(is_next) else { return false };
    call.approvals[place].decided = None;
    call.decided_approvals = call.decided_approvals.min(place);
    true
}

/// Records an edit of the open approval, or of the one that is decided next.
fn refuse_edit(call: &mut Call, edit: RefusedEdit) {
    let open = open_approval(call).unwrap_or_else(|| {
        call.approvals.push(Approval::default());
        call.approvals.len() - 1
    });
    let edits = &mut call.approvals[open].refused_edits;
    if edits.last() != Some(&edit) {
        edits.push(edit);
    }
}

/// Records a decision, unless an earlier attempt has it: a rule or a mode decides in each attempt, and a person once.
fn decide(call: &mut Call, decided: Decided, is_replay: bool) {
    let open = open_approval(call);
    let is_repeated = |earlier: &Decided| is_replay || (!decided.by.is_judgment() && earlier.is_same(&decided));
    let repeated = call.repeats.approvals.next(|place| call.approvals[place].decided.as_ref().is_some_and(is_repeated));
    match open {
        // This approval is only asked for again by the replay.
        Some(open) if repeated.is_some() && call.repeats.approvals.is_new(open) => {
            call.approvals.remove(open);
        }
        _ if repeated.is_some() => {}
        Some(open) => {
            let open = &mut call.approvals[open];
            open.asked.into_iter().for_each(|asked| call.waits.add(asked, decided.time));
            open.decided = Some(decided);
        }
        None => {
            let decided = Some(Decided { replayed: is_replay, ..decided });
            call.approvals.push(Approval { decided, ..Approval::default() });
        }
    }
}

/// Records a request to a model, or its answer, unless an earlier attempt has it.
fn exchange(call: &mut Call, event: &Event) {
    match &event.kind {
        EventKind::ModelRequest { model, turn, .. } => {
            let request = ModelRequest {
                model: Arc::clone(model),
                turn: *turn,
                sent: event.time,
                answered: None,
                input_tokens: 0,
                output_tokens: 0,
                replayed: false,
                attempt: call.work.attempt,
            };
            match call.repeats.requests.next(|place| call.requests[place].turn == *turn) {
                Some(place) if call.requests[place].answered.is_some() => call.asked_again = Some(request),
                // Without an answer, the request is sent again.
                Some(place) => {
                    call.requests[place] = request;
                    call.open_request = place;
                }
                None => {
                    call.open_request = call.requests.len();
                    call.requests.push(request);
                }
            }
        }
        EventKind::ModelResponse { usage, replayed, .. } => {
            if let Some(request) = call.asked_again.take() {
                if *replayed {
                    return;
                }
                call.open_request = call.requests.len();
                call.requests.push(request);
            }
            let Some(request) = call.requests.get_mut(call.open_request) else { return };
            (request.answered, request.replayed) = (Some(event.time), *replayed);
            (request.input_tokens, request.output_tokens) = (usage.input_tokens, usage.output_tokens);
            if !*replayed && request.attempt == call.work.attempt {
                call.answers.add(request.sent, event.time);
            }
        }
        _ => {}
    }
}
