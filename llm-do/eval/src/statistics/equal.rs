//! The interval of a mean of equal values, for which the bootstrap always draws the same value and has no width.

use crate::report::Estimate;

/// The lowest and the highest value that a metric can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    low: f64,
    high: f64,
}

/// The maximum difference of values that differ only by rounding.
const ROUNDING: f64 = 1e-12;
/// The probability outside each end of a 95 % interval.
const TAIL: f64 = 0.025;

impl Bounds {
    /// Returns the bounds of a metric: 0 and 1, if all of its values are within them.
    pub(crate) fn of_metric<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<Self> {
        let is_within = values.into_iter().all(|value| (0.0..=1.0).contains(value));
        is_within.then_some(Self { low: 0.0, high: 1.0 })
    }

    /// Returns the bounds of the differences of two values.
    pub(crate) fn of_differences(self) -> Self {
        let width = self.high - self.low;
        Self { low: -width, high: width }
    }
}

/// Returns the mean of equal values with its 95 % interval; `None` if the values differ.
///
/// All of `n` cases have the value, so by Clopper and Pearson, at least the share `0.025^(1/n)` of all cases has it.
/// The remaining cases may have any value within the bounds.
pub(super) fn estimate_equal(values: &[f64], bounds: Bounds) -> Option<Estimate> {
    let mean = *values.first()?;
    if values.iter().any(|value| (value - mean).abs() > ROUNDING) {
        return None;
    }
    let rest = 1.0 - TAIL.powf(1.0 / values.len() as f64);
    Some(Estimate { mean, low: mean - rest * (mean - bounds.low), high: mean + rest * (bounds.high - mean) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARE: Bounds = Bounds { low: 0.0, high: 1.0 };

    fn interval(value: f64, cases: usize, bounds: Bounds) -> String {
        let Estimate { low, high, .. } = estimate_equal(&vec![value; cases], bounds).unwrap();
        format!("{low:.4} {high:.4}")
    }

    /// 0 of 20 by Newcombe (1998), "Two-sided confidence intervals for the single proportion", Table I, method 5; the other ends by
    /// `binom.test` of R.
    #[test]
    fn shares_of_none_and_of_all_have_the_published_intervals() {
        let published =
            [(1, 0.975), (5, 0.5218), (10, 0.3085), (20, 0.1684), (30, 0.1157), (50, 0.0711), (100, 0.0362)];
        for (cases, end) in published {
            assert_eq!(interval(0.0, cases, SHARE), format!("0.0000 {end:.4}"), "none of {cases}");
            assert_eq!(interval(1.0, cases, SHARE), format!("{:.4} 1.0000", 1.0 - end), "all of {cases}");
        }
    }

    #[test]
    fn equal_differences_and_equal_shares_between_the_bounds_have_a_width_too() {
        assert_eq!(interval(0.0, 20, SHARE.of_differences()), "-0.1684 0.1684");
        assert_eq!(interval(1.0, 20, SHARE.of_differences()), "0.6631 1.0000");
        assert_eq!(interval(0.5, 20, SHARE), "0.4158 0.5842");
        assert_eq!(estimate_equal(&[1.0, 0.0], SHARE), None);
        assert_eq!(estimate_equal(&[], SHARE), None);
    }

    #[test]
    fn the_bounds_are_known_of_values_from_0_to_1() {
        assert_eq!(Bounds::of_metric(&[0.0, 0.5, 1.0]), Some(SHARE));
        assert_eq!(Bounds::of_metric(&[0.0, 4.0]), None);
    }
}
