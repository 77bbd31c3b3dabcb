//! A report as text.

use std::fmt::{self, Write};

use super::build::metric_names;
use super::{Estimate, MetricSummary, Report, VariantSummary};
use crate::evaluator::Scalar;
use crate::record::RunRecord;

/// The maximum number of listed runs that do not pass.
const MAX_LISTED: usize = 20;

pub(super) fn write(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = report.dataset.as_deref().unwrap_or("dataset");
    let times = match report.repetitions {
        1 => String::new(),
        times => format!(", {times} runs each"),
    };
    writeln!(f, "{name}: {} cases{times}\n", report.cases)?;
    f.write_str(&table(&summary(report)))?;
    if !report.comparisons.is_empty() {
        f.write_char('\n')?;
        f.write_str(&table(&comparisons(report)))?;
    }
    let failing: Vec<_> = report.runs.iter().filter(|run| !run.passes() && !run.unsure).collect();
    if !failing.is_empty() {
        writeln!(f, "\n{} of {} runs do not pass:", failing.len(), report.runs.len())?;
        failing.iter().take(MAX_LISTED).try_for_each(|run| writeln!(f, "  {}", describe(run)))?;
        if failing.len() > MAX_LISTED {
            writeln!(f, "  and {} more", failing.len() - MAX_LISTED)?;
        }
    }
    Ok(())
}

/// Returns the figures: a row for each metric, a column for each variant.
fn summary(report: &Report) -> Vec<Vec<String>> {
    let row = |name: &str, cell: &dyn Fn(&VariantSummary) -> String| {
        std::iter::once(name.to_owned()).chain(report.variants.iter().map(cell)).collect::<Vec<_>>()
    };
    let mut rows = vec![row("", &|variant| variant.name.clone())];
    for name in metric_names(&report.runs) {
        rows.push(row(&name, &|variant| variant.metric(&name).map(metric).unwrap_or_default()));
    }
    rows.push(row("failed runs", &|variant| format!("{} of {}", variant.failed, variant.runs)));
    if report.variants.iter().any(|variant| variant.unsure > 0) {
        rows.push(row("unsure runs", &|variant| format!("{} of {}", variant.unsure, variant.runs)));
    }
    if report.variants.iter().any(|variant| variant.not_judged > 0) {
        rows.push(row("runs not judged", &|variant| variant.not_judged.to_string()));
    }
    rows.push(row("time p50/p90/p99", &|variant| {
        let latency = &variant.latency;
        format!("{}/{}/{}", seconds(latency.p50), seconds(latency.p90), seconds(latency.p99))
    }));
    rows.push(row("requests", &|variant| variant.usage.model.requests.to_string()));
    rows.push(row("tokens", &|variant| variant.usage.model.total_tokens().to_string()));
    rows.push(row("cost", &|variant| variant.usage.cost.to_string()));
    if report.variants.iter().any(|variant| variant.judge_usage.model.requests > 0) {
        rows.push(row("cost of judges", &|variant| variant.judge_usage.cost.to_string()));
    }
    rows
}

fn comparisons(report: &Report) -> Vec<Vec<String>> {
    let header = ["variant", "against", "metric", "difference", "p", "higher/lower/cases"].map(str::to_owned).to_vec();
    let rows = report.comparisons.iter().map(|comparison| {
        let counts = format!("{}/{}/{}", comparison.higher, comparison.lower, comparison.cases);
        vec![
            comparison.variant.clone(),
            comparison.baseline.clone(),
            comparison.metric.clone(),
            signed(&comparison.difference),
            format!("{:.4}", comparison.p),
            counts,
        ]
    });
    std::iter::once(header).chain(rows).collect()
}

pub(super) fn metric(metric: &MetricSummary) -> String {
    let labels = metric.labels.iter().map(|(label, count)| format!("{label}: {count}")).collect::<Vec<_>>().join(", ");
    let Some(estimate) = &metric.estimate else { return labels };
    let mut text = format!("{:.3} [{:.3}, {:.3}]", estimate.mean, estimate.low, estimate.high);
    if let Some(deviation) = metric.deviation.filter(|deviation| *deviation > 0.0) {
        let _ = write!(text, " ±{deviation:.3}");
    }
    text + &labels
}

pub(super) fn signed(estimate: &Estimate) -> String {
    format!("{:+.3} [{:+.3}, {:+.3}]", estimate.mean, estimate.low, estimate.high)
}

pub(super) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0}ms", seconds * 1000.0) } else { format!("{seconds:.1}s") }
}

/// Describes on one line the reasons that a run does not pass.
fn describe(run: &RunRecord) -> String {
    let mut text = format!("{} · {}", run.variant, run.case);
    if run.repetition > 1 {
        let _ = write!(text, " · run {}", run.repetition);
    }
    format!("{text}: {}", reasons(run).join("; "))
}

/// Returns the reasons that a run does not pass.
pub(super) fn reasons(run: &RunRecord) -> Vec<String> {
    let failed = run.findings.iter().filter(|finding| finding.value == Scalar::Assertion(false));
    let failed = failed.map(|finding| match &finding.reason {
        Some(reason) => format!("{}: {reason}", finding.name),
        None => finding.name.clone(),
    });
    let failures =
        run.failures.iter().map(|failure| format!("{} could not judge: {}", failure.evaluator, failure.error));
    run.error.iter().cloned().chain(failed).chain(failures).map(|text| text.replace('\n', " ")).collect()
}

/// Aligns columns; the first row is the header.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
