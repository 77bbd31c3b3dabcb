//! Reads recorded decisions, and proposes the policy that follows from them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::cover::{Region, Search};
use super::decision::{Decision, Times};
use super::gate::Evidence;
use super::hull::Hull;
use super::proposal::{PolicyProposal, ProposedRule};
use crate::app::replay::decided_calls;
use crate::observe::event::Caller;
use crate::observe::journal::Record;
use crate::plane::approval::{ApprovalMode, Approvals, Policy, Rule};
use crate::plane::registry::Registry;
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// The maximum number of reasons for which decisions are left out.
const REASONS: usize = 20;
/// The minimum number of approved calls about whose arguments without a shape the proposal has a note.
const NOTED: usize = 20;

/// Proposes a policy from recorded decisions of people: the rules that would have approved what they approved.
///
/// A rule approves calls of one tool by one caller whose arguments each have a shape that the approved ones have in common: an exact
/// value, a range of numbers, a path below a folder, or an address below an address. It never approves a call outside of what was
/// approved, nor one that was denied. Of the decisions, 10 of 16 make rules, and 6 of 16 decide which rules are proposed: each rule
/// needs enough approved calls among those 6, and no denied one. Decisions of reviewers, modes and rules do not count.
///
/// # Examples
///
/// ```no_run
/// use llm_do::Runtime;
/// use llm_do::approval::PolicyProposer;
/// use llm_do::journal::{FileJournal, Record};
///
/// # fn main() -> llm_do::Result<()> {
/// let mut proposer = PolicyProposer::new(Runtime::builder())?;
/// proposer.add(None, &FileJournal::read("run.jsonl")?.collect::<Result<Vec<Record>, _>>()?);
/// let proposal = proposer.propose();
/// println!("{}", proposal.policy);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a proposer proposes nothing until `propose` is called"]
pub struct PolicyProposer {
    registry: Registry,
    allows_destructive: bool,
    /// By tool, the arguments that only carry data.
    data: BTreeMap<String, BTreeSet<String>>,
    decisions: Vec<Decision>,
    times: Times,
    left_out: BTreeMap<String, u64>,
}

/// The decisions about calls of one tool by one caller.
type Groups<'d> = BTreeMap<(&'d str, &'d str), Vec<&'d Decision>>;

impl PolicyProposer {
    /// Creates a proposer for the linked and added tools of a builder.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`RuntimeBuilder::build`] about items.
    pub fn new(mut builder: RuntimeBuilder) -> Result<Self, BuildError> {
        builder.collect().map(Self::on)
    }

    /// Creates a proposer with items that were collected before.
    #[doc(hidden)]
    pub fn on(registry: Registry) -> Self {
        let (data, left_out) = (BTreeMap::new(), BTreeMap::new());
        Self { registry, allows_destructive: false, data, decisions: Vec::new(), times: Times::new(), left_out }
    }

    /// Also proposes rules for destructive tools; call it before [`add`](Self::add). Default: none.
    pub fn destructive(mut self) -> Self {
        self.allows_destructive = true;
        self
    }

    /// Sets that an argument of a tool only carries data, such as the text of a file: any text of at most the length of the longest
    /// approved one is approved. Default: none.
    pub fn data_argument(mut self, tool: impl Into<String>, argument: impl Into<String>) -> Self {
        self.data.entry(tool.into()).or_default().insert(argument.into());
        self
    }

    /// Adds the decisions in the records of one run; `run` is its id, for the evidence.
    pub fn add(&mut self, run: Option<&str>, records: &[Record]) {
        for call in decided_calls(records).iter().filter(|call| call.approval.is_some()) {
            match Decision::read(&self.registry, call, run, self.allows_destructive, &mut self.times) {
                Ok(decision) => self.decisions.push(decision),
                Err(reason) => self.leave_out(format!("{}: {reason}", call.name)),
            }
        }
    }

    /// Returns the policy that follows from the decisions; without rules if none does.
    #[must_use]
    pub fn propose(&self) -> PolicyProposal {
        let (found, tried) = self.search();
        let mut rules: Vec<_> =
            found.iter().filter_map(|(names, region)| self.rule(&region.hull, *names, tried)).collect();
        rules.sort_by_key(|rule| Reverse(rule.saves));
        let calls: Vec<_> = rules.iter().map(|rule| &rule.rule).collect();
        let count = |is_approved| self.decisions.iter().filter(|call| call.is_approved == is_approved).count();
        PolicyProposal {
            policy: json!({ "calls": calls }),
            approved: count(true),
            denied: count(false),
            held_back: self.decisions.iter().filter(|call| call.is_held_back).count(),
            saves: self.approved_by(&rules.iter().map(|rule| (&*rule.tool, &rule.rule)).collect::<Vec<_>>()).len(),
            notes: self.notes(&rules),
            rules,
            left_out: self.left_out.clone(),
        }
    }

    fn leave_out(&mut self, reason: String) {
        let is_kept = self.left_out.len() < REASONS || self.left_out.contains_key(&reason);
        *self.left_out.entry(if is_kept { reason } else { "other reasons".to_owned() }).or_default() += 1;
    }

    /// Returns the decisions by tool and caller.
    fn groups(&self) -> Groups<'_> {
        let mut groups = Groups::new();
        for decision in &self.decisions {
            groups.entry((&*decision.tool, decision.caller.as_str())).or_default().push(decision);
        }
        groups
    }

    /// Returns the hulls of the decisions that are not held back, and the number of those that were tried.
    fn search(&self) -> (Vec<((&str, &str), Region)>, u64) {
        let (mut found, mut tried) = (Vec::new(), 0);
        for (names, decisions) in self.groups() {
            let shown = decisions.into_iter().filter(|call| !call.is_held_back);
            let (approved, denied): (Vec<_>, Vec<_>) = shown.partition(|call| call.is_approved);
            let mut search = Search::new(denied, self.data_of(names.0));
            for approved in by_names(&approved) {
                found.extend(search.regions(&approved).into_iter().map(|region| (names, region)));
            }
            tried += search.tried;
        }
        (found, tried)
    }

    fn data_of(&self, tool: &str) -> &BTreeSet<String> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.data.get(tool).unwrap_or(&NONE)
    }

    /// Returns the rule for a hull, if the evidence suffices and the rules of a runtime read it in the same way.
    fn rule(&self, hull: &Hull, (tool, caller): (&str, &str), tried: u64) -> Option<ProposedRule> {
        let Evidence { shown, held_back, chance } = Evidence::of(hull, (tool, caller), &self.decisions, tried)?;
        let rule = hull.rule(tool, caller);
        let approved = self.approved_by(&[(tool, &rule)]);
        if approved.is_empty() || approved.iter().any(|call| !call.is_approved) {
            return None;
        }
        let runs = approved.iter().filter_map(|call| call.run.clone()).take(3).collect();
        Some(ProposedRule {
            rule,
            tool: tool.to_owned(),
            caller: caller.to_owned(),
            shapes: hull.words(),
            shown,
            held_back,
            chance,
            saves: approved.len(),
            runs,
        })
    }

    /// Returns the calls that a runtime with these rules would not ask about; each rule is for the tool beside it.
    fn approved_by(&self, rules: &[(&str, &Value)]) -> Vec<&Decision> {
        let tools: Map<_, _> = rules.iter().map(|(tool, _)| ((*tool).to_owned(), json!("ask"))).collect();
        let calls: Vec<_> = rules.iter().map(|(_, rule)| rule).collect();
        let policy = json!({ "tools": &tools, "calls": calls });
        let policy = serde_json::from_value::<Policy>(policy).ok();
        let approvals =
            policy.and_then(|policy| Approvals::new(ApprovalMode::default(), None, policy, &self.registry).ok());
        let Some(approvals) = approvals else { return Vec::new() };
        let calls = self.decisions.iter().filter(|call| tools.contains_key(&*call.tool));
        calls.filter(|call| self.passes(&approvals, call)).collect()
    }

    /// Returns whether a call would run without a question.
    fn passes(&self, approvals: &Approvals, call: &Decision) -> bool {
        let Some(item) = self.registry.get(&call.tool) else { return false };
        let request = Approvals::request_of(item, &call.caller, call.arguments.clone());
        let rule = request.and_then(|request| approvals.rule_for(item, Caller::Model, &request));
        rule.is_ok_and(|rule| rule == Rule::PreApproved)
    }

    /// Returns a note for each tool and caller without a rule, about the arguments without a shape.
    fn notes(&self, rules: &[ProposedRule]) -> Vec<String> {
        let has_rule =
            |(tool, caller): (&str, &str)| rules.iter().any(|rule| rule.tool == tool && rule.caller == caller);
        let groups = self.groups().into_iter().filter(|(names, _)| !has_rule(*names));
        groups.filter_map(|(names, decisions)| self.note(names, &decisions)).collect()
    }

    fn note(&self, (tool, caller): (&str, &str), decisions: &[&Decision]) -> Option<String> {
        let approved: Vec<_> = decisions.iter().copied().filter(|call| call.is_approved).collect();
        let first = approved.first().filter(|_| approved.len() >= NOTED)?;
        let has_none = |name: &&str| Hull::shape_of(&approved, name, self.data_of(tool)).is_none();
        let names: Vec<_> = first.names().into_iter().filter(has_none).map(|name| format!("`{name}`")).collect();
        if names.is_empty() {
            return None;
        }
        let (calls, names) = (approved.len(), names.join(", "));
        Some(format!("`{tool}` by `{caller}`: the values of {names} in {calls} approved calls have no shape in common"))
    }
}

/// Returns the calls by the names of their arguments.
fn by_names<'d>(approved: &[&'d Decision]) -> Vec<Vec<&'d Decision>> {
    let mut groups: BTreeMap<Vec<&str>, Vec<&'d Decision>> = BTreeMap::new();
    for decision in approved {
        groups.entry(decision.names()).or_default().push(decision);
    }
    groups.into_values().collect()
}
