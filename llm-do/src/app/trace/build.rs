//! Makes the tree of calls from events, in their order.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::Trace;
use super::call::{Approval, Call, Decided, Ending, ModelRequest, Question};
use super::figures::Figures;
use super::waits::Waits;
use crate::observe::event::{Event, EventKind, GuardAction, Outcome};

/// How deeply calls are shown below each other; deeper ones are shown beside their caller, so that no log needs more stack.
const MAX_LEVEL: usize = 256;

/// The calls of the events so far.
#[derive(Default)]
pub(super) struct Builder {
    trace: Trace,
    /// The call of each run and id.
    places: HashMap<(Arc<str>, u64), usize>,
    /// Since when a call's model waits, such as for a rate limit.
    model_waits: HashMap<usize, Timestamp>,
}

impl Builder {
    pub(super) fn push(&mut self, event: &Event) {
        let place = self.place(event);
        self.end_model_wait(place, event);
        let call = &mut self.trace.calls[place];
        call.last = call.last.max(event.time);
        match &event.kind {
            EventKind::CallStarted { what, by, arguments, .. } => {
                (call.what, call.by, call.arguments) = (Some(*what), Some(*by), arguments.value().into_owned());
            }
            EventKind::CallFinished { outcome, attachments, note, replayed, .. } => {
                call.ending = match outcome {
                    Outcome::Result(value) => Ending::Result(value.value().into_owned()),
                    Outcome::Error(error) => Ending::Error(error.clone()),
                };
                (call.attachments, call.note, call.is_replayed) = (attachments.clone(), note.clone(), *replayed);
            }
            EventKind::CallRefused { by, error, arguments } => {
                (call.by, call.ending) = (Some(*by), Ending::Refused(error.clone()));
                if let Some(arguments) = arguments {
                    call.arguments = arguments.value().into_owned();
                }
            }
            EventKind::Usage { used } => self.count(place, used.into()),
            EventKind::Subtask { worker, .. } => call.remarks.push(format!("subtask for `{worker}`")),
            EventKind::Dropped { count } => {
                call.remarks.push(format!("{count} events are missing: the log was too slow"));
            }
            EventKind::SettingWarning { setting, message, .. } => {
                call.remarks.push(format!("setting `{setting}`: {message}"));
            }
            EventKind::Guarded { guard, hook, action, reason } => {
                let done = if *action == GuardAction::Refused { "refused" } else { "changed" };
                let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                call.remarks.push(format!("guard `{guard}` {done} the {}{reason}", hook.as_str()));
            }
            _ => ask_or_answer(call, event),
        }
    }

    /// Returns the place of the event's call, which is new with its first event.
    fn place(&mut self, event: &Event) -> usize {
        let key = (Arc::clone(&event.run), event.call);
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.trace.calls.len();
        let mut call = Call::new(Arc::clone(&event.run), event.call, Arc::clone(&event.name), event.time);
        call.parent = event.parent.and_then(|parent| self.caller(&event.run, parent));
        match call.parent {
            Some(parent) => {
                call.level = self.trace.calls[parent].level + 1;
                self.trace.calls[parent].children.push(place);
            }
            None => self.trace.roots.push(place),
        }
        self.trace.calls.push(call);
        self.places.insert(key, place);
        place
    }

    /// Returns the place of a caller, or of its own caller if it is too deep.
    fn caller(&self, run: &Arc<str>, id: u64) -> Option<usize> {
        let place = *self.places.get(&(Arc::clone(run), id))?;
        let caller = &self.trace.calls[place];
        if caller.level < MAX_LEVEL { Some(place) } else { caller.parent }
    }

    /// Ends the wait of a model with the next event of its call.
    fn end_model_wait(&mut self, place: usize, event: &Event) {
        if let EventKind::ModelWaiting { on } = &event.kind {
            self.model_waits.entry(place).or_insert(event.time);
            self.trace.calls[place].remarks.push(format!("waited: {on}"));
        } else if let Some(since) = self.model_waits.remove(&place) {
            self.trace.calls[place].waits.add(since, event.time);
        }
    }

    /// Counts what a call and all below it used by now: what is new is the call's own.
    fn count(&mut self, place: usize, used: Figures) {
        let own = used - self.trace.calls[place].total;
        self.trace.calls[place].own += own;
        let mut next = Some(place);
        while let Some(place) = next {
            self.trace.calls[place].total += own;
            next = self.trace.calls[place].parent;
        }
    }

    /// Returns the calls, with the waits of those below them.
    pub(super) fn finish(mut self) -> Trace {
        // A call comes after its caller.
        let mut below: Vec<Waits> = Vec::new();
        below.resize_with(self.trace.calls.len(), Waits::default);
        while let Some(mut all) = below.pop() {
            let call = &mut self.trace.calls[below.len()];
            call.waits.join();
            all.extend(&call.waits);
            all.join();
            call.waited = all.total();
            if let Some(parent) = call.parent {
                below[parent].append(all);
                let last = call.last;
                let parent = &mut self.trace.calls[parent];
                parent.last = parent.last.max(last);
            }
        }
        self.trace
    }
}

/// Returns the first item that is not closed; `closed` is how many before it are known to be closed, so that none is looked at twice.
fn first_open<'i, T>(closed: &mut usize, items: &'i mut [T], is_closed: impl Fn(&T) -> bool) -> Option<&'i mut T> {
    *closed += items[*closed..].iter().take_while(|item| is_closed(item)).count();
    items.get_mut(*closed)
}

/// Notes requests, approvals and questions, and what answered them.
fn ask_or_answer(call: &mut Call, event: &Event) {
    match &event.kind {
        EventKind::ApprovalAsked { arguments, .. } => {
            if call.arguments.is_null() {
                call.arguments = arguments.clone();
            }
            call.approvals.push(Approval { asked: Some(event.time), decided: None });
        }
        EventKind::ApprovalDecided { approved, by, rule, reason, edited, scope } => {
            let decided = Decided {
                time: event.time,
                approved: *approved,
                by: *by,
                rule: rule.clone(),
                reason: reason.clone(),
                edited: edited.clone(),
                scope: *scope,
            };
            let open =
                first_open(&mut call.decided_approvals, &mut call.approvals, |approval| approval.decided.is_some());
            match open {
                Some(open) => {
                    open.asked.into_iter().for_each(|asked| call.waits.add(asked, event.time));
                    open.decided = Some(decided);
                }
                None => call.approvals.push(Approval { asked: None, decided: Some(decided) }),
            }
        }
        EventKind::InputAsked { question } => {
            let prompt = question.prompt.clone();
            call.questions.push(Question { prompt, asked_at: event.time, answered_at: None, answer: None });
        }
        EventKind::InputAnswered { answer } => {
            let is_answered = |question: &Question| question.answered_at.is_some();
            if let Some(open) = first_open(&mut call.answered_questions, &mut call.questions, is_answered) {
                (open.answered_at, open.answer) = (Some(event.time), Some(answer.clone()));
                call.waits.add(open.asked_at, event.time);
            }
        }
        EventKind::ModelRequest { model, turn, .. } => call.requests.push(ModelRequest {
            model: Arc::clone(model),
            turn: *turn,
            sent: event.time,
            answered: None,
            input_tokens: 0,
            output_tokens: 0,
            replayed: false,
        }),
        EventKind::ModelResponse { usage, replayed, .. } => {
            if let Some(request) = call.requests.last_mut() {
                (request.answered, request.replayed) = (Some(event.time), *replayed);
                (request.input_tokens, request.output_tokens) = (usage.input_tokens, usage.output_tokens);
            }
        }
        EventKind::ModelRetry { reason } => call.retries.push(reason.clone()),
        _ => {}
    }
}
