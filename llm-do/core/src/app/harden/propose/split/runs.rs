//! Splits runs by the same rule as cases, with more of them held back: fewer show what the paths are.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::super::super::Cases;
use super::super::super::paths::{CallPath, PastRun, paths};
use super::{identifier_of, tenth};
use crate::observe::event::Outcome;

/// The number of runs of ten that the model sees.
const SHOWN: u32 = 3;
/// The number of runs of ten that select among scripts.
const SELECTING: u32 = 2;
/// A path with at most this share of the runs, in percent, is rare: a script may leave it to the worker.
const RARE: usize = 5;

/// The runs of a worker, by their purpose.
#[derive(Debug)]
pub(in crate::app::harden::propose) struct RunSplit<'a> {
    /// The runs that the model sees.
    pub(in crate::app::harden::propose) shown: Vec<&'a PastRun>,
    /// The runs that select among scripts; the model does not see them.
    pub(in crate::app::harden::propose) selecting: Vec<&'a PastRun>,
    /// The unseen runs that measure the chosen script.
    pub(in crate::app::harden::propose) held_back: Vec<&'a PastRun>,
    /// All paths, the most frequent first.
    pub(in crate::app::harden::propose) paths: Vec<CallPath>,
    /// The tools that only read, by name.
    pub(in crate::app::harden::propose) reads: Arc<BTreeSet<Arc<str>>>,
    /// The field of the inputs that names what they are about: runs with the same value are in one part.
    pub(in crate::app::harden::propose) identifier: Option<String>,
    /// The number of runs that failed.
    pub(in crate::app::harden::propose) worker_failed: usize,
    /// Why further runs are not counted, with their numbers.
    pub(in crate::app::harden::propose) left_out: Vec<(&'static str, u64)>,
}

impl<'a> RunSplit<'a> {
    pub(in crate::app::harden::propose) fn new(
        runs: &[&'a PastRun],
        left_out: Vec<(&'static str, u64)>,
        reads: BTreeSet<Arc<str>>,
    ) -> Self {
        let identifier = identifier_of(&inputs(runs));
        let has_result = |run: &&PastRun| matches!(run.outcome, Outcome::Result(_));
        let mut split = Self {
            shown: Vec::new(),
            selecting: Vec::new(),
            held_back: Vec::new(),
            paths: paths(runs.iter().copied().filter(has_result)),
            reads: Arc::new(reads),
            identifier,
            worker_failed: runs.iter().copied().filter(|run| !has_result(run)).count(),
            left_out,
        };
        for run in runs.iter().copied().filter(has_result) {
            let field = split.identifier.as_ref().and_then(|field| run.input.get(field));
            match tenth(field.unwrap_or(&run.input)) {
                place if place < SHOWN => split.shown.push(run),
                place if place < SHOWN + SELECTING => split.selecting.push(run),
                _ => split.held_back.push(run),
            }
        }
        split
    }

    /// Returns whether a script may leave the path of a run to the worker.
    pub(in crate::app::harden::propose) fn is_rare(&self, path: &[String]) -> bool {
        let all: usize = self.paths.iter().map(|path| path.runs).sum();
        let of_path = self.paths.iter().find(|known| known.calls == path).map_or(0, |path| path.runs);
        of_path * 100 <= all * RARE
    }

    /// Returns all runs with a result.
    pub(in crate::app::harden::propose) fn all(&self) -> impl Iterator<Item = &'a PastRun> {
        [&self.shown, &self.selecting, &self.held_back].into_iter().flatten().copied()
    }
}

/// Returns the inputs of runs as cases, to find what they are about.
fn inputs(runs: &[&PastRun]) -> Cases {
    let mut inputs = Cases::of("");
    runs.iter().for_each(|run| inputs.label(run.input.clone(), Value::Null));
    inputs
}
