//! Trees of depth 3, as rules.

use super::{Cases, Condition, Rule};

const DEPTH: usize = 3;

/// The least number of cases on each side.
const LEAST: usize = 5;

/// Returns a rule for each leaf of a tree.
pub(super) fn tree(cases: &Cases<'_>, seen: &[usize]) -> Vec<Rule> {
    let mut rules = Vec::new();
    grow(cases, seen, &mut Vec::new(), &mut rules);
    rules
}

fn grow(cases: &Cases<'_>, seen: &[usize], conditions: &mut Vec<Condition>, rules: &mut Vec<Rule>) {
    let Some(condition) = best(cases, seen).filter(|_| conditions.len() < DEPTH) else {
        rules.extend(leaf(cases, seen, conditions));
        return;
    };
    let (with, without): (Vec<_>, Vec<_>) = seen.iter().partition(|case| cases.holds(**case, condition.place));
    let negated = condition.negated();
    for (condition, part) in [(condition, with), (negated, without)] {
        conditions.push(condition);
        grow(cases, &part, conditions, rules);
        conditions.pop();
    }
}

fn leaf(cases: &Cases<'_>, seen: &[usize], conditions: &[Condition]) -> Option<Rule> {
    let counts = counts(cases, seen.iter().copied());
    let (label, right) = counts.into_iter().enumerate().rev().max_by_key(|(_, count)| *count)?;
    Some(cases.rule(conditions.to_vec(), label, right, seen.len()))
}

fn counts(cases: &Cases<'_>, seen: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut counts = vec![0; cases.choice.values.len()];
    seen.for_each(|case| counts[cases.label(case)] += 1);
    counts
}

/// Returns the condition that leaves the fewest pairs of different labels together, if it leaves fewer than there are.
fn best(cases: &Cases<'_>, seen: &[usize]) -> Option<Condition> {
    let labels = cases.choice.values.len();
    let mut with = vec![0_usize; cases.conditions.len() * labels];
    for case in seen {
        for condition in &cases.holding[*case] {
            with[*condition as usize * labels + cases.label(*case)] += 1;
        }
    }
    let all = counts(cases, seen.iter().copied());
    let mut best = (purity(all.iter().copied()) * 1.01, None);
    for (condition, with) in cases.conditions.iter().zip(with.chunks(labels)) {
        let inside: usize = with.iter().sum();
        if inside < LEAST || seen.len() - inside < LEAST {
            continue;
        }
        let without = all.iter().zip(with).map(|(all, with)| all - with);
        let purity = purity(with.iter().copied()) + purity(without);
        if purity > best.0 {
            best = (purity, Some(condition));
        }
    }
    best.1.cloned()
}

/// The number of cases times the chance that two of them have one label.
fn purity(counts: impl Iterator<Item = usize>) -> f64 {
    let (mut all, mut squares) = (0, 0);
    counts.for_each(|count| {
        all += count;
        squares += count * count;
    });
    if all == 0 { 0.0 } else { squares as f64 / all as f64 }
}
