//! Messages to the run that join a worker's conversation, as steps of the journal.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llm_do_providers::{FinishReason, Response, ResponsePart, Usage};
use serde_json::{Value, json};

use super::WorkerRun;
use super::turn::Turns;
use crate::base::error::CallError;
use crate::base::mutex::IgnorePoison;
use crate::observe::event::{Caller, EventKind};
use crate::observe::journal::{StepKind, StepSpec};
use crate::plane::context::{CallContext, JournalMethod, QUESTION, StepOutcome};
use crate::plane::mailbox::{Mail, RunMessage, TakesMessages};

/// The name of the steps.
const MESSAGES: &str = "messages";

/// The text of a streamed answer that has arrived.
#[derive(Debug, Default)]
pub(crate) struct PartialAnswer(Mutex<String>);

impl PartialAnswer {
    pub(super) fn clear(&self) {
        self.0.lock().ignore_poison().clear();
    }

    fn push(&self, text: &str) {
        self.0.lock().ignore_poison().push_str(text);
    }

    fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().ignore_poison())
    }
}

/// Returns the messages to a worker's call; `None` for one that takes none: a question, a shadow, and what a guard calls.
pub(crate) fn mail_of(ctx: &CallContext) -> Option<Mail> {
    let frame = ctx.frame();
    let takes_messages = frame.is_worker && !frame.is_shadow && !ctx.is_unguarded() && *frame.name != *QUESTION;
    takes_messages.then(|| Mail::new(Arc::clone(ctx.host().mailbox()), frame.call))
}

/// Returns what identifies the step of the messages after `turn` answers; `made` is how many calls were made, if a message
/// interrupted them.
fn position(turn: u32, made: Option<usize>) -> Value {
    match made {
        Some(made) => json!({ "after": turn, "made": made }),
        None => json!({ "after": turn }),
    }
}

/// The number of calls of a turn that nothing interrupts.
const ALL: usize = usize::MAX;

/// How a message interrupts the calls of one turn.
#[derive(Debug)]
pub(super) struct Interruption {
    /// How many calls are made.
    made: AtomicUsize,
    /// Whether the next call may have begun in an earlier process.
    is_replay: AtomicBool,
}

impl Interruption {
    /// Returns how many calls were made, if a message interrupted them.
    pub(super) fn made(self) -> Option<usize> {
        Some(self.made.into_inner()).filter(|made| *made != ALL)
    }
}

impl WorkerRun {
    /// Takes messages to the run until the returned guard is dropped.
    pub(super) fn take_messages(&self) -> Option<TakesMessages<'_>> {
        let frame = self.ctx.frame();
        self.mail.as_ref().map(|mail| mail.begin(frame.depth, &frame.name))
    }

    /// Adds the messages to this worker, those of the journal or new ones, before a request or in place of the end; `made` is how
    /// many calls of the last answer were made, if a message interrupted them.
    pub(super) async fn join_messages(&self, turns: &mut Turns, made: Option<usize>) -> Result<(), CallError> {
        if !turns.takes_messages() {
            return Ok(());
        }
        let StepOutcome { value: messages, is_replayed } = self.next_messages(turns, made).await?;
        for message in &messages {
            self.ctx.note_message(message.text());
            self.ctx.emit(|| EventKind::UserMessage {
                text: message.text().to_owned(),
                interrupts: message.interrupts(),
                id: message.id().cloned(),
                replayed: is_replayed,
            });
        }
        let texts: Vec<_> = messages.iter().map(|message| message.text().to_owned()).collect();
        turns.join(&texts, messages.iter().any(RunMessage::is_pinned));
        Ok(())
    }

    async fn next_messages(
        &self,
        turns: &Turns,
        made: Option<usize>,
    ) -> Result<StepOutcome<Vec<RunMessage>>, CallError> {
        let input = position(turns.turn(), made);
        let is_recorded = self.is_recorded(MESSAGES, &input);
        let new = if is_recorded { Vec::new() } else { self.new_messages(turns.is_done()) };
        if new.is_empty() && !is_recorded && made.is_none() {
            return Ok(StepOutcome { value: new, is_replayed: false });
        }
        // Boxed, since few requests have a message.
        let local = move |_| async move { Ok(new) };
        Box::pin(self.ctx.step(JournalMethod::Step, StepKind::Message, MESSAGES, || input, local)).await
    }

    /// Takes the messages that have come. The worker that the run is takes the last ones: later ones are refused.
    fn new_messages(&self, is_done: bool) -> Vec<RunMessage> {
        match self.mail.as_ref().filter(|_| !self.is_replaying()) {
            Some(mail) if is_done && self.ctx.frame().by == Caller::User && !self.awaits_results() => {
                mail.take_or_close()
            }
            Some(mail) => mail.take(),
            None => Vec::new(),
        }
    }

    /// Returns whether the journal has later steps of this call: new messages join after them.
    pub(super) fn is_replaying(&self) -> bool {
        self.ctx.journal().is_some_and(|journal| journal.has_later_steps(&self.ctx.key()))
    }

    /// Returns whether the journal has what joined the conversation at this place.
    pub(super) fn is_recorded(&self, name: &str, input: &Value) -> bool {
        self.ctx.journal().is_some_and(|journal| {
            let step = StepSpec::new(self.ctx.key(), 0, StepKind::Message, name, input.clone());
            journal.is_recorded(&step.key)
        })
    }

    /// Returns what is known of an interruption before the calls of a turn are made; `is_replay` is whether its answer came from the
    /// journal.
    pub(super) fn interruption(&self, turn: u32, calls: usize, is_replay: bool) -> Interruption {
        let has_journal = self.ctx.journal().is_some();
        let mut made = (0..calls).filter(|_| has_journal);
        let recorded = made.find(|made| self.is_recorded(MESSAGES, &position(turn, Some(*made))));
        Interruption { made: recorded.unwrap_or(ALL).into(), is_replay: is_replay.into() }
    }

    /// Returns whether the call of a turn with this index is made: none after a message that interrupts.
    ///
    /// In a resumed run, the first call without a record is made: it may have begun, or waits for approval.
    pub(super) fn is_made(&self, index: usize, Interruption { made, is_replay }: &Interruption) -> bool {
        if is_replay.load(Ordering::Relaxed) {
            is_replay.store(self.is_replaying(), Ordering::Relaxed);
        } else if self.mail.as_ref().is_some_and(Mail::has_interruption) {
            made.fetch_min(index, Ordering::Relaxed);
        }
        index < made.load(Ordering::Relaxed)
    }

    /// Waits until a new message interrupts the request in flight.
    pub(super) async fn interrupted(&self) {
        match self.mail.as_ref().filter(|_| !self.is_replaying()) {
            Some(mail) => mail.interrupted().await,
            None => std::future::pending().await,
        }
    }

    /// Keeps a piece of a streamed answer, for the case that a message interrupts it.
    pub(super) fn keep_partial(&self, text: &str) {
        if self.mail.is_some() {
            self.partial.push(text);
        }
    }

    /// Returns what has arrived of an answer that was interrupted: text only, since thoughts and calls are not complete.
    pub(super) fn interrupted_answer(&self, used: Usage) -> Response {
        let text = self.partial.take();
        let parts = if text.trim().is_empty() { Vec::new() } else { vec![ResponsePart::Text { text }] };
        Response::new(&*self.model.name, parts, used).with_finish(FinishReason::Interrupted)
    }
}
