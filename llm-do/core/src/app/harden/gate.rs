//! The gate: the evidence that a candidate needs before it is accepted.

use std::fmt;

use llm_do_bounds::{lower_bound, trials_needed};
use serde::Serialize;

use super::Summary;

/// The evidence that a candidate needs before it is accepted: a lower confidence bound of its agreement where it answers, and a least share
/// of cases that it answers.
///
/// The bound is exact (Clopper-Pearson), so it counts how few the cases are: 59 of 59 show an agreement of at least 95 % with a confidence of
/// 95 %, and 58 of 58 do not.
///
/// # Examples
///
/// ```
/// use llm_do::harden::Gate;
///
/// let strict = Gate::new().agreement(0.98).coverage(0.5);
/// assert_ne!(strict, Gate::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[must_use = "pass the gate to a `Proposer`, or judge with it"]
pub struct Gate {
    agreement: f64,
    confidence: f64,
    coverage: f64,
}

impl Default for Gate {
    fn default() -> Self {
        Self { agreement: 0.95, confidence: 0.95, coverage: 0.3 }
    }
}

/// The decision of a [`Gate`] about a candidate; it prints as a sentence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Judgment {
    /// What was asked for.
    pub gate: Gate,
    /// The number of cases.
    pub cases: usize,
    /// The number of cases that it answered.
    pub answered: usize,
    /// The number of answers that agree.
    pub agree: usize,
    /// The lower bound of the share of agreement in the answers.
    pub bound: f64,
    /// The share of the cases that it answered.
    pub coverage: f64,
    /// The least number of answers that reach the agreement, if no further one disagrees.
    pub needed: Option<u64>,
    /// Why it is refused; empty if it is accepted.
    pub faults: Vec<String>,
}

impl Gate {
    /// Returns the default gate: an agreement of 0.95 with a confidence of 0.95, and a coverage of 0.3.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the share of agreement that the lower bound must reach. Default: 0.95.
    ///
    /// # Panics
    ///
    /// If it is not between 0 and 1.
    pub fn agreement(self, share: f64) -> Self {
        Self { agreement: between("agreement", share), ..self }
    }

    /// Sets the confidence of the bound. Default: 0.95.
    ///
    /// # Panics
    ///
    /// If it is not between 0 and 1.
    pub fn confidence(self, confidence: f64) -> Self {
        Self { confidence: between("confidence", confidence), ..self }
    }

    /// Sets the least share of cases that it must answer; it may abstain in the rest. Default: 0.3.
    ///
    /// # Panics
    ///
    /// If it is not between 0 and 1.
    pub fn coverage(self, share: f64) -> Self {
        Self { coverage: between("coverage", share), ..self }
    }

    /// Returns the share of agreement, the confidence and the coverage.
    #[cfg(feature = "learn")]
    pub(super) fn shares(&self) -> [f64; 3] {
        [self.agreement, self.confidence, self.coverage]
    }

    /// Judges a candidate by how it did in cases that neither it nor the choice of it has seen.
    #[must_use]
    pub fn judge(&self, summary: &Summary) -> Judgment {
        let Summary { agree, of: cases, unsure, .. } = *summary;
        let answered = cases - unsure;
        let bound = lower_bound(agree as u64, answered as u64, self.confidence);
        let needed = trials_needed((answered - agree) as u64, self.agreement, self.confidence);
        let mut judgment = Judgment {
            gate: *self,
            cases,
            answered,
            agree,
            bound,
            coverage: share(answered, cases),
            needed,
            faults: Vec::new(),
        };
        judgment.faults = [judgment.coverage_fault(), judgment.agreement_fault()].into_iter().flatten().collect();
        judgment
    }
}

impl Judgment {
    /// Returns whether the candidate is accepted.
    #[must_use]
    pub fn is_accepted(&self) -> bool {
        self.faults.is_empty()
    }

    fn coverage_fault(&self) -> Option<String> {
        let Self { cases, answered, coverage, gate, .. } = self;
        (*cases > 0 && *coverage < gate.coverage).then(|| {
            format!(
                "it answers {answered} of {cases} cases ({}), less than {}",
                percent(*coverage),
                percent(gate.coverage)
            )
        })
    }

    fn agreement_fault(&self) -> Option<String> {
        let Self { gate, answered, agree, bound, needed, .. } = self;
        if *bound >= gate.agreement {
            return None;
        }
        let shown = format!(
            "{agree} of {answered} answers agree, which shows at least {} with {} confidence, less than {}",
            percent(*bound),
            percent(gate.confidence),
            percent(gate.agreement)
        );
        let is_too_rare = *answered > 0 && share(*agree, *answered) < gate.agreement;
        Some(match needed {
            Some(needed) if !is_too_rare => format!("too few cases: {shown}; needs at least {needed} answers"),
            _ => format!("it disagrees too often: {shown}"),
        })
    }
}

/// Describes the evidence, accepted or not.
impl fmt::Display for Judgment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gate, cases, answered, bound, coverage, faults, .. } = self;
        let word = if faults.is_empty() { "accepted" } else { "refused" };
        write!(
            f,
            "{word}: it answers {answered} of {cases} cases ({}), and where it answers, at least {} agree with {} confidence (the gate: {} \
             and {})",
            percent(*coverage),
            percent(*bound),
            percent(gate.confidence),
            percent(gate.coverage),
            percent(gate.agreement)
        )
    }
}

fn between(what: &str, share: f64) -> f64 {
    assert!(share > 0.0 && share < 1.0, "{what} {share}: expected a number between 0 and 1");
    share
}

#[expect(clippy::cast_precision_loss, reason = "there are few cases")]
fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Writes a share in percent with at most one decimal, rounded down: a bound is not rounded over the gate.
fn percent(share: f64) -> String {
    // The sum is for shares such as 0.95, which binary numbers are slightly below.
    let percent = (share * 1000.0 + 1e-6).floor() / 10.0;
    format!("{percent} %")
}

#[cfg(test)]
mod tests {
    use super::{Gate, Summary};

    fn summary(agree: usize, disagree: usize, unsure: usize) -> Summary {
        Summary { agree, of: agree + disagree + unsure, unsure, ..Summary::default() }
    }

    fn faults(agree: usize, disagree: usize, unsure: usize) -> String {
        Gate::new().judge(&summary(agree, disagree, unsure)).faults.join("\n")
    }

    #[test]
    fn a_candidate_with_enough_evidence_is_accepted() {
        for (agree, disagree, unsure) in [(59, 0, 0), (92, 1, 0), (59, 0, 130)] {
            assert_eq!(faults(agree, disagree, unsure), "", "{agree} {disagree} {unsure}");
        }
        let text = Gate::new().judge(&summary(60, 0, 20)).to_string();
        let expected = "accepted: it answers 60 of 80 cases (75 %), and where it answers, at least 95.1 % agree with 95 % confidence (the gate: \
                        30 % and 95 %)";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_candidate_that_is_often_wrong_is_refused() {
        let expected = "it disagrees too often: 20 of 31 answers agree, which shows at least 48.1 % with 95 % confidence, less than 95 %";
        assert_eq!(faults(20, 11, 0), expected);
    }

    #[test]
    fn a_candidate_that_is_right_once_and_unsure_otherwise_is_refused() {
        let faults = faults(1, 0, 27);
        assert!(faults.starts_with("it answers 1 of 28 cases (3.5 %), less than 30 %\n"), "{faults}");
    }

    #[test]
    fn too_few_cases_state_how_many_are_needed() {
        let faults_of_few = faults(58, 0, 0);
        assert!(faults_of_few.starts_with("too few cases: 58 of 58 answers agree"), "{faults_of_few}");
        assert!(faults_of_few.ends_with("; needs at least 59 answers"), "{faults_of_few}");
        assert!(faults(0, 0, 0).ends_with("; needs at least 59 answers"), "{}", faults(0, 0, 0));
    }
}
