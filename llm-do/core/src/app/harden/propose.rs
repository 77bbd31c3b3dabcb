//! Lets a model write a script for a worker, and measures the script on cases that the model has not seen.

mod candidate;
mod evidence;
mod replay;
mod report;
mod request;
mod rust;
mod score;
mod search;
mod split;
mod switch_on;
mod tape;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::Money;
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

use self::candidate::Scope;
use self::evidence::Evidence;
pub use self::replay::ChangedResults;
pub use self::report::{Attempt, Chosen, Parts, PathScore, ProposalEnd, ProposalReport};
pub use self::score::Score;
use self::search::ScriptSearch;
pub use self::split::Contradiction;
use self::split::{RunSplit, Split};
use super::paths::PastRun;
use super::signature::parameters;
use super::{Cases, Gate, RecordedCalls, Runs};
use crate::base::agreement::Agreement;
use crate::base::error::BoxError;
use crate::declare::tool::Effect;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::ItemKind;
use crate::plane::function_tool::FunctionTool;
use crate::plane::registry::{Registered, Registry};
use crate::plane::script::{ScriptCallee, ScriptProcess, identifier, stubs};
use crate::session::runtime::{BuildError, RuntimeBuilder};

/// The worker that writes scripts.
const WRITER: &str = "harden_propose";
/// The default maximum number of scripts that the model writes.
const ATTEMPTS: u32 = 5;

/// Lets a model write a script that replaces a worker, from the worker's recorded cases.
///
/// The cases are split by the digests of their inputs: of ten, the model sees four, three select among its scripts, and
/// three are held back. Each script is checked like any script, and runs on the cases without a journal: approvals are
/// denied, it can call only tools of the worker that are `effect = read_only`, and it cannot request a model. Faults,
/// and shown cases in which it does not agree, are returned to the model. The script with the highest number of
/// agreements minus disagreements on the selecting cases is chosen, then measured on the held-back cases, and accepted if its agreement there
/// passes the [gate](Self::gate). Cases with the same identifier, such as a customer, are in one part.
///
/// The requests to the model come from a worker `harden_propose`, so guards of the builder see them and may redact
/// recorded data.
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::harden::{Cases, Gate, Proposer};
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
/// llm_do::script::interpreter_process();
/// let journal = MemoryJournal::new();
/// # let model = TestModel::new().output(json!({ "result": 30 }));
/// # let runtime = Runtime::builder().force_model(model).journal(journal.clone());
/// # let builder = Runtime::builder().force_model(ScriptedModel::new().text(
/// #     "def age_script(note: str) -> int:\n    \"\"\"Return the age.\"\"\"\n    return int(note.split()[-1])\n",
/// # ));
/// # let runtime = runtime.build()?;
/// let notes = (1..=30).map(|number| format!("Person {number} is 30")).collect();
/// runtime.run(ages { notes }).await?;
/// let mut cases = Cases::of("age");
/// cases.add(journal.records());
///
/// // So few cases show little.
/// let gate = Gate::new().agreement(0.01);
/// let proposal = Proposer::new("age").attempts(1).gate(gate).propose(builder, &cases).await?;
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
    gate: Gate,
    /// The interpreter program; `None` for this program.
    interpreter: Option<PathBuf>,
}

/// A script for a worker, if one is good enough, with its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proposal {
    /// The text of the script; `None` if none was good enough: [`ProposalReport::refused`] has one that the gate refused.
    pub script: Option<String>,
    /// A Rust function as a starting point, with the worker's signature: it has the script as a comment, and calls the
    /// worker.
    pub rust: Option<String>,
    /// The report of the proposal.
    pub report: ProposalReport,
}

/// The reason that nothing could be proposed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProposeError {
    /// The worker is not in the registry.
    #[error("unknown worker `{worker}`{hint}")]
    UnknownWorker {
        /// The name.
        worker: String,
        /// A suggestion that begins with `; `, or an empty text.
        hint: String,
    },
    /// The name is already the name of a tool or an entry.
    #[error("`{name}` is not a worker: only a worker is replaced by a script")]
    NotAWorker {
        /// The name.
        name: String,
    },
    /// The name is that of an entry in Rust, whose calls are code already.
    #[error("`{name}` is an entry in Rust, so its calls are code already{hint}")]
    EntryIsCode {
        /// The name.
        name: String,
        /// The workers that it may call, as a suggestion that begins with `: `, or an empty text.
        hint: String,
    },
    /// There are no cases to show to the model.
    #[error("too few cases of `{worker}`: of {cases} usable ones, none can be shown to a model; record more runs")]
    TooFewCases {
        /// The worker's name.
        worker: String,
        /// The number of cases whose results agree with each other.
        cases: usize,
    },
    /// There are no runs to show to the model.
    #[error("too few runs of `{worker}`: of {runs} usable ones, none can be shown to a model; record more runs")]
    TooFewRuns {
        /// The worker's name.
        worker: String,
        /// The number of distinct runs with a result.
        runs: usize,
    },
    /// Two tools of the worker would have the same name in a script.
    #[error("the tools of the worker cannot be functions of a script: {}", .0.join("; "))]
    Tools(Vec<String>),
    /// The session cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The process that runs the scripts cannot be started.
    #[error("the scripts of a model run in a process of their own: {0}")]
    Interpreter(BoxError),
    /// The builder's token was cancelled.
    #[error("the proposal was cancelled")]
    Cancelled,
}

impl Proposer {
    /// Creates a proposer for the worker with this registered name.
    pub fn new(worker: impl Into<String>) -> Self {
        let worker = worker.into();
        let name = format!("{}_script", identifier(&worker));
        Self {
            worker,
            name,
            model: None,
            budget: None,
            attempts: ATTEMPTS,
            agreement: Agreement::new(),
            gate: Gate::new(),
            interpreter: None,
        }
    }

    /// Sets the name of the script's function. Default: the name of the worker, with `_script`.
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the model, `provider:model`, that writes scripts. Default: the model of the builder.
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// Requests no further script once the requests have cost this amount. Default: unlimited.
    ///
    /// The last request may exceed it. A model of unknown price is refused.
    pub fn budget(self, budget: Money) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Sets the maximum number of scripts that the model writes. Default: 5.
    pub fn attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Sets how results are compared. Default: all fields.
    pub fn agreement(self, agreement: Agreement) -> Self {
        Self { agreement, ..self }
    }

    /// Sets the evidence that a script needs. Default: that of [`Gate::new`].
    pub fn gate(self, gate: Gate) -> Self {
        Self { gate, ..self }
    }

    /// Sets the program that is started to run the scripts; it must first call
    /// [`interpreter_process`](crate::plane::script::interpreter_process). Default: this program.
    pub fn interpreter(self, program: impl Into<PathBuf>) -> Self {
        Self { interpreter: Some(program.into()), ..self }
    }

    /// Lets the model write scripts, and returns the best one with its report.
    ///
    /// The builder has the worker and its tools; its journal and its shadows are not used. If a request to the model
    /// fails, the proposal ends with the best script so far.
    ///
    /// # Errors
    ///
    /// Returns a [`ProposeError`] if no script could be requested, or on cancellation.
    pub async fn propose(&self, builder: RuntimeBuilder, cases: &Cases) -> Result<Proposal, ProposeError> {
        let mut builder = self.prepared(builder);
        let registry = builder.collect()?;
        self.propose_on(builder, registry, cases).await
    }

    /// Lets the model write scripts that make the calls of a worker that orchestrates, and returns the best one with its report.
    ///
    /// The runs are split like cases: of ten, the model sees three, two select, and five are held back. It gets the paths that recur, the values by which they
    /// part, and runs of each. Each script is replayed: recorded results answer its calls, and no tool runs. It agrees with a run if it makes
    /// the same calls with the same arguments and returns the same result, where calls that only read may have another order between two calls
    /// with an effect. It may abstain before the first call with an effect; after it, an abstention is a disagreement.
    ///
    /// Runs in which it agrees are replayed with changed results too: with a text that no run has in place of one that is a choice, such as a
    /// status, and with failed calls. A script is refused if it then goes on as on another path, instead of abstaining.
    ///
    /// # Errors
    ///
    /// Returns a [`ProposeError`] if no script could be requested, or on cancellation.
    pub async fn propose_paths(&self, builder: RuntimeBuilder, runs: &Runs) -> Result<Proposal, ProposeError> {
        let mut builder = self.prepared(builder);
        let registry = builder.collect()?;
        self.propose_paths_on(builder, registry, runs).await
    }

    /// Returns the name of the script's function.
    #[doc(hidden)]
    #[must_use]
    pub fn script_name(&self) -> &str {
        &self.name
    }

    /// Adds the worker that writes scripts, and a placeholder for the script.
    #[doc(hidden)]
    pub fn prepared(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
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
    #[doc(hidden)]
    pub async fn propose_on(
        &self,
        builder: RuntimeBuilder,
        registry: Registry,
        cases: &Cases,
    ) -> Result<Proposal, ProposeError> {
        let worker = Arc::clone(self.worker_in(&registry)?);
        let split = Split::new(cases, &self.agreement);
        if split.shown.is_empty() {
            let usable = split.selecting.len() + split.held_back.len();
            return Err(ProposeError::TooFewCases { worker: self.worker.clone(), cases: usable });
        }
        let recorded = cases.calls(builder.price_table());
        self.search(builder, &registry, &worker, &Evidence::Cases(split), recorded).await
    }

    /// Proposes a script for runs with a registry that was collected from a [prepared](Self::prepared) builder.
    #[doc(hidden)]
    pub async fn propose_paths_on(
        &self,
        builder: RuntimeBuilder,
        registry: Registry,
        runs: &Runs,
    ) -> Result<Proposal, ProposeError> {
        let worker = Arc::clone(self.orchestrator_in(&registry)?);
        let tools = candidate::allowed(&registry, &worker, Scope::Calls).into_iter();
        let reads: BTreeSet<_> =
            tools.filter(|tool| tool.effect() == Effect::ReadOnly).map(|tool| Arc::clone(&tool.name)).collect();
        // What scores the results is called by the runtime, and not by the worker's model.
        let evaluators = builder.evaluators_of(&self.worker);
        let own: Vec<PastRun> = match *evaluators {
            [] => Vec::new(),
            _ => runs.iter().map(|run| run.without_calls(&evaluators)).collect(),
        };
        let past: Vec<&PastRun> = if evaluators.is_empty() { runs.iter().collect() } else { own.iter().collect() };
        let split = RunSplit::new(&past, runs.left_out(), reads);
        if split.shown.is_empty() {
            return Err(ProposeError::TooFewRuns { worker: self.worker.clone(), runs: split.all().count() });
        }
        let recorded = runs.usage(builder.price_table());
        let evidence = Evidence::of_runs(split, &worker, &registry);
        self.search(builder, &registry, &worker, &evidence, recorded).await
    }

    /// Has scripts written and measured.
    async fn search(
        &self,
        builder: RuntimeBuilder,
        registry: &Registry,
        worker: &Registered,
        evidence: &Evidence<'_>,
        recorded: RecordedCalls,
    ) -> Result<Proposal, ProposeError> {
        let subject = Subject::new(&self.name, worker, registry, evidence.scope())?;
        ScriptProcess::check(self.interpreter.as_deref()).await.map_err(ProposeError::Interpreter)?;
        let builder = builder.without_journal_and_shadows();
        let mut search = ScriptSearch::new(self, evidence, worker, registry, &builder)?;
        let end = search.run(&subject).await?;
        search.finish(end, recorded).await
    }

    /// Returns the worker whose calls a script makes; an entry in Rust has none that a model chooses.
    fn orchestrator_in<'a>(&self, registry: &'a Registry) -> Result<&'a Arc<Registered>, ProposeError> {
        let entry = registry.get(&self.worker).filter(|item| item.kind() == ItemKind::Entry);
        let Some(entry) = entry else { return self.worker_in(registry) };
        let callees = entry.declared.iter().flat_map(|declared| declared.iter());
        let workers =
            callees.filter_map(|tool| registry.get(&tool.tool)).filter(|item| item.kind() == ItemKind::Worker);
        let names: Vec<_> = workers.map(|worker| format!("`{}`", worker.name())).collect();
        let hint = if names.is_empty() {
            String::new()
        } else {
            format!(": name a worker that it calls, {}", names.join(", "))
        };
        Err(ProposeError::EntryIsCode { name: self.worker.clone(), hint })
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

/// The description of a worker for the model.
#[derive(Debug)]
struct Subject<'a> {
    name: &'a str,
    signature: String,
    description: &'a str,
    instructions: &'a str,
    /// The tools that the script may call, as Python functions.
    tools: String,
    /// Their names.
    names: Vec<Arc<str>>,
}

impl<'a> Subject<'a> {
    fn new(name: &'a str, worker: &'a Registered, registry: &Registry, scope: Scope) -> Result<Self, ProposeError> {
        let parameters = Arc::new(parameters(worker));
        let own = ScriptCallee { shown: name.into(), parameters, ..worker.as_callee(&worker.name) };
        let allowed = candidate::allowed(registry, worker, scope);
        let tools = allowed.iter().map(|tool| tool.as_callee(&tool.name)).collect();
        Ok(Self {
            names: allowed.iter().map(|tool| Arc::clone(&tool.name)).collect(),
            name,
            signature: stubs(vec![own]).map_err(ProposeError::Tools)?,
            description: worker.description(),
            instructions: worker.plan().map(|plan| &*plan.instructions).unwrap_or_default(),
            tools: stubs(tools).map_err(ProposeError::Tools)?,
        })
    }
}
