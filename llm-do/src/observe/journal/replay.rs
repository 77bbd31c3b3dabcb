//! What is recorded, and what a run finds of it at each step: pure, the same for every journal.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value;

use super::expected::{Expected, Missing, Overdue};
use super::record::{CallerPlace, fits};
use super::{JournalError, Record, StepKind, StepSpec, place};

/// What is recorded, by key and by place.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// In the order in which they ended.
    slots: Vec<Slot>,
    /// Sorted, so that what is inside a call is found beside it.
    by_key: BTreeMap<Arc<str>, usize>,
    families: HashMap<Arc<str>, Family>,
    /// How many this process has not come to.
    left: usize,
}

#[derive(Debug)]
struct Slot {
    record: Record,
    /// Whether this process has come to it, or to the result of a call that it is inside of.
    passed: bool,
    is_forgotten: bool,
    /// Whether it came after a failure that is tried again, so that the run may take another way than to it.
    is_released: bool,
}

/// What is recorded of the calls of one parent.
#[derive(Debug, Default)]
struct Family {
    overlapped: bool,
    /// Whether this process recorded any.
    is_added_to: bool,
    expected: Expected,
    places: BTreeMap<u32, Vec<usize>>,
}

/// What a step finds of what is recorded.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    /// Its value.
    Recorded(Value),
    /// Nothing: it has to run.
    Run,
    /// Other recorded calls of its parent have yet to begin. If they do not come, the program is not the recorded one, and
    /// what has another key now may be recorded under a key that is missing.
    Wait(Missing),
}

impl Replay {
    /// Starts from what another process recorded; of two records of one key, the first holds.
    pub(super) fn of(records: impl IntoIterator<Item = Record>) -> Self {
        let mut replay = Self::default();
        for record in records {
            replay.load(record);
        }
        replay
    }

    /// Adds what another process recorded, unless its key is recorded already; returns whether it was not.
    pub(super) fn load(&mut self, record: Record) -> bool {
        let is_new = !self.by_key.contains_key(&record.key);
        if is_new {
            self.left += 1;
            let slot = self.insert(record, false);
            self.expect(slot);
        }
        is_new
    }

    /// Starts from what this process and those before it recorded.
    pub(super) fn again(&self) -> Self {
        let mut again = Self::default();
        for Slot { record, is_released, .. } in self.slots.iter().filter(|slot| !slot.is_forgotten) {
            if *is_released {
                again.keep(record.clone(), true);
            } else {
                again.load(record.clone());
            }
        }
        again
    }

    /// Expects the call of a record, and those that it happened in.
    fn expect(&mut self, slot: usize) {
        let record = &self.slots[slot].record;
        if record.parent.is_empty() {
            return;
        }
        self.families.entry(Arc::clone(&record.parent)).or_default().expected.add(record, slot);
        for (caller, call, place) in record.in_flight() {
            self.families.entry(caller.into()).or_default().expected.add_in_flight(call, place, slot);
        }
    }

    /// Begins a step and finds its recorded value.
    pub(super) fn take(&mut self, step: &StepSpec) -> Result<Taken, JournalError> {
        self.begin(step);
        let Some(&slot) = self.by_key.get(&step.key) else {
            fits(step, &step.input)?;
            if let Some(other) = self.other_at(step) {
                return Err(diverged(other, step.to_string()));
            }
            if let Some(other) = self.other_in_flight(step) {
                return Err(self.missing(step, &other));
            }
            return Ok(self.expected(step).and_then(|expected| expected.before(step)).map_or(Taken::Run, Taken::Wait));
        };
        let record = &self.slots[slot].record;
        if record.input != step.input {
            return Err(diverged(record, step.to_string()));
        }
        let missing = self.expected(step).filter(|_| record.overlapped);
        match missing.and_then(|expected| expected.ended_before(slot)) {
            Some(missing) => Ok(Taken::Wait(missing)),
            None => Ok(Taken::Recorded(self.replayed(slot))),
        }
    }

    /// Finds the recorded value of a step for which others were waited for in vain; none if it has to run all the same.
    pub(super) fn stop_waiting(&mut self, step: &StepSpec) -> Result<Option<Value>, JournalError> {
        if let Some(&slot) = self.by_key.get(&step.key) {
            return Ok(Some(self.replayed(slot)));
        }
        let overdue = self.expected(step).and_then(Expected::overdue);
        overdue.map_or(Ok(None), |overdue| Err(self.missing(step, &overdue)))
    }

    /// Root calls come when somebody makes them, so that none is expected.
    fn begin(&mut self, step: &StepSpec) {
        if !step.parent.is_empty() {
            self.families.entry(Arc::clone(&step.parent)).or_default().expected.begin(step);
        }
    }

    fn expected(&self, step: &StepSpec) -> Option<&Expected> {
        self.families.get(&step.parent).map(|family| &family.expected)
    }

    /// Returns a recorded value, and marks what is inside the call as come to.
    fn replayed(&mut self, slot: usize) -> Value {
        let record = &self.slots[slot].record;
        let (value, key, kind) = (record.value.clone(), Arc::clone(&record.key), record.kind);
        match kind {
            // A run is recorded when it begins: what is inside it is yet to come.
            StepKind::Run => self.pass_slot(slot),
            // The key of a run's result is a part of the run's.
            StepKind::Result => self.pass(&key[..key.rfind('/').unwrap_or(key.len())]),
            _ => self.pass(&key),
        }
        value
    }

    /// Returns what is recorded of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Record> {
        self.by_key.get(key).map(|&slot| &self.slots[slot].record)
    }

    /// Forgets what is recorded under these keys: failures that are tried again.
    ///
    /// What their callers did after them stays recorded, but the run may take another way now.
    pub(super) fn forget(&mut self, keys: &[Arc<str>]) {
        let forgotten: Vec<_> = keys.iter().filter_map(|key| self.forget_one(key)).collect();
        for slot in forgotten {
            self.release_after(slot);
        }
    }

    fn forget_one(&mut self, key: &str) -> Option<usize> {
        let slot = self.by_key.remove(key)?;
        self.pass_slot(slot);
        self.slots[slot].is_forgotten = true;
        let inside = self.first_inside(slot);
        let record = &self.slots[slot].record;
        let family = self.families.get_mut(&record.parent)?;
        if let Some(slots) = family.places.get_mut(&record.place) {
            slots.retain(|known| *known != slot);
        }
        family.expected.remove(record.call());
        // It is as if the process had died in it: the effects inside it must not run again in another call.
        if let Some(inside) = inside.filter(|_| !record.parent.is_empty()) {
            let began = CallerPlace { place: record.place, overlapped: record.overlapped };
            family.expected.add_in_flight(record.call(), began, inside);
        }
        Some(slot)
    }

    /// Finds the first effect that is recorded inside the call of a record.
    fn first_inside(&self, slot: usize) -> Option<usize> {
        let record = &self.slots[slot].record;
        // A part of the call, such as its approval, has the same parent.
        let inside = self.inside(record.call()).filter(|slot| self.slots[*slot].record.parent != record.parent);
        inside.min()
    }

    /// Lets the run take another way after a failure that is forgotten: nothing that began after its end has to come.
    fn release_after(&mut self, slot: usize) {
        let Record { parent, begun, .. } = &self.slots[slot].record;
        let Some(begun) = begun.filter(|_| !parent.is_empty()) else { return };
        let Some(family) = self.families.get_mut(parent) else { return };
        let mut calls = family.expected.remove_from(begun);
        let later = family.places.split_off(&begun);
        let own = later.into_values().flatten().map(|slot| self.slots[slot].record.call().into());
        calls.extend(own);
        for call in calls {
            let released: Vec<_> = self.inside(&call).chain(self.by_key.get(&call).copied()).collect();
            for slot in released {
                self.pass_slot(slot);
                self.slots[slot].is_released = true;
            }
        }
    }

    /// Adds what this process recorded; the caller has seen that its key is not recorded.
    pub(super) fn add(&mut self, record: Record) {
        let parent = Arc::clone(&record.parent);
        self.insert(record, true);
        self.families.entry(parent).or_default().is_added_to = true;
    }

    /// Finds the first recorded call in `parent` that this process never made.
    ///
    /// Of calls that were under way at once, one may be given up when another ends, which comes sooner in a replay. So
    /// such a call is missed only where another was made that is not recorded.
    pub(super) fn unused(&self, parent: &str) -> Option<JournalError> {
        let Family { is_added_to, places, .. } = self.families.get(parent)?;
        let is_missed = |slot: &&Slot| !slot.passed && (!slot.record.overlapped || *is_added_to);
        let unused = places.values().flatten().map(|&slot| &self.slots[slot]).find(is_missed)?;
        Some(diverged(&unused.record, format!("the end of `{}`", place::name(parent))))
    }

    pub(super) fn is_replaying(&self) -> bool {
        self.left > 0
    }

    /// Returns all records, in the order in which they ended.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.slots.iter().filter(|slot| !slot.is_forgotten).map(|slot| &slot.record)
    }

    fn insert(&mut self, record: Record, passed: bool) -> usize {
        let (parent, place, overlapped) = (Arc::clone(&record.parent), record.place, record.overlapped);
        let slot = self.keep(record, false);
        self.slots[slot].passed = passed;
        let family = self.families.entry(parent).or_default();
        family.overlapped |= overlapped;
        family.places.entry(place).or_default().push(slot);
        slot
    }

    /// Adds a record that is found by its key alone.
    fn keep(&mut self, record: Record, is_released: bool) -> usize {
        let slot = self.slots.len();
        self.by_key.insert(Arc::clone(&record.key), slot);
        self.slots.push(Slot { record, passed: true, is_forgotten: false, is_released });
        slot
    }

    /// Finds another call that is recorded at the place of `step`, if calls come in one order there.
    fn other_at(&self, step: &StepSpec) -> Option<&Record> {
        let family = self.families.get(&step.parent)?;
        if family.overlapped || step.is_overlapped() {
            return None;
        }
        let call = step.call();
        let mut there = family.places.get(&step.place)?.iter().map(|&slot| &self.slots[slot].record);
        there.find(|record| record.call() != call)
    }

    /// Finds another call that is known, by effects inside it, to have begun at the place of `step`.
    fn other_in_flight(&self, step: &StepSpec) -> Option<Overdue> {
        let family = self.families.get(&step.parent).filter(|family| !family.overlapped && !step.is_overlapped())?;
        family.expected.at(step.place)
    }

    /// Returns the error that `step` came in the place of a recorded call.
    fn missing(&self, step: &StepSpec, missing: &Overdue) -> JournalError {
        let Overdue { call, place } = missing;
        let own = self.families.get(&step.parent).and_then(|family| family.places.get(place));
        let mut own = own.into_iter().flatten().map(|slot| &self.slots[*slot].record);
        match own.find(|record| record.call() == &**call) {
            Some(record) => diverged(record, step.to_string()),
            None => JournalError::Diverged {
                place: place::in_words(&step.parent, *place),
                recorded: place::describe_key(call),
                found: step.to_string(),
            },
        }
    }

    /// Marks a record and all that are inside it.
    fn pass(&mut self, key: &str) {
        let slots: Vec<_> = self.inside(key).chain(self.by_key.get(key).copied()).collect();
        for slot in slots {
            self.pass_slot(slot);
        }
    }

    /// Returns the slots of what is recorded inside the call of a key.
    fn inside(&self, key: &str) -> impl Iterator<Item = usize> {
        let inside = format!("{key}/");
        let range = (Bound::Included(inside.as_str()), Bound::Unbounded);
        let found = self.by_key.range::<str, _>(range).take_while(|(key, _)| key.starts_with(&inside));
        found.map(|(_, &slot)| slot).collect::<Vec<_>>().into_iter()
    }

    fn pass_slot(&mut self, slot: usize) {
        let passed = &mut self.slots[slot].passed;
        self.left -= usize::from(!*passed);
        *passed = true;
    }
}

fn diverged(recorded: &Record, found: String) -> JournalError {
    let place = place::in_words(&recorded.parent, recorded.place);
    JournalError::Diverged { place, recorded: recorded.describe(), found }
}
