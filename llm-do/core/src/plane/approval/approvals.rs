//! The approvals of a session: the rules, the mode and the approver, applied to calls.

mod explain;

use std::borrow::Cow;
use std::sync::Arc;

use llm_do_providers::ServerSideTool;

use super::approver::NoApprover;
use super::edit::validate_options;
use super::queue::ApprovalQueue;
use super::review::{Review, ShowPreview, ValidateEdit};
use super::rule_set::RuleSet;
use super::rules::Rules;
use super::{
    AppliedRule, Approval, ApprovalMode, ApprovalOverview, ApprovalRequest, Approver, LastingApproval, LazyRequest,
    OpenReview, Policy, Reviewer, Rule, RunScope, SubmittedRequest,
};
use crate::base::error::Fault;
use crate::observe::event::{ApprovalScope, Caller, DecidedBy, Label, Labels, RuleSource};
use crate::observe::journal::Journal;
use crate::plane::origin::KnownIds;
use crate::plane::registry::{Registered, Registry};

/// Opens the context of a review, in the runtime that has the reviewer.
type OpenReviews<'a> = &'a dyn Fn(Option<&Arc<Reviewer>>) -> OpenReview;

/// The approvals of a session: the rules, the mode, and the queue of its approver.
#[derive(Debug)]
#[doc(hidden)]
pub struct Approvals {
    mode: ApprovalMode,
    rules: RuleSet,
    queue: Option<ApprovalQueue>,
    /// The worker of the runtime that reviews calls.
    reviewer: Option<Arc<Reviewer>>,
    /// Set if this run has its own approver.
    outer: Option<OuterApprover>,
}

/// The approver of an outer runtime, which decides about calls that the policy of that runtime asks about.
#[derive(Clone, Debug)]
struct OuterApprover {
    queue: Option<ApprovalQueue>,
}

impl Approvals {
    /// Creates the approvals of a session; the error lists the faults of the policy.
    pub(crate) fn new(
        mode: ApprovalMode,
        approver: Option<Arc<dyn Approver>>,
        policy: Policy,
        registry: &Registry,
    ) -> Result<Self, Vec<String>> {
        let reviewer = policy.first_reviewer().cloned().map(|worker| Arc::new(Reviewer::new(worker)));
        let rules = RuleSet::new(Rules::new(policy, registry)?);
        let absent = || reviewer.is_some().then(|| Arc::new(NoApprover) as Arc<dyn Approver>);
        let approver = approver.or_else(absent);
        let queue = approver.map(|approver| ApprovalQueue::new(approver, ApprovalScope::Session, reviewer.clone()));
        Ok(Self { mode, rules, queue, reviewer, outer: None })
    }

    /// Returns the approvals of a run with its own mode or approver; the rules are the same.
    ///
    /// The run's own approver has its own queue, and its approvals for the session hold for this run only.
    pub(crate) fn for_run(&self, mode: Option<ApprovalMode>, approver: Option<Arc<dyn Approver>>) -> Self {
        let queue = self.own_queue(approver).or_else(|| self.queue.clone());
        let (rules, reviewer) = (self.rules.clone(), self.reviewer.clone());
        Self { mode: mode.unwrap_or(self.mode), rules, queue, reviewer, outer: None }
    }

    /// Returns the approvals of a run that starts under a run with the approvals `outer`: the rules of both, of which
    /// the strictest holds, and the mode and approver of the outer run.
    ///
    /// The run's own mode can only be stricter. Its own approver has a separate queue, and decides about calls that no
    /// outer policy asks about.
    pub(crate) fn under(&self, outer: &Self, mode: Option<ApprovalMode>, approver: Option<Arc<dyn Approver>>) -> Self {
        let of_runtime = Some(self.mode).filter(|mode| *mode == ApprovalMode::RejectAll);
        let mode = [of_runtime, mode].into_iter().flatten().fold(outer.mode, ApprovalMode::stricter);
        let rules = self.rules.under(&outer.rules);
        let own = self.own_queue(approver);
        let decides = own.as_ref().map(|_| OuterApprover { queue: outer.queue.clone() });
        let outside = outer.outer.clone().or(decides);
        let reviewer = self.reviewer.clone();
        Self { mode, rules, queue: own.or_else(|| outer.queue.clone()), reviewer, outer: outside }
    }

    /// Returns the queue of a run's own approver.
    fn own_queue(&self, approver: Option<Arc<dyn Approver>>) -> Option<ApprovalQueue> {
        approver.map(|approver| ApprovalQueue::new(approver, ApprovalScope::Run, self.reviewer.clone()))
    }

    /// Returns the worker of the runtime that reviews calls, if it has one.
    pub(crate) fn reviewer(&self) -> Option<&Arc<Reviewer>> {
        self.reviewer.as_ref()
    }

    /// Returns the mode in which calls that need approval are decided.
    pub(crate) fn mode(&self) -> ApprovalMode {
        self.mode
    }

    /// Returns the source of the rule that pre-approves all calls of a tool; `None` if no rule does for all arguments.
    pub(crate) fn pre_approved(&self, tool: &Registered) -> Option<&RuleSource> {
        let found = self.rules.fixed(tool)?;
        matches!(found.rule, Rule::PreApproved).then_some(&found.source)
    }

    /// Returns the rule for all calls of a tool; `None` if it depends on the arguments.
    pub fn fixed_rule(&self, tool: &Registered) -> Option<&Rule> {
        self.rules.fixed(tool).map(|found| &found.rule)
    }

    /// Returns whether those who decide may look at what calls were made from: an approver, or the function of a policy.
    pub(crate) fn use_origins(&self) -> bool {
        (self.mode == ApprovalMode::Prompt && self.queue.is_some()) || self.rules.has_function() || self.has_flow()
    }

    /// Returns whether values are labelled.
    pub(crate) fn has_flow(&self) -> bool {
        self.rules.has_flow()
    }

    /// Returns the labels of what a tool returns, besides those of what it has read itself.
    pub(crate) fn source_labels(&self, tool: &Registered) -> Labels {
        self.rules.source_labels(tool)
    }

    /// Returns the labels of a value of which nothing is known: untrusted, and private if anything is.
    pub(crate) fn unknown_labels(&self) -> Labels {
        if !self.has_flow() {
            return Labels::default();
        }
        Labels { integrity: Label::Untrusted, is_private: self.rules.has_private() }
    }

    /// Returns the label of what clients send that may be models.
    pub(crate) fn client_label(&self) -> Label {
        self.rules.client_label()
    }

    /// Returns where the results of a tool have ids, if they have any.
    pub(crate) fn ids_of(&self, tool: &Registered) -> Option<KnownIds> {
        self.rules.ids_of(tool)
    }

    /// Returns the toolsets of a tool, to which ids belong.
    pub(crate) fn id_toolsets(&self, tool: &Registered) -> Vec<Arc<str>> {
        self.rules.id_toolsets(tool)
    }

    /// Returns whether the model of a worker sees all that its code returns.
    #[cfg(feature = "script")]
    pub(crate) fn shows_code_results(&self, worker: &str) -> bool {
        self.rules.shows_code_results(worker)
    }

    /// Returns the rule for a call; `request` is built only if a rule depends on the arguments.
    pub(crate) fn rule(
        &self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
    ) -> Result<Cow<'_, AppliedRule>, Fault> {
        self.rules.rule(tool, by, request)
    }

    /// Returns whether the policy blocks a server-side tool for all workers.
    pub(crate) fn blocks_server_side(&self, tool: &ServerSideTool) -> bool {
        self.rules.server_side(tool.name()).rule.is_blocked()
    }

    /// Returns the rule for a server-side tool that a worker names.
    pub(crate) fn server_side_rule(&self, request: &ApprovalRequest) -> AppliedRule {
        self.rules.server_side_call(request)
    }

    /// Submits the request for a server-side tool, as [`submit`](Self::submit) does for a call.
    pub(crate) fn submit_server_side(
        &self,
        request: ApprovalRequest,
        run: &RunScope,
        journal: Option<&Arc<dyn Journal>>,
        open: OpenReviews<'_>,
    ) -> SubmittedRequest {
        let queue = self.queue(|| self.rules.is_asked_outside(&request));
        // A reviewer judges calls, and not what a provider may do later.
        self.submit_to(queue, request, (run, None, journal), validate_options, |_| (open(None), None))
    }

    /// Applies the rules and the mode of this process to a call that was approved in an earlier process; stricter ones
    /// hold.
    pub(crate) fn recheck(
        &self,
        tool: &Registered,
        by: Caller,
        request: &mut LazyRequest<'_>,
        approved: Approval,
    ) -> Result<(RuleSource, Approval), Fault> {
        let found = self.rules.rule(tool, by, request)?;
        let approval = match &found.rule {
            Rule::Blocked { reason } => Approval::blocked(reason),
            Rule::Ask => self.rechecked_mode(approved),
            Rule::PreApproved => approved,
        };
        Ok((found.source.clone(), approval))
    }

    /// Applies the mode of this process to a call that needs approval, and was approved in an earlier process.
    pub(crate) fn rechecked_mode(&self, approved: Approval) -> Approval {
        match self.mode {
            ApprovalMode::RejectAll if approved.is_approved() => rejected(),
            _ => approved,
        }
    }

    /// Remembers an approval of an earlier process.
    pub(crate) fn remember(&self, approval: LastingApproval, run: &RunScope) {
        if let Some(queue) = &self.queue {
            queue.remember(approval, run);
        }
    }

    /// Returns the pending requests of a run, and the remembered approvals.
    pub(crate) fn overview(&self, run: &RunScope) -> ApprovalOverview {
        self.queue.as_ref().map(|queue| queue.overview(run)).unwrap_or_default()
    }

    /// Submits the request for a call that needs approval to the approver, unless the mode or memory decides it.
    ///
    /// `preview` is polled only if the approver is asked; `journal` stores the request first.
    pub(crate) fn submit(
        &self,
        tool: &Arc<Registered>,
        by: Caller,
        request: ApprovalRequest,
        run: &RunScope,
        journal: Option<&Arc<dyn Journal>>,
        (preview, open): (Option<ShowPreview>, OpenReviews<'_>),
    ) -> SubmittedRequest {
        let queue = self.queue(|| self.is_asked_outside(tool, by, &request));
        let validate = |request: &ApprovalRequest| self.rules.validate_edit(tool, by, request);
        let reviewed = |queue: &ApprovalQueue| (open(queue.reviewer()), queue.reviewer().cloned());
        self.submit_to(queue, request, (run, preview, journal), validate, reviewed)
    }

    /// Returns whether an approver can be asked what happened to a call that began before.
    pub(crate) fn asks_what_happened(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> bool {
        self.mode != ApprovalMode::RejectAll && self.queue(|| self.is_asked_outside(tool, by, request)).is_some()
    }

    /// Returns whether an outer policy asks about a call.
    fn is_asked_outside(&self, tool: &Registered, by: Caller, request: &ApprovalRequest) -> bool {
        let build = || Ok(request.clone());
        let asks = self.rules.outer_rule(tool, by, &mut LazyRequest::new(&build));
        // The rule was evaluated before: an error is a panic of the policy's function, which then panics again.
        asks.is_ok_and(|found| found.is_some_and(|found| found.rule == Rule::Ask))
    }

    /// Returns the queue of the approver that decides: the outer approver if an outer policy asks about the call.
    fn queue(&self, is_asked_outside: impl FnOnce() -> bool) -> Option<&ApprovalQueue> {
        match &self.outer {
            Some(outer) if is_asked_outside() => outer.queue.as_ref(),
            _ => self.queue.as_ref(),
        }
    }

    /// Submits a request to a queue, unless the mode decides it.
    fn submit_to(
        &self,
        queue: Option<&ApprovalQueue>,
        mut request: ApprovalRequest,
        (run, preview, journal): (&RunScope, Option<ShowPreview>, Option<&Arc<dyn Journal>>),
        validate_edit: impl FnOnce(&ApprovalRequest) -> ValidateEdit,
        open_review: impl FnOnce(&ApprovalQueue) -> (OpenReview, Option<Arc<Reviewer>>),
    ) -> SubmittedRequest {
        // Only a request in the queue has a position.
        request.position = 0;
        let approval = match (self.mode, queue) {
            // A mode does not know the outcome of a call that began before.
            (mode, Some(queue)) if mode == ApprovalMode::Prompt || is_asked_by_all(mode, &request) => {
                let (open, reviewer) = open_review(queue);
                let review = Review::new(validate_edit(&request), journal.cloned(), open, reviewer);
                return queue.enqueue(request, run, preview, review);
            }
            (ApprovalMode::Prompt, _) => {
                Approval::undecided("no approver is configured; set an approver, or approve all calls")
            }
            (ApprovalMode::ApproveAll, _) => Approval::approved(DecidedBy::Mode),
            (ApprovalMode::RejectAll, _) => rejected(),
        };
        SubmittedRequest::decided(request, approval)
    }
}

fn rejected() -> Approval {
    Approval::denied("the approval mode rejects every call that needs approval", DecidedBy::Mode)
}

/// Returns whether a mode that approves all calls leaves a call to the approver: it began before, and a person may know
/// its outcome.
fn is_asked_by_all(mode: ApprovalMode, request: &ApprovalRequest) -> bool {
    mode == ApprovalMode::ApproveAll && request.began.is_some()
}
