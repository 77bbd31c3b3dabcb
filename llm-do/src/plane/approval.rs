//! Which calls need approval, who decides about them, and what is remembered of it.

mod decision;
mod desk;
mod function;
mod inbox;
mod memory;
mod policy;
mod request;
mod rule;
mod rules;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::ready;
use llm_do_providers::ServerSideTool;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::decision::Decision;
use self::desk::{Check, Coming, Desk, Filed};
pub(crate) use self::function::ByFunction;
pub use self::inbox::{ApprovalInbox, InboxApprover, PendingApproval};
pub(crate) use self::memory::{LastingApproval, RunMemory, RunScope};
pub use self::policy::{Policy, ProposedCall, WorkerRule};
pub use self::request::ApprovalRequest;
pub use self::rule::Rule;
use self::rules::{Lazy, Make, Rules, SourcedRule};
use crate::base::error::Fault;
use crate::observe::event::{ApprovalScope, Caller, DecidedBy, RuleSource};
use crate::plane::registry::{Prepared, Registered, Registry};

/// Decides about calls that need approval.
///
/// A function will do as well: [`RuntimeBuilder::approve_with`](crate::runtime::RuntimeBuilder::approve_with). If one panics, the
/// call is denied as [undecided](Decision::Undecided).
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::approval::{ApprovalRequest, Approver, Decision};
/// use llm_do::async_trait;
///
/// /// Approves of what is done to the files of one folder, and asks nobody.
/// #[derive(Debug)]
/// struct Within(&'static str);
///
/// #[async_trait]
/// impl Approver for Within {
///     async fn review(&self, request: &ApprovalRequest) -> Decision {
///         match request.arguments["path"].as_str() {
///             Some(path) if path.starts_with(self.0) => Decision::approve(),
///             _ => Decision::deny(format!("only files of {} may change", self.0)),
///         }
///     }
/// }
///
/// /// Delete a file.
/// #[tool(effect = destructive)]
/// fn delete(path: String) {
///     let _ = path;
/// }
///
/// /// Cleans up.
/// #[entry(toolsets = [delete])]
/// async fn clean(ctx: &CallContext<clean>, path: String) -> Result<()> {
///     Ok(ctx.call(delete { path }).await?)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().approver(Within("old/")).build()?;
/// runtime.run(clean { path: "old/notes.txt".into() }).await?;
/// let error = runtime.run(clean { path: "new/notes.txt".into() }).await.unwrap_err();
/// assert!(llm_do::error::chain(&error).ends_with("denied: only files of old/ may change"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Decides whether one call may run.
    ///
    /// Equal calls that one call makes and that wait at the same time are one question; an approval holds for them alone,
    /// unless the decision has a wider [scope](ApprovalScope). The future is dropped once nobody waits for the answer.
    async fn review(&self, request: &ApprovalRequest) -> Decision;

    /// Returns how many questions it takes at once; asked when the runtime is built. Default: 1, others queue.
    fn at_once(&self) -> usize {
        1
    }
}

/// How calls that need approval are decided.
///
/// A mode decides for its own process. A run that is resumed from a [journal](crate::runtime::RuntimeBuilder::journal) in another mode
/// follows that one, but for what the approver decided before: that is recorded and lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// The approver is asked; without one, the call is denied.
    #[default]
    Prompt,
    /// Each is approved; what is [blocked](Rule::Blocked) stays so.
    ApproveAll,
    /// Each is denied; what is [pre-approved](Rule::PreApproved) stays so.
    RejectAll,
}

/// The approvals of a session: its rules, how calls are decided for which they ask, and what is remembered.
#[derive(Debug)]
pub(crate) struct Approvals {
    mode: ApprovalMode,
    rules: Arc<Rules>,
    desk: Option<Desk>,
}

/// What was decided about a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) by: DecidedBy,
    /// Which equal calls will run without a question. A record without it widens nothing.
    #[serde(default)]
    pub(crate) scope: ApprovalScope,
}

/// Whether a call may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// With these arguments, or else with its own.
    Approved(Option<Value>),
    /// Not, for this reason.
    Denied(String),
    /// Never, for this reason.
    Blocked(String),
}

/// Returns the arguments that an approver put in the place of those asked about, of a recorded decision that did.
pub(crate) fn edited(recorded: &Value) -> Option<Value> {
    match Answer::deserialize(recorded).ok()?.verdict {
        Verdict::Approved(edited) => edited,
        Verdict::Denied(_) | Verdict::Blocked(_) => None,
    }
}

/// A call whose rule is known.
pub(crate) struct Proposal {
    pub(crate) source: RuleSource,
    pub(crate) state: State,
}

/// Whether a call is decided.
pub(crate) enum State {
    /// By its rule.
    Ruled(Answer),
    /// It needs approval: [`Approvals::question`] asks.
    Asked(Box<ApprovalRequest>),
}

/// A call that needs approval, and the answer on its way.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) request: Arc<ApprovalRequest>,
    answer: Waiting,
}

#[derive(Clone)]
enum Waiting {
    /// Nobody has to be asked.
    Known(Answer),
    Coming(Coming),
}

impl Approvals {
    /// Begins a session, or says which names of the policy stand for nothing.
    pub(crate) fn new(
        mode: ApprovalMode,
        approver: Option<Arc<dyn Approver>>,
        policy: Policy,
        registry: &Registry,
    ) -> Result<Self, Vec<String>> {
        let rules = Arc::new(Rules::new(policy, registry)?);
        Ok(Self { mode, rules, desk: approver.map(|approver| Desk::new(approver, ApprovalScope::Session)) })
    }

    /// Returns the approvals of a run that has a mode or an approver of its own: the rules are the same.
    ///
    /// An approver of its own has its own queue, and what it approves for the session is an approval for this run.
    pub(crate) fn for_run(&self, mode: Option<ApprovalMode>, approver: Option<Arc<dyn Approver>>) -> Self {
        let desk = approver.map(|approver| Desk::new(approver, ApprovalScope::Run)).or_else(|| self.desk.clone());
        Self { mode: mode.unwrap_or(self.mode), rules: Arc::clone(&self.rules), desk }
    }

    /// Returns whose rule pre-approves every call of a tool, whatever its arguments, if one does.
    pub(crate) fn pre_approved(&self, tool: &Registered) -> Option<&RuleSource> {
        let found = self.rules.fixed(tool)?;
        matches!(found.rule, Rule::PreApproved).then_some(&found.source)
    }

    /// Returns the rule for all calls of a tool; none if it depends on their arguments.
    #[cfg(feature = "cli")]
    pub(crate) fn fixed_rule(&self, tool: &Registered) -> Option<&Rule> {
        self.rules.fixed(tool).map(|found| &found.rule)
    }

    /// Finds the rule for a call.
    ///
    /// `request` is called only if a rule depends on the arguments, or if approval is needed; its error is returned.
    pub(crate) fn propose(&self, tool: &Arc<Registered>, by: Caller, request: Make<'_>) -> Result<Proposal, Fault> {
        let mut request = Lazy::new(request);
        let found = self.rules.rule(tool, by, &mut request)?;
        let state = match ruled(&found.rule) {
            Some(answer) => State::Ruled(answer),
            None => State::Asked(Box::new(request.into_request()?)),
        };
        Ok(Proposal { source: found.source.clone(), state })
    }

    /// Returns whether the policy blocks a server-side tool, whoever wants to use it.
    pub(crate) fn blocks_server_side(&self, tool: &ServerSideTool) -> bool {
        self.rules.server_side(tool.name()).rule.is_blocked()
    }

    /// Finds the rule for a server-side tool that a worker names.
    pub(crate) fn propose_server_side(&self, request: ApprovalRequest) -> Proposal {
        let SourcedRule { rule, source } = self.rules.server_side_call(&request);
        let state = ruled(&rule).map_or_else(|| State::Asked(Box::new(request)), State::Ruled);
        Proposal { source, state }
    }

    /// Puts the question about a server-side tool, as [`question`](Self::question) does about a call.
    pub(crate) fn question_server_side(&self, request: ApprovalRequest, run: &RunScope) -> Question {
        let check = |request: &ApprovalRequest| -> Check {
            let arguments = request.arguments.clone();
            let fixed = "the options of a server-side tool cannot be edited: approve or deny it";
            Box::new(move |edited| {
                let checked = if edited == arguments { Ok(edited) } else { Err(fixed.to_owned()) };
                ready(checked).boxed()
            })
        };
        self.put(request, run, check)
    }

    /// Finds the rule for a call about which nobody can be asked, whatever the mode, and nothing is remembered.
    pub(crate) fn propose_unasked(
        &self,
        tool: &Arc<Registered>,
        by: Caller,
        request: Make<'_>,
    ) -> Result<Proposal, Fault> {
        let found = self.rules.rule(tool, by, &mut Lazy::new(request))?;
        let unasked =
            || Answer::denied("a shadow asks nobody: it may call only what is pre-approved", DecidedBy::Policy);
        let state = State::Ruled(ruled(&found.rule).unwrap_or_else(unasked));
        Ok(Proposal { source: found.source.clone(), state })
    }

    /// Holds a call that was approved in an earlier process to the rules of this one: what they block stays blocked.
    pub(crate) fn recheck(
        &self,
        tool: &Arc<Registered>,
        by: Caller,
        request: Make<'_>,
        approved: Answer,
    ) -> Result<(RuleSource, Answer), Fault> {
        let found = self.rules.rule(tool, by, &mut Lazy::new(request))?;
        let answer = match &found.rule {
            Rule::Blocked { reason } => Answer::blocked(reason),
            Rule::PreApproved | Rule::Ask => approved,
        };
        Ok((found.source.clone(), answer))
    }

    /// Remembers what was approved in a process before this one.
    pub(crate) fn remember(&self, approval: LastingApproval, run: &RunScope) {
        if let Some(desk) = &self.desk {
            desk.remember(approval, run);
        }
    }

    /// Puts the question about a call that needs approval, unless the mode or an earlier answer decides it.
    pub(crate) fn question(
        &self,
        tool: &Arc<Registered>,
        by: Caller,
        request: ApprovalRequest,
        run: &RunScope,
    ) -> Question {
        self.put(request, run, |request| self.check(tool, by, request))
    }

    fn put(
        &self,
        mut request: ApprovalRequest,
        run: &RunScope,
        check: impl FnOnce(&ApprovalRequest) -> Check,
    ) -> Question {
        // Of the row only where the desk puts it there.
        request.position = 0;
        let known = |request, answer| Question { request: Arc::new(request), answer: Waiting::Known(answer) };
        match (self.mode, &self.desk) {
            (ApprovalMode::ApproveAll, _) => known(request, Answer::approved(DecidedBy::Mode)),
            (ApprovalMode::RejectAll, _) => {
                known(request, Answer::denied("every call that needs approval is rejected", DecidedBy::Mode))
            }
            (ApprovalMode::Prompt, None) => {
                let reason = "nobody can be asked: give the runtime an approver, or approve all calls";
                known(request, Answer::denied(reason, DecidedBy::Policy))
            }
            (ApprovalMode::Prompt, Some(desk)) => {
                let check = check(&request);
                match desk.file(request, run, check) {
                    Filed::Remembered(request) => known(*request, Answer::approved(DecidedBy::Memory)),
                    Filed::Asked(request, coming) => Question { request, answer: Waiting::Coming(coming) },
                }
            }
        }
    }

    /// Returns what holds the approver's own arguments to the schema, and to what is blocked.
    fn check(&self, tool: &Arc<Registered>, by: Caller, request: &ApprovalRequest) -> Check {
        let (rules, tool, request) = (Arc::clone(&self.rules), Arc::clone(tool), request.clone());
        Box::new(move |edited| {
            let (rules, tool, request) = (Arc::clone(&rules), Arc::clone(&tool), request.clone());
            let checked = async move {
                let decoded = Prepared::decode_apart(&tool, edited, true).await?;
                rules.permitted_edit(&tool, by, &request, &decoded)
            };
            // Whoever gave them reads what is wrong with them.
            checked.map(|checked| checked.map_err(|fault| fault.told().to_owned())).boxed()
        })
    }
}

impl Rules {
    /// Returns the approver's own arguments as they are to run, unless they are blocked.
    fn permitted_edit(
        &self,
        tool: &Registered,
        by: Caller,
        request: &ApprovalRequest,
        edited: &Prepared,
    ) -> Result<Value, Fault> {
        let show = || {
            let mut request = request.clone();
            request.show(edited.shown()?);
            Ok(request)
        };
        let shown = show()?;
        // What a type writes otherwise than it was given would run as it is written, and not as the approver gave it.
        let arguments = shown.given.unwrap_or(shown.arguments);
        match &self.rule(tool, by, &mut Lazy::new(&show))?.rule {
            Rule::Blocked { reason } => Err(Fault::new(format!("blocked: {reason}"))),
            Rule::PreApproved | Rule::Ask => Ok(arguments),
        }
    }
}

/// Returns the answer of a rule; none if it asks.
fn ruled(rule: &Rule) -> Option<Answer> {
    match rule {
        Rule::PreApproved => Some(Answer::approved(DecidedBy::Policy)),
        Rule::Blocked { reason } => Some(Answer::blocked(reason)),
        Rule::Ask => None,
    }
}

impl Question {
    /// Waits for the answer. Dropping the future leaves the question to others who wait for it.
    pub(crate) async fn answer(self) -> Answer {
        match self.answer {
            Waiting::Known(answer) => answer,
            Waiting::Coming(coming) => coming.await,
        }
    }
}

impl Answer {
    pub(crate) fn approved(by: DecidedBy) -> Self {
        Self { verdict: Verdict::Approved(None), by, scope: ApprovalScope::Call }
    }

    pub(crate) fn denied(reason: impl Into<String>, by: DecidedBy) -> Self {
        Self { verdict: Verdict::Denied(reason.into()), by, scope: ApprovalScope::Call }
    }

    pub(crate) fn is_approved(&self) -> bool {
        matches!(self.verdict, Verdict::Approved(_))
    }

    /// Returns the arguments that the approver put in the place of the call's.
    pub(crate) fn edited_arguments(&self) -> Option<&Value> {
        match &self.verdict {
            Verdict::Approved(edited) => edited.as_ref(),
            Verdict::Denied(_) | Verdict::Blocked(_) => None,
        }
    }

    /// Approves explicitly of the arguments that were asked about.
    pub(crate) fn runs_with(&mut self, request: &ApprovalRequest) {
        if let Verdict::Approved(edited @ None) = &mut self.verdict {
            *edited = Some(request.given.as_ref().unwrap_or(&request.arguments).clone());
        }
    }

    /// Returns whether it holds in a process that finds it recorded: a person's answer, and every denial.
    ///
    /// A mode or rule that approved may not be in force any more.
    pub(crate) fn lasts(&self) -> bool {
        self.by == DecidedBy::Approver || !self.is_approved()
    }

    pub(crate) fn blocked(reason: &str) -> Self {
        Self { verdict: Verdict::Blocked(reason.to_owned()), by: DecidedBy::Policy, scope: ApprovalScope::Call }
    }

    fn approved_for(scope: ApprovalScope) -> Self {
        Self { scope, ..Self::approved(DecidedBy::Approver) }
    }

    fn edited(arguments: Option<Value>) -> Self {
        Self { verdict: Verdict::Approved(arguments), ..Self::approved(DecidedBy::Approver) }
    }
}
