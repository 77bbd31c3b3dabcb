//! Compares a report with an earlier one.

use super::build::{Figures, metric_names};
use super::{Comparison, Report};

/// The tolerance for rounding of sums in a mean.
const ROUNDING: f64 = 1e-9;

/// A metric of a variant, before and now, over the cases in both reports.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The variant.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// The number of cases in both reports.
    pub cases: usize,
    /// The current mean minus the earlier mean, over these cases.
    pub difference: super::Estimate,
    /// The p value of a two-sided paired permutation test.
    pub p: f64,
}

impl Change {
    /// Returns whether the mean is lower by more than `tolerance`.
    #[must_use]
    pub fn is_worse(&self, tolerance: f64) -> bool {
        self.difference.mean < -(tolerance + ROUNDING)
    }
}

impl Report {
    /// Compares each variant with the variant of the same name in an earlier report, in the metrics and cases of both.
    #[must_use]
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let mut cases: Vec<String> = Vec::new();
        for run in &self.runs {
            if !cases.contains(&run.case) {
                cases.push(run.case.clone());
            }
        }
        let mut changes = Vec::new();
        for variant in &self.variants {
            let figures = |report| Figures::new(variant.name.clone(), &cases, report);
            let (before, now) = (figures(&earlier.runs), figures(&self.runs));
            for metric in metric_names(&self.runs) {
                changes.extend(before.compare(&now, &metric, self.seed).map(change));
            }
        }
        changes
    }
}

fn change(comparison: Comparison) -> Change {
    let Comparison { variant, metric, cases, difference, p, .. } = comparison;
    Change { variant, metric, cases, difference, p }
}
