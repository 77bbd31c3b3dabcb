//! The recorded calls of one parent that this process has not begun yet, and how long an unrecorded call waits for
//! them.
//!
//! This module has no I/O and no clock.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::StepSpec;
use super::record::{CallerPlace, Recorded};

/// The timeout for recorded calls that should have begun by now: concurrent tasks may begin in another order.
const DUE_TIMEOUT: Duration = Duration::from_secs(1);
/// The timeout while recorded calls are missing that may begin later, counted from the last call that began.
const LATER_TIMEOUT: Duration = Duration::from_secs(10);

/// The recorded calls of one parent that this process has not begun yet.
#[derive(Debug, Default)]
pub(super) struct Expected {
    calls: HashMap<Arc<str>, ExpectedCall>,
    /// The slots of the overlapped calls. The slot is the end of the call, or the first record inside it if it has no
    /// own record.
    ended: BTreeSet<usize>,
    /// The number of calls of the parent that have begun in this process.
    begun: u32,
}

#[derive(Debug)]
struct ExpectedCall {
    place: u32,
    is_overlapped: bool,
    /// The slot of the last record of the call, which is its result if recorded; otherwise the slot of the first record
    /// inside it.
    slot: usize,
}

/// A recorded call that should have begun.
#[derive(Debug)]
pub(super) struct Overdue {
    pub(super) call: Arc<str>,
    pub(super) place: u32,
}

/// The recorded calls that a call waits for. The value changes whenever a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MissingCalls {
    begun: u32,
    remaining: usize,
    timeout: Duration,
}

impl MissingCalls {
    /// Returns how long to wait for the next call to begin.
    pub(super) fn timeout(self) -> Duration {
        self.timeout
    }
}

impl Expected {
    /// Expects the call of a record that another process made.
    pub(super) fn add(&mut self, record: &impl Recorded, slot: usize) {
        let new = || ExpectedCall { place: record.place(), is_overlapped: false, slot };
        let call = self.calls.entry(record.call().into()).or_insert_with(new);
        self.ended.remove(&call.slot);
        call.is_overlapped |= record.is_overlapped();
        call.slot = slot;
        if call.is_overlapped {
            self.ended.insert(slot);
        }
    }

    /// Expects a call that was in flight when the process died: it has no record of its own, but a step inside it has.
    pub(super) fn add_in_flight(&mut self, key: &str, began: CallerPlace, slot: usize) {
        if !self.calls.contains_key(key) {
            self.calls.insert(key.into(), ExpectedCall { place: began.place, is_overlapped: false, slot });
        }
        let Some(call) = self.calls.get_mut(key).filter(|_| began.overlapped) else { return };
        call.is_overlapped = true;
        self.ended.insert(call.slot);
    }

    /// Stops expecting the calls from a place on, and returns their keys.
    pub(super) fn remove_from(&mut self, place: u32) -> Vec<Arc<str>> {
        let later = self.calls.iter().filter(|(_, call)| call.place >= place);
        let keys: Vec<_> = later.map(|(key, _)| Arc::clone(key)).collect();
        for key in &keys {
            self.remove(key);
        }
        keys
    }

    /// Stops expecting a call that has begun or is forgotten.
    pub(super) fn remove(&mut self, call: &str) {
        if let Some(call) = self.calls.remove(call) {
            self.ended.remove(&call.slot);
        }
    }

    /// Returns whether all recorded calls have begun in this process.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Records that a call, expected or not, has begun.
    pub(super) fn begin(&mut self, step: &StepSpec) {
        self.begun = self.begun.max(step.place + 1);
        if !self.calls.is_empty() {
            self.remove(step.call());
        }
    }

    /// Returns the recorded calls that an unrecorded call waits for.
    ///
    /// A recorded call at a later place that did not overlap began after this one ended, so it need not be waited for.
    pub(super) fn before(&self, step: &StepSpec) -> Option<MissingCalls> {
        let mut awaited = self.calls.values().filter(|call| call.is_overlapped || call.place <= step.place).peekable();
        awaited.peek()?;
        let (due, later): (Vec<_>, Vec<_>) = awaited.partition(|call| call.place < self.begun);
        // If all calls are due, the program has changed. If none is due, all may belong to a later part of the program.
        let timeout = if due.is_empty() || later.is_empty() { DUE_TIMEOUT } else { LATER_TIMEOUT };
        Some(self.missing(timeout))
    }

    /// Returns the first recorded call that should have begun by now.
    pub(super) fn overdue(&self) -> Option<Overdue> {
        let due = self.calls.iter().filter(|(_, call)| call.place < self.begun);
        let first = due.min_by_key(|(_, call)| call.place);
        first.map(|(key, call)| Overdue { call: Arc::clone(key), place: call.place })
    }

    /// Returns the recorded call at a place, if it overlapped no other call.
    pub(super) fn at(&self, place: u32) -> Option<Overdue> {
        let mut at_place = self.calls.iter().filter(|(_, call)| call.place == place && !call.is_overlapped);
        at_place.next().map(|(key, _)| Overdue { call: Arc::clone(key), place })
    }

    /// Returns the recorded calls that a recorded concurrent call waits for: the concurrent calls that ended before it.
    ///
    /// If a program continues with the first of several calls to finish or fail, a replay then continues with the same
    /// call.
    pub(super) fn ended_before(&self, slot: usize) -> Option<MissingCalls> {
        self.ended.first().is_some_and(|first| *first < slot).then(|| self.missing(DUE_TIMEOUT))
    }

    fn missing(&self, timeout: Duration) -> MissingCalls {
        MissingCalls { begun: self.begun, remaining: self.calls.len(), timeout }
    }
}
