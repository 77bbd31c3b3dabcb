//! How often tools and the output failed in a row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::CallResult;
use crate::declare::toolset::OUTPUT_TOOL;

/// Consecutive failures, by tool name; those of the output by the name of its tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failures(BTreeMap<String, u32>);

impl Failures {
    /// Counts the failures of one turn, at most one for each tool: the model learns of all of them at the same time.
    ///
    /// Returns the reason to give up if a tool failed more than `retries` times in a row.
    pub(super) fn count(&mut self, outcomes: &[CallResult], retries: u32) -> Option<String> {
        let mut failed: BTreeMap<&str, &str> = BTreeMap::new();
        for CallResult { result, fault, .. } in outcomes.iter().filter(|outcome| !outcome.is_denied) {
            failed.extend(fault.iter().map(|fault| (&*result.name, &**fault)));
        }
        for CallResult { result, .. } in outcomes.iter().filter(|outcome| outcome.fault.is_none()) {
            failed.remove(result.name.as_str());
            self.0.remove(&result.name);
        }
        let spent: Vec<_> = failed.into_iter().filter_map(|(tool, reason)| self.add(tool, reason, retries)).collect();
        spent.into_iter().next()
    }

    /// Counts one failure of `what`; returns the reason to give up if it failed more than `retries` times in a row.
    pub(super) fn add(&mut self, what: &str, reason: &str, retries: u32) -> Option<String> {
        let failures = self.0.entry(what.to_owned()).or_default();
        *failures += 1;
        let times = *failures;
        (times > retries).then(|| match what {
            OUTPUT_TOOL => format!("no valid result in {times} attempts; the last error: {reason}"),
            tool => format!("`{tool}` failed {times} times in a row; the last error: {reason}"),
        })
    }
}
