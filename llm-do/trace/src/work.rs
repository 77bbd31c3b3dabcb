//! When a call worked. Only the attempt that did the work counts, not those that replay it.

use jiff::Timestamp;

/// The time of a call.
#[derive(Debug)]
pub(super) struct Work {
    /// The attempt of the call's last event, from 0.
    pub(super) attempt: u32,
    /// The first and the last event of the attempt that did the work; nothing after the end of the call counts.
    from: Timestamp,
    to: Timestamp,
    /// The time of a later attempt, until it is known whether that does the work again or replays it.
    again: Option<(Timestamp, Timestamp)>,
    is_ended: bool,
}

impl Work {
    pub(super) fn new(at: Timestamp, attempt: u32) -> Self {
        Self { attempt, from: at, to: at, again: None, is_ended: false }
    }

    /// Records an event of the call or of a call below it; returns whether it is the first one in its attempt.
    pub(super) fn note(&mut self, at: Timestamp, attempt: u32) -> bool {
        if attempt != self.attempt {
            self.attempt = attempt;
            self.again = Some((at, at));
            return true;
        }
        match &mut self.again {
            Some((_, to)) => *to = (*to).max(at),
            None if !self.is_ended => self.to = self.to.max(at),
            None => {}
        }
        false
    }

    /// Records that the call is made again after it failed or was interrupted.
    pub(super) fn reopen(&mut self) {
        self.is_ended = false;
    }

    /// Records the end of the call; `is_replay` is whether its result came from the journal.
    pub(super) fn end(&mut self, at: Timestamp, is_replay: bool) {
        match self.again.take() {
            Some((from, _)) if !is_replay => (self.from, self.to) = (from, at.max(from)),
            None if !is_replay || !self.is_ended => self.to = self.to.max(at),
            _ => {}
        }
        self.is_ended = true;
    }

    /// Sets the start of the attempt that did the work.
    pub(super) fn set_start(&mut self, at: Timestamp) {
        self.from = at.min(self.to);
    }

    /// Returns whether the call has ended, and when it worked.
    pub(super) fn times(&self) -> (bool, Timestamp, Timestamp) {
        match self.again {
            Some((from, to)) if !self.is_ended => (false, from, to),
            _ => (self.is_ended, self.from, self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::Work;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_replay_changes_nothing_and_another_attempt_counts_alone() {
        let mut work = Work::new(at(1), 0);
        work.note(at(2), 0);
        work.end(at(3), false);
        work.note(at(4), 0);
        assert_eq!(work.times(), (true, at(1), at(3)), "a call ends at its end");
        assert!(work.note(at(10), 1));
        assert_eq!(work.times(), (true, at(1), at(3)));
        work.end(at(11), true);
        assert_eq!(work.times(), (true, at(1), at(3)));
        work.note(at(20), 2);
        work.reopen();
        assert_eq!(work.times(), (false, at(20), at(20)));
        work.end(at(22), false);
        assert_eq!(work.times(), (true, at(20), at(22)));
    }
}
