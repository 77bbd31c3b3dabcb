//! Linear support vector machines, one for each label against the rest, trained side by side.

use crate::random::Random;

/// A case as its features: the row of each, and its value.
pub(crate) type Vector = Vec<(u32, f32)>;

/// How much an error costs against large weights.
const COST: f32 = 0.5;

/// How often the cases are gone through at most.
const MAX_ROUNDS: usize = 30;

/// Training ends when no case asks for a larger change.
const PRECISION: f32 = 0.02;

const SEED: u64 = 0x6c6c_6d2d_646f_3439;

/// The weights, a row for each feature with a weight for each label.
pub(crate) struct Weights {
    pub(crate) labels: usize,
    pub(crate) weights: Vec<f32>,
}

impl Weights {
    fn row(&self, row: u32) -> &[f32] {
        &self.weights[row as usize * self.labels..][..self.labels]
    }

    fn row_mut(&mut self, row: u32) -> &mut [f32] {
        &mut self.weights[row as usize * self.labels..][..self.labels]
    }

    /// Sets `scores` to those of a case.
    fn score(&self, vector: &Vector, scores: &mut [f32]) {
        scores.fill(0.0);
        for (row, value) in vector {
            for (score, weight) in scores.iter_mut().zip(self.row(*row)) {
                *score += value * weight;
            }
        }
    }

    fn add(&mut self, vector: &Vector, changes: &[f32]) {
        for (row, value) in vector {
            for (weight, change) in self.row_mut(*row).iter_mut().zip(changes) {
                *weight += value * change;
            }
        }
    }
}

/// Learns weights from cases with labels below `labels`, and features below `rows`.
///
/// This is the dual coordinate descent for the squared hinge loss, all labels of a case together.
pub(crate) fn train(cases: &[(&Vector, u32)], labels: usize, rows: usize) -> Weights {
    let mut weights = Weights { labels, weights: vec![0.0; rows * labels] };
    let mut duals = vec![0.0; cases.len() * labels];
    let (mut scores, mut changes) = (vec![0.0; labels], vec![0.0; labels]);
    let mut order: Vec<_> = (0..cases.len()).collect();
    let mut random = Random::new(SEED);
    for _ in 0..MAX_ROUNDS {
        random.shuffle(&mut order);
        let mut largest = 0.0_f32;
        for at in &order {
            let (vector, label) = cases[*at];
            weights.score(vector, &mut scores);
            let duals = &mut duals[*at * labels..][..labels];
            let change = change(vector, label as usize, &scores, duals, &mut changes);
            if change > 0.0 {
                weights.add(vector, &changes);
                largest = largest.max(change);
            }
        }
        if largest < PRECISION {
            break;
        }
    }
    weights
}

/// Sets `changes` to the steps of a case for each label; returns the largest.
fn change(vector: &Vector, label: usize, scores: &[f32], duals: &mut [f32], changes: &mut [f32]) -> f32 {
    let diagonal = 0.5 / COST;
    let curvature = vector.iter().map(|(_, value)| value * value).sum::<f32>() + diagonal;
    let mut largest = 0.0_f32;
    for (at, ((score, dual), change)) in scores.iter().zip(duals).zip(changes).enumerate() {
        let sign = if at == label { 1.0 } else { -1.0 };
        let gradient = sign * score - 1.0 + diagonal * *dual;
        let new = (*dual - gradient / curvature).max(0.0);
        let step = new - *dual;
        *dual = new;
        *change = sign * step;
        largest = largest.max(step.abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::{Vector, train};

    #[test]
    fn labels_that_can_be_separated_are_separated() {
        let cases: Vec<Vector> = (0..30).map(|at| vec![(at % 3, 1.0), (3, 1.0)]).collect();
        let labelled: Vec<_> = cases.iter().map(|case| (case, case[0].0)).collect();
        let weights = train(&labelled, 3, 4);
        for (case, label) in &labelled {
            let mut scores = [0.0; 3];
            weights.score(case, &mut scores);
            let above = (0..3).filter(|other| scores[*other] > 0.0).collect::<Vec<_>>();
            assert_eq!(above, [*label as usize]);
        }
    }
}
