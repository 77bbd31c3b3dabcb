//! A proposed policy with its evidence, for a person to sign.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::base::printable::{printable, printable_line};

/// A policy that would have decided recorded calls as people did, with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PolicyProposal {
    /// The policy, as in a policy file.
    pub policy: Value,
    /// The rules of the policy, each with its evidence: first the one that saves the most questions.
    pub rules: Vec<ProposedRule>,
    /// The number of calls that people approved as they were.
    pub approved: usize,
    /// The number of calls that people denied or changed.
    pub denied: usize,
    /// The number of decisions from which no rule was made.
    pub held_back: usize,
    /// The number of questions to people that the policy would have saved.
    pub saves: usize,
    /// Why there is no rule for calls that were often approved.
    pub notes: Vec<String>,
    /// The number of decisions that are left out, by tool and reason.
    pub left_out: BTreeMap<String, u64>,
}

/// A rule with the decisions that support it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProposedRule {
    /// The rule, as in `calls` of a policy file.
    pub rule: Value,
    /// The registered name of the callee.
    pub tool: String,
    /// The name of the calling item.
    pub caller: String,
    /// By argument, which values the rule approves.
    pub shapes: BTreeMap<String, String>,
    /// The number of approved calls that made the rule.
    pub shown: usize,
    /// The number of held-back calls that the rule approves: people approved each.
    pub held_back: usize,
    /// An upper bound of the probability that a rule without meaning would have passed; `None` if no other call was denied.
    pub chance: Option<f64>,
    /// The number of questions that the rule would have saved.
    pub saves: usize,
    /// The ids of some runs with such calls.
    pub runs: Vec<String>,
}

impl PolicyProposal {
    /// Returns whether no rule follows from the decisions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// The evidence, as Markdown.
impl fmt::Display for PolicyProposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { approved, denied, held_back, saves, .. } = self;
        writeln!(f, "# Proposed policy\n")?;
        writeln!(
            f,
            "From {} decisions of people: {approved} approved, {denied} denied or changed.",
            approved + denied
        )?;
        writeln!(f, "Rules were made from those that were not held back; {held_back} were, and measured them.")?;
        writeln!(
            f,
            "With the policy, {saves} questions would not have been asked, and no denied call would have run."
        )?;
        for (rule, number) in self.rules.iter().zip(1..) {
            write!(f, "\n## {number}. {rule}")?;
        }
        list(f, "Without a rule", self.notes.iter().map(|note| printable_line(note)))?;
        let left_out = self.left_out.iter().map(|(reason, times)| format!("{}: {times}", printable_line(reason)));
        list(f, "Decisions that do not count", left_out)?;
        if !self.is_empty() {
            writeln!(f, "\n## Signature\n\nI have read each rule, and it may run such calls without a question.\n")?;
            writeln!(f, "Name:\n\nDate:")?;
        }
        Ok(())
    }
}

/// Writes a list with its title, unless it is empty.
fn list(f: &mut fmt::Formatter<'_>, title: &str, rows: impl Iterator<Item = String>) -> fmt::Result {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        writeln!(f, "\n## {title}\n")?;
    }
    rows.try_for_each(|row| writeln!(f, "- {row}"))
}

impl fmt::Display for ProposedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, held_back, saves, .. } = self;
        writeln!(f, "`{}` by `{}`\n", printable_line(&self.tool), printable_line(&self.caller))?;
        for (name, shape) in &self.shapes {
            writeln!(f, "- `{}`: {}", printable_line(name), printable_line(shape))?;
        }
        if self.shapes.is_empty() {
            writeln!(f, "- without arguments")?;
        }
        writeln!(
            f,
            "\nMade from {shown} approved calls. It approves {held_back} held-back calls; people approved each."
        )?;
        match self.chance {
            Some(chance) => writeln!(f, "A rule without meaning passes with a probability of at most {chance:.2e}.")?,
            None => writeln!(f, "No other call was denied, so it is not known what people would deny.")?,
        }
        writeln!(f, "It would have saved {saves} questions.")?;
        if !self.runs.is_empty() {
            let runs: Vec<_> = self.runs.iter().map(|run| printable_line(run)).collect();
            writeln!(f, "Such calls are in the runs {}.", runs.join(", "))?;
        }
        writeln!(f, "\n```json\n{}\n```", printable(&format!("{:#}", self.rule)))
    }
}
