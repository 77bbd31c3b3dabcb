//! What is known of a hybrid with a guarantee.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use llm_do_bounds::{Evidence, Guarantee, Turn};
use llm_do_providers::Money;
use serde::{Deserialize, Serialize};

use super::Subject;

/// The number of latest notes that are known, so that a resumed run does not add its notes twice.
const KNOWN: usize = 256;
/// The number of states of one pair that are kept, such as those of earlier versions.
const KEPT: usize = 8;

/// What is known of a hybrid: a worker on a model with the tool that answers first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HybridState {
    worker: String,
    tool: String,
    model: String,
    pub(super) guarantee: Guarantee,
    pub(super) evidence: Evidence,
    since: Timestamp,
    updated: Timestamp,
    by_code: u64,
    by_worker: u64,
    /// The number of calls that the worker answered since code abstained or failed.
    unsure: u64,
    compared: u64,
    disagreed: u64,
    /// The known cost of the calls that the worker answered.
    cost: Money,
    /// The keys of the latest notes.
    known: VecDeque<String>,
}

/// How a call of a hybrid ended.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    /// The key of the call, the same when a resumed run repeats it.
    pub(crate) key: String,
    pub(crate) kind: NoteKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NoteKind {
    ByCode,
    /// The worker answered at this cost; whether code disagrees, if it answered too.
    ByWorker {
        cost: Money,
        disagrees: Option<bool>,
    },
}

/// A guarantee that begins or ceases to hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Turned {
    pub(crate) holds: bool,
    pub(crate) bound: f64,
    pub(crate) comparisons: u64,
    pub(crate) disagreements: u64,
}

/// What is known of a hybrid with a guarantee, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HybridStatus {
    /// The worker.
    pub worker: String,
    /// The tool that answers first.
    pub tool: String,
    /// The model of the worker, `provider:model`.
    pub model: String,
    /// What is guaranteed.
    pub guarantee: Guarantee,
    /// Whether code answers.
    pub holds: bool,
    /// The upper bound of disagreement, in the comparisons that count for it.
    pub bound: f64,
    /// The number of these comparisons. It starts again when a guarantee is withdrawn since the disagreement has risen.
    pub comparisons: u64,
    /// The number of these that disagree.
    pub disagreements: u64,
    /// The share of the next calls that are compared.
    pub rate: f64,
    /// The number of calls that code answered.
    pub by_code: u64,
    /// The number of calls that the worker answered.
    pub by_worker: u64,
    /// The number of these in which code abstained or failed.
    pub unsure: u64,
    /// The number of all comparisons.
    pub all_comparisons: u64,
    /// The number of all comparisons that disagree.
    pub all_disagreements: u64,
    /// The estimated cost of the calls that code answered, at the mean cost of those of the worker.
    pub saved: Money,
    /// When the first call was noted.
    pub since: Timestamp,
    /// When the latest call was noted.
    pub updated: Timestamp,
}

impl HybridState {
    pub(super) fn new(subject: &Subject) -> Self {
        Self {
            worker: subject.worker.clone(),
            tool: subject.tool.clone(),
            model: subject.model.clone(),
            guarantee: subject.guarantee,
            evidence: Evidence::default(),
            since: subject.now,
            updated: subject.now,
            by_code: 0,
            by_worker: 0,
            unsure: 0,
            compared: 0,
            disagreed: 0,
            cost: Money::ZERO,
            known: VecDeque::new(),
        }
    }

    /// Adds a note, unless it is known; returns what that changed.
    pub(super) fn note(&mut self, note: Note, now: Timestamp) -> Option<Turned> {
        let Note { key, kind } = note;
        if self.known.contains(&key) {
            return None;
        }
        self.known.push_back(key);
        if self.known.len() > KNOWN {
            self.known.pop_front();
        }
        self.updated = now;
        match kind {
            NoteKind::ByCode => {
                self.by_code += 1;
                None
            }
            NoteKind::ByWorker { cost, disagrees } => {
                self.by_worker += 1;
                self.cost += cost;
                let Some(disagrees) = disagrees else {
                    self.unsure += 1;
                    return None;
                };
                self.compare(disagrees)
            }
        }
    }

    fn compare(&mut self, disagrees: bool) -> Option<Turned> {
        self.compared += 1;
        self.disagreed += u64::from(disagrees);
        let (comparisons, disagreements) = (self.evidence.comparisons(), self.evidence.disagreements());
        let before = self.evidence.upper(&self.guarantee);
        let turn = self.evidence.observe(&self.guarantee, disagrees)?;
        let holds = turn == Turn::Granted;
        // Without evidence again, the bound is 1: that before is what was known.
        let bound = if self.evidence.comparisons() == 0 { before } else { self.evidence.upper(&self.guarantee) };
        let disagreements = disagreements + u64::from(disagrees);
        Some(Turned { holds, bound, comparisons: comparisons + 1, disagreements })
    }

    pub(crate) fn status(&self) -> HybridStatus {
        let saved = (self.cost.picodollars() * u128::from(self.by_code)).checked_div(u128::from(self.by_worker));
        HybridStatus {
            worker: self.worker.clone(),
            tool: self.tool.clone(),
            model: self.model.clone(),
            guarantee: self.guarantee,
            holds: self.evidence.holds(),
            bound: self.evidence.upper(&self.guarantee),
            comparisons: self.evidence.comparisons(),
            disagreements: self.evidence.disagreements(),
            rate: self.evidence.rate(&self.guarantee),
            by_code: self.by_code,
            by_worker: self.by_worker,
            unsure: self.unsure,
            all_comparisons: self.compared,
            all_disagreements: self.disagreed,
            saved: Money::from_picodollars(saved.unwrap_or_default()),
            since: self.since,
            updated: self.updated,
        }
    }

    fn is_of(&self, subject: &Subject) -> bool {
        self.worker == subject.worker && self.tool == subject.tool
    }
}

/// Adds a note to the states that are kept together; those of a pair that were not used for long are dropped.
pub(super) fn add(states: &mut BTreeMap<String, HybridState>, subject: &Subject, note: Note) -> Option<Turned> {
    let state = states.entry(subject.key.clone()).or_insert_with(|| HybridState::new(subject));
    let turned = state.note(note, subject.now);
    let mut of_pair: Vec<_> = states
        .iter()
        .filter(|(_, other)| other.is_of(subject))
        .map(|(key, other)| (other.updated, key.clone()))
        .collect();
    if of_pair.len() > KEPT {
        of_pair.sort();
        for (_, key) in of_pair.drain(..of_pair.len() - KEPT) {
            states.remove(&key);
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::Timestamp;
    use llm_do_bounds::Guarantee;
    use llm_do_providers::Money;

    use super::{HybridState, Note, NoteKind, Subject, add};

    fn subject(key: &str) -> Subject {
        let guarantee = Guarantee::new(0.1, 0.9).unwrap();
        let [worker, tool, model] = ["age", "age_by_rule", "m"].map(str::to_owned);
        Subject { key: key.to_owned(), worker, tool, model, guarantee, now: Timestamp::UNIX_EPOCH }
    }

    fn by_worker(key: usize, disagrees: Option<bool>) -> Note {
        let kind = NoteKind::ByWorker { cost: Money::from_cents(1), disagrees };
        Note { key: key.to_string(), kind }
    }

    #[test]
    fn a_note_counts_once() {
        let mut state = HybridState::new(&subject("a"));
        for _ in 0..3 {
            assert_eq!(state.note(by_worker(1, Some(false)), Timestamp::UNIX_EPOCH), None);
        }
        assert_eq!(state.status().comparisons, 1);
    }

    #[test]
    fn the_guarantee_holds_after_enough_comparisons_and_until_they_disagree() {
        let mut state = HybridState::new(&subject("a"));
        let turned: Vec<_> =
            (0..200).filter_map(|at| state.note(by_worker(at, Some(false)), Timestamp::UNIX_EPOCH)).collect();
        assert!(matches!(turned.as_slice(), [turned] if turned.holds && turned.bound <= 0.1), "{turned:?}");
        let code = Note { key: "code".to_owned(), kind: NoteKind::ByCode };
        state.note(code, Timestamp::UNIX_EPOCH);
        let status = state.status();
        assert_eq!((status.holds, status.by_code, status.by_worker), (true, 1, 200));
        assert_eq!(status.saved, Money::from_cents(1));
        let turned: Vec<_> =
            (200..300).filter_map(|at| state.note(by_worker(at, Some(true)), Timestamp::UNIX_EPOCH)).collect();
        assert!(!turned[0].holds && turned[0].comparisons < 220, "{turned:?}");
        assert!(!state.status().holds);
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<HybridState>(&text).unwrap(), state);
    }

    #[test]
    fn states_of_earlier_versions_are_dropped() {
        let mut states = BTreeMap::new();
        for second in 0..20 {
            let subject = Subject { now: Timestamp::from_second(second).unwrap(), ..subject(&format!("{second:02}")) };
            add(&mut states, &subject, by_worker(1, None));
        }
        assert_eq!((states.len(), states.first_key_value().unwrap().0.as_str()), (8, "12"));
    }
}
