//! A guarantee at run time: code answers while comparisons show that it disagrees seldom enough.

use serde::{Deserialize, Serialize};

use crate::change::ChangeDetector;
use crate::sequence::UpperSequence;

/// The least share of calls that are compared.
const LEAST_RATE: f64 = 0.05;
/// The part of the risk that the first period of evidence has; each further one has a part of what is left.
const OF_PERIOD: f64 = 0.75;

/// A promise about code that answers in place of a worker: it disagrees with the worker in at most this share, with this confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    disagreement: f64,
    confidence: f64,
}

/// A number of a guarantee that is not between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidGuarantee {
    what: &'static str,
    value: f64,
}

impl std::fmt::Display for InvalidGuarantee {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "invalid {} {}: expected a number between 0 and 1, such as 0.05", self.what, self.value)
    }
}

impl std::error::Error for InvalidGuarantee {}

/// What comparisons have shown about a [`Guarantee`]. It is small, and is kept as JSON.
///
/// Code answers only while the guarantee [`holds`](Self::holds): until there are enough comparisons, it does not. It then holds while
/// the [`upper`](Self::upper) bound of disagreement is at most that of the guarantee, and nothing shows that the disagreement has risen. Once
/// that is shown, the evidence starts again from nothing. Over all periods of evidence together, the probability that the bound is ever below the
/// average disagreement is at most the risk of the guarantee; a candidate that keeps the guarantee in every call is stopped as risen with at most
/// that probability.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    holds: bool,
    /// How often the evidence started again.
    restarts: i32,
    bound: UpperSequence,
    /// The comparisons since the guarantee began to hold.
    change: ChangeDetector,
    disagreed: u64,
}

/// What a comparison changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The guarantee holds now.
    Granted,
    /// The guarantee does not hold any more.
    Withdrawn,
}

impl Guarantee {
    /// Returns a guarantee.
    ///
    /// # Errors
    ///
    /// Returns the number that is not between 0 and 1.
    pub fn new(disagreement: f64, confidence: f64) -> Result<Self, InvalidGuarantee> {
        let numbers = [("disagreement", disagreement), ("confidence", confidence)];
        match numbers.into_iter().find(|(_, value)| !(*value > 0.0 && *value < 1.0)) {
            Some((what, value)) => Err(InvalidGuarantee { what, value }),
            None => Ok(Self { disagreement, confidence }),
        }
    }

    /// Returns the share of disagreement.
    #[must_use]
    pub fn disagreement(&self) -> f64 {
        self.disagreement
    }

    /// Returns the confidence.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.confidence
    }

    /// Returns the least number of comparisons, all of which agree, after which it holds.
    #[must_use]
    pub fn comparisons_needed(&self) -> u64 {
        let mut evidence = Evidence::default();
        while !evidence.holds {
            evidence.observe(self, false);
        }
        evidence.comparisons()
    }

    fn risk(&self) -> f64 {
        1.0 - self.confidence
    }
}

impl Evidence {
    /// Adds a comparison; returns what it changed.
    pub fn observe(&mut self, guarantee: &Guarantee, disagrees: bool) -> Option<Turn> {
        let value = if disagrees { 1.0 } else { 0.0 };
        self.bound.add(value);
        self.disagreed += u64::from(disagrees);
        // As `upper(..) <= disagreement`, without the search for the bound.
        let is_below = self.bound.log_capital(guarantee.disagreement) >= -self.risk(guarantee).ln();
        if !self.holds {
            self.holds = is_below;
            self.change = ChangeDetector::default();
            return is_below.then_some(Turn::Granted);
        }
        self.change.add(value, guarantee.disagreement);
        if self.change.log_capital() >= -guarantee.risk().ln() {
            *self = Self { restarts: self.restarts + 1, ..Self::default() };
            return Some(Turn::Withdrawn);
        }
        self.holds = is_below;
        (!is_below).then_some(Turn::Withdrawn)
    }

    /// Returns whether code may answer.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Returns the upper bound of the average disagreement in the comparisons of this period of evidence.
    #[must_use]
    pub fn upper(&self, guarantee: &Guarantee) -> f64 {
        self.bound.upper(self.risk(guarantee))
    }

    /// Returns the share of the next calls to compare, which depends on what was seen: all until the guarantee holds, then fewer the
    /// clearer the evidence is, at least one of twenty, and more again when disagreements accumulate.
    #[must_use]
    pub fn rate(&self, guarantee: &Guarantee) -> f64 {
        if !self.holds {
            return 1.0;
        }
        let clear = -self.risk(guarantee).ln() / self.bound.log_capital(guarantee.disagreement);
        let suspicious = self.change.log_capital() / -guarantee.risk().ln();
        (clear * clear).max(suspicious).clamp(LEAST_RATE, 1.0)
    }

    /// Returns the number of comparisons in this period of evidence.
    #[must_use]
    pub fn comparisons(&self) -> u64 {
        self.bound.count()
    }

    /// Returns the number of those that disagree.
    #[must_use]
    pub fn disagreements(&self) -> u64 {
        self.disagreed
    }

    /// The risk of the bound of this period: those of all periods sum up to that of the guarantee.
    fn risk(&self, guarantee: &Guarantee) -> f64 {
        guarantee.risk() * OF_PERIOD * (1.0 - OF_PERIOD).powi(self.restarts)
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Guarantee, Turn};

    fn guarantee() -> Guarantee {
        Guarantee::new(0.02, 0.95).expect("both numbers are between 0 and 1")
    }

    #[test]
    fn code_answers_after_enough_agreement_and_not_before() {
        let needed = guarantee().comparisons_needed();
        assert!((150..260).contains(&needed), "{needed}");
        let mut evidence = Evidence::default();
        for _ in 1..needed {
            assert_eq!(evidence.observe(&guarantee(), false), None);
            assert!(!evidence.holds() && (evidence.rate(&guarantee()) - 1.0).abs() < f64::EPSILON);
        }
        assert_eq!(evidence.observe(&guarantee(), false), Some(Turn::Granted));
    }

    #[test]
    fn a_shift_withdraws_code_within_few_comparisons() {
        let mut evidence = Evidence::default();
        (0..2_000).for_each(|_| _ = evidence.observe(&guarantee(), false));
        assert!(evidence.holds() && evidence.rate(&guarantee()) < 0.06);
        let mut comparisons = 0;
        while evidence.holds() {
            evidence.observe(&guarantee(), comparisons % 3 == 0);
            comparisons += 1;
        }
        assert!(comparisons < 40, "{comparisons}");
        assert_eq!((evidence.comparisons(), evidence.disagreements()), (0, 0));
        assert!((evidence.upper(&guarantee()) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn suspicion_raises_the_rate() {
        let mut evidence = Evidence::default();
        (0..2_000).for_each(|_| _ = evidence.observe(&guarantee(), false));
        let calm = evidence.rate(&guarantee());
        (0..4).for_each(|_| _ = evidence.observe(&guarantee(), true));
        assert!(!evidence.holds() || evidence.rate(&guarantee()) > calm);
    }

    #[test]
    fn numbers_outside_are_refused() {
        for (disagreement, confidence) in [(0.0, 0.95), (1.0, 0.95), (0.02, 0.0), (0.02, 1.0), (f64::NAN, 0.95)] {
            assert!(Guarantee::new(disagreement, confidence).is_err(), "{disagreement} {confidence}");
        }
        let fault = Guarantee::new(2.0, 0.95).expect_err("2 is above 1").to_string();
        assert_eq!(fault, "invalid disagreement 2: expected a number between 0 and 1, such as 0.05");
    }
}
