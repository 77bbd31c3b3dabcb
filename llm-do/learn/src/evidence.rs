//! What shows that answers are right.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Percent;
use crate::fields::LeftOut;
use crate::threshold::Threshold;

/// What shows that answers are right: each case was judged by a model that has not seen it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Evidence {
    /// The share of wrong answers that is promised at most.
    pub bound: f64,
    /// The confidence of the promise.
    pub confidence: f64,
    /// The number of cases.
    pub cases: u64,
    /// How many of them were answered.
    pub answered: u64,
    /// How many answers were wrong.
    pub wrong: u64,
    /// The upper bound of the share of wrong answers, at that confidence.
    pub at_most: f64,
    /// The cases whose input had several outputs: an answer to such a case counts as wrong.
    pub contradicted: u64,
    /// The models that judged cases.
    pub models: u64,
    /// The values of each part of the output.
    pub labels: Vec<LabelEvidence>,
    /// The fields of inputs from which nothing is learned.
    pub left_out: Vec<LeftOut>,
}

/// The evidence for one value of a part of the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelEvidence {
    /// The part of the output, as a JSON pointer.
    pub part: String,
    /// Its value; `null` also stands for a part that is missing.
    pub value: Value,
    /// The number of cases that have it.
    pub cases: u64,
    /// How many of these were answered.
    pub answered: u64,
    /// How many of these were answered by another value.
    pub wrong: u64,
}

impl Evidence {
    /// Returns the evidence of another decision about the same cases.
    pub(crate) fn with(&self, threshold: Threshold) -> Self {
        let Threshold { answered, wrong, at_most, .. } = threshold;
        Self { answered, wrong, at_most, labels: Vec::new(), ..self.clone() }
    }

    /// Returns the share of cases that were answered.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.cases == 0 { 0.0 } else { self.answered as f64 / self.cases as f64 }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, answered, wrong, .. } = self;
        let (share, at_most) = (Percent(self.share()), Percent(self.at_most));
        let confidence = Percent(self.confidence);
        write!(
            f,
            "Answers {answered} of {cases} cases ({share}) that it had not seen, {wrong} of them wrong: at most {at_most} with "
        )?;
        write!(f, "{confidence} confidence")
    }
}
