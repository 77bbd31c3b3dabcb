//! A confidence sequence: an upper bound of a mean that holds whenever it is looked at.

use serde::{Deserialize, Serialize};

use crate::mixture;

/// The shares of the capital that are bet on small values; each has a prior weight of its square, since a large sample alone needs a
/// small share.
const SHARES: [f64; 15] = [0.98, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025];

/// An upper bound of the mean of a stream of values from 0 to 1, which may be looked at after every value.
///
/// For each mean `m`, it is the capital of a gambler who starts with 1 and bets that the values are below `m`: a value `x` multiplies
/// the capital by `1 + l (m - x)`, where `l` is `c / (1 - c m)` for a constant `c` from 0 to 1, so by `(1 - c x) / (1 - c m)`. If the mean is
/// at least `m`, no bet gains on average, so by Ville's inequality the capital ever reaches `1 / risk` with a probability of at most `risk`.
/// The bound is the least `m` for which it did: the capital process of I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
/// variables by betting", Journal of the Royal Statistical Society B 86 (1), 2024, section 4.1, here one-sided, with a mixture over a grid of bets
/// in place of one bet that is predicted.
///
/// Since each `c` is constant, the bound also holds for a mean that changes: `m` is then the average of the conditional means of the values
/// so far, because the product of the factors `1 - c m_i` is at most the power of the factor of their average.
///
/// Values that are observed at random may be left out, at a rate that depends on what was seen before: those that are observed have the same
/// conditional means, so the bound needs no weights. It is then about the average of the values that are observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpperSequence {
    count: u64,
    /// For each share `c`, the sum of `ln(1 - c x)`.
    logarithms: Vec<f64>,
}

impl Default for UpperSequence {
    fn default() -> Self {
        Self { count: 0, logarithms: vec![0.0; SHARES.len()] }
    }
}

impl UpperSequence {
    /// Adds a value from 0 to 1.
    ///
    /// # Panics
    ///
    /// If the value is outside of that.
    pub fn add(&mut self, value: f64) {
        assert!((0.0..=1.0).contains(&value), "a value of {value}: expected one from 0 to 1");
        self.count += 1;
        for (logarithm, share) in self.logarithms.iter_mut().zip(SHARES) {
            *logarithm += (-share * value).ln_1p();
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the upper bound: over all looks together, the probability that it is ever below the mean is at most `risk`.
    #[must_use]
    pub fn upper(&self, risk: f64) -> f64 {
        let target = -risk.ln();
        if self.log_capital(1.0) < target {
            return 1.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > 1e-9 {
            let middle = f64::midpoint(low, high);
            if self.log_capital(middle) < target { low = middle } else { high = middle }
        }
        high
    }

    /// Returns the logarithm of the capital of the bet that the mean is below `mean`: the evidence for that.
    #[must_use]
    pub fn log_capital(&self, mean: f64) -> f64 {
        let count = mixture::number(self.count);
        let bets = self.logarithms.iter().zip(SHARES);
        mixture::log_sum(bets.map(|(logarithm, share)| (share * share, logarithm - count * (-share * mean).ln_1p())))
    }
}

#[cfg(test)]
mod tests {
    use super::UpperSequence;

    fn after(values: impl IntoIterator<Item = f64>) -> UpperSequence {
        let mut sequence = UpperSequence::default();
        values.into_iter().for_each(|value| sequence.add(value));
        sequence
    }

    #[test]
    fn nothing_is_known_without_values() {
        assert!((UpperSequence::default().upper(0.05) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_bound_falls_with_the_evidence() {
        let bound = |count: usize| after(vec![0.0; count]).upper(0.05);
        assert!(bound(10) > bound(100) && bound(100) > bound(1000));
        assert!(bound(150) > 0.02 && bound(190) < 0.02, "{} {}", bound(150), bound(190));
    }

    #[test]
    fn the_bound_is_close_to_the_mean_of_many_values() {
        let values = (0..20_000).map(|at| if at % 100 == 0 { 1.0 } else { 0.0 });
        let bound = after(values).upper(0.05);
        assert!(bound > 0.0115 && bound < 0.0135, "{bound}");
        let half = after(vec![0.5; 5_000]).upper(0.05);
        assert!(half > 0.5 && half < 0.53, "{half}");
    }

    #[test]
    fn state_goes_through_json() {
        let sequence = after([0.0, 1.0, 0.25]);
        let text = serde_json::to_string(&sequence).expect("numbers are written");
        assert_eq!(serde_json::from_str::<UpperSequence>(&text).expect("what was written is read"), sequence);
    }
}
