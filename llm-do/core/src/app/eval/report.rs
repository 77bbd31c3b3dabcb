//! The report of an evaluation.

mod build;
mod compare;
mod html;
mod inspect;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::compare::Change;
use super::record::RunRecord;
use crate::base::usage::RunUsage;

/// The name of the metric that each report has: the share of runs that finish and whose assertions all hold.
#[doc(hidden)]
pub const PASSES: &str = "passes";

/// What an evaluation found: figures of each variant, comparisons, and all runs.
///
/// Runs of the same evaluation give the same report, however often it was interrupted; only times differ. As JSON, it can be
/// [kept](super::Kept) and compared with a later one. [`Display`](fmt::Display) writes tables for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the dataset.
    pub dataset: Option<String>,
    /// The number of cases.
    pub cases: usize,
    /// How often each case ran.
    pub repetitions: u32,
    /// The seed of intervals, tests and votes of judges.
    pub seed: u64,
    /// The variants, in the order in which they were added.
    pub variants: Vec<VariantSummary>,
    /// Each later variant compared with the first, by metric.
    pub comparisons: Vec<Comparison>,
    /// All runs: by variant, case and repetition.
    pub runs: Vec<RunRecord>,
}

/// The figures of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VariantSummary {
    /// The name.
    pub name: String,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that returned an error.
    pub failed: usize,
    /// The number of runs that finished, but that an evaluator could not judge.
    pub not_judged: usize,
    /// The metrics: first `passes`, then what evaluators found, in the order of their names' first appearance.
    pub metrics: Vec<MetricSummary>,
    /// How long the runs took, failed ones included.
    pub latency: Latency,
    /// What all runs used, failed ones included.
    pub usage: RunUsage,
    /// What judges used.
    pub judge_usage: RunUsage,
}

/// What an evaluator found in the runs of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MetricSummary {
    /// The name.
    pub name: String,
    /// How many runs have a value. A run that failed has none, except of `passes`.
    pub runs: usize,
    /// The mean over cases: of an assertion, the share that holds; `None` for labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The standard deviation between repeated runs of one case; `None` if no case was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// How many runs have each label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, usize>,
}

/// A mean, with its 95 % confidence interval: by the bootstrap over cases, or exact if all cases have
/// [the same value](https://docs.rs/llm-do/latest/llm_do/eval/index.html#reports).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Wall-clock times in seconds: nearest-rank percentiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Latency {
    /// The median.
    pub p50: f64,
    /// 90 % took at most this.
    pub p90: f64,
    /// 99 % took at most this.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// A metric of a variant compared with that of the first variant, case by case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The first variant.
    pub baseline: String,
    /// The variant.
    pub variant: String,
    /// The metric.
    pub metric: String,
    /// The number of cases in which both have a value.
    pub cases: usize,
    /// The variant's value minus that of the first variant.
    pub difference: Estimate,
    /// The p value of a two-sided paired permutation test.
    pub p: f64,
    /// In how many cases the variant has a higher value.
    pub higher: usize,
    /// In how many cases the variant has a lower value.
    pub lower: usize,
}

impl Report {
    /// Returns the report as an HTML page with a plot: one file without scripts, which loads nothing.
    #[must_use]
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Returns the runs of a variant as a log of `inspect_ai`, in JSON, which its viewer opens; `None` for an unknown variant.
    ///
    /// `time` is when the evaluation ended.
    #[must_use]
    pub fn to_inspect_log(&self, variant: &str, time: jiff::Timestamp) -> Option<serde_json::Value> {
        inspect::log(self, variant, time)
    }

    /// Returns the metric of a variant.
    #[must_use]
    pub fn metric(&self, variant: &str, metric: &str) -> Option<&MetricSummary> {
        self.variants.iter().find(|known| known.name == variant)?.metric(metric)
    }
}

impl VariantSummary {
    /// Returns a metric by its name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(self, f)
    }
}
