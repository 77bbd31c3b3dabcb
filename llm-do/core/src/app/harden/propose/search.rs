//! The search for a script: requests, checks, runs, selects and measures scripts.

use std::time::Instant;

use llm_do_providers::Money;
use serde_json::{Value, json};

use super::super::RecordedCalls;
use super::candidate::Scope;
use super::evidence::{Done, Evidence, Part, Stage};
use super::replay::ChangedResults;
use super::report::{Attempt, Chosen, ProposalEnd, ProposalReport};
use super::request::{self, Feedback};
use super::score::Score;
use super::split::Split;
use super::tape::Tape;
use super::{Proposal, ProposeError, Proposer, Subject, WRITER, candidate, rust, switch_on};
use crate::base::error::{CallError, chain};
use crate::base::usage::{Exceeded, Limits, RunUsage};
use crate::plane::approval::ApprovalMode;
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{Runtime, RuntimeBuilder};

/// The search for a script.
pub(super) struct ScriptSearch<'a> {
    proposer: &'a Proposer,
    evidence: &'a Evidence<'a>,
    worker: &'a Registered,
    registry: &'a Registry,
    builder: &'a RuntimeBuilder,
    /// The runtime of the worker that writes scripts.
    writer: Runtime,
    attempts: Vec<Attempt>,
    used: RunUsage,
    best: Option<Best>,
}

/// The best script so far.
struct Best {
    attempt: usize,
    text: String,
    stage: Stage,
    shown: Score,
    selecting: Score,
    /// The number of shown and selecting cases or runs that it should answer and does not, and of changed results that misled it.
    missed: usize,
    /// The number of these changed results.
    misled: usize,
}

impl Best {
    /// Returns the rank for comparing scripts.
    fn rank(&self) -> (i64, i64) {
        let misled = i64::try_from(self.misled).unwrap_or(i64::MAX);
        (self.selecting.balance() - misled, self.shown.balance())
    }
}

impl<'a> ScriptSearch<'a> {
    pub(super) fn new(
        proposer: &'a Proposer,
        evidence: &'a Evidence<'a>,
        worker: &'a Registered,
        registry: &'a Registry,
        builder: &'a RuntimeBuilder,
    ) -> Result<Self, ProposeError> {
        Ok(Self {
            writer: builder.copy_without_items().build_on(registry.clone())?,
            proposer,
            evidence,
            worker,
            registry,
            builder,
            attempts: Vec::new(),
            used: RunUsage::default(),
            best: None,
        })
    }

    /// Requests scripts until one agrees, or no further request is allowed.
    pub(super) async fn run(&mut self, subject: &Subject<'_>) -> Result<ProposalEnd, ProposeError> {
        let first = self.evidence.request(subject);
        let mut asked = first.clone();
        for _ in 0..self.proposer.attempts {
            if self.proposer.budget.is_some_and(|budget| self.used.cost.known >= budget) {
                return Ok(ProposalEnd::Budget);
            }
            let (answer, used) = self.ask(asked).await;
            self.used += used;
            self.check_cancelled()?;
            let text = match answer {
                Ok(answer) => candidate::script_in(answer.as_str().unwrap_or_default()),
                Err(CallError::Limit { exceeded: Exceeded::Reached { what: "cost", .. }, .. }) => {
                    return Ok(ProposalEnd::Budget);
                }
                Err(error) => return Ok(ProposalEnd::ModelFailed(chain(&error))),
            };
            let feedback = self.judge(&text, used).await?;
            self.check_cancelled()?;
            if self.is_done() {
                return Ok(ProposalEnd::Agrees);
            }
            asked = request::next(&first, &text, &feedback);
        }
        Ok(ProposalEnd::Attempts)
    }

    async fn ask(&self, request: String) -> (Result<Value, CallError>, RunUsage) {
        let mut limits = Limits::new();
        if let Some(budget) = self.proposer.budget {
            let left = budget.picodollars().saturating_sub(self.used.cost.known.picodollars());
            limits = limits.cost(Money::from_picodollars(left));
        }
        let start = self.writer.start_named(WRITER, json!({ "input": request })).limits(limits);
        let handle = start.handle();
        let answer = start.await;
        (answer, handle.usage())
    }

    /// Checks a script and runs it on the shown and the selecting cases.
    async fn judge(&mut self, text: &str, used: RunUsage) -> Result<Feedback, ProposeError> {
        let name = &self.proposer.name;
        let interpreter = self.proposer.interpreter.as_deref();
        let of_worker = (self.worker, self.evidence.scope());
        let linked = match candidate::link(self.registry, of_worker, interpreter, name, text).await {
            Ok(linked) => linked,
            Err(faults) => {
                let attempt = Attempt { faults: faults.clone(), shown: None, selecting: None, usage: used };
                self.attempts.push(attempt);
                return Ok(Feedback::Faults(faults));
            }
        };
        let stage = self.stage(linked)?;
        let mut slow = 0;
        let Done { score: shown, not_agreeing, changed, .. } =
            self.evidence.run(&stage, self.proposer, Part::Shown, &mut slow).await;
        let of_others = self.evidence.run(&stage, self.proposer, Part::Selecting, &mut slow).await;
        let selecting = of_others.score;
        self.attempts.push(Attempt { faults: Vec::new(), shown: Some(shown), selecting: Some(selecting), usage: used });
        let (missed, misled) = (not_agreeing.len() + of_others.not_agreeing.len(), changed.misled);
        let attempt = self.attempts.len();
        let best = Best { attempt, text: text.to_owned(), stage, shown, selecting, missed, misled };
        if self.best.as_ref().is_none_or(|known| best.rank() > known.rank()) {
            self.best = Some(best);
        }
        Ok(Feedback::Ran { shown, not_agreeing, selecting })
    }

    /// Returns the runtime of a script, in which approvals are denied, and no model is asked. If recorded runs answer its calls, no tool
    /// runs, so all are approved.
    fn stage(&self, linked: Registry) -> Result<Stage, ProposeError> {
        let tape = (self.evidence.scope() == Scope::Calls).then(Tape::default);
        let builder = self.builder.copy_without_items().map_limits(|limits| limits.requests(0));
        let builder = match &tape {
            Some(tape) => builder.approval_mode(ApprovalMode::ApproveAll).journal(tape.clone()),
            None => builder.approval_mode(ApprovalMode::RejectAll),
        };
        Ok(Stage { runtime: builder.build_on(linked)?, tape })
    }

    /// Returns whether a script answers what it should.
    fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.missed == 0 && best.shown.agree > 0)
    }

    fn check_cancelled(&self) -> Result<(), ProposeError> {
        if self.builder.cancellation_token().is_cancelled() { Err(ProposeError::Cancelled) } else { Ok(()) }
    }

    /// Measures the best script, if it is good enough, on the held-back cases.
    pub(super) async fn finish(mut self, end: ProposalEnd, recorded: RecordedCalls) -> Result<Proposal, ProposeError> {
        let has_selecting = self.evidence.parts().selecting > 0;
        let is_good = |best: &Best| {
            let score = if has_selecting { best.selecting } else { best.shown };
            score.balance() > 0
        };
        let best = self.best.take().filter(is_good);
        let chosen = match &best {
            Some(best) => Some(self.measure(best).await?),
            None => None,
        };
        let is_accepted = chosen.as_ref().is_some_and(|chosen| chosen.judgment.is_accepted());
        let (script, refused) = match best.map(|best| best.text) {
            Some(text) if is_accepted => (Some(text), None),
            text => (None, text),
        };
        let rust = script.as_ref().map(|script| rust::function(self.worker, script));
        Ok(Proposal { script, rust, report: self.report(end, chosen, refused, recorded) })
    }

    async fn measure(&self, best: &Best) -> Result<Chosen, ProposeError> {
        let Proposer { name, agreement, gate, .. } = self.proposer;
        let began = Instant::now();
        let Done { score: held_back, changed, paths, .. } =
            self.evidence.run(&best.stage, self.proposer, Part::HeldBack, &mut 0).await;
        let runs = held_back.cases() + changed.tries;
        #[expect(clippy::cast_precision_loss, reason = "there are few cases")]
        let milliseconds = began.elapsed().as_secs_f64() * 1000.0 / runs.max(1) as f64;
        let contradicting = self.evidence.run_contradicting(&best.stage, name, agreement).await;
        self.check_cancelled()?;
        let mut judgment = gate.judge(&held_back.with_disagreements(&contradicting));
        judgment.faults.extend(changed_fault(&changed));
        let Best { attempt, shown, selecting, .. } = *best;
        Ok(Chosen { attempt, shown, selecting, held_back, contradicting, changed, paths, judgment, milliseconds })
    }

    fn report(
        self,
        end: ProposalEnd,
        chosen: Option<Chosen>,
        refused: Option<String>,
        recorded: RecordedCalls,
    ) -> ProposalReport {
        let parts = self.evidence.parts();
        let (worker, script) = (self.proposer.worker.clone(), self.proposer.name.clone());
        let accepted = chosen.as_ref().filter(|chosen| chosen.judgment.is_accepted());
        let (notes, next, contradicting, worker_failed) = match self.evidence {
            Evidence::Cases(Split { contradicting, worker_failed, identifier, .. }) => (
                switch_on::notes(parts, contradicting.len(), identifier.as_deref()),
                accepted.map(|chosen| switch_on::next(&worker, &script, &chosen.held_back)),
                contradicting.clone(),
                *worker_failed,
            ),
            Evidence::Runs(runs) => (
                switch_on::notes_of_runs(parts, runs.split()),
                accepted.map(|_| switch_on::next_of_runs(&worker, &script)),
                Vec::new(),
                runs.split().worker_failed,
            ),
        };
        ProposalReport {
            next: next.unwrap_or_default(),
            notes,
            worker,
            script,
            end,
            parts,
            contradicting,
            worker_failed,
            attempts: self.attempts,
            chosen,
            refused,
            recorded,
            usage: self.used,
        }
    }
}

/// Returns why a script is refused that changed results mislead.
fn changed_fault(changed: &ChangedResults) -> Option<String> {
    let ChangedResults { tries, misled, examples, .. } = changed;
    let example = examples.first()?;
    Some(format!("a changed result misled it in {misled} of {tries} tries, where it should have abstained: {example}"))
}
