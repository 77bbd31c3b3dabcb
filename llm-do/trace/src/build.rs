//! Makes the tree of calls from events, in their order.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use llm_do_core::base::mend::words_of;
use llm_do_core::observe::event::{Event, EventKind, GuardAction};

use super::Trace;
use super::asked::ask_or_answer;
use super::attempts::Attempts;
use super::call::{Call, Ending};
use super::figures::Figures;
use super::times::Times;

/// The maximum level at which calls are shown; deeper ones are shown beside their caller, which bounds the recursion.
const MAX_LEVEL: usize = 256;

/// The calls of the events so far.
#[derive(Default)]
pub(super) struct Builder {
    trace: Trace,
    runs: HashMap<Arc<str>, Attempts>,
    /// Since when a call's model waits, such as for a rate limit.
    model_waits: HashMap<usize, Timestamp>,
}

impl Builder {
    pub(super) fn push(&mut self, event: &Event) {
        let (place, attempt) = self.place(event);
        self.note(place, event.time, attempt);
        self.end_model_wait(place, event);
        let call = &mut self.trace.calls[place];
        match &event.kind {
            EventKind::CallStarted { what, by, arguments, background, .. } => {
                (call.what, call.by, call.arguments) = (Some(*what), Some(*by), arguments.value().into_owned());
                call.start(event.time);
                if *background {
                    call.remark("in the background".to_owned());
                }
            }
            EventKind::CallFinished { outcome, labels, attachments, note, elapsed_ms, replayed } => {
                if call.finish(event.time, *elapsed_ms, *replayed) {
                    return;
                }
                call.ending = match outcome.as_result() {
                    Ok(value) => Ending::Result(value.value().into_owned()),
                    Err(error) => Ending::Error(error.to_owned()),
                };
                (call.labels, call.attachments, call.note) = (*labels, attachments.clone(), note.clone());
            }
            EventKind::CallRefused { by, error, arguments } => {
                call.by = Some(*by);
                call.refuse(event.time, error);
                if let Some(arguments) = arguments {
                    call.arguments = arguments.value().into_owned();
                }
            }
            EventKind::CallPlanned { by, summary, arguments, approval, ran, .. } => {
                (call.by, call.arguments) = (Some(*by), arguments.clone());
                let text = format!("{summary} {}", approval.words());
                if *ran { call.remark(text) } else { call.plan(event.time, text) }
            }
            EventKind::Usage { used } => self.count(place, used.into()),
            EventKind::Subtask { worker, .. } => call.remark(format!("subtask for `{worker}`")),
            EventKind::Dropped { count } => {
                call.remarks.push(format!("{count} events are missing: the log was too slow"));
            }
            EventKind::Mended { tool, mends } => {
                let what = tool.as_ref().map_or_else(|| "result".to_owned(), |tool| format!("arguments of `{tool}`"));
                call.remark(format!("mended the {what}: {}", words_of(mends)));
            }
            EventKind::SettingWarning { setting, message, .. } => {
                call.remark(format!("setting `{setting}`: {message}"));
            }
            EventKind::Endorsed { value, reason } => call.remark(format!("endorsed {value}: {reason}")),
            EventKind::Guarded { guard, hook, action, reason } => {
                let done = if *action == GuardAction::Refused { "refused" } else { "changed" };
                let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                call.remark(format!("guard `{guard}` {done} the {}{reason}", hook.as_str()));
            }
            _ => ask_or_answer(call, event),
        }
    }

    /// Returns the index of the event's call, which its first event creates, and the attempt of its run.
    fn place(&mut self, event: &Event) -> (usize, u32) {
        let Self { trace, runs, .. } = self;
        let run = runs.entry(Arc::clone(&event.run)).or_default();
        run.note(event.seq);
        if let Some(place) = run.place(event.call) {
            return (place, run.current);
        }
        let parent = event.parent.and_then(|parent| caller(&trace.calls, run.place(parent)?));
        let by = (parent, Arc::clone(&event.name));
        if let Some(place) = run.made_before(event.call, &by) {
            return (place, run.current);
        }
        let place = trace.calls.len();
        run.add(event.call, by, place);
        let id = (Arc::clone(&event.run), event.call);
        let mut call = Call::new(id, Arc::clone(&event.name), event.time, run.current);
        call.parent = parent;
        match parent {
            Some(parent) => {
                call.level = trace.calls[parent].level + 1;
                trace.calls[parent].children.push(place);
            }
            None => trace.roots.push(place),
        }
        trace.calls.push(call);
        (place, run.current)
    }

    /// Adds an event to the time of its call and of all callers.
    fn note(&mut self, place: usize, time: Timestamp, attempt: u32) {
        let mut next = Some(place);
        while let Some(place) = next {
            let call = &mut self.trace.calls[place];
            if call.work.note(time, attempt) {
                call.begin_attempt();
                self.model_waits.remove(&place);
            }
            next = call.parent;
        }
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

    /// Counts the usage of a call and all calls below it; the increase is the call's own.
    fn count(&mut self, place: usize, used: Figures) {
        let own = used - self.trace.calls[place].total;
        self.trace.calls[place].own += own;
        let mut next = Some(place);
        while let Some(place) = next {
            self.trace.calls[place].total += own;
            next = self.trace.calls[place].parent;
        }
    }

    /// Returns the calls, with the times of those below them.
    pub(super) fn finish(mut self) -> Trace {
        // A call comes after its caller.
        let mut below: Vec<Below> = Vec::new();
        below.resize_with(self.trace.calls.len(), Below::default);
        while let Some(Below { mut waits, mut times }) = below.pop() {
            let call = &mut self.trace.calls[below.len()];
            let (is_ended, from, to) = call.work.times();
            times.add(from, to);
            times.extend(&call.answers);
            times.extend(&call.waits);
            times.join();
            waits.extend(&call.waits);
            waits.join();
            if is_ended {
                times.clip(to);
                waits.clip(to);
            }
            (call.elapsed, call.waited) = (times.total(), waits.total());
            if let Some(parent) = call.parent {
                below[parent].waits.append(waits);
                below[parent].times.append(times);
            }
        }
        self.trace
    }
}

/// The times of the calls below a call.
#[derive(Default)]
struct Below {
    waits: Times,
    /// When they worked or waited.
    times: Times,
}

/// Returns the index of a caller, or of the caller's caller if it is too deep.
fn caller(calls: &[Call], place: usize) -> Option<usize> {
    let caller = &calls[place];
    if caller.level < MAX_LEVEL { Some(place) } else { caller.parent }
}
