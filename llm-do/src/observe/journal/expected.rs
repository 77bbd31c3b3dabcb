//! The recorded calls of one parent that this process has not begun yet, and how long a call waits for them: pure.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::record::CallerPlace;
use super::{Record, StepSpec};

/// How long a call waits for recorded calls that should have begun by now: tasks may begin in another order.
const GRACE: Duration = Duration::from_secs(1);
/// How long a call waits while recorded calls are missing that may begin later, counted from the last call that began.
const PATIENCE: Duration = Duration::from_secs(10);

/// The recorded calls of one parent that this process has not begun yet.
#[derive(Debug, Default)]
pub(super) struct Expected {
    calls: HashMap<Arc<str>, Call>,
    /// The slots of the overlapped ones, in the order in which they ended, or else are known to have begun.
    ended: BTreeSet<usize>,
    /// How many calls of the parent have begun in this process.
    begun: u32,
}

#[derive(Debug)]
struct Call {
    place: u32,
    is_overlapped: bool,
    /// Where its last record is: its result, if that is recorded. Without any, the first record of an effect inside it.
    slot: usize,
}

/// A recorded call that should have begun.
#[derive(Debug)]
pub(super) struct Overdue {
    pub(super) call: Arc<str>,
    pub(super) place: u32,
}

/// Recorded calls for which a call waits. It differs from an earlier one if a call has begun since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    begun: u32,
    left: usize,
    patience: Duration,
}

impl Missing {
    /// Returns how long the call waits for the next call to begin.
    pub(super) fn patience(self) -> Duration {
        self.patience
    }
}

impl Expected {
    /// Expects the call of a record that another process made.
    pub(super) fn add(&mut self, record: &Record, slot: usize) {
        let new = || Call { place: record.place, is_overlapped: false, slot };
        let call = self.calls.entry(record.call().into()).or_insert_with(new);
        self.ended.remove(&call.slot);
        call.is_overlapped |= record.overlapped;
        call.slot = slot;
        if call.is_overlapped {
            self.ended.insert(slot);
        }
    }

    /// Expects a call of which no record is its own, since the process died in it: an effect inside it is recorded.
    pub(super) fn add_in_flight(&mut self, key: &str, began: CallerPlace, slot: usize) {
        if !self.calls.contains_key(key) {
            self.calls.insert(key.into(), Call { place: began.place, is_overlapped: false, slot });
        }
        let Some(call) = self.calls.get_mut(key).filter(|_| began.overlapped) else { return };
        call.is_overlapped = true;
        self.ended.insert(call.slot);
    }

    /// Expects the calls from a place on no longer, and returns their keys.
    pub(super) fn remove_from(&mut self, place: u32) -> Vec<Arc<str>> {
        let later = self.calls.iter().filter(|(_, call)| call.place >= place);
        let keys: Vec<_> = later.map(|(key, _)| Arc::clone(key)).collect();
        for key in &keys {
            self.remove(key);
        }
        keys
    }

    /// Expects the call of a key no longer: it has begun, or is forgotten.
    pub(super) fn remove(&mut self, call: &str) {
        if let Some(call) = self.calls.remove(call) {
            self.ended.remove(&call.slot);
        }
    }

    /// Begins a call, which may be an expected one.
    pub(super) fn begin(&mut self, step: &StepSpec) {
        self.begun = self.begun.max(step.place + 1);
        if !self.calls.is_empty() {
            self.remove(step.call());
        }
    }

    /// Returns what a call that is not recorded waits for, if anything.
    ///
    /// A recorded call that began alone, after it, began when it had ended: that one cannot come before it.
    pub(super) fn before(&self, step: &StepSpec) -> Option<Missing> {
        let mut awaited = self.calls.values().filter(|call| call.is_overlapped || call.place <= step.place).peekable();
        awaited.peek()?;
        let (due, later): (Vec<_>, Vec<_>) = awaited.partition(|call| call.place < self.begun);
        // If all should have begun, the program is another; if none should, those may be calls of a later time.
        let patience = if due.is_empty() || later.is_empty() { GRACE } else { PATIENCE };
        Some(self.missing(patience))
    }

    /// Returns a recorded call that should have begun before a call that is not recorded.
    pub(super) fn overdue(&self) -> Option<Overdue> {
        let due = self.calls.iter().filter(|(_, call)| call.place < self.begun);
        let first = due.min_by_key(|(_, call)| call.place);
        first.map(|(key, call)| Overdue { call: Arc::clone(key), place: call.place })
    }

    /// Returns the recorded call of a place at which another begins, if calls come in one order there.
    pub(super) fn at(&self, place: u32) -> Option<Overdue> {
        let mut there = self.calls.iter().filter(|(_, call)| call.place == place && !call.is_overlapped);
        there.next().map(|(key, _)| Overdue { call: Arc::clone(key), place })
    }

    /// Returns what a recorded call waits for, if anything: calls that were in flight with others and ended before it.
    ///
    /// So a program that goes on with the first of several calls that ends, or fails, goes on with the same one again.
    pub(super) fn ended_before(&self, slot: usize) -> Option<Missing> {
        self.ended.first().is_some_and(|first| *first < slot).then(|| self.missing(GRACE))
    }

    fn missing(&self, patience: Duration) -> Missing {
        Missing { begun: self.begun, left: self.calls.len(), patience }
    }
}
