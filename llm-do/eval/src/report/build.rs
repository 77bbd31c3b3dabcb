//! Computes the figures of a report from its runs.

use std::collections::BTreeMap;

use llm_do_core::app::harden::{Summary, Verdict};

use super::{Comparison, Latency, MetricSummary, PASSES, Report, VariantSummary};
use crate::evaluator::Scalar;
use crate::record::RunRecord;
use crate::statistics::{Bounds, deviation, estimate, mean, paired_test, percentile};

impl Report {
    /// Computes the report of some runs; `variants` and `cases` are the names in order.
    pub(crate) fn new(
        dataset: Option<String>,
        variants: Vec<String>,
        cases: &[String],
        repetitions: u32,
        seed: u64,
        runs: Vec<RunRecord>,
    ) -> Self {
        let figures: Vec<_> = variants.into_iter().map(|name| Figures::new(name, cases, &runs)).collect();
        let names = metric_names(&runs);
        let comparisons = figures.split_first().map(|(first, others)| {
            let compare = |other| names.iter().filter_map(move |metric| first.compare(other, metric, seed));
            others.iter().flat_map(compare).collect()
        });
        let variants = figures.iter().map(|figures| figures.summary(&names, seed)).collect();
        let (cases, comparisons) = (cases.len(), comparisons.unwrap_or_default());
        Self { dataset, cases, repetitions, seed, variants, comparisons, runs }
    }
}

/// Returns the metrics of all runs, `passes` first.
pub(super) fn metric_names(runs: &[RunRecord]) -> Vec<String> {
    let mut names = vec![PASSES.to_owned()];
    for finding in runs.iter().flat_map(|run| &run.findings) {
        if !names.contains(&finding.name) {
            names.push(finding.name.clone());
        }
    }
    names
}

/// Returns the value of a metric in a run, as a number.
fn number(run: &RunRecord, metric: &str) -> Option<f64> {
    if metric == PASSES {
        return (!run.unsure).then(|| f64::from(u8::from(run.passes())));
    }
    run.findings.iter().find(|finding| finding.name == metric)?.value.number()
}

/// Counts the cases of a variant in which all runs pass, and those in which it abstains.
pub(super) fn summary_of(runs: &[RunRecord], variant: &str) -> Summary {
    let mut verdicts: BTreeMap<&str, Verdict> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.variant == variant) {
        let verdict = verdicts.entry(&run.case).or_insert(Verdict::Agrees);
        match (*verdict, run.passes()) {
            (Verdict::Differs, _) | (_, true) => {}
            _ if run.unsure => *verdict = Verdict::Unsure,
            _ => *verdict = Verdict::Differs,
        }
    }
    let mut summary = Summary::default();
    for verdict in verdicts.into_values() {
        summary.add(verdict);
    }
    summary
}

/// The runs of a variant.
pub(super) struct Figures<'a> {
    name: String,
    /// The runs of each case.
    by_case: Vec<Vec<&'a RunRecord>>,
}

impl<'a> Figures<'a> {
    pub(super) fn new(name: String, cases: &[String], runs: &'a [RunRecord]) -> Self {
        let of_case = |case: &String| runs.iter().filter(|run| run.variant == name && run.case == *case).collect();
        Self { by_case: cases.iter().map(of_case).collect(), name }
    }

    fn runs(&self) -> impl Iterator<Item = &'a RunRecord> {
        self.by_case.iter().flatten().copied()
    }

    /// Returns the values of a metric by case; empty for a case without a value.
    fn values(&self, metric: &str) -> Vec<Vec<f64>> {
        self.by_case.iter().map(|runs| runs.iter().filter_map(|run| number(run, metric)).collect()).collect()
    }

    fn summary(&self, names: &[String], seed: u64) -> VariantSummary {
        let mut seconds: Vec<_> = self.runs().map(|run| run.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let at = |share| percentile(&seconds, share).unwrap_or_default();
        VariantSummary {
            name: self.name.clone(),
            runs: self.runs().count(),
            failed: self.runs().filter(|run| run.error.is_some() && !run.unsure).count(),
            unsure: self.runs().filter(|run| run.unsure).count(),
            not_judged: self.runs().filter(|run| !run.failures.is_empty()).count(),
            metrics: names.iter().filter_map(|name| self.metric(name, seed)).collect(),
            latency: Latency { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) },
            usage: self.runs().map(|run| run.usage).sum(),
            judge_usage: self.runs().map(|run| run.judge_usage).sum(),
        }
    }

    fn metric(&self, name: &str, seed: u64) -> Option<MetricSummary> {
        let values = self.values(name);
        let mut labels = BTreeMap::new();
        for finding in self.runs().flat_map(|run| &run.findings).filter(|finding| finding.name == name) {
            if let Scalar::Label(label) = &finding.value {
                *labels.entry(label.clone()).or_default() += 1;
            }
        }
        let runs = values.iter().map(Vec::len).sum::<usize>() + labels.values().sum::<usize>();
        let means: Vec<_> = values.iter().filter_map(|values| mean(values)).collect();
        (runs > 0).then(|| MetricSummary {
            name: name.to_owned(),
            runs,
            estimate: estimate(&means, Bounds::of_metric(&means), seed),
            deviation: deviation(&values),
            labels,
        })
    }

    /// Compares a metric case by case; `None` if no case has values of both.
    pub(super) fn compare(&self, other: &Figures<'_>, metric: &str, seed: u64) -> Option<Comparison> {
        let pairs = self.values(metric).into_iter().zip(other.values(metric));
        let means = |(mine, others): (Vec<f64>, Vec<f64>)| Some([mean(&mine)?, mean(&others)?]);
        let means: Vec<_> = pairs.filter_map(means).collect();
        let bounds = Bounds::of_metric(means.iter().flatten()).map(Bounds::of_differences);
        let differences: Vec<_> = means.iter().map(|[mine, others]| others - mine).collect();
        Some(Comparison {
            baseline: self.name.clone(),
            variant: other.name.clone(),
            metric: metric.to_owned(),
            cases: differences.len(),
            difference: estimate(&differences, bounds, seed)?,
            p: paired_test(&differences, seed),
            higher: differences.iter().filter(|difference| **difference > 0.0).count(),
            lower: differences.iter().filter(|difference| **difference < 0.0).count(),
        })
    }
}
