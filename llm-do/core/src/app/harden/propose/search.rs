//! The search for a script: requests, checks, runs, selects and measures scripts.

use std::time::Instant;

use llm_do_providers::Money;
use serde_json::{Value, json};

use super::super::RecordedCalls;
use super::report::{Attempt, Chosen, Parts, ProposalEnd, ProposalReport};
use super::request::{self, Feedback};
use super::score::Score;
use super::split::Split;
use super::{Proposal, ProposeError, Proposer, Subject, WRITER, candidate, rust, switch_on};
use crate::base::error::{CallError, chain};
use crate::base::usage::{Exceeded, Limits, RunUsage};
use crate::plane::approval::ApprovalMode;
use crate::plane::registry::{Registered, Registry};
use crate::session::runtime::{Runtime, RuntimeBuilder};

/// The search for a script.
pub(super) struct ScriptSearch<'a> {
    proposer: &'a Proposer,
    split: &'a Split<'a>,
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
    runtime: Runtime,
    shown: Score,
    selecting: Score,
}

impl Best {
    /// Returns the rank for comparing scripts.
    fn rank(&self) -> (i64, i64) {
        (self.selecting.balance(), self.shown.balance())
    }
}

impl<'a> ScriptSearch<'a> {
    pub(super) fn new(
        proposer: &'a Proposer,
        split: &'a Split<'a>,
        worker: &'a Registered,
        registry: &'a Registry,
        builder: &'a RuntimeBuilder,
    ) -> Result<Self, ProposeError> {
        Ok(Self {
            writer: builder.copy_without_items().build_on(registry.clone())?,
            proposer,
            split,
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
        let first = request::first(subject, &self.split.shown);
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
        let linked = match candidate::link(self.registry, self.worker, interpreter, name, text).await {
            Ok(linked) => linked,
            Err(faults) => {
                let attempt = Attempt { faults: faults.clone(), shown: None, selecting: None, usage: used };
                self.attempts.push(attempt);
                return Ok(Feedback::Faults(faults));
            }
        };
        let runtime = self
            .builder
            .copy_without_items()
            .approval_mode(ApprovalMode::RejectAll)
            .map_limits(|limits| limits.requests(0))
            .build_on(linked)?;
        let agreement = &self.proposer.agreement;
        let mut slow = 0;
        let (shown, not_agreeing) = candidate::run(&runtime, name, &self.split.shown, agreement, &mut slow).await;
        let (selecting, _) = candidate::run(&runtime, name, &self.split.selecting, agreement, &mut slow).await;
        self.attempts.push(Attempt { faults: Vec::new(), shown: Some(shown), selecting: Some(selecting), usage: used });
        let best = Best { attempt: self.attempts.len(), text: text.to_owned(), runtime, shown, selecting };
        if self.best.as_ref().is_none_or(|known| best.rank() > known.rank()) {
            self.best = Some(best);
        }
        Ok(Feedback::Ran { shown, not_agreeing, selecting })
    }

    fn is_done(&self) -> bool {
        let agrees =
            |best: &Best| best.shown.all_agree() && (self.split.selecting.is_empty() || best.selecting.all_agree());
        self.best.as_ref().is_some_and(agrees)
    }

    fn check_cancelled(&self) -> Result<(), ProposeError> {
        if self.builder.cancellation_token().is_cancelled() { Err(ProposeError::Cancelled) } else { Ok(()) }
    }

    /// Measures the best script, if it is good enough, on the held-back cases.
    pub(super) async fn finish(mut self, end: ProposalEnd, recorded: RecordedCalls) -> Result<Proposal, ProposeError> {
        let is_good = |best: &Best| {
            let score = if self.split.selecting.is_empty() { best.shown } else { best.selecting };
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
        let (name, cases) = (&self.proposer.name, &self.split.held_back);
        let began = Instant::now();
        let (held_back, _) = candidate::run(&best.runtime, name, cases, &self.proposer.agreement, &mut 0).await;
        #[expect(clippy::cast_precision_loss, reason = "there are few cases")]
        let milliseconds = began.elapsed().as_secs_f64() * 1000.0 / cases.len().max(1) as f64;
        let cases = &self.split.contradicting_held_back;
        let (contradicting, _) = candidate::run(&best.runtime, name, cases, &self.proposer.agreement, &mut 0).await;
        self.check_cancelled()?;
        let judgment = self.proposer.gate.judge(&held_back.with_disagreements(&contradicting));
        let Best { attempt, shown, selecting, .. } = *best;
        Ok(Chosen { attempt, shown, selecting, held_back, contradicting, judgment, milliseconds })
    }

    fn report(
        self,
        end: ProposalEnd,
        chosen: Option<Chosen>,
        refused: Option<String>,
        recorded: RecordedCalls,
    ) -> ProposalReport {
        let Split { shown, selecting, held_back, contradicting, worker_failed, identifier, .. } = self.split;
        let parts = Parts { shown: shown.len(), selecting: selecting.len(), held_back: held_back.len() };
        let (worker, script) = (self.proposer.worker.clone(), self.proposer.name.clone());
        ProposalReport {
            next: chosen
                .as_ref()
                .filter(|chosen| chosen.judgment.is_accepted())
                .map(|chosen| switch_on::next(&worker, &script, &chosen.held_back))
                .unwrap_or_default(),
            notes: switch_on::notes(parts, contradicting.len(), identifier.as_deref()),
            worker,
            script,
            end,
            parts,
            contradicting: contradicting.clone(),
            worker_failed: *worker_failed,
            attempts: self.attempts,
            chosen,
            refused,
            recorded,
            usage: self.used,
        }
    }
}
