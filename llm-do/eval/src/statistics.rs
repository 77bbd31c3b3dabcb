//! Means with confidence intervals, paired tests, and percentiles.

#![expect(clippy::cast_precision_loss, reason = "counts of runs are small")]

mod equal;

pub(super) use self::equal::Bounds;
use self::equal::estimate_equal;
use super::random::Random;
use super::report::Estimate;

/// The number of samples for an interval.
const RESAMPLES: usize = 2000;
/// The maximum number of differences for which all signs are tried; for more, signs are sampled.
const EXACT: usize = 12;
const FLIPS: usize = 10_000;

/// Returns the mean of some values, one per case, with its 95 % interval by the bootstrap; `None` without values.
///
/// Cases are resampled, not runs, since runs of one case are not independent. For equal values within known bounds, the
/// interval is exact.
pub(super) fn estimate(values: &[f64], bounds: Option<Bounds>, seed: u64) -> Option<Estimate> {
    if let Some(exact) = bounds.and_then(|bounds| estimate_equal(values, bounds)) {
        return Some(exact);
    }
    let mean = mean(values)?;
    let mut random = Random::new(seed);
    let sample = |random: &mut Random| {
        let drawn: f64 = (0..values.len()).map(|_| values[random.index(values.len())]).sum();
        drawn / values.len() as f64
    };
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| sample(&mut random)).collect();
    means.sort_by(f64::total_cmp);
    Some(Estimate { mean, low: percentile(&means, 0.025)?, high: percentile(&means, 0.975)? })
}

/// Returns the p value of a two-sided paired permutation test: the probability of a mean difference at least as large
/// if the sign of each difference is random.
pub(super) fn paired_test(differences: &[f64], seed: u64) -> f64 {
    let observed = differences.iter().sum::<f64>().abs();
    // Sums that differ only by rounding count as equal.
    let is_extreme = |sum: f64| sum.abs() >= observed - 1e-12 * (1.0 + observed);
    let signed = |flags: &mut dyn FnMut(usize) -> bool| {
        let sign = |(index, value): (usize, &f64)| if flags(index) { *value } else { -value };
        differences.iter().enumerate().map(sign).sum::<f64>()
    };
    if differences.len() <= EXACT {
        let all = 1_u32 << differences.len();
        let extreme = (0..all).filter(|signs| is_extreme(signed(&mut |index| signs >> index & 1 == 1))).count();
        return extreme as f64 / f64::from(all);
    }
    let mut random = Random::new(seed);
    let extreme = (0..FLIPS).filter(|_| is_extreme(signed(&mut |_| random.flag()))).count();
    // The observed signs are one of the samples.
    (extreme + 1) as f64 / (FLIPS + 1) as f64
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the nearest-rank percentile of sorted values.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the rank is bounded")]
pub(super) fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// Returns the standard deviation of repeated runs of one case, pooled over the cases; `None` if no case was repeated.
pub(super) fn deviation(by_case: &[Vec<f64>]) -> Option<f64> {
    let degrees: usize = by_case.iter().map(|values| values.len().saturating_sub(1)).sum();
    if degrees == 0 {
        return None;
    }
    let squares = |values: &Vec<f64>| {
        let mean = mean(values).unwrap_or_default();
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    Some((by_case.iter().map(squares).sum::<f64>() / degrees as f64).sqrt())
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values")]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        let of = |share| percentile(&sorted, share).unwrap();
        assert_eq!((of(0.5), of(0.9), of(0.99), of(0.0), of(1.0)), (50.0, 90.0, 99.0, 1.0, 100.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn an_interval_contains_the_mean_and_is_the_same_for_the_same_seed() {
        let values: Vec<f64> = (0..40).map(|n| f64::from(n % 4)).collect();
        let one = estimate(&values, None, 7).unwrap();
        assert_eq!(one.mean, 1.5);
        assert!(one.low > 1.0 && one.low < 1.5 && one.high > 1.5 && one.high < 2.0, "{one:?}");
        assert_eq!(estimate(&values, None, 7).unwrap(), one);
        assert_ne!(estimate(&values, None, 8).unwrap(), one);
        let scores = estimate(&[4.0; 9], None, 0).unwrap();
        assert_eq!((scores.low, scores.high), (4.0, 4.0), "the bounds are not known");
    }

    /// In about 95 of 100 samples, the interval contains the mean of the distribution.
    #[test]
    fn intervals_cover_the_true_mean_about_as_often_as_they_state() {
        let mut random = Random::new(1);
        let covered = (0..400)
            .filter(|seed| {
                let values: Vec<f64> = (0..50).map(|_| f64::from(u8::from(random.index(10) < 3))).collect();
                let interval = estimate(&values, Bounds::of_metric(&values), *seed).unwrap();
                interval.low <= 0.3 && 0.3 <= interval.high
            })
            .count();
        assert!((360..=395).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn a_paired_test_is_exact_for_few_differences() {
        // Only all five equal signs are as extreme: 2 of 32.
        assert_eq!(paired_test(&[1.0; 5], 0), 2.0 / 32.0);
        assert_eq!(paired_test(&[0.0; 5], 0), 1.0);
        assert_eq!(paired_test(&[], 0), 1.0);
        assert_eq!(paired_test(&[0.1, -0.1], 0), 1.0);
    }

    #[test]
    fn a_paired_test_of_many_differences_finds_a_clear_one() {
        let clear: Vec<f64> = (0..40).map(|n| if n % 10 == 0 { -1.0 } else { 1.0 }).collect();
        let none: Vec<f64> = (0..40).map(|n| if n % 2 == 0 { -1.0 } else { 1.0 }).collect();
        assert!(paired_test(&clear, 0) < 0.001);
        assert!(paired_test(&none, 0) > 0.9);
    }

    #[test]
    fn the_deviation_is_that_within_cases() {
        assert_eq!(deviation(&[vec![1.0, 3.0], vec![10.0, 12.0]]), Some(2.0_f64.sqrt()));
        assert_eq!(deviation(&[vec![1.0], vec![5.0]]), None);
    }
}
