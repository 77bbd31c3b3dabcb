//! `harden --status`: what is known of hybrids with a guarantee.

use std::path::Path;

use llm_do_core::app::harden::{HybridStatus, hybrid_status};
use llm_do_core::base::error::chain;
use serde_json::json;

use super::report::aligned;
use crate::args::HardenOptions;
use crate::{CommandError, print, print_json, state};

/// Prints a row for each hybrid.
pub(super) fn status(options: &HardenOptions) -> Result<(), CommandError> {
    let mut known = Vec::new();
    for path in &options.journal {
        known.extend(read(path)?);
    }
    if options.journal.is_empty()
        && let Some(path) = state::evidence(options.items.project.as_deref())
    {
        known.extend(hybrid_status(path).map_err(|error| CommandError::Usage(chain(&*error)))?);
    }
    if options.json {
        return known.iter().try_for_each(|hybrid| print_json(&json!(hybrid).to_string()));
    }
    if known.is_empty() {
        return print("no hybrid with a guarantee has had a call");
    }
    print(&table(&known))
}

/// Reads a file that the user names.
fn read(path: &Path) -> Result<Vec<HybridStatus>, CommandError> {
    let shown = path.display();
    if ["http:", "https:", "restate:"].iter().any(|start| shown.to_string().starts_with(start)) {
        let text = format!("`{shown}` is not a file: a service shows its hybrids on its page, and at `/hybrids`");
        return Err(CommandError::Usage(text));
    }
    if !path.exists() {
        return Err(CommandError::Usage(format!("cannot read {shown}: the file does not exist")));
    }
    hybrid_status(path).map_err(|error| CommandError::Usage(chain(&*error)))
}

fn table(known: &[HybridStatus]) -> String {
    let header = ["worker", "code", "answers", "by code", "bound", "guarantee", "disagree", "saved", "since"];
    let rows = known.iter().map(|hybrid| {
        let calls = hybrid.by_code + hybrid.by_worker;
        let share = (hybrid.by_code * 100).checked_div(calls).unwrap_or_default();
        let (disagreement, confidence) = (hybrid.guarantee.disagreement(), hybrid.guarantee.confidence());
        [
            hybrid.worker.clone(),
            hybrid.tool.clone(),
            if hybrid.holds { "code" } else { "worker" }.to_owned(),
            format!("{} of {calls} ({share} %)", hybrid.by_code),
            percent(hybrid.bound),
            format!("{} at {}", percent(disagreement), percent(confidence)),
            format!("{} of {}", hybrid.disagreements, hybrid.comparisons),
            hybrid.saved.to_string(),
            hybrid.since.to_string(),
        ]
    });
    aligned(&std::iter::once(header.map(str::to_owned)).chain(rows).collect::<Vec<_>>())
}

/// Writes a share in percent, rounded up: a bound is not rounded below the guarantee.
fn percent(share: f64) -> String {
    let percent = (share * 1000.0 - 1e-6).ceil() / 10.0;
    format!("{percent} %")
}
