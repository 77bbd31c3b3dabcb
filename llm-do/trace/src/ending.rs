//! The starts and ends of calls, over the attempts of their run.

use std::time::Duration;

use jiff::Timestamp;
use llm_do_core::observe::event::ItemKind;

use super::call::{Call, Ending, millis};

/// The maximum delay between the event of a call and its start, in milliseconds; with a longer delay, another attempt
/// began it.
const LONGEST_START: u64 = 1_000;

impl Call {
    /// Records that the call starts; a call that an earlier attempt began has not ended.
    pub(super) fn start(&mut self, at: Timestamp) {
        self.started = Some((at, self.work.attempt));
        if !matches!(self.ending, Ending::Result(_)) {
            self.ending = Ending::Unfinished;
            self.work.reopen();
        }
    }

    /// Records that the call ends; returns whether the log has this end already, from a replay.
    pub(super) fn finish(&mut self, at: Timestamp, elapsed_ms: u64, is_replay: bool) -> bool {
        self.work.end(at, is_replay);
        if !is_replay {
            self.set_start(at, elapsed_ms);
        }
        let is_known = is_replay && self.ending != Ending::Unfinished;
        self.is_replayed = is_replay && !self.has_end;
        self.has_end |= !is_replay;
        is_known
    }

    /// Records that the call is refused; another attempt may repeat the refusal.
    pub(super) fn refuse(&mut self, at: Timestamp, error: &str) {
        let is_repeated = matches!(&self.ending, Ending::Refused(known) if known == error);
        self.work.end(at, is_repeated);
        self.ending = Ending::Refused(error.to_owned());
    }

    /// Notes that a dry run did not make the call.
    pub(super) fn plan(&mut self, at: Timestamp, text: String) {
        self.work.end(at, false);
        self.ending = Ending::Planned(text);
    }

    /// Sets the start of the attempt that ends the call, if the log has no start: a service omits repeated events.
    fn set_start(&mut self, end: Timestamp, elapsed_ms: u64) {
        let (Some((started, attempt)), Ok(begun)) = (self.started, end.checked_sub(Duration::from_millis(elapsed_ms)))
        else {
            return;
        };
        let is_alone = self.children.is_empty() && self.requests.is_empty() && self.questions.is_empty();
        let is_tool = self.what == Some(ItemKind::Tool);
        let begins_later = is_tool && is_alone && millis(started, begun) > LONGEST_START;
        if attempt != self.work.attempt || begins_later {
            self.work.set_start(begun.max(self.first));
        }
    }
}
