//! Counts consecutive failures of equal calls, of invalid arguments and of the output, and denials of equal calls.

use std::collections::BTreeMap;

use llm_do_providers::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CallResult;
use crate::declare::toolset::OUTPUT_TOOL;
use crate::observe::journal::digest;

/// The maximum number of turns in which equal calls may be denied; a model that still repeats them ignores the answers.
const MAX_DENIALS: u32 = 3;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct CallFault {
    /// The error for operators.
    pub(crate) text: String,
    /// Whether the call did not reach a tool: its arguments are invalid, or its name is unknown.
    pub(crate) is_invalid: bool,
}

/// Why a call was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The approver, the approval mode or a rule.
    Denied,
    ByGuard,
    /// A message to the run interrupted the turn before the call.
    Interrupted,
}

/// Failures since the last success, by tool name; failures of the output have the name of its tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Failures(BTreeMap<String, ToolFailures>);

/// The number of turns in which equal calls were denied, by tool name and digest of the arguments; no success resets
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Denials(BTreeMap<String, BTreeMap<String, u32>>);

/// The failures of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct ToolFailures {
    /// Consecutive calls that did not reach the tool: with invalid arguments, or of an unknown name.
    #[serde(default)]
    invalid: u32,
    /// Calls that failed in the tool, by the digest of their arguments.
    #[serde(default)]
    equal: BTreeMap<String, u32>,
}

impl Failures {
    /// Counts the failures of one turn. Equal failures count once, since the model sees all of them together.
    ///
    /// Returns the reason to give up if a failure happened more than `retries` times.
    pub(super) fn count(&mut self, calls: &[ToolCall], outcomes: &[CallResult], retries: u32) -> Option<String> {
        let mut failed = BTreeMap::new();
        for (outcome, call) in outcomes.iter().zip(calls).filter(|(outcome, _)| outcome.refusal.is_none()) {
            if let Some(CallFault { text, is_invalid }) = &outcome.fault {
                let arguments = (!is_invalid).then(|| digest_of(&call.arguments));
                failed.insert((&*outcome.result.name, arguments), &**text);
            }
        }
        for CallResult { result, .. } in outcomes.iter().filter(|outcome| outcome.fault.is_none()) {
            failed.retain(|(tool, _), _| *tool != result.name);
            self.0.remove(&result.name);
        }
        let spent: Vec<_> = failed
            .into_iter()
            .filter_map(|((tool, arguments), reason)| match arguments {
                Some(arguments) => self.add_equal(tool, arguments, reason, retries),
                None => self.add(tool, reason, retries),
            })
            .collect();
        spent.into_iter().next()
    }

    /// Counts one invalid call, or one invalid output; returns the reason to give up if there were more than `retries` in a row.
    pub(super) fn add(&mut self, what: &str, reason: &str, retries: u32) -> Option<String> {
        let failures = self.0.entry(what.to_owned()).or_default();
        failures.invalid += 1;
        let times = failures.invalid;
        (times > retries).then(|| match what {
            OUTPUT_TOOL => format!("no valid result in {times} attempts; the last error: {reason}"),
            tool => format!("`{tool}` failed {times} times in a row; the last error: {reason}"),
        })
    }

    /// Forgets the invalid outputs, after a valid one.
    pub(super) fn forget_output(&mut self) {
        self.0.remove(OUTPUT_TOOL);
    }

    /// Counts one failure of a tool with these arguments; returns the reason to give up if there were more than `retries`.
    fn add_equal(&mut self, tool: &str, arguments: String, reason: &str, retries: u32) -> Option<String> {
        let failures = self.0.entry(tool.to_owned()).or_default();
        // The model has corrected the arguments.
        failures.invalid = 0;
        let times = failures.equal.entry(arguments).or_default();
        *times += 1;
        (*times > retries)
            .then(|| format!("`{tool}` failed {times} times with the same arguments; the last error: {reason}"))
    }
}

impl Denials {
    /// Counts the denials of one turn. Equal denials count once. Returns the reason to give up if there were too many.
    pub(super) fn count(&mut self, calls: &[ToolCall], outcomes: &[CallResult]) -> Option<String> {
        let mut denied = BTreeMap::new();
        for (CallResult { result, fault, refusal, .. }, call) in outcomes.iter().zip(calls) {
            if let (Some(Refusal::Denied), Some(fault)) = (refusal, fault) {
                denied.insert((&*result.name, digest_of(&call.arguments)), &*fault.text);
            }
        }
        let spent: Vec<_> =
            denied.into_iter().filter_map(|((tool, arguments), reason)| self.add(tool, arguments, reason)).collect();
        spent.into_iter().next()
    }

    fn add(&mut self, tool: &str, arguments: String, reason: &str) -> Option<String> {
        let times = self.0.entry(tool.to_owned()).or_default().entry(arguments).or_default();
        *times += 1;
        (*times > MAX_DENIALS)
            .then(|| format!("`{tool}` was denied {times} times with the same arguments; the last denial: {reason}"))
    }
}

/// Returns a digest of arguments, which is equal for equal JSON.
fn digest_of(arguments: &str) -> String {
    digest(&serde_json::from_str(arguments).unwrap_or_else(|_| Value::from(arguments)))
}
