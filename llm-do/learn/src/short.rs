//! Decisions of few features, which people can read.

mod condition;
mod grow;
mod list;
mod python;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use self::condition::Condition;
use crate::answers::Choice;
use crate::case::Example;
use crate::crossfit::FOLDS;
use crate::evidence::Evidence;
use crate::fields::Kind;
use crate::threshold::{Judged, Promise, Threshold};

/// The most rules.
const MAX_RULES: usize = 10;

/// The share of what the linear model answers that a short decision answers at least.
const NEARLY: f64 = 0.8;

/// A decision of at most ten rules, of which the first that applies answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    pub(crate) rules: Vec<Rule>,
    evidence: Evidence,
}

/// All conditions together are for one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) label: usize,
    /// `None` if it is not sure enough.
    pub(crate) value: Option<Value>,
    confidence: f64,
}

/// A way to find rules.
type Find = fn(&Cases<'_>, &[usize]) -> Vec<Rule>;

/// The cases, and the conditions that hold for each.
pub(crate) struct Cases<'a> {
    choice: &'a Choice,
    conditions: Vec<Condition>,
    /// For each case, the places of the conditions that hold.
    holding: Vec<Vec<u32>>,
}

impl Short {
    /// Returns the evidence, by models of the same kind that have not seen the cases.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns the output for an input, if a rule applies.
    #[must_use]
    pub fn decide(&self, input: &Value) -> Option<&Value> {
        let applies = |rule: &&Rule| rule.conditions.iter().all(|condition| condition.holds(input));
        self.rules.iter().find(applies)?.value.as_ref()
    }

    /// Finds the rules that answer most, if they answer nearly as much as the linear model, with the same promise.
    pub(crate) fn find(
        promise: Promise,
        kinds: &BTreeMap<String, Kind>,
        (examples, folds): (&[Example], &[usize]),
        choice: &Choice,
        linear: &Evidence,
    ) -> Option<Self> {
        if !choice.path.is_empty() {
            return None;
        }
        let cases = Cases::new(kinds, examples, choice);
        let minimum_share = promise.minimum_share.max(linear.share() * NEARLY);
        // Each of two ways may be the one that fails.
        let confidence = f64::midpoint(promise.confidence, 1.0);
        let promise = Promise { confidence, minimum_share, ..promise };
        let ways: [Find; 2] = [grow::tree, list::list];
        let judged = ways.into_iter().filter_map(|way| Some((way, cases.judge(way, folds, examples, promise)?)));
        let (way, threshold) = judged.max_by_key(|(_, threshold)| threshold.answered)?;
        let all: Vec<_> = (0..examples.len()).collect();
        let rules = way(&cases, &all).into_iter().map(|rule| rule.with_threshold(threshold.confidence));
        Some(Self { rules: rules.collect(), evidence: linear.with(threshold) })
    }
}

impl Rule {
    /// Stays as a rule that does not answer if it is not sure enough: those after it are not for its cases.
    fn with_threshold(self, confidence: f64) -> Self {
        let answers = self.is_positive() && self.confidence >= confidence;
        Self { value: self.value.filter(|_| answers), ..self }
    }

    /// Returns whether something is there, and not only absent: what lacks some words may be anything.
    fn is_positive(&self) -> bool {
        self.conditions.iter().any(|condition| !condition.is_on_text() || !condition.is_not)
    }
}

impl<'a> Cases<'a> {
    fn new(kinds: &BTreeMap<String, Kind>, examples: &[Example], choice: &'a Choice) -> Self {
        let conditions = condition::all(kinds, examples, choice);
        let holding = examples.iter().map(|case| condition::holding(&conditions, &case.input)).collect();
        Self { choice, conditions, holding }
    }

    /// Judges each case by rules that were found without it; returns the threshold of their confidence, if the promise holds.
    fn judge(&self, way: Find, folds: &[usize], examples: &[Example], promise: Promise) -> Option<Threshold> {
        let mut judged = vec![Judged { confidence: None, is_right: false }; examples.len()];
        for fold in 0..FOLDS {
            let seen: Vec<_> = (0..examples.len()).filter(|case| folds[*case] != fold).collect();
            let rules = way(self, &seen);
            for case in (0..examples.len()).filter(|case| folds[*case] == fold) {
                let applies = |rule: &&Rule| self.applies(rule, case);
                let Some(rule) = rules.iter().find(applies).filter(|rule| rule.is_positive()) else { continue };
                let is_right = !examples[case].is_contradicted && rule.label == self.choice.labels[case] as usize;
                judged[case] = Judged { confidence: Some(rule.confidence), is_right };
            }
        }
        promise.threshold(&judged).ok()
    }

    fn applies(&self, rule: &Rule, case: usize) -> bool {
        rule.conditions.iter().all(|condition| condition.holds_by(|place| self.holds(case, place)))
    }

    /// Returns whether a condition, by its place, holds for a case.
    fn holds(&self, case: usize, condition: u32) -> bool {
        self.holding[case].binary_search(&condition).is_ok()
    }

    fn label(&self, case: usize) -> usize {
        self.choice.labels[case] as usize
    }

    fn rule(&self, conditions: Vec<Condition>, label: usize, right: usize, all: usize) -> Rule {
        // A rule of few cases is less sure than one of many.
        let confidence = (right as f64 + 0.5) / (all as f64 + 1.5);
        Rule { conditions, label, value: Some(self.choice.values[label].clone().unwrap_or_default()), confidence }
    }
}
