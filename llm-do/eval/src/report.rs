//! The report of an evaluation.

mod build;
mod compare;
mod html;
mod inspect;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use llm_do_core::app::harden::{Gate, Judgment};
use llm_do_core::base::usage::RunUsage;
use serde::{Deserialize, Serialize};

pub use self::compare::Change;
use super::record::RunRecord;

/// The name of the metric that each report has: the share of runs that finish and whose assertions all hold.
#[doc(hidden)]
pub const PASSES: &str = "passes";

/// The result of an evaluation: figures of each variant, comparisons, and all runs.
///
/// Runs of the same evaluation give the same report, regardless of interruptions; only times differ. As JSON, it can be
/// [kept](super::Kept) and compared with a later report. [`Display`](fmt::Display) writes tables for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the dataset.
    pub dataset: Option<String>,
    /// The number of cases.
    pub cases: usize,
    /// The number of runs of each case.
    pub repetitions: u32,
    /// The seed of intervals, tests and votes of judges.
    pub seed: u64,
    /// The variants, in the order in which they were added.
    pub variants: Vec<VariantSummary>,
    /// The comparisons of each later variant with the first, by metric.
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
    /// The number of runs that returned an error, without those that abstained.
    pub failed: usize,
    /// The number of runs that abstained; they have no metrics.
    #[serde(default)]
    pub unsure: usize,
    /// The number of runs that finished, but that an evaluator could not judge.
    pub not_judged: usize,
    /// The metrics: first `passes`, then the findings of evaluators, in the order of their names' first appearance.
    pub metrics: Vec<MetricSummary>,
    /// The times of the runs, including failed ones.
    pub latency: Latency,
    /// The usage of all runs, including failed ones.
    pub usage: RunUsage,
    /// The usage of judges.
    pub judge_usage: RunUsage,
}

/// A metric of the runs of a variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MetricSummary {
    /// The name.
    pub name: String,
    /// The number of runs with a value. A failed run has only a value of `passes`, one that abstained has none.
    pub runs: usize,
    /// The mean over cases; for an assertion, the share that holds; `None` for labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The standard deviation between repeated runs of one case; `None` if no case was repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The number of runs with each label.
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
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

/// A metric of a variant compared with the same metric of the first variant, case by case.
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
    /// The number of cases in which the variant has a higher value.
    pub higher: usize,
    /// The number of cases in which the variant has a lower value.
    pub lower: usize,
}

impl Report {
    /// Returns the report as an HTML page with a plot: one file without scripts and without external resources.
    #[must_use]
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Returns the runs of a variant as a log of `inspect_ai`, in JSON, for its viewer; `None` for an unknown variant.
    ///
    /// `time` is the end of the evaluation.
    #[must_use]
    pub fn to_inspect_log(&self, variant: &str, time: jiff::Timestamp) -> Option<serde_json::Value> {
        inspect::log(self, variant, time)
    }

    /// Judges each variant by a gate: a case agrees if all its runs pass, and is abstained in if one of its runs abstained and no other failed.
    #[must_use]
    pub fn judge(&self, gate: &Gate) -> Vec<(String, Judgment)> {
        let names = self.variants.iter().map(|variant| variant.name.as_str());
        names.map(|name| (name.to_owned(), gate.judge(&build::summary_of(&self.runs, name)))).collect()
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
