//! The decision about one part of an output.

use serde_json::Value;

use crate::encoder::{Encoded, Encoder, Unlike};
use crate::linear::{Vector, Weights, train};

/// The score at which nothing speaks for a label: it takes its share of the confidence.
const NOTHING: f32 = -0.2;

/// The steps between 0 and the largest weight.
const STEPS: f32 = 999.0;

/// What decides about one part of an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// Where it is in the output.
    pub(crate) path: Vec<String>,
    /// The values that it may have; `None` if it is missing.
    pub(crate) values: Vec<Option<Value>>,
    pub(crate) encoder: Encoder,
    pub(crate) weights: SparseWeights,
    /// How fast confidence rises with the score.
    pub(crate) sharpness: f64,
}

/// Weights without those that are small: those of row `r` are at `starts[r]..starts[r + 1]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseWeights {
    pub(crate) starts: Vec<u32>,
    /// Labels, and weights in steps.
    pub(crate) steps: Vec<(u16, i16)>,
    /// The size of a step.
    pub(crate) step: f32,
}

/// The label that fits best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) label: usize,
    pub(crate) confidence: f64,
}

/// What is learned of one part from some of the cases.
pub(crate) struct Model {
    pub(crate) encoder: Encoder,
    pub(crate) weights: SparseWeights,
    pub(crate) labels: usize,
}

impl Model {
    /// Learns from cases that are encoded by `encoder`; keeps the weights for which there is room in a file.
    pub(crate) fn learn(encoder: Encoder, cases: &[(&Value, u32)], labels: usize, room: usize) -> Self {
        let most = room.saturating_sub(encoder.bytes()) / bytes_of_weight(labels);
        let vectors: Vec<Vector> = cases.iter().map(|(input, _)| encoder.encode(input).vector).collect();
        let labelled: Vec<_> = vectors.iter().zip(cases).map(|(vector, (_, label))| (vector, *label)).collect();
        let weights = train(&labelled, labels, encoder.counts.len());
        Self { encoder, weights: SparseWeights::of(&weights, most), labels }
    }

    /// Returns the scores of an input, and why it is unlike all cases.
    pub(crate) fn scores(&self, input: &Value) -> (Vec<f32>, Option<Unlike>) {
        let Encoded { vector, unlike } = self.encoder.encode(input);
        (self.weights.scores(&vector, self.labels), unlike)
    }
}

impl Part {
    /// Returns the label that fits an input best, or why it is unlike all cases.
    pub(crate) fn decide(&self, input: &Value) -> Result<Best, Unlike> {
        let Encoded { vector, unlike } = self.encoder.encode(input);
        match unlike {
            Some(unlike) => Err(unlike),
            None => Ok(best(&self.weights.scores(&vector, self.values.len()), self.sharpness)),
        }
    }
}

impl SparseWeights {
    /// Keeps the largest weights, at most `most`.
    fn of(weights: &Weights, most: usize) -> Self {
        let largest = weights.weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
        let step = (largest / STEPS).max(f32::MIN_POSITIVE);
        let least = least_of_largest(weights, most).max(step);
        let mut sparse = Self { starts: vec![0], steps: Vec::new(), step };
        for row in weights.weights.chunks(weights.labels) {
            let large = row.iter().zip(0..).filter(|(weight, _)| weight.abs() >= least);
            sparse.steps.extend(large.map(|(weight, label)| (label, (weight / step).round() as i16)));
            sparse.starts.push(sparse.steps.len() as u32);
        }
        sparse
    }

    /// Returns the labels of a row, and their weights.
    pub(crate) fn row(&self, row: u32) -> &[(u16, i16)] {
        &self.steps[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    pub(crate) fn scores(&self, vector: &Vector, labels: usize) -> Vec<f32> {
        let mut scores = vec![0.0; labels];
        for (row, value) in vector {
            let value = value * self.step;
            for (label, steps) in self.row(*row) {
                scores[*label as usize] += value * f32::from(*steps);
            }
        }
        scores
    }
}

/// A label, a weight of up to four characters, and two commas.
fn bytes_of_weight(labels: usize) -> usize {
    labels.to_string().len() + 5
}

fn least_of_largest(weights: &Weights, most: usize) -> f32 {
    if weights.weights.len() <= most {
        return 0.0;
    }
    let mut sizes: Vec<_> = weights.weights.iter().map(|weight| weight.abs()).collect();
    let at = sizes.len() - most;
    let (_, least, _) = sizes.select_nth_unstable_by(at, f32::total_cmp);
    // Weights of this size may be more than there is room for.
    least.next_up()
}

/// Returns the label of the highest score, and its share of the confidence.
pub(crate) fn best(scores: &[f32], sharpness: f64) -> Best {
    let label = (0..scores.len()).rev().max_by(|left, right| scores[*left].total_cmp(&scores[*right])).unwrap_or(0);
    let highest = scores.get(label).copied().unwrap_or(NOTHING);
    let weight = |score: f32| libm::exp(sharpness * f64::from(score - highest));
    let all: f64 = scores.iter().map(|score| weight(*score)).sum::<f64>() + weight(NOTHING);
    Best { label, confidence: rounded(1.0 / all) }
}

/// Returns a confidence with so few digits that a file has the same number everywhere.
fn rounded(confidence: f64) -> f64 {
    (confidence * 1e12).floor() / 1e12
}

/// Returns how surprising a label is.
pub(crate) fn surprise(scores: &[f32], label: usize, sharpness: f64) -> f64 {
    let highest = scores.iter().fold(NOTHING, |highest, score| highest.max(*score));
    let weight = |score: f32| libm::exp(sharpness * f64::from(score - highest));
    let all: f64 = scores.iter().map(|score| weight(*score)).sum::<f64>() + weight(NOTHING);
    libm::log(all) - sharpness * f64::from(scores[label] - highest)
}
