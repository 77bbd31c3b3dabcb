//! Exact bounds of a share.

use crate::beta;
use crate::mixture::number;

/// The most trials that [`trials_needed`] considers: more is out of reach.
const MOST: u64 = 1 << 40;

/// Returns a lower confidence bound of the chance of an event that occurred in `events` of `trials` independent trials.
///
/// The bound is one-sided and exact: for every chance, the bound is above it in at most `1 - confidence` of all samples
/// (C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26,
/// 1934). It holds for a number of trials that was decided before they were looked at. Without trials, the bound is 0.
///
/// # Panics
///
/// If there are more events than trials, or `confidence` is not between 0 and 1.
///
/// # Examples
///
/// ```
/// // 59 of 59 is the least that shows 95 % at 95 %.
/// assert!(llm_do_bounds::lower_bound(59, 59, 0.95) >= 0.95);
/// assert!(llm_do_bounds::lower_bound(58, 58, 0.95) < 0.95);
/// ```
#[must_use]
pub fn lower_bound(events: u64, trials: u64, confidence: f64) -> f64 {
    let risk = risk(confidence);
    assert!(events <= trials, "{events} events in {trials} trials");
    if events == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, number(events) / number(trials));
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return low;
        }
        if at_least(events, trials, middle) <= risk { low = middle } else { high = middle }
    }
}

/// Returns an upper confidence bound of the chance of an event that occurred in `events` of `trials` independent trials.
///
/// It is one-sided and exact, as that of [`lower_bound`]. Without trials, the bound is 1.
///
/// # Panics
///
/// If there are more events than trials, or `confidence` is not between 0 and 1.
///
/// # Examples
///
/// ```
/// // The rule of three: with no event in 100 trials, the chance is below about 3 %.
/// assert!((llm_do_bounds::upper_bound(0, 100, 0.95) - 0.0295).abs() < 1e-4);
/// ```
#[must_use]
pub fn upper_bound(events: u64, trials: u64, confidence: f64) -> f64 {
    assert!(events <= trials, "{events} events in {trials} trials");
    1.0 - lower_bound(trials - events, trials, confidence)
}

/// Returns the least number of trials of which all but `misses` are events with a [`lower_bound`] of at least `bound`.
///
/// Returns `None` if no number of trials is enough: for a `bound` of 1 or more.
///
/// # Panics
///
/// If `confidence` is not between 0 and 1.
///
/// # Examples
///
/// ```
/// assert_eq!(llm_do_bounds::trials_needed(0, 0.95, 0.95), Some(59));
/// assert_eq!(llm_do_bounds::trials_needed(1, 0.95, 0.95), Some(93));
/// ```
#[must_use]
pub fn trials_needed(misses: u64, bound: f64, confidence: f64) -> Option<u64> {
    let risk = risk(confidence);
    let enough = |trials: u64| at_least(trials - misses, trials, bound) <= risk;
    let mut few = misses;
    let mut many = misses.checked_add(1)?;
    while !enough(many) {
        few = many;
        many = many.checked_mul(2).filter(|many| *many <= MOST)?;
    }
    while few + 1 < many {
        let middle = u64::midpoint(few, many);
        if enough(middle) { many = middle } else { few = middle }
    }
    Some(many)
}

/// The probability of at least `events` of `trials`, each with the given chance.
fn at_least(events: u64, trials: u64, chance: f64) -> f64 {
    if events == 0 { 1.0 } else { beta::regularized(number(events), number(trials - events) + 1.0, chance) }
}

fn risk(confidence: f64) -> f64 {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence of {confidence}: expected one between 0 and 1");
    1.0 - confidence
}

#[cfg(test)]
mod tests {
    use super::{lower_bound, trials_needed, upper_bound};

    fn close(bound: f64, expected: f64) {
        assert!((bound - expected).abs() < 5e-5, "{bound} {expected}");
    }

    #[test]
    fn bounds_are_those_of_tables() {
        // One-sided, so they are the ends of two-sided intervals of 90 %.
        close(lower_bound(9, 10, 0.95), 0.6058);
        close(upper_bound(9, 10, 0.95), 0.9949);
        close(lower_bound(20, 31, 0.95), 0.4818);
        close(upper_bound(1, 50, 0.95), 0.0914);
    }

    #[test]
    fn the_ends_are_closed() {
        close(lower_bound(10, 10, 0.95), 0.05_f64.powf(0.1));
        assert!(lower_bound(0, 10, 0.95).abs() < f64::EPSILON);
        assert!(lower_bound(0, 0, 0.95).abs() < f64::EPSILON);
        assert!((upper_bound(0, 0, 0.95) - 1.0).abs() < f64::EPSILON);
        assert!((upper_bound(10, 10, 0.95) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn large_samples_have_tight_bounds() {
        let bound = lower_bound(990_000, 1_000_000, 0.95);
        assert!(bound > 0.9898 && bound < 0.99, "{bound}");
    }

    #[test]
    fn the_number_of_trials_is_the_least_that_is_enough() {
        for misses in [0, 1, 7, 300] {
            for bound in [0.3, 0.95, 0.98, 0.999] {
                let needed = trials_needed(misses, bound, 0.95).expect("bounds below 1 are within reach");
                assert!(lower_bound(needed - misses, needed, 0.95) >= bound);
                assert!(needed == misses + 1 || lower_bound(needed - 1 - misses, needed - 1, 0.95) < bound);
            }
        }
    }

    #[test]
    fn no_number_of_trials_shows_certainty() {
        assert_eq!(trials_needed(0, 1.0, 0.95), None);
    }
}
