//! Checks a report against thresholds and the latest report.

use std::io::{self, Write};

use llm_do_core::app::harden::Judgment;
use llm_do_eval::{Change, PASSES, Report};

use crate::CommandError;
use crate::args::{EvaluateOptions, Threshold};

/// Fails if a threshold is not reached, or a metric is worse; the error lists all of them.
pub(super) fn check(report: &Report, latest: Option<&Report>, options: &EvaluateOptions) -> Result<(), CommandError> {
    let mut faults: Vec<_> = options.fail_under.iter().flat_map(|threshold| below(report, threshold)).collect();
    if let Some(gate) = options.gate.given() {
        faults.extend(report.judge(&gate).into_iter().flat_map(|(variant, judgment)| refused(&variant, judgment)));
    }
    match latest {
        Some(latest) => faults.extend(worse(report, latest, options)),
        None if options.fail_if_worse => {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "note: there is no earlier report to compare with");
        }
        None => {}
    }
    if faults.is_empty() { Ok(()) } else { Err(CommandError::Error(faults.join("\n"))) }
}

/// Prints the decision of a gate about a variant, and returns why it refuses.
fn refused(variant: &str, judgment: Judgment) -> Vec<String> {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "gate: `{variant}` is {judgment}");
    judgment.faults.into_iter().map(|fault| format!("`{variant}` is refused: {fault}")).collect()
}

fn below(report: &Report, threshold: &Threshold) -> Vec<String> {
    let (metric, least) = (threshold.metric.as_deref().unwrap_or(PASSES), threshold.value);
    let fault = |variant: &str| match report.metric(variant, metric).and_then(|found| found.estimate) {
        None => Some(format!("`{variant}` has no value of `{metric}`")),
        Some(found) if found.mean < least => {
            Some(format!("`{variant}`: `{metric}` is {:.3}, below {least}", found.mean))
        }
        Some(_) => None,
    };
    report.variants.iter().filter_map(|variant| fault(&variant.name)).collect()
}

/// Prints the changes, and returns the faults.
fn worse(report: &Report, latest: &Report, options: &EvaluateOptions) -> Vec<String> {
    let changes = report.changes_since(latest);
    for change in changes.iter().filter(|change| change.difference.mean != 0.0) {
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "since the latest report: {}", describe(change));
    }
    let is_fault = |change: &&Change| options.fail_if_worse && change.is_worse(options.tolerance);
    changes.iter().filter(is_fault).map(|change| format!("worse: {}", describe(change))).collect()
}

fn describe(change: &Change) -> String {
    let Change { variant, metric, cases, difference, p, .. } = change;
    format!("`{variant}`: `{metric}` {:+.3} in {cases} cases (p = {p:.4})", difference.mean)
}
