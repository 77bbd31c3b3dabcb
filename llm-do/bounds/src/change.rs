//! Detects that a mean rose above a limit at some time.

use std::f64::consts::E;

use serde::{Deserialize, Serialize};

use crate::mixture::number;

/// The shares of the capital that are bet on large values, from what one loses on a 0.
const SHARES: [f64; 6] = [0.01, 0.03, 0.08, 0.2, 0.45, 0.9];

/// Evidence that the conditional mean of a stream of values from 0 to 1 rose above a limit, whenever it did.
///
/// At each value a new gambler begins, who bets that the mean is above the limit from then on: a value `x` multiplies the capital by
/// `1 + l (x - limit)`. The gamblers share a starting capital of 1, the one at value `t` with a part of about `1 / (t ln^2 t)`. While the mean
/// is at most the limit, the sum of their capitals with what later ones will get is a supermartingale, so by Ville's inequality it ever reaches
/// `1 / risk` with a probability of at most `risk`. A mean that rises after `t` values is detected with the evidence of a test that starts then,
/// but for `ln(t ln^2 t)`: the e-detectors of J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a nonparametric framework for sequential change
/// detection", New England Journal of Statistics in Data Science 2 (2), 2024, sections 2 and 3, with weights of the starts that sum to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChangeDetector {
    count: u64,
    capitals: [f64; SHARES.len()],
}

impl ChangeDetector {
    /// Adds a value from 0 to 1; `limit` must be between 0 and 1, and always the same.
    pub fn add(&mut self, value: f64, limit: f64) {
        let start = left_after(self.count) - left_after(self.count + 1);
        self.count += 1;
        for (capital, share) in self.capitals.iter_mut().zip(SHARES) {
            *capital = (*capital + start) * (1.0 + share / limit * (value - limit));
        }
    }

    /// Returns the logarithm of the capital, of which `-ln(risk)` is evidence of a change.
    #[must_use]
    pub fn log_capital(&self) -> f64 {
        let sum: f64 = self.capitals.iter().sum();
        (sum / number(SHARES.len() as u64)).ln()
    }
}

/// The part of the starting capital that is left for gamblers after the first `count` ones.
fn left_after(count: u64) -> f64 {
    1.0 / (E + number(count)).ln()
}

#[cfg(test)]
mod tests {
    use super::ChangeDetector;

    #[test]
    fn a_rise_after_a_long_time_is_detected_soon() {
        let mut detector = ChangeDetector::default();
        (0..10_000).for_each(|_| detector.add(0.0, 0.02));
        let mut values = 0;
        while detector.log_capital() < 3.0 {
            detector.add(if values % 3 == 0 { 1.0 } else { 0.0 }, 0.02);
            values += 1;
        }
        assert!(values < 40, "{values}");
    }
}
