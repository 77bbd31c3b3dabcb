//! Has a model write a script for a worker, and measures it on cases that nothing has seen.

mod candidate;
mod report;
mod request;
mod rust;
mod score;
mod search;
mod split;
mod switch_on;

use std::path::PathBuf;
use std::sync::Arc;

use llm_do_providers::Money;
use llm_do_worker_file::did_you_mean;
use serde_json::{Value, json};

pub use self::report::{Attempt, Chosen, Parts, ProposalEnd, ProposalReport};
pub use self::score::Score;
use self::search::Search;
pub use self::split::Contradiction;
use self::split::Split;
use super::Cases;
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
/// llm_do::script::interpreter_process();
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
    /// `None` for this program.
    interpreter: Option<PathBuf>,
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
    /// The process that runs the scripts cannot be started.
    #[error("the scripts of a model run in a process of their own: {0}")]
    Interpreter(BoxError),
    /// The builder's token was cancelled.
    #[error("the proposal was cancelled")]
    Cancelled,
}

impl Proposer {
    /// Begins a proposal for the worker with this registered name.
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
            interpreter: None,
        }
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

    /// Sets the program that is started to run the scripts; it calls [`interpreter_process`](crate::plane::script::interpreter_process)
    /// first. Default: this program.
    pub fn interpreter(self, program: impl Into<PathBuf>) -> Self {
        Self { interpreter: Some(program.into()), ..self }
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
    #[doc(hidden)]
    pub fn script_name(&self) -> &str {
        &self.name
    }

    /// Adds the worker that writes scripts, and the place of the script.
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
        let subject = Subject::new(&self.name, &worker, &registry)?;
        ScriptProcess::check(self.interpreter.as_deref()).await.map_err(ProposeError::Interpreter)?;
        let recorded = cases.calls(builder.price_table());
        let builder = builder.without_journal_and_shadows();
        let mut search = Search::new(self, &split, &worker, &registry, &builder)?;
        let end = search.run(&subject).await?;
        search.finish(end, recorded).await
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
    fn new(name: &'a str, worker: &'a Registered, registry: &Registry) -> Result<Self, ProposeError> {
        let parameters = Arc::new(candidate::parameters(worker));
        let own = ScriptCallee { shown: name.into(), parameters, ..worker.as_callee(&worker.name) };
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
