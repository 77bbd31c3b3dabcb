//! The attempts of a run, whose events are in one log.

use std::collections::HashMap;
use std::sync::Arc;

/// The index of the caller, if any, and the name of a call.
type MadeBy = (Option<usize>, Arc<str>);

/// The calls of a run by their numbers.
///
/// An attempt that resumes a run numbers its events from 0, and its calls in the order in which it makes them. A call
/// that is replayed as a whole makes no calls, so the calls after it have lower numbers than before. The log of a
/// service omits the events that an attempt repeats, including its first event, and keeps the numbers of calls.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// The number of the attempt, from 0.
    pub(super) current: u32,
    /// The number of the last event.
    last_event: u64,
    /// Whether this attempt numbers calls from 0 again.
    renumbers: bool,
    places: HashMap<u64, usize>,
    /// The places of all calls, in the order in which they were first made.
    made: HashMap<MadeBy, Vec<usize>>,
    /// How many of them this attempt has made.
    made_again: HashMap<MadeBy, usize>,
}

impl Attempts {
    /// Records the number of the next event; an attempt begins with a lower number than the last one.
    pub(super) fn note(&mut self, event: u64) {
        if event < self.last_event {
            self.current += 1;
            if event == 0 {
                (self.renumbers, self.places, self.made_again) = (true, HashMap::new(), HashMap::new());
            }
        }
        self.last_event = event;
    }

    /// Returns the place of a call by its number in this attempt.
    pub(super) fn place(&self, number: u64) -> Option<usize> {
        self.places.get(&number).copied()
    }

    /// Returns the index of a call that this attempt makes for the first time, and that an earlier attempt has made.
    pub(super) fn made_before(&mut self, number: u64, by: &MadeBy) -> Option<usize> {
        let made = self.made.get(by).filter(|_| self.renumbers)?;
        let again = self.made_again.entry(by.clone()).or_default();
        let place = *made.get(*again)?;
        *again += 1;
        self.places.insert(number, place);
        Some(place)
    }

    /// Adds a call that no attempt has made before.
    pub(super) fn add(&mut self, number: u64, by: MadeBy, place: usize) {
        self.places.insert(number, place);
        if self.renumbers {
            *self.made_again.entry(by.clone()).or_default() += 1;
        }
        self.made.entry(by).or_default().push(place);
    }
}
