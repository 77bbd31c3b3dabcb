//! What was learned.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::answers::{pointer, put};
use crate::encoder::Unlike;
use crate::evidence::Evidence;
use crate::part::{Best, Part, best};

/// The most features of an explanation for one value.
const MAX_SPOKE: usize = 10;

/// A learned decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    pub(crate) name: String,
    pub(crate) signature: Value,
    pub(crate) evidence: Evidence,
    pub(crate) threshold: f64,
    /// The output without the parts that differ.
    pub(crate) constant: Value,
    pub(crate) parts: Vec<Part>,
}

/// An output, or the reason that the input is not answered.
pub type Decision = Result<Value, Unsure>;

/// Why an input is not answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unsure {
    /// The confidence is below the threshold.
    Confidence {
        /// The best output.
        output: Value,
        /// Its confidence.
        confidence: f64,
        /// The threshold.
        threshold: f64,
    },
    /// The input is unlike all cases, for this reason.
    Unlike(String),
}

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Confidence { output, confidence, threshold } => {
                write!(f, "{output} has confidence {confidence:.3}, and {threshold:.3} is needed")
            }
            Self::Unlike(reason) => f.write_str(reason),
        }
    }
}

/// What spoke for an output.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The output, if the input is answered.
    pub output: Option<Value>,
    /// Why it is not answered.
    pub unsure: Option<String>,
    /// The confidence, that of the part with the lowest.
    pub confidence: f64,
    /// The confidence that is needed.
    pub threshold: f64,
    /// What spoke for the best value of each part and for the next best, the strongest first.
    pub spoke: Vec<Spoke>,
}

/// A feature of an input, and what it spoke for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spoke {
    /// The part of the output, as a JSON pointer.
    pub part: String,
    /// The value that it spoke for; `null` also stands for a part that is missing.
    pub value: Value,
    /// The feature, such as `/message has "refund"`.
    pub feature: String,
    /// How much it speaks for this value, and not for the other.
    pub weight: f64,
}

impl Learned {
    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the description of the tool that decides so, such as the schemas of its arguments and its output. Default: `null`.
    #[must_use]
    pub fn with_signature(self, signature: Value) -> Self {
        Self { signature, ..self }
    }

    /// Returns the description of the tool that decides so.
    #[must_use]
    pub fn signature(&self) -> &Value {
        &self.signature
    }

    /// Returns the evidence.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Returns the confidence from which on inputs are answered.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns the output for an input.
    ///
    /// # Errors
    ///
    /// Returns why it is not answered, if it is unlike all cases, or if a part of the output is not sure enough.
    pub fn decide(&self, input: &Value) -> Decision {
        let (output, confidence) = self.best(input).map_err(|unlike| Unsure::Unlike(unlike.to_string()))?;
        if confidence >= self.threshold {
            return Ok(output);
        }
        Err(Unsure::Confidence { output, confidence, threshold: self.threshold })
    }

    /// Returns the best output, and its confidence.
    fn best(&self, input: &Value) -> Result<(Value, f64), Unlike> {
        let (mut output, mut lowest) = (self.constant.clone(), 1.0_f64);
        for part in &self.parts {
            let Best { label, confidence } = part.decide(input)?;
            put(&mut output, &part.path, part.values[label].clone());
            lowest = lowest.min(confidence);
        }
        Ok((output, lowest))
    }

    /// Explains what spoke for the output, whether the input is answered or not.
    #[must_use]
    pub fn explain(&self, input: &Value) -> Explanation {
        let decision = self.decide(input);
        let mut explanation = Explanation {
            unsure: decision.as_ref().err().map(Unsure::to_string),
            output: decision.ok(),
            confidence: 1.0,
            threshold: self.threshold,
            spoke: Vec::new(),
        };
        for part in &self.parts {
            let confidence = part.explain(input, &mut explanation.spoke);
            explanation.confidence = explanation.confidence.min(confidence);
        }
        explanation
    }
}

impl Part {
    /// Adds what spoke for the best value and for the next best; returns the confidence.
    fn explain(&self, input: &Value, spoke: &mut Vec<Spoke>) -> f64 {
        let vector = self.encoder.encode(input).vector;
        let scores = self.weights.scores(&vector, self.values.len());
        let first = best(&scores, self.sharpness);
        let others = (0..scores.len()).rev().filter(|label| *label != first.label);
        let second = others.max_by(|left, right| scores[*left].total_cmp(&scores[*right]));
        let names = self.encoder.names();
        let weight = |row: u32, label: usize| {
            let steps = self.weights.row(row).iter().find(|(other, _)| usize::from(*other) == label);
            steps.map_or(0.0, |(_, steps)| f32::from(*steps) * self.weights.step)
        };
        for (label, other) in second.into_iter().flat_map(|second| [(first.label, second), (second, first.label)]) {
            let speaks = |(row, value): &(u32, f32)| {
                let weight = f64::from(value * (weight(*row, label) - weight(*row, other)));
                let feature = names.get(row).filter(|_| weight > 0.0)?.clone();
                let value = self.values[label].clone().unwrap_or_default();
                Some(Spoke { part: pointer(&self.path), value, feature, weight })
            };
            let mut found: Vec<_> = vector.iter().filter_map(speaks).collect();
            found.sort_by(|left, right| right.weight.total_cmp(&left.weight));
            spoke.extend(found.into_iter().take(MAX_SPOKE));
        }
        first.confidence
    }
}
