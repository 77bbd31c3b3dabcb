//! Whether a worker disagrees with its tool more often than expected.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::base::mutex::IgnorePoison;

/// The number of latest comparisons that count.
const WINDOW: usize = 100;
/// The minimum number of comparisons for an alert.
const MINIMUM: usize = 10;

/// The latest comparisons of a shadow, for an alert.
#[derive(Debug)]
pub(super) struct Drift {
    /// The share of disagreements above which there is an alert.
    limit: f64,
    latest: Mutex<Latest>,
}

#[derive(Debug, Default)]
struct Latest {
    agrees: VecDeque<bool>,
    /// Whether the share was above the limit after the last comparison.
    is_over: bool,
}

impl Drift {
    pub(super) fn over(limit: f64) -> Self {
        Self { limit, latest: Mutex::default() }
    }

    /// Adds a comparison; returns the disagreements and comparisons if their share rises above the limit.
    #[expect(clippy::cast_precision_loss, reason = "there are few comparisons")]
    pub(super) fn note(&self, agrees: bool) -> Option<(u64, u64)> {
        let mut latest = self.latest.lock().ignore_poison();
        latest.agrees.push_back(agrees);
        if latest.agrees.len() > WINDOW {
            latest.agrees.pop_front();
        }
        let of = latest.agrees.len();
        let disagree = latest.agrees.iter().filter(|agrees| !**agrees).count();
        let is_over = of >= MINIMUM && disagree as f64 > self.limit * of as f64;
        let rises = is_over && !latest.is_over;
        latest.is_over = is_over;
        rises.then_some((disagree as u64, of as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::Drift;

    #[test]
    fn an_alert_is_given_once_until_the_share_falls_again() {
        let drift = Drift::over(0.2);
        let alerts = |agrees: bool, times: usize| (0..times).filter_map(|_| drift.note(agrees)).collect::<Vec<_>>();
        assert_eq!(alerts(false, 9), [], "too few comparisons");
        assert_eq!(alerts(false, 11), [(10, 10)]);
        assert_eq!(alerts(true, 80), [], "20 of 100 are not over it");
        assert_eq!(alerts(false, 1), [], "the oldest of the latest 100 disagreed too");
        assert_eq!(alerts(true, 30), []);
        assert_eq!(alerts(false, 30).len(), 1);
    }
}
