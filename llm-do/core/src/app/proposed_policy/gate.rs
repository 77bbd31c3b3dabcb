//! Whether decisions that no rule was made from support a rule.

use super::decision::Decision;
use super::hull::Hull;

/// The minimum number of approved calls that were held back and that a rule approves.
const MIN_HELD_BACK: usize = 5;
/// The maximum probability that a rule without meaning passes, over all that were tried.
const MAX_CHANCE: f64 = 0.01;

/// The decisions about the calls that a rule approves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) shown: usize,
    pub(super) held_back: usize,
    /// The probability that a rule without meaning approves so many held-back calls, and none that was denied; `None` if no other call
    /// was denied.
    pub(super) chance: Option<f64>,
}

impl Evidence {
    /// Returns the evidence for a rule, if it suffices: among the held-back calls that the rule approves, enough were approved, and none
    /// was denied.
    ///
    /// A rule without meaning approves a call that was approved as often as other calls are. `tried` is the number of hulls among which
    /// it was found.
    pub(super) fn of(hull: &Hull, (tool, caller): (&str, &str), all: &[Decision], tried: u64) -> Option<Self> {
        let is_inside = |call: &Decision| *call.tool == *tool && call.caller == caller && hull.holds(&call.arguments);
        let (inside, outside): (Vec<_>, Vec<_>) = all.iter().partition(|call| is_inside(call));
        if inside.iter().any(|call| !call.is_approved) {
            return None;
        }
        let held_back = inside.iter().filter(|call| call.is_held_back).count();
        let shown = inside.len() - held_back;
        let of_tool: Vec<_> = outside.iter().copied().filter(|call| *call.tool == *tool).collect();
        let share = approved_share(&of_tool).or_else(|| approved_share(&outside));
        let chance = share.map(|share| (number(tried) * share.powf(count(held_back))).min(1.0));
        let suffices = held_back >= MIN_HELD_BACK && chance.is_none_or(|chance| chance <= MAX_CHANCE);
        suffices.then_some(Self { shown, held_back, chance })
    }
}

/// Returns the share of approved calls; `None` if none was denied, so that the share proves nothing.
fn approved_share(calls: &[&Decision]) -> Option<f64> {
    let denied = calls.iter().filter(|call| !call.is_approved).count();
    let approved = calls.len() - denied;
    // As if one more had been approved: a share of 0 would prove too much.
    (denied > 0).then(|| count(approved + 1) / count(calls.len() + 1))
}

fn count(calls: usize) -> f64 {
    u32::try_from(calls).map_or(f64::MAX, f64::from)
}

fn number(tried: u64) -> f64 {
    u32::try_from(tried).map_or(f64::MAX, f64::from)
}
