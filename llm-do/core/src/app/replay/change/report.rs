//! What a change does to recorded runs: counts, money and examples.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::ReplayedChange;
use crate::base::printable::printable_line;
use crate::base::usage::Cost;
use crate::observe::journal::{Difference, DifferenceKind};

/// The number of differences that are kept: the first ones.
const EXAMPLES: usize = 20;

/// How the replay of one run ended.
#[derive(Debug)]
pub(super) enum ChangeOutcome {
    Same,
    Differs(Difference),
    /// The candidate abstained.
    Unsure,
    /// The run failed, for this reason.
    Failed(String),
    /// The budget was spent.
    Stopped,
}

/// What a change does to recorded runs, or to the recorded calls of a worker.
#[derive(Debug, Default, Serialize)]
#[doc(hidden)]
pub struct ChangeReport {
    /// What was replayed: `run` or `call`.
    pub what: &'static str,
    /// The number of runs or calls that were replayed.
    pub replayed: u64,
    /// The number of those without a difference.
    pub same: u64,
    /// The number of those in which the candidate abstained.
    pub unsure: u64,
    /// The number of those that failed now.
    pub failed: u64,
    /// The number of those that were not replayed to their end, since the budget was spent.
    pub stopped: u64,
    /// The number of runs that are not replayed, since they continue a chat or have not ended.
    pub left_out: u64,
    /// The number of differences of each kind.
    pub differences: BTreeMap<DifferenceKind, u64>,
    /// The number of calls that are the same, up to the first differences.
    pub same_calls: u64,
    /// The number of requests that were made.
    pub requests: u64,
    /// Their cost.
    pub cost: Cost,
    /// The recorded cost of what was replayed.
    pub recorded_cost: Cost,
    /// The first differences and failures, by the number of the run.
    pub examples: BTreeMap<u64, ChangeExample>,
}

/// The first difference of a run or call, or its failure.
#[derive(Debug, Serialize)]
#[doc(hidden)]
pub struct ChangeExample {
    /// The id of the run, if it is known.
    pub run: Option<String>,
    /// The kind of the difference; `None` for a failure.
    pub kind: Option<DifferenceKind>,
    /// The item that made or omitted the call, or whose result differs.
    pub place: String,
    /// What was done, and what is recorded.
    pub text: String,
}

impl ChangeReport {
    /// Creates an empty report about runs or calls.
    #[must_use]
    pub fn of(what: &'static str) -> Self {
        Self { what, ..Self::default() }
    }

    /// Adds what the replay with this number found. Numbers order the examples, and each is used once.
    pub fn add(&mut self, number: u64, replayed: ReplayedChange) {
        let ReplayedChange { run, outcome, same, requests, cost, recorded_cost } = replayed;
        self.replayed += 1;
        self.same_calls += same;
        self.requests += requests;
        self.cost += cost;
        self.recorded_cost += recorded_cost;
        match outcome {
            ChangeOutcome::Same => self.same += 1,
            ChangeOutcome::Unsure => self.unsure += 1,
            ChangeOutcome::Stopped => self.stopped += 1,
            ChangeOutcome::Failed(text) => {
                self.failed += 1;
                self.keep(number, ChangeExample { run, kind: None, place: String::new(), text });
            }
            ChangeOutcome::Differs(Difference { kind, place, text }) => {
                *self.differences.entry(kind).or_default() += 1;
                self.keep(number, ChangeExample { run, kind: Some(kind), place, text });
            }
        }
    }

    /// Returns the number of differences.
    #[must_use]
    pub fn different(&self) -> u64 {
        self.differences.values().sum()
    }

    fn keep(&mut self, number: u64, example: ChangeExample) {
        self.examples.insert(number, example);
        if self.examples.len() > EXAMPLES {
            self.examples.pop_last();
        }
    }
}

impl fmt::Display for ChangeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, replayed, same, same_calls, requests, cost, recorded_cost, .. } = self;
        let different = self.different();
        writeln!(f, "{replayed} {what}s replayed: {same} the same, {different} different; {same_calls} calls agree")?;
        write!(f, "{requests} requests for {cost}; recorded cost: {recorded_cost}")?;
        let others = [
            (self.unsure, "abstained"),
            (self.failed, "failed"),
            (self.stopped, "stopped, since the budget is spent"),
            (self.left_out, "runs left out, since they continue a chat or have not ended"),
        ];
        for (number, text) in others.iter().filter(|(number, _)| *number > 0) {
            write!(f, "\n{number} {text}")?;
        }
        self.examples.values().try_for_each(|example| write!(f, "\n{}", printable_line(&example.to_string())))
    }
}

impl fmt::Display for ChangeExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(run) = &self.run {
            write!(f, "run {run}: ")?;
        }
        match self.kind {
            Some(_) => write!(f, "`{}`: {}", self.place, self.text),
            None => write!(f, "failed: {}", self.text),
        }
    }
}
