//! Recorded calls, decided again by other rules. Nothing runs, and no model is asked.

mod report;

use std::collections::HashSet;
use std::sync::Arc;

use llm_do_providers::PriceTable;
use serde::Serialize;

pub use self::report::{PolicyChange, PolicyExample, PolicyReport};
use super::{DecidedCall, decided_calls};
use crate::base::error::Fault;
use crate::observe::event::{Caller, DecidedBy, ItemKind};
use crate::observe::journal::{Record, digest};
use crate::plane::approval::{Approvals, Rule};
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// Decides about recorded calls by the rules of a runtime, and reports which of them would have been asked about, blocked or passed.
///
/// Runs are added one by one, and only counts and a few examples of each difference are kept, so it needs little memory. What is not
/// recorded is not known to the rules: where values came from, so `flow` holds no call, and what the
/// function of a policy reads besides the call. Server-side tools are not decided about.
///
/// # Examples
///
/// ```no_run
/// use llm_do::Runtime;
/// use llm_do::approval::Policy;
/// use llm_do::harden::PolicyReplay;
/// use llm_do::journal::{FileJournal, Record};
///
/// # fn main() -> llm_do::Result<()> {
/// let policy: Policy = serde_json::from_str(&std::fs::read_to_string("policy.json")?)?;
/// let mut replay = PolicyReplay::new(Runtime::builder().policy(policy))?;
/// let records = FileJournal::read("run.jsonl")?.collect::<Result<Vec<Record>, _>>()?;
/// replay.add(None, &records);
/// println!("{}", replay.report());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PolicyReplay {
    registry: Registry,
    approvals: Approvals,
    prices: PriceTable,
    report: PolicyReport,
}

/// What was decided about a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordedDecision {
    /// It ran without a question, by a rule, a mode, or an approval for the session.
    Passed,
    /// A person, a reviewer or an earlier approval of the run approved it.
    Approved,
    /// A person, a reviewer or a mode denied it, or did not decide.
    Denied,
    /// A rule blocked it.
    Blocked,
}

/// What the rules decide about a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NowDecided {
    /// It runs without a question.
    Passes,
    /// It needs approval.
    Asks,
    /// It is refused.
    Blocks,
}

impl PolicyReplay {
    /// Creates a replay by the rules of a builder, for the linked and added tools.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RuntimeBuilder::build`] about items and the policy.
    pub fn new(mut builder: RuntimeBuilder) -> Result<Self, BuildError> {
        let registry = builder.collect()?;
        Self::on(builder, registry)
    }

    /// Creates a replay with items that were collected before.
    #[doc(hidden)]
    pub fn on(builder: RuntimeBuilder, registry: Registry) -> Result<Self, BuildError> {
        let prices = builder.price_table().clone();
        let approvals = builder.approvals(&registry)?;
        Ok(Self { registry, approvals, prices, report: PolicyReport::default() })
    }

    /// Adds the records of one run; `run` is its id, for the examples.
    pub fn add(&mut self, run: Option<&str>, records: &[Record]) {
        let calls = decided_calls(records);
        let remembered = remembered(&calls);
        let mut is_changed = false;
        for call in &calls {
            let is_remembered = !remembered.is_empty() && remembered.contains(&identity(call));
            is_changed |= self.decide(run, call, recorded(call, is_remembered));
        }
        self.report.end_run(super::cost(records, &self.prices), is_changed);
    }

    /// Returns what was found so far.
    #[must_use]
    pub fn report(&self) -> &PolicyReport {
        &self.report
    }

    /// Decides about one call; returns whether the decision differs.
    fn decide(&mut self, run: Option<&str>, call: &DecidedCall<'_>, recorded: RecordedDecision) -> bool {
        let (registry, approvals, report) = (&self.registry, &self.approvals, &mut self.report);
        let by = caller(registry, call);
        let rule = match registry.get(call.name) {
            Some(tool) => rule(approvals, tool, call, by).map_err(|fault| format!("invalid arguments: {fault}")),
            None => Err("unknown tool".to_owned()),
        };
        match rule {
            Ok(now) if recorded.is_as(now) => report.count(recorded, now),
            Ok(now) => {
                report.count(recorded, now);
                let example = || example(approvals, registry, run, call, by);
                report.change(call.name, recorded, now, example);
                return true;
            }
            Err(why) => report.leave_out(call.name, &why),
        }
        false
    }
}

impl RecordedDecision {
    fn is_as(self, now: NowDecided) -> bool {
        let as_now = match self {
            Self::Passed => NowDecided::Passes,
            Self::Approved | Self::Denied => NowDecided::Asks,
            Self::Blocked => NowDecided::Blocks,
        };
        as_now == now
    }
}

/// Returns the rule for a call; the arguments are decoded only if the rule depends on them.
fn rule(approvals: &Approvals, tool: &Registered, call: &DecidedCall<'_>, by: Caller) -> Result<NowDecided, Fault> {
    let rule = match approvals.fixed_rule(tool) {
        Some(rule) => rule.clone(),
        None => {
            let request = Approvals::request_of(tool, &call.caller, call.input.clone())?;
            approvals.rule_for(tool, by, &request)?
        }
    };
    Ok(match rule {
        Rule::PreApproved => NowDecided::Passes,
        Rule::Ask => NowDecided::Asks,
        Rule::Blocked { .. } => NowDecided::Blocks,
    })
}

/// Returns who made a call: a model, if it is in a call of a worker.
fn caller(registry: &Registry, call: &DecidedCall<'_>) -> Caller {
    if call.is_root {
        return Caller::User;
    }
    let is_worker = registry.get(&call.caller).is_some_and(|item| item.kind() == ItemKind::Worker);
    if is_worker { Caller::Model } else { Caller::Code }
}

/// Returns what was decided about a call.
fn recorded(call: &DecidedCall<'_>, is_remembered: bool) -> RecordedDecision {
    match &call.approval {
        None if is_remembered => RecordedDecision::Approved,
        None => RecordedDecision::Passed,
        Some(approval) if approval.block_reason().is_some() => RecordedDecision::Blocked,
        // An answer that a call has happened is about one that was approved before.
        Some(approval) if approval.is_approved() || approval.result().is_some() => match approval.by {
            DecidedBy::Policy | DecidedBy::Mode => RecordedDecision::Passed,
            _ => RecordedDecision::Approved,
        },
        Some(_) => RecordedDecision::Denied,
    }
}

/// Returns the identities of the calls whose approval holds for later equal calls of the run.
fn remembered(calls: &[DecidedCall<'_>]) -> HashSet<(Arc<str>, String)> {
    calls.iter().filter(|call| call.is_remembered()).map(identity).collect()
}

/// Returns what equal calls have in common.
fn identity(call: &DecidedCall<'_>) -> (Arc<str>, String) {
    (Arc::clone(call.name), digest(call.input))
}

/// Describes a call in one line, with its run, its caller and the rule that decides.
fn example(
    approvals: &Approvals,
    registry: &Registry,
    run: Option<&str>,
    call: &DecidedCall<'_>,
    by: Caller,
) -> PolicyExample {
    let request = || {
        let tool = registry.get(call.name)?;
        let request = Approvals::request_of(tool, &call.caller, call.input.clone()).ok()?;
        let (rule, _) = approvals.explain_request(tool, by, &request).ok()?;
        Some((request.summary(), rule.to_string()))
    };
    // The arguments as they were given may have values that their types hide.
    let (summary, rule) = request().unwrap_or_else(|| (call.name.to_string(), String::new()));
    PolicyExample { run: run.map(str::to_owned), caller: call.caller.clone(), call: summary, rule }
}
