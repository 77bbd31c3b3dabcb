//! What a worker was asked and what it answered, from journals.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::observe::event::Outcome;
use crate::observe::journal::{FileJournal, JournalError, Record, StepKind, digest};
use crate::plane::approval::edited;
use crate::plane::dispatch::recorded_outcome;

/// What a worker was asked, and what it answered: its finished calls in journals, equal inputs as one case.
///
/// A root call of the worker and calls from other items count alike, also those inside a call that is recorded itself. An
/// input that an approver edited is the one that ran. Calls that came to no end are left out, and so are those of a tool
/// of the same name that makes no calls: what the worker was already replaced by.
#[derive(Debug)]
pub struct Cases {
    worker: Arc<str>,
    all: Vec<Case>,
    /// Where the cases are whose input has a digest.
    by_digest: HashMap<String, Vec<usize>>,
    others: BTreeSet<Arc<str>>,
}

/// An input, and what the worker made of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The arguments.
    pub input: Value,
    /// The different answers, in the order in which they were first given: at least one.
    pub answers: Vec<Answer>,
}

/// What a worker answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The result, or the error that its caller was told of.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How often.
    pub times: u64,
}

impl Cases {
    /// Returns no cases yet of the worker of this registered name; it need not be linked any more.
    #[must_use]
    pub fn of(worker: impl Into<Arc<str>>) -> Self {
        Self { worker: worker.into(), all: Vec::new(), by_digest: HashMap::new(), others: BTreeSet::new() }
    }

    /// Adds the calls of one journal, given from its first record on: see [`MemoryJournal::records`](crate::journal::MemoryJournal::records).
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>) {
        let mut edits = HashMap::new();
        records.into_iter().for_each(|record| self.take(record, &mut edits));
    }

    /// Adds the calls of a journal's file, without locking or changing it.
    ///
    /// # Errors
    ///
    /// As [`FileJournal::read`], and [`JournalError::Corrupt`] for a line that is no record; what is before it is added.
    pub fn add_file(&mut self, path: impl Into<PathBuf>) -> Result<(), JournalError> {
        let mut edits = HashMap::new();
        FileJournal::read(path)?.try_for_each(|record| record.map(|record| self.take(record, &mut edits)))
    }

    /// Returns the worker's name.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Returns how many different inputs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is no case.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Goes through the cases in the order in which they first ended.
    pub fn iter(&self) -> std::slice::Iter<'_, Case> {
        self.all.iter()
    }

    /// Returns the names of other calls in the journals: one of them may be meant.
    #[cfg(feature = "cli")]
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(AsRef::as_ref)
    }

    fn take(&mut self, record: Record, edits: &mut HashMap<Arc<str>, Value>) {
        let is_mine = record.name == self.worker;
        match record.kind {
            StepKind::Approval if is_mine => {
                if let Some(input) = edited(&record.value) {
                    edits.insert(record.call().into(), input);
                }
            }
            StepKind::Call | StepKind::Result if is_mine => {
                let input = edits.remove(&record.key).unwrap_or_else(|| Arc::unwrap_or_clone(record.input));
                if let Some(outcome) = recorded_outcome(&record.name, record.value) {
                    self.answered(input, outcome);
                }
            }
            StepKind::Call | StepKind::Result | StepKind::Run => drop(self.others.insert(record.name)),
            _ => {}
        }
    }

    fn answered(&mut self, input: Value, outcome: Outcome) {
        let places = self.by_digest.entry(digest(&input)).or_default();
        let known = places.iter().copied().find(|&place| self.all[place].input == input);
        let place = known.unwrap_or_else(|| {
            places.push(self.all.len());
            self.all.push(Case { input, answers: Vec::new() });
            self.all.len() - 1
        });
        let answers = &mut self.all[place].answers;
        match answers.iter_mut().find(|answer| answer.outcome == outcome) {
            Some(answer) => answer.times += 1,
            None => answers.push(Answer { outcome, times: 1 }),
        }
    }
}

impl<'a> IntoIterator for &'a Cases {
    type Item = &'a Case;
    type IntoIter = std::slice::Iter<'a, Case>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Case {
    /// Returns how often the worker was asked.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.answers.iter().map(|answer| answer.times).sum()
    }

    /// Returns what the worker answered most often, the first of those given as often; an error only if it never answered.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        let rank = |answer: &Answer| (matches!(answer.outcome, Outcome::Result(_)), answer.times);
        // Of several that are greatest, the last is found: so from the end.
        self.answers.iter().rev().max_by_key(|answer| rank(answer))
    }
}
