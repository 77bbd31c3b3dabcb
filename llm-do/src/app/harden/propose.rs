//! Has a model write a script for a worker, and measures it on cases that nothing has seen.

mod candidate;
mod report;
mod request;
mod rust;
mod score;
mod split;
mod switch_on;

use std::sync::Arc;
use std::time::Instant;

use llm_do_providers::Money;
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

pub use self::report::{Attempt, Chosen, Parts, ProposalEnd, ProposalReport};
use self::request::Feedback;
pub use self::score::Score;
pub use self::split::Contradiction;
use self::split::Split;
use super::Cases;
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::base::usage::{Exceeded, Limits, RunUsage};
use crate::declare::tool::Effect;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::ItemKind;
use crate::plane::approval::ApprovalMode;
use crate::plane::function_tool::FunctionTool;
use crate::plane::registry::{Registered, Registry};
use crate::plane::script::{ScriptCallee, identifier, stubs};
use crate::session::runtime::{BuildError, Runtime, RuntimeBuilder};

/// The worker that writes scripts.
const WRITER: &str = "harden_propose";
/// How many scripts the model writes at most, by default.
const ATTEMPTS: u32 = 5;

/// Has a model write a script that replaces a worker, from the worker's recorded cases.
///
/// The cases are split by the digests of their inputs: of ten, the model sees four, three choose among the scripts that it writes, and
/// three are held back. Each script is checked like every script, and runs on the cases without a journal: approvals are denied, it calls
/// only tools of the worker that are `effect = read_only`, and it asks no model. Faults, and shown cases in which it does not agree, go back
/// to the model. The script with the most agreements minus disagreements on the selecting cases is chosen, and then measured on those
/// that were held back.
///
/// The requests to the model are those of a worker `harden_propose`, so guards of the builder see them and may redact recorded data.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::harden::{Cases, Proposer};
/// use llm_do::prelude::*;
/// use llm_do::journal::MemoryJournal;
/// # use llm_do::json;
/// # use llm_do::testing::{ScriptedModel, TestModel};
///
/// /// Return the age of the person in a note.
/// #[worker]
/// async fn age(note: String) -> u32;
///
/// /// Adds up the ages in notes.
/// #[entry(toolsets = [age])]
/// async fn ages(ctx: &CallContext<ages>, notes: Vec<String>) -> Result<u32> {
///     let mut sum = 0;
///     for note in notes {
///         sum += ctx.call(age { note }).await?;
///     }
///     Ok(sum)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let journal = MemoryJournal::new();
/// # let model = TestModel::new().output(json!({ "result": 30 }));
/// # let runtime = Runtime::builder().force_model(model).journal(journal.clone());
/// # let builder = Runtime::builder().force_model(ScriptedModel::new().text(
/// #     "def age_script(note: str) -> int:\n    \"\"\"Return the age.\"\"\"\n    return int(note.split()[-1])\n",
/// # ));
/// # let runtime = runtime.build()?;
/// let notes = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus"].map(|name| format!("{name} is 30"));
/// runtime.run(ages { notes: notes.to_vec() }).await?;
/// let mut cases = Cases::of("age");
/// cases.add(journal.records());
///
/// let proposal = Proposer::new("age").attempts(1).propose(builder, &cases).await?;
/// assert!(proposal.script.unwrap().contains("def age_script(note: str) -> int:"));
/// println!("{}", proposal.report);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Proposer {
    worker: String,
    name: String,
    model: Option<String>,
    budget: Option<Money>,
    attempts: u32,
    agreement: Agreement,
}

/// A script for a worker, if one was good enough, and the evidence.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// The text of the script; `None` if none was good enough.
    pub script: Option<String>,
    /// A Rust function to start from, with the worker's signature: it has the script as a comment, and calls the worker.
    pub rust: Option<String>,
    /// What became of the proposal.
    pub report: ProposalReport,
}

/// Why nothing could be proposed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The worker is not in the registry.
    #[error("unknown worker `{worker}`{hint}")]
    UnknownWorker {
        /// The name.
        worker: String,
        /// A suggestion, which begins with `; `, or nothing.
        hint: String,
    },
    /// The name is that of a tool or an entry.
    #[error("`{name}` is not a worker: only a worker is replaced by a script")]
    NotAWorker {
        /// The name.
        name: String,
    },
    /// There are no cases that the model can see.
    #[error("too few cases of `{worker}`: of {cases} usable ones, none can be shown to a model; record more runs")]
    TooFewCases {
        /// The worker's name.
        worker: String,
        /// The number of cases with results that agree.
        cases: usize,
    },
    /// Two tools of the worker would have one name in a script.
    #[error("the tools of the worker cannot be functions of a script: {}", .0.join("; "))]
    Tools(Vec<String>),
    /// The session cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The builder's token was cancelled.
    #[error("the proposal was cancelled")]
    Cancelled,
}

impl Proposer {
    /// Begins a proposal for the worker with this registered name.
    pub fn new(worker: impl Into<String>) -> Self {
        let worker = worker.into();
        let name = format!("{}_script", identifier(&worker));
        Self { worker, name, model: None, budget: None, attempts: ATTEMPTS, agreement: Agreement::new() }
    }

    /// Sets the name of the script's function. Default: that of the worker, with `_script`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the model, `provider:model`, that writes scripts. Default: that of the builder.
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Asks for no further script once the requests have cost this. Default: unlimited.
    ///
    /// The last request may exceed it. A model of unknown price is refused.
    pub fn budget(self, budget: Money) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Sets how many scripts the model writes at most. Default: 5.
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Sets how results are compared. Default: all fields.
    pub fn agreement(self, agreement: Agreement) -> Self {
        Self { agreement, ..self }
    }

    /// Has the model write scripts, and returns the best one with its evidence.
    ///
    /// The builder has the worker and its tools; its journal and its shadows are not used. A failure of a request to the model ends the
    /// proposal with the best script so far.
    ///
    /// # Errors
    ///
    /// Returns a [`ProposeError`] if no script could be asked for, or on cancellation.
    pub async fn propose(&self, builder: RuntimeBuilder, cases: &Cases) -> Result<Proposal, ProposeError> {
        let mut builder = self.prepared(builder);
        let registry = builder.collect()?;
        self.propose_on(builder, registry, cases).await
    }

    /// Returns the name of the script's function.
    #[cfg(feature = "cli")]
    pub(crate) fn script_name(&self) -> &str {
        &self.name
    }

    /// Adds the worker that writes scripts, and the place of the script.
    pub(crate) fn prepared(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let spec = WorkerSpec::new(WRITER, request::INSTRUCTIONS).description("Writes a script in place of a worker.");
        let spec = match &self.model {
            Some(model) => spec.model(model),
            None => spec,
        };
        let nothing: [&str; 0] = [];
        let replaced = |_, _| async { Err::<Value, _>("no script was proposed yet".into()) };
        let schema = json!({ "type": "object" });
        let place = FunctionTool::new(&self.name, "The proposed script.", schema, Effect::ReadOnly, replaced);
        builder.worker(spec).tool(place.toolsets(nothing))
    }

    /// Proposes a script with a registry that was collected from a [prepared](Self::prepared) builder.
    pub(crate) async fn propose_on(
        &self,
        builder: RuntimeBuilder,
        registry: Registry,
        cases: &Cases,
    ) -> Result<Proposal, ProposeError> {
        let worker = Arc::clone(self.worker_in(&registry)?);
        let split = Split::of(cases, &self.agreement);
        if split.shown.is_empty() {
            let usable = split.selecting.len() + split.held_back.len();
            return Err(ProposeError::TooFewCases { worker: self.worker.clone(), cases: usable });
        }
        let subject = Subject::of(&self.name, &worker, &registry)?;
        let builder = builder.without_journal_and_shadows();
        let writer = builder.copy_without_items().build_on(registry.clone())?;
        let mut search = Search {
            proposer: self,
            split: &split,
            worker: &worker,
            registry: &registry,
            builder: &builder,
            writer,
            attempts: Vec::new(),
            used: RunUsage::default(),
            best: None,
        };
        let end = search.run(&subject).await?;
        search.finish(end).await
    }

    fn worker_in<'a>(&self, registry: &'a Registry) -> Result<&'a Arc<Registered>, ProposeError> {
        let worker = registry.get(&self.worker).ok_or_else(|| {
            let workers = registry.iter().filter(|item| item.kind() == ItemKind::Worker && item.name() != WRITER);
            let hint = did_you_mean(&self.worker, workers.map(|item| item.name()));
            ProposeError::UnknownWorker { worker: self.worker.clone(), hint }
        })?;
        match worker.kind() {
            ItemKind::Worker => Ok(worker),
            _ => Err(ProposeError::NotAWorker { name: self.worker.clone() }),
        }
    }
}

/// What the model reads of a worker.
#[derive(Debug)]
struct Subject<'a> {
    name: &'a str,
    signature: String,
    description: &'a str,
    instructions: &'a str,
    /// The tools that the script may call, as functions of Python.
    tools: String,
}

impl<'a> Subject<'a> {
    fn of(name: &'a str, worker: &'a Registered, registry: &Registry) -> Result<Self, ProposeError> {
        let own = ScriptCallee { shown: name.into(), ..worker.as_callee(&worker.name) };
        let tools = candidate::allowed(registry, worker).into_iter().map(|tool| tool.as_callee(&tool.name)).collect();
        Ok(Self {
            name,
            signature: stubs(vec![own]).map_err(ProposeError::Tools)?,
            description: worker.description(),
            instructions: worker.plan().map(|plan| &*plan.instructions).unwrap_or_default(),
            tools: stubs(tools).map_err(ProposeError::Tools)?,
        })
    }
}

/// The search for a script.
struct Search<'a> {
    proposer: &'a Proposer,
    split: &'a Split<'a>,
    worker: &'a Registered,
    registry: &'a Registry,
    builder: &'a RuntimeBuilder,
    /// Asks the model.
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

impl Search<'_> {
    /// Asks for scripts until one agrees, or none may be asked for.
    async fn run(&mut self, subject: &Subject<'_>) -> Result<ProposalEnd, ProposeError> {
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
        let linked = match candidate::link(self.registry, self.worker, name, text) {
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
        let (shown, not_agreeing) = candidate::run(&runtime, name, &self.split.shown, agreement).await;
        let (selecting, _) = candidate::run(&runtime, name, &self.split.selecting, agreement).await;
        self.attempts.push(Attempt { faults: Vec::new(), shown: Some(shown), selecting: Some(selecting), usage: used });
        let best = Best { attempt: self.attempts.len(), text: text.to_owned(), runtime, shown, selecting };
        if self.best.as_ref().is_none_or(|known| self.rank(&best) > self.rank(known)) {
            self.best = Some(best);
        }
        Ok(Feedback::Ran { shown, not_agreeing, selecting })
    }

    /// Returns what scripts are compared by.
    fn rank(&self, script: &Best) -> (i64, i64) {
        (script.selecting.balance(), script.shown.balance())
    }

    fn is_done(&self) -> bool {
        let agrees =
            |best: &Best| best.shown.all_agree() && (self.split.selecting.is_empty() || best.selecting.all_agree());
        self.best.as_ref().is_some_and(agrees)
    }

    fn check_cancelled(&self) -> Result<(), ProposeError> {
        if self.builder.cancellation_token().is_cancelled() { Err(ProposeError::Cancelled) } else { Ok(()) }
    }

    /// Measures the best script, if it is good enough, on the cases that were held back.
    async fn finish(mut self, end: ProposalEnd) -> Result<Proposal, ProposeError> {
        let is_good = |best: &Best| {
            let score = if self.split.selecting.is_empty() { best.shown } else { best.selecting };
            score.balance() > 0
        };
        let best = self.best.take().filter(is_good);
        let chosen = match &best {
            Some(best) => Some(self.measure(best).await?),
            None => None,
        };
        let script = best.map(|best| best.text);
        let rust = script.as_ref().map(|script| rust::function(self.worker, script));
        Ok(Proposal { script, rust, report: self.report(end, chosen) })
    }

    async fn measure(&self, best: &Best) -> Result<Chosen, ProposeError> {
        let (name, cases) = (&self.proposer.name, &self.split.held_back);
        let began = Instant::now();
        let (held_back, _) = candidate::run(&best.runtime, name, cases, &self.proposer.agreement).await;
        #[expect(clippy::cast_precision_loss, reason = "there are few cases")]
        let milliseconds = began.elapsed().as_secs_f64() * 1000.0 / cases.len().max(1) as f64;
        self.check_cancelled()?;
        let Best { attempt, shown, selecting, .. } = *best;
        Ok(Chosen { attempt, shown, selecting, held_back, milliseconds })
    }

    fn report(self, end: ProposalEnd, chosen: Option<Chosen>) -> ProposalReport {
        let Split { shown, selecting, held_back, contradicting, worker_failed } = self.split;
        let parts = Parts { shown: shown.len(), selecting: selecting.len(), held_back: held_back.len() };
        let (worker, script) = (self.proposer.worker.clone(), self.proposer.name.clone());
        ProposalReport {
            next: chosen
                .as_ref()
                .map(|chosen| switch_on::next(&worker, &script, &chosen.held_back))
                .unwrap_or_default(),
            notes: switch_on::notes(parts, contradicting.len()),
            worker,
            script,
            end,
            parts,
            contradicting: contradicting.clone(),
            worker_failed: *worker_failed,
            attempts: self.attempts,
            chosen,
            usage: self.used,
        }
    }
}
