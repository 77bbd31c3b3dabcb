//! Counts in how many cases a script agrees.

use std::fmt;

use llm_do_bounds::{lower_bound, upper_bound};
use serde::Serialize;

use super::super::{Summary, Verdict};

/// The confidence of each end of an interval of 95 %.
const ONE_SIDE: f64 = 0.975;

/// The numbers of cases in which a script agrees with the worker, or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Score {
    /// The number of cases in which it returned the worker's answer.
    pub agree: usize,
    /// The number of cases in which it returned a different result, failed, or did not accept the input.
    pub disagree: usize,
    /// The number of cases in which it abstained.
    pub unsure: usize,
}

impl Score {
    pub(super) fn from_verdicts(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut score = Self::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Agrees => score.agree += 1,
                Verdict::Unsure => score.unsure += 1,
                Verdict::Differs | Verdict::Refused | Verdict::Failed => score.disagree += 1,
                Verdict::WorkerFailed => {}
            }
        }
        score
    }

    /// Returns the number of cases.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.agree + self.disagree + self.unsure
    }

    /// Returns the score as a summary; each of these cases that was answered too counts as a disagreement.
    pub(super) fn with_disagreements(&self, contradicting: &Self) -> Summary {
        let disagree = self.disagree + contradicting.agree + contradicting.disagree;
        let unsure = self.unsure + contradicting.unsure;
        Summary { agree: self.agree, of: self.agree + disagree + unsure, unsure, ..Summary::default() }
    }

    /// Returns whether it agrees in all cases, and in at least one.
    #[must_use]
    pub fn all_agree(&self) -> bool {
        self.agree > 0 && self.agree == self.cases()
    }

    /// Returns agreements minus disagreements, the measure for comparing scripts.
    #[must_use]
    pub fn balance(&self) -> i64 {
        let count = |cases: usize| i64::try_from(cases).unwrap_or(i64::MAX);
        count(self.agree) - count(self.disagree)
    }

    /// Returns the bounds of the share of agreement in the answered cases: an exact interval of 95 % confidence (Clopper-Pearson);
    /// `None` if it answered none.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::harden::Score;
    ///
    /// assert_eq!(Score::default().interval(), None);
    /// ```
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let (agree, answered) = (self.agree as u64, (self.agree + self.disagree) as u64);
        (answered > 0).then(|| (lower_bound(agree, answered, ONE_SIDE), upper_bound(agree, answered, ONE_SIDE)))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agree, disagree, unsure } = self;
        let of = agree + disagree;
        write!(f, "{agree} of {of} agree")?;
        // Rounded down, so that only complete agreement is 100 %.
        if let Some(percent) = (agree * 100).checked_div(of) {
            write!(f, " ({percent} %)")?;
        }
        if *disagree > 0 {
            write!(f, ", {disagree} disagree")?;
        }
        if *unsure > 0 {
            write!(f, ", {unsure} unsure")?;
        }
        Ok(())
    }
}
