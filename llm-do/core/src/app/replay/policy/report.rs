//! What another policy would have decided: counts, money and examples.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{NowDecided, RecordedDecision};
use crate::base::printable::printable_line;
use crate::base::usage::Cost;

/// The number of examples that are kept of each difference.
const EXAMPLES: usize = 3;
/// The maximum number of names of calls that are not decided about.
const LEFT_OUT: usize = 100;

/// What a policy would have decided about recorded calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyReport {
    /// The number of runs.
    pub runs: u64,
    /// The number of runs in which a call would be decided differently.
    pub changed_runs: u64,
    /// The number of calls that the policy decides about.
    pub calls: u64,
    /// The number of calls that would run without a question.
    pub passed: u64,
    /// The number of calls that would need approval.
    pub asked: u64,
    /// The number of calls that would be blocked.
    pub blocked: u64,
    /// The number of recorded questions: to a person, a reviewer or a mode.
    pub asked_before: u64,
    /// The recorded cost of the runs.
    pub cost: Cost,
    /// The recorded cost of the runs in which a call would be decided differently.
    pub changed_cost: Cost,
    /// The differences, by tool.
    pub changes: Vec<PolicyChange>,
    /// The number of calls that are not decided about, by their name and the reason.
    pub left_out: BTreeMap<String, u64>,
}

/// Calls of one tool that would be decided differently, in the same way.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyChange {
    /// The registered name of the callee.
    pub tool: Arc<str>,
    /// What was decided.
    pub recorded: RecordedDecision,
    /// What the policy decides.
    pub now: NowDecided,
    /// The number of calls.
    pub calls: u64,
    /// The first of them.
    pub examples: Vec<PolicyExample>,
}

/// A call that would be decided differently.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyExample {
    /// The id of the run, if it is known.
    pub run: Option<String>,
    /// The calling item.
    pub caller: String,
    /// The call in one line.
    pub call: String,
    /// The rule that decides, with its place if it is from a file.
    pub rule: String,
}

impl PolicyReport {
    /// Returns whether each call would be decided as it was.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the number of calls that would be decided differently.
    #[must_use]
    pub fn changed_calls(&self) -> u64 {
        self.changes.iter().map(|change| change.calls).sum()
    }

    pub(super) fn count(&mut self, recorded: RecordedDecision, now: NowDecided) {
        self.calls += 1;
        self.asked_before += u64::from(matches!(recorded, RecordedDecision::Approved | RecordedDecision::Denied));
        match now {
            NowDecided::Passes => self.passed += 1,
            NowDecided::Asks => self.asked += 1,
            NowDecided::Blocks => self.blocked += 1,
        }
    }

    pub(super) fn change(
        &mut self,
        tool: &Arc<str>,
        recorded: RecordedDecision,
        now: NowDecided,
        example: impl FnOnce() -> PolicyExample,
    ) {
        let is_it = |change: &PolicyChange| change.tool == *tool && change.recorded == recorded && change.now == now;
        let place = self.changes.iter().position(is_it).unwrap_or_else(|| {
            self.changes.push(PolicyChange { tool: Arc::clone(tool), recorded, now, calls: 0, examples: Vec::new() });
            self.changes.len() - 1
        });
        let change = &mut self.changes[place];
        change.calls += 1;
        if change.examples.len() < EXAMPLES {
            change.examples.push(example());
        }
    }

    pub(super) fn leave_out(&mut self, name: &str, why: &str) {
        let name = format!("{name}: {why}");
        if self.left_out.len() < LEFT_OUT || self.left_out.contains_key(&name) {
            *self.left_out.entry(name).or_default() += 1;
        } else {
            *self.left_out.entry("further names".to_owned()).or_default() += 1;
        }
    }

    pub(super) fn end_run(&mut self, cost: Cost, is_changed: bool) {
        self.runs += 1;
        self.cost += cost;
        if is_changed {
            self.changed_runs += 1;
            self.changed_cost += cost;
        }
    }
}

impl PolicyChange {
    /// Describes the difference.
    fn words(&self) -> String {
        let was = match self.recorded {
            RecordedDecision::Passed => "ran without a question",
            RecordedDecision::Approved => "were approved",
            RecordedDecision::Denied => "were denied",
            RecordedDecision::Blocked => "were blocked",
        };
        let would = match self.now {
            NowDecided::Passes => "would run without a question",
            NowDecided::Asks => "would need approval",
            NowDecided::Blocks => "would be blocked",
        };
        format!("{} calls {was}, and {would}", self.calls)
    }
}

impl fmt::Display for PolicyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, calls, passed, asked, blocked, asked_before, .. } = self;
        writeln!(f, "{runs} runs with {calls} calls: {passed} pass, {asked} need approval, {blocked} are blocked")?;
        writeln!(f, "questions: {asked_before} recorded, {asked} by this policy")?;
        let (changed, cost, changed_cost) = (self.changed_runs, self.cost, self.changed_cost);
        write!(f, "recorded cost: {cost}, of it {changed_cost} in the {changed} runs with a difference")?;
        for change in &self.changes {
            write!(f, "\n{}: {}", printable_line(&change.tool), change.words())?;
            change.examples.iter().try_for_each(|example| write!(f, "\n    {example}"))?;
        }
        for (name, calls) in &self.left_out {
            write!(f, "\nnot decided: {calls} calls of {}", printable_line(name))?;
        }
        Ok(())
    }
}

impl fmt::Display for PolicyExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(run) = &self.run {
            write!(f, "run {}: ", printable_line(run))?;
        }
        write!(f, "{} by `{}`", self.call, printable_line(&self.caller))?;
        if self.rule.is_empty() { Ok(()) } else { write!(f, "; {}", printable_line(&self.rule)) }
    }
}
