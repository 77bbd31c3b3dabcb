//! The inputs and answers of a worker, read from journals.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::PriceTable;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recorded::{By, JournalReader, RecordedCalls, WorkerCalls};
use crate::observe::event::Outcome;
use crate::observe::journal::{FileJournal, JournalError, Record, StepKind, digest, is_in_chat};
use crate::plane::approval::Approval;
use crate::plane::dispatch::recorded_outcome;

/// The inputs and answers of a worker: its finished calls in journals, with one case for equal inputs.
///
/// Root calls and calls from other items count equally, including calls nested in a recorded call. If an approver
/// edited an input, the edited input counts. Unfinished calls are omitted, as are calls that code answered in a
/// [hybrid](https://docs.rs/llm-do/latest/llm_do/harden/index.html#hybrids), and calls of a tool of the same name, which has already replaced the worker.
#[derive(Debug)]
pub struct Cases {
    worker: Arc<str>,
    all: Vec<Case>,
    /// The indices of the cases by the digest of their input.
    by_digest: BTreeMap<String, Vec<usize>>,
    max: usize,
    /// The number of calls whose inputs are in no case, since there are too many.
    left_out: u64,
    others: BTreeSet<Arc<str>>,
    calls: WorkerCalls,
}

/// The state of reading one journal.
#[derive(Default)]
struct JournalCases {
    /// The inputs that an approver edited, by the keys of their calls.
    edits: HashMap<Arc<str>, Value>,
    reading: JournalReader,
    /// The keys of the calls whose conversations messages to the run joined.
    spoken_to: Vec<Arc<str>>,
}

/// An input, and the worker's answers to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// The arguments.
    pub input: Value,
    /// The distinct answers, in the order in which they were first given; at least one.
    pub answers: Vec<Answer>,
}

/// An answer of the worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The result, or the error that the caller received.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The number of times that this answer was given.
    pub times: u64,
}

/// Returns whether the call of a key is this one, or nested in it.
fn is_inside(key: &str, call: &str) -> bool {
    key.strip_prefix(call).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Cases {
    /// Returns an empty list of cases for the worker with this registered name, which need not be linked.
    #[must_use]
    pub fn of(worker: impl Into<Arc<str>>) -> Self {
        let (by_digest, others) = (BTreeMap::new(), BTreeSet::new());
        let (all, calls) = (Vec::new(), WorkerCalls::default());
        Self { worker: worker.into(), all, by_digest, max: usize::MAX, left_out: 0, others, calls }
    }

    /// Keeps at most about this number of distinct inputs, so that journals of any length take little memory. Default: all.
    ///
    /// Those with the lowest digests stay: a sample of the inputs that is the same in whichever order they are read. Their answers are
    /// complete.
    #[must_use]
    pub fn at_most(self, max: usize) -> Self {
        Self { max: max.max(1), ..self }
    }

    /// Returns the number of calls that are in no case because of [`at_most`](Self::at_most).
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds the calls of one journal, without those in [threads](crate::plane::context::CallContext::thread) and those that
    /// [messages](crate::session::runtime::RunHandle::send) joined; `records` starts at its first record: see
    /// [`MemoryJournal::records`](crate::observe::journal::MemoryJournal::records).
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>) {
        let mut journal = JournalCases::default();
        records.into_iter().for_each(|record| self.add_record(record, &mut journal));
    }

    /// Adds the calls of a run that continues a chat, without its root call: that depends on the messages before.
    #[doc(hidden)]
    pub fn add_continued(&mut self, records: impl IntoIterator<Item = Record>) {
        self.add(records.into_iter().filter(|record| record.kind != StepKind::Result));
    }

    /// Adds the calls of a journal file, without locking or changing it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`FileJournal::read`], and [`JournalError::Corrupt`] for an invalid line; the records
    /// before it are added.
    pub fn add_file(&mut self, path: impl Into<PathBuf>) -> Result<(), JournalError> {
        let mut journal = JournalCases::default();
        FileJournal::read(path)?.try_for_each(|record| record.map(|record| self.add_record(record, &mut journal)))
    }

    /// Sets the right answer to an input, which counts in place of what the worker answered; adds the case if the input is new.
    pub fn label(&mut self, input: Value, answer: Value) {
        let Some(case) = self.case_of(input) else {
            self.left_out += 1;
            return;
        };
        let times = case.times().max(1);
        case.answers = vec![Answer { outcome: Outcome::Result(answer.into()), times }];
    }

    /// Returns the worker's name.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Returns the number of distinct inputs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there are no cases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the cases in the order in which they first finished.
    pub fn iter(&self) -> std::slice::Iter<'_, Case> {
        self.all.iter()
    }

    /// Returns the usage of the calls that requested the worker's model, at these prices.
    #[must_use]
    pub fn calls(&self, prices: &PriceTable) -> RecordedCalls {
        self.calls.sum(prices)
    }

    /// Returns the names of other calls in the journals, for suggestions.
    #[doc(hidden)]
    pub fn other_tools(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(AsRef::as_ref)
    }

    fn add_record(&mut self, record: Record, journal: &mut JournalCases) {
        let JournalCases { edits, reading, spoken_to } = journal;
        reading.add(&record);
        if record.is_in_thread() || record.kind == StepKind::Result && is_in_chat(&record.key) {
            // The answer depends on more than the input.
            return;
        }
        let is_mine = record.name == self.worker;
        match record.kind {
            StepKind::Message => spoken_to.push(record.parent),
            StepKind::Approval if is_mine => {
                let approval = Approval::deserialize(&record.value).ok();
                if let Some(input) = approval.as_ref().and_then(Approval::edited_arguments) {
                    edits.insert(record.call().into(), input.clone());
                }
            }
            StepKind::Call | StepKind::Result if is_mine => {
                if reading.end(&record, &mut self.calls) == By::Code {
                    return;
                }
                // The answer depends on more than the input.
                let is_spoken_to = spoken_to.iter().any(|key| is_inside(key, record.call()));
                let input = edits.remove(&record.key).unwrap_or_else(|| Arc::unwrap_or_clone(record.input));
                let outcome = recorded_outcome(&record.name, record.value);
                if let Some(outcome) = outcome.filter(|_| !is_spoken_to) {
                    self.add_answer(input, outcome);
                }
            }
            StepKind::Call | StepKind::Result | StepKind::Run => {
                if record.kind != StepKind::Run {
                    reading.skip(&record);
                }
                self.others.insert(record.name);
            }
            _ => {}
        }
    }

    fn add_answer(&mut self, input: Value, outcome: Outcome) {
        let Some(case) = self.case_of(input) else {
            self.left_out += 1;
            return;
        };
        match case.answers.iter_mut().find(|answer| answer.outcome == outcome) {
            Some(answer) => answer.times += 1,
            None => case.answers.push(Answer { outcome, times: 1 }),
        }
    }

    /// Returns the case of an input, which is added if it is new; `None` if there is no room for it.
    fn case_of(&mut self, input: Value) -> Option<&mut Case> {
        let digest = digest(&input);
        if self.by_digest.len() >= self.max && !self.has_room(&digest) {
            return None;
        }
        let indices = self.by_digest.entry(digest).or_default();
        let known = indices.iter().copied().find(|&index| self.all[index].input == input);
        let index = known.unwrap_or_else(|| {
            indices.push(self.all.len());
            self.all.push(Case { input, answers: Vec::new() });
            self.all.len() - 1
        });
        self.all.get_mut(index)
    }
}

impl Cases {
    /// Returns whether an input is kept: it is known, or takes the place of the one with the highest digest.
    fn has_room(&mut self, digest: &str) -> bool {
        if self.by_digest.contains_key(digest) {
            return true;
        }
        let Some(last) = self.by_digest.last_entry().filter(|last| digest < last.key().as_str()) else { return false };
        // From the last on: to take a case moves the last one to its place.
        let mut indices = last.remove();
        indices.sort_unstable();
        for index in indices.into_iter().rev() {
            self.take_out(index);
        }
        true
    }

    /// Removes a case, in whose place the last one comes.
    fn take_out(&mut self, index: usize) {
        self.left_out += self.all.swap_remove(index).times();
        let (Some(moved), from) = (self.all.get(index), self.all.len()) else { return };
        let places = self.by_digest.get_mut(&digest(&moved.input)).into_iter().flatten();
        places.filter(|place| **place == from).for_each(|place| *place = index);
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
    /// Returns the number of calls with this input.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.answers.iter().map(|answer| answer.times).sum()
    }

    /// Returns the most frequent result, the first of equally frequent results; an error only if no call has a result.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        let rank = |answer: &Answer| (matches!(answer.outcome, Outcome::Result(_)), answer.times);
        // `max_by_key` returns the last maximum, so the order is reversed.
        self.answers.iter().rev().max_by_key(|answer| rank(answer))
    }
}
