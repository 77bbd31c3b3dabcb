//! The threshold of confidence: the lowest at which the bound holds.

use llm_do_bounds::{lower_bound, trials_needed, upper_bound};

use crate::error::LearnError;

/// The number of thresholds that are tried at most.
const LEVELS: usize = 200;

/// The least share of the wrong answers that is in the surest half, if it is noise that makes them wrong.
const LEVEL: f64 = 0.3;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Promise {
    /// The share of wrong answers that is allowed.
    pub(crate) bound: f64,
    pub(crate) confidence: f64,
    /// The share of cases that is to be answered at least.
    pub(crate) minimum_share: f64,
}

/// A case, judged by a model that has not seen it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judged {
    /// The confidence; `None` if it is never answered.
    pub(crate) confidence: Option<f64>,
    pub(crate) is_right: bool,
}

/// A threshold, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    pub(crate) confidence: f64,
    pub(crate) answered: u64,
    pub(crate) wrong: u64,
    /// The upper bound of the share of wrong answers.
    pub(crate) at_most: f64,
}

impl Promise {
    /// Fails if no evidence of this number of cases is enough.
    pub(crate) fn check_number(&self, cases: usize) -> Result<(), LearnError> {
        let Self { bound, confidence, .. } = *self;
        let needed = self.needed();
        if cases as u64 >= needed {
            return Ok(());
        }
        Err(LearnError::TooFew { cases: cases as u64, needed, bound, confidence })
    }

    /// The least number of answered cases.
    fn needed(&self) -> u64 {
        trials_needed(0, 1.0 - self.bound, self.confidence).unwrap_or(u64::MAX)
    }

    /// Tries thresholds from the one that answers the minimum share, each lower than the one before, up to the first that fails.
    ///
    /// The order is set before it is known which answers are right, so each is tried at the full confidence (fixed-sequence testing).
    pub(crate) fn threshold(&self, judged: &[Judged]) -> Result<Threshold, LearnError> {
        let mut sure: Vec<_> =
            judged.iter().filter_map(|case| case.confidence.map(|confidence| (confidence, case.is_right))).collect();
        sure.sort_by(|left, right| right.0.total_cmp(&left.0));
        let least = (judged.len() as f64 * self.minimum_share).ceil() as usize;
        let first = least.max(usize::try_from(self.needed()).unwrap_or(usize::MAX)).max(1);
        let levels = self.levels(&sure, first);
        let holds = |level: &&Threshold| level.at_most <= self.bound;
        if let Some(threshold) = levels.iter().take_while(holds).last() {
            return Ok(*threshold);
        }
        let (cases, alike, needed) = (judged.len() as u64, sure.len() as u64, first as u64);
        let unlike = LearnError::Unlike { cases, alike, needed };
        Err(levels.first().map_or(unlike, |surest| self.failure(&levels, surest, &sure)))
    }

    /// Returns thresholds that answer at least `first` cases.
    fn levels(&self, sure: &[(f64, bool)], first: usize) -> Vec<Threshold> {
        let step = (sure.len() / LEVELS).max(1);
        let (mut levels, mut wrong, mut next) = (Vec::new(), 0, first);
        for (at, (confidence, is_right)) in sure.iter().enumerate() {
            wrong += u64::from(!is_right);
            let answered = at + 1;
            // All cases with one confidence are answered, or none.
            let is_last = sure.get(answered).is_none_or(|(other, _)| other < confidence);
            if is_last && (answered >= next || answered == sure.len() && answered >= first) {
                let at_most = rounded_up(upper_bound(wrong, answered as u64, self.confidence));
                levels.push(Threshold { confidence: *confidence, answered: answered as u64, wrong, at_most });
                next = answered + step;
            }
        }
        levels
    }

    fn failure(&self, levels: &[Threshold], surest: &Threshold, sure: &[(f64, bool)]) -> LearnError {
        let Self { bound, confidence, minimum_share } = *self;
        let lowest = levels.iter().map(|level| level.at_most).min_by(f64::total_cmp);
        let Threshold { answered: surest, wrong, at_most, .. } = *surest;
        let at_least = lower_bound(wrong, surest, confidence);
        if at_least > bound && is_level(&sure[..surest as usize]) {
            LearnError::Noise { bound, confidence, surest, wrong, at_least, lowest }
        } else {
            LearnError::NotSure { bound, confidence, minimum_share, surest, wrong, at_most, lowest }
        }
    }
}

/// Returns a bound with so few digits that it is the same on all machines: their logarithms differ in the last one.
fn rounded_up(bound: f64) -> f64 {
    (bound * 1e9).ceil() / 1e9
}

/// Returns whether wrong answers are about as frequent among the surest half: then more confidence does not help.
fn is_level(surest: &[(f64, bool)]) -> bool {
    let wrong = |cases: &[(f64, bool)]| cases.iter().filter(|(_, is_right)| !is_right).count() as f64;
    wrong(&surest[..surest.len() / 2]) >= LEVEL * wrong(surest)
}

#[cfg(test)]
mod tests {
    use super::{Judged, Promise};
    use crate::error::LearnError;

    const PROMISE: Promise = Promise { bound: 0.05, confidence: 0.95, minimum_share: 0.3 };

    fn judged(right: impl Fn(usize) -> bool) -> Vec<Judged> {
        let confidence = |at: usize| Some(1.0 - f64::from(u32::try_from(at).unwrap()) / 1000.0);
        (0..1000).map(|at| Judged { confidence: confidence(at), is_right: right(at) }).collect()
    }

    #[test]
    fn the_lowest_threshold_that_holds_is_taken() {
        // The first 600 are right, and every second case after them.
        let threshold = PROMISE.threshold(&judged(|at| at < 600 || at % 2 == 0)).unwrap();
        assert!((620..650).contains(&threshold.answered), "{threshold:?}");
        assert!(threshold.at_most <= 0.05);
    }

    #[test]
    fn a_bound_below_the_noise_is_refused() {
        let error = PROMISE.threshold(&judged(|at| at % 10 != 0)).unwrap_err();
        let LearnError::Noise { surest, wrong, lowest, .. } = error.clone() else { panic!("{error}") };
        assert_eq!((surest, wrong), (300, 30));
        assert!(lowest.is_some_and(|lowest| (0.1..0.13).contains(&lowest)), "{error}");
        assert!(error.to_string().starts_with("at most 5 % wrong is below the noise: of the 300 cases"), "{error}");
    }

    #[test]
    fn wrong_answers_that_become_rare_are_not_noise() {
        let error = PROMISE.threshold(&judged(|at| at < 150 || at % 4 != 0)).unwrap_err();
        assert!(matches!(error, LearnError::NotSure { surest: 300, .. }), "{error}");
    }

    #[test]
    fn the_number_of_cases_that_is_needed_is_stated() {
        let error = PROMISE.check_number(40).unwrap_err().to_string();
        assert!(error.contains("at least 59 answered cases"), "{error}");
        assert_eq!(PROMISE.check_number(59), Ok(()));
    }

    #[test]
    fn a_case_that_is_never_answered_counts_in_the_share() {
        let mut judged = judged(|_| true);
        judged[200..].iter_mut().for_each(|case| case.confidence = None);
        let error = PROMISE.threshold(&judged).unwrap_err();
        assert!(matches!(error, LearnError::Unlike { cases: 1000, alike: 200, needed: 300 }), "{error}");
    }
}
