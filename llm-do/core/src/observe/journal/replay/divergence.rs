//! Errors of runs that diverge from their recorded calls.

use super::Replay;
use crate::observe::journal::expected::Overdue;
use crate::observe::journal::record::Recorded;
use crate::observe::journal::{JournalError, StepSpec, key};

impl<R: Recorded> Replay<R> {
    /// Returns another call that is recorded at the place of `step`, if no calls of the parent overlapped.
    pub(super) fn other_at(&self, step: &StepSpec) -> Option<&R> {
        let siblings = self.siblings.get(&step.parent)?;
        if siblings.overlapped || step.is_overlapped() {
            return None;
        }
        let call = step.call();
        let mut at_place = siblings.places.get(&step.place)?.iter().map(|&slot| &self.slots[slot].record);
        at_place.find(|record| record.call() != call)
    }

    /// Returns another call at the place of `step` that is known only by the records inside it.
    pub(super) fn other_in_flight(&self, step: &StepSpec) -> Option<Overdue> {
        let siblings =
            self.siblings.get(&step.parent).filter(|siblings| !siblings.overlapped && !step.is_overlapped())?;
        siblings.expected.at(step.place)
    }

    /// Returns the error that the run made `step` instead of a recorded call.
    pub(super) fn missing(&self, step: &StepSpec, missing: &Overdue) -> JournalError {
        let Overdue { call, place } = missing;
        let own = self.siblings.get(&step.parent).and_then(|siblings| siblings.places.get(place));
        let mut own = own.into_iter().flatten().map(|slot| &self.slots[*slot].record);
        match own.find(|record| record.call() == &**call) {
            Some(record) => diverged(record, step.to_string()),
            None => JournalError::Diverged {
                place: key::describe_place(&step.parent, *place),
                recorded: key::describe_key(call),
                found: step.to_string(),
            },
        }
    }
}

/// Returns the error that the run made `found` in place of a recorded call.
pub(super) fn diverged(recorded: &impl Recorded, found: String) -> JournalError {
    let place = key::describe_place(recorded.parent(), recorded.place());
    JournalError::Diverged { place, recorded: recorded.describe(), found }
}
