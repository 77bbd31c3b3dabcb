//! The loaded records of a journal, and the decision at each step to replay, run or wait.
//!
//! Shared by all journals; without I/O and clocks.

mod divergence;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use serde_json::Value;

use self::divergence::diverged;
use super::expected::{Expected, MissingCalls};
use super::questions::Questions;
use super::record::{CallerPlace, Recorded, check_depth};
use super::{JournalError, Record, StepKind, StepSpec, key};

/// The records of a journal, by key and by place.
#[derive(Debug)]
pub(super) struct Replay<R = Record> {
    /// The records, in the order in which the steps ended.
    slots: Vec<Slot<R>>,
    /// The slots by key. Sorted, so that the keys of steps inside a call are adjacent to the key of the call.
    by_key: BTreeMap<Arc<str>, usize>,
    /// The calls of each parent, by its key.
    siblings: HashMap<Arc<str>, SiblingRecords>,
    /// The number of records that this process has not replayed yet.
    remaining: usize,
    /// The questions to persons before this process.
    pub(super) questions: Questions,
}

#[derive(Debug)]
struct Slot<R> {
    record: R,
    /// Whether this process has replayed the record, or the result of a call that contains it.
    is_replayed: bool,
    is_forgotten: bool,
    /// Whether the step began after a failure that is retried, so that the run may not make it again.
    is_optional: bool,
}

/// The records of the calls of one parent.
#[derive(Debug, Default)]
struct SiblingRecords {
    overlapped: bool,
    /// Whether this process added a record.
    is_added_to: bool,
    expected: Expected,
    places: BTreeMap<u32, Vec<usize>>,
}

/// The decision about a step.
#[derive(Debug, PartialEq)]
pub(super) enum Lookup<V = Value> {
    /// The step is recorded with this value.
    Recorded(V),
    /// The step is not recorded and has to run.
    Run,
    /// Other recorded calls of the same parent have not begun yet. If they never begin, the program has changed, and
    /// the effect of this step may be recorded under the key of a missing call.
    Wait(MissingCalls),
}

impl<R> Default for Replay<R> {
    fn default() -> Self {
        let (slots, by_key, siblings) = (Vec::new(), BTreeMap::new(), HashMap::new());
        Self { slots, by_key, siblings, remaining: 0, questions: Questions::default() }
    }
}

impl Replay {
    /// Loads the records of another process; of two records with the same key, the first is used.
    pub(super) fn from_records(records: impl IntoIterator<Item = Record>) -> Self {
        let mut replay = Self::default();
        for record in records {
            replay.load(record);
        }
        replay
    }

    /// Returns the records as a new process would load them.
    pub(super) fn restarted(&self) -> Self {
        let mut restarted = Self::default();
        for Slot { record, is_optional, .. } in self.slots.iter().filter(|slot| !slot.is_forgotten) {
            if *is_optional {
                restarted.keep(record.clone(), true);
            } else {
                restarted.load(record.clone());
            }
        }
        restarted
    }
}

impl<R: Recorded> Replay<R> {
    /// Loads a record of another process, unless its key is already recorded; returns whether it was loaded.
    pub(super) fn load(&mut self, record: R) -> bool {
        let is_new = !self.by_key.contains_key(record.key());
        if is_new {
            self.remaining += 1;
            let slot = self.insert(record, false);
            self.expect(slot);
        }
        is_new
    }

    /// Expects the call of a record, and the calls that contain it.
    fn expect(&mut self, slot: usize) {
        let record = &self.slots[slot].record;
        if record.parent().is_empty() {
            return;
        }
        self.siblings.entry(Arc::clone(record.parent())).or_default().expected.add(record, slot);
        for (caller, call, place) in record.in_flight() {
            self.siblings.entry(caller.into()).or_default().expected.add_in_flight(call, place, slot);
        }
    }

    /// Records that a step has begun, and decides whether it is replayed, runs or waits.
    pub(super) fn look_up(&mut self, step: &StepSpec) -> Result<Lookup<R::Value>, JournalError> {
        self.begin(step);
        let Some(&slot) = self.by_key.get(&step.key) else {
            check_depth(step, &step.input)?;
            if let Some(other) = self.other_at(step) {
                return Err(diverged(other, step.to_string()));
            }
            if let Some(other) = self.other_in_flight(step) {
                return Err(self.missing(step, &other));
            }
            return Ok(self
                .expected(step)
                .and_then(|expected| expected.before(step))
                .map_or(Lookup::Run, Lookup::Wait));
        };
        let record = &self.slots[slot].record;
        if !record.is_input(&step.input) {
            return Err(diverged(record, step.to_string()));
        }
        let missing = self.expected(step).filter(|_| record.is_overlapped());
        match missing.and_then(|expected| expected.ended_before(slot)) {
            Some(missing) => Ok(Lookup::Wait(missing)),
            None => Ok(Lookup::Recorded(self.replayed(slot))),
        }
    }

    /// Decides about a step after the timeout of its wait: returns its recorded value, or `None` if it must run.
    pub(super) fn stop_waiting(&mut self, step: &StepSpec) -> Result<Option<R::Value>, JournalError> {
        if let Some(&slot) = self.by_key.get(&step.key) {
            return Ok(Some(self.replayed(slot)));
        }
        let overdue = self.expected(step).and_then(Expected::overdue);
        overdue.map_or(Ok(None), |overdue| Err(self.missing(step, &overdue)))
    }

    /// Records that a step has begun. Root calls are not expected, since the program makes them at any time.
    pub(super) fn begin(&mut self, step: &StepSpec) {
        if !step.parent.is_empty() {
            self.siblings.entry(Arc::clone(&step.parent)).or_default().expected.begin(step);
        }
    }

    fn expected(&self, step: &StepSpec) -> Option<&Expected> {
        self.siblings.get(&step.parent).map(|siblings| &siblings.expected)
    }

    /// Returns a recorded value, and marks all records inside the call as replayed.
    fn replayed(&mut self, slot: usize) -> R::Value {
        let record = &self.slots[slot].record;
        let (value, key, kind) = (record.value(), Arc::clone(record.key()), record.kind());
        match kind {
            // A run is recorded when it begins: the steps inside it are still to be replayed.
            StepKind::Run => self.mark_slot_replayed(slot),
            // The key of a run's result is below the key of the run.
            StepKind::Result => self.mark_replayed(&key[..key.rfind('/').unwrap_or(key.len())]),
            _ => self.mark_replayed(&key),
        }
        value
    }

    /// Returns the record of a key.
    pub(super) fn get(&self, key: &str) -> Option<&R> {
        self.by_key.get(key).map(|&slot| &self.slots[slot].record)
    }

    /// Forgets the records with these keys, which are failures to retry.
    ///
    /// Later steps of their callers stay recorded, but the run may now make other calls.
    pub(super) fn forget(&mut self, keys: &[Arc<str>]) {
        let forgotten: Vec<_> = keys.iter().filter_map(|key| self.forget_one(key)).collect();
        for slot in forgotten {
            self.make_later_optional(slot);
        }
    }

    fn forget_one(&mut self, key: &str) -> Option<usize> {
        let slot = self.by_key.remove(key)?;
        self.mark_slot_replayed(slot);
        self.slots[slot].is_forgotten = true;
        let inside = self.first_inside(slot);
        let record = &self.slots[slot].record;
        let siblings = self.siblings.get_mut(record.parent())?;
        if let Some(slots) = siblings.places.get_mut(&record.place()) {
            slots.retain(|known| *known != slot);
        }
        siblings.expected.remove(record.call());
        // The call is now in flight, as if the process had died during it: the effects inside it must not run again in
        // another call.
        if let Some(inside) = inside.filter(|_| !record.parent().is_empty()) {
            let began = CallerPlace { place: record.place(), overlapped: record.is_overlapped() };
            siblings.expected.add_in_flight(record.call(), began, inside);
        }
        Some(slot)
    }

    /// Returns whether steps inside the call with this key are recorded, or asked a person. A part of the call itself,
    /// such as its approval and the review before it, does not count.
    pub(super) fn has_steps_inside(&self, call: &str) -> bool {
        let parent = key::parent(call).unwrap_or_default();
        self.questions.has_inside(call) || self.inside(call).any(|slot| self.is_effect(slot, call, parent))
    }

    /// Returns whether a record inside of a call in `parent` is a step of that call, and not a part of it, such as its approval.
    fn is_effect(&self, slot: usize, call: &str, parent: &str) -> bool {
        let record = &self.slots[slot].record;
        &**record.parent() != parent && !key::is_in_review(record.key(), call)
    }

    /// Returns the slot of the first record inside the call of a record.
    fn first_inside(&self, slot: usize) -> Option<usize> {
        let record = &self.slots[slot].record;
        let inside = self.inside(record.call());
        inside.filter(|slot| self.is_effect(*slot, record.call(), record.parent())).min()
    }

    /// Makes the calls optional that began after a forgotten failure, since the run may make other calls there.
    fn make_later_optional(&mut self, slot: usize) {
        let record = &self.slots[slot].record;
        let parent = record.parent();
        let Some(begun) = record.begun().filter(|_| !parent.is_empty()) else { return };
        let Some(siblings) = self.siblings.get_mut(parent) else { return };
        let mut calls = siblings.expected.remove_from(begun);
        let later = siblings.places.split_off(&begun);
        let own = later.into_values().flatten().map(|slot| self.slots[slot].record.call().into());
        calls.extend(own);
        for call in calls {
            let optional: Vec<_> = self.inside(&call).chain(self.by_key.get(&call).copied()).collect();
            for slot in optional {
                self.mark_slot_replayed(slot);
                self.slots[slot].is_optional = true;
            }
        }
    }

    /// Adds a record of this process; the caller has checked that its key is not recorded.
    pub(super) fn add(&mut self, record: R) {
        let parent = Arc::clone(record.parent());
        self.insert(record, true);
        self.siblings.entry(parent).or_default().is_added_to = true;
    }

    /// Returns the error of the first recorded call in `parent` that this process did not make.
    ///
    /// A concurrent call may be cancelled when another finishes, which happens sooner in a replay. So a concurrent call
    /// counts as missing only if this process recorded another call in `parent`.
    pub(super) fn unused(&self, parent: &str) -> Option<JournalError> {
        let SiblingRecords { is_added_to, places, .. } = self.siblings.get(parent)?;
        let is_missing = |slot: &&Slot<R>| !slot.is_replayed && (!slot.record.is_overlapped() || *is_added_to);
        let unused = places.values().flatten().map(|&slot| &self.slots[slot]).find(is_missing)?;
        Some(diverged(&unused.record, format!("the end of `{}`", key::name(parent))))
    }

    /// Returns whether calls of `parent` are recorded that this process has not begun yet.
    pub(super) fn has_later_steps(&self, parent: &str) -> bool {
        self.siblings.get(parent).is_some_and(|siblings| !siblings.expected.is_empty())
    }

    /// Returns the number of records that this process has not replayed yet.
    #[cfg(feature = "restate")]
    pub(super) fn remaining(&self) -> usize {
        self.remaining
    }

    pub(super) fn is_replaying(&self) -> bool {
        self.remaining > 0
    }

    /// Returns the records that are not forgotten, in the order in which the steps ended.
    pub(super) fn records(&self) -> impl Iterator<Item = &R> {
        self.slots.iter().filter(|slot| !slot.is_forgotten).map(|slot| &slot.record)
    }

    fn insert(&mut self, record: R, is_replayed: bool) -> usize {
        let (parent, place, overlapped) = (Arc::clone(record.parent()), record.place(), record.is_overlapped());
        let slot = self.keep(record, false);
        self.slots[slot].is_replayed = is_replayed;
        let siblings = self.siblings.entry(parent).or_default();
        siblings.overlapped |= overlapped;
        siblings.places.entry(place).or_default().push(slot);
        slot
    }

    /// Adds a record that can be found only by its key.
    fn keep(&mut self, record: R, is_optional: bool) -> usize {
        let slot = self.slots.len();
        self.by_key.insert(Arc::clone(record.key()), slot);
        self.slots.push(Slot { record, is_replayed: true, is_forgotten: false, is_optional });
        slot
    }

    /// Marks the record of a key and all records inside it as replayed.
    fn mark_replayed(&mut self, key: &str) {
        let slots: Vec<_> = self.inside(key).chain(self.by_key.get(key).copied()).collect();
        for slot in slots {
            self.mark_slot_replayed(slot);
        }
    }

    /// Returns the slots of the records inside the call of a key.
    fn inside(&self, key: &str) -> impl Iterator<Item = usize> {
        let inside = format!("{key}/");
        let range = (Bound::Included(inside.as_str()), Bound::Unbounded);
        let found = self.by_key.range::<str, _>(range).take_while(|(key, _)| key.starts_with(&inside));
        found.map(|(_, &slot)| slot).collect::<Vec<_>>().into_iter()
    }

    fn mark_slot_replayed(&mut self, slot: usize) {
        let is_replayed = &mut self.slots[slot].is_replayed;
        self.remaining -= usize::from(!*is_replayed);
        *is_replayed = true;
    }
}
