//! Lists of rules of one condition each.

use super::{Cases, MAX_RULES, Rule};

/// How many right answers make up for a wrong one.
const COST_OF_WRONG: i64 = 20;

/// The same for an answered case of another label.
const COST_OF_OTHER: i64 = 2;

/// The least number of cases that a rule answers.
const LEAST: i64 = 5;

/// Returns the rules that answer most, one after the other: each is for the cases that those before it leave.
pub(super) fn list(cases: &Cases<'_>, seen: &[usize]) -> Vec<Rule> {
    let mut rules = Vec::new();
    let mut left = seen.to_vec();
    let all = counts(cases, seen);
    while rules.len() < MAX_RULES {
        let Some((condition, rule)) = best(cases, &all, &left) else { break };
        rules.push(rule);
        left.retain(|case| !cases.holds(*case, condition));
    }
    rules
}

/// Returns how many cases of each label each condition holds for, one condition after the other.
fn counts(cases: &Cases<'_>, seen: &[usize]) -> Vec<i64> {
    let labels = cases.choice.values.len();
    let mut counts = vec![0; cases.conditions.len() * labels];
    for case in seen {
        for condition in &cases.holding[*case] {
            counts[*condition as usize * labels + cases.label(*case)] += 1;
        }
    }
    counts
}

/// Returns the condition and the rule that answer most of those that are left.
///
/// A condition that also holds for answered cases of other labels is worth less: it is not the reason for the label.
fn best(cases: &Cases<'_>, all: &[i64], left: &[usize]) -> Option<(u32, Rule)> {
    let labels = cases.choice.values.len();
    let counts = counts(cases, left);
    let mut best = (0, None);
    for ((condition, all), left) in cases.conditions.iter().zip(all.chunks(labels)).zip(counts.chunks(labels)) {
        let Some((label, right)) = left.iter().enumerate().rev().max_by_key(|(_, count)| **count) else { continue };
        let number = left.iter().sum::<i64>();
        let answered_others = all.iter().sum::<i64>() - all[label] - (number - right);
        let worth = right - COST_OF_WRONG * (number - right) - COST_OF_OTHER * answered_others;
        if number >= LEAST && worth > best.0 {
            best = (worth, Some((condition, label, *right, number)));
        }
    }
    let (condition, label, right, number) = best.1?;
    let count = |count: i64| usize::try_from(count).unwrap_or_default();
    Some((condition.place, cases.rule(vec![condition.clone()], label, count(right), count(number))))
}
