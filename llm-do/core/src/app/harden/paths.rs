//! The recorded runs of a worker that orchestrates: its calls in their order, with their results.

mod conditions;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::PriceTable;
use serde::Serialize;
use serde_json::{Value, json};

pub(super) use self::conditions::conditions;
use self::reading::JournalRuns;
use super::recorded::{RecordedCalls, WorkerCalls};
use crate::observe::event::Outcome;
use crate::observe::journal::{FileJournal, JournalError, Record, StepKind, digest};
use crate::plane::dispatch::recorded_outcome;

/// The recorded runs of a worker: each finished call of it, with the calls that its model made, in their order, with arguments and results.
///
/// Calls of the worker at any depth count, as for [`Cases`](super::Cases). Runs that are equal in all of this count once. Not counted are calls that
/// code answered, and those that depend on more than the input and the results of calls: see [`left_out`](Self::left_out).
///
/// # Examples
///
/// ```no_run
/// use llm_do::harden::Runs;
///
/// let mut runs = Runs::of("handle_request");
/// runs.add_file("run.jsonl")?;
/// for path in runs.paths() {
///     println!("{}: {} runs", path.calls.join(" → "), path.runs);
/// }
/// # Ok::<_, llm_do::journal::JournalError>(())
/// ```
#[derive(Debug)]
pub struct Runs {
    worker: Arc<str>,
    by_digest: BTreeMap<String, PastRun>,
    max: usize,
    left_out: BTreeMap<&'static str, u64>,
    others: BTreeSet<Arc<str>>,
    usage: WorkerCalls,
}

/// The calls that runs made, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallPath {
    /// The names of what was called, in order; a name with `+` was called several times in a row.
    pub calls: Vec<String>,
    /// The number of runs.
    pub runs: usize,
}

/// One finished call of the worker.
#[derive(Clone, Debug)]
pub(super) struct PastRun {
    pub(super) input: Value,
    pub(super) calls: Vec<PastCall>,
    pub(super) outcome: Outcome,
}

/// A call that the worker's model made.
#[derive(Clone, Debug)]
pub(super) struct PastCall {
    pub(super) name: Arc<str>,
    pub(super) arguments: Arc<Value>,
    /// Its result or its error, as a journal records it.
    pub(super) recorded: Value,
    /// Whether another call of the worker was in flight at the same time.
    pub(super) overlapped: bool,
}

impl Runs {
    /// Returns an empty list of runs of the worker with this registered name.
    #[must_use]
    pub fn of(worker: impl Into<Arc<str>>) -> Self {
        Self {
            worker: worker.into(),
            by_digest: BTreeMap::new(),
            max: usize::MAX,
            left_out: BTreeMap::new(),
            others: BTreeSet::new(),
            usage: WorkerCalls::default(),
        }
    }

    /// Keeps at most this number of runs: those with the lowest digests, a sample that does not depend on the order. Default: all.
    #[must_use]
    pub fn at_most(self, max: usize) -> Self {
        Self { max: max.max(1), ..self }
    }

    /// Adds the runs of one journal; `records` starts at its first record: see
    /// [`MemoryJournal::records`](crate::observe::journal::MemoryJournal::records).
    pub fn add(&mut self, records: impl IntoIterator<Item = Record>) {
        let mut journal = JournalRuns::default();
        records.into_iter().for_each(|record| self.add_record(record, &mut journal));
    }

    /// Adds the runs of a run that continues a chat, without its root call: that depends on the messages before.
    #[doc(hidden)]
    pub fn add_continued(&mut self, records: impl IntoIterator<Item = Record>) {
        self.add(records.into_iter().filter(|record| record.kind != StepKind::Result));
    }

    /// Adds the runs of a journal file, without locking or changing it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`FileJournal::read`], and [`JournalError::Corrupt`] for an invalid line; the records
    /// before it are added.
    pub fn add_file(&mut self, path: impl Into<PathBuf>) -> Result<(), JournalError> {
        let mut journal = JournalRuns::default();
        FileJournal::read(path)?.try_for_each(|record| record.map(|record| self.add_record(record, &mut journal)))
    }

    /// Returns the worker's name.
    #[must_use]
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// Returns the number of distinct runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_digest.len()
    }

    /// Returns whether there are no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }

    /// Returns the paths of the runs, the most frequent first.
    #[must_use]
    pub fn paths(&self) -> Vec<CallPath> {
        paths(self.iter())
    }

    /// Returns the reasons for which runs are not counted, each with the number of those runs.
    #[must_use]
    pub fn left_out(&self) -> Vec<(&'static str, u64)> {
        self.left_out.iter().map(|(reason, runs)| (*reason, *runs)).collect()
    }

    /// Returns the usage of the runs, without that of their calls, at these prices.
    #[must_use]
    pub fn usage(&self, prices: &PriceTable) -> RecordedCalls {
        self.usage.sum(prices)
    }

    /// Returns the names of other calls in the journals, for suggestions.
    #[doc(hidden)]
    pub fn other_tools(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(AsRef::as_ref)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &PastRun> {
        self.by_digest.values()
    }

    fn insert(&mut self, run: PastRun) {
        self.by_digest.insert(run.digest(), run);
        if self.by_digest.len() > self.max && self.by_digest.pop_last().is_some() {
            self.leave_out("there are more of them than are kept");
        }
    }

    fn leave_out(&mut self, reason: &'static str) {
        *self.left_out.entry(reason).or_default() += 1;
    }
}

/// Returns the paths of runs, the most frequent first.
pub(super) fn paths<'r>(runs: impl IntoIterator<Item = &'r PastRun>) -> Vec<CallPath> {
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    runs.into_iter().for_each(|run| *counts.entry(run.path()).or_default() += 1);
    let mut paths: Vec<_> = counts.into_iter().map(|(calls, runs)| CallPath { calls, runs }).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.runs));
    paths
}

impl PastRun {
    fn digest(&self) -> String {
        let calls: Vec<_> = self.calls.iter().map(|call| json!([call.name, call.arguments, call.recorded])).collect();
        digest(&json!([self.input, calls, self.outcome]))
    }

    /// Returns the run without the calls of some tools.
    pub(super) fn without_calls(&self, tools: &[&str]) -> Self {
        let mut run = self.clone();
        run.calls.retain(|call| !tools.contains(&&*call.name));
        run
    }

    /// Returns the names of the calls, in order: concurrent ones by name, and those of the same name in a row as one, with `+`.
    pub(super) fn path(&self) -> Vec<String> {
        let mut names: Vec<(&str, bool)> = self.calls.iter().map(|call| (&*call.name, call.overlapped)).collect();
        names.chunk_by_mut(|before, after| before.1 && after.1).for_each(<[_]>::sort_unstable);
        let same = |before: &(&str, bool), after: &(&str, bool)| before.0 == after.0;
        names.chunk_by(same).map(|calls| format!("{}{}", calls[0].0, if calls.len() > 1 { "+" } else { "" })).collect()
    }
}

impl PastCall {
    /// Returns its result or the text of its error.
    pub(super) fn outcome(&self) -> Outcome {
        let failed = || Outcome::Error("its model failed".to_owned());
        recorded_outcome(&self.name, self.recorded.clone()).unwrap_or_else(failed)
    }

    /// Returns whether it is equal to another call, in all that is recorded.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.arguments == other.arguments && self.recorded == other.recorded
    }

    /// Returns the value of its result; `None` if it failed.
    pub(super) fn value(&self) -> Option<&Value> {
        self.recorded.get("result")?.get("value")
    }
}
