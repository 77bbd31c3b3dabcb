//! Evaluations, which run variants over a dataset.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, TryStreamExt, stream};
use llm_do_core::base::error::Result as EvaluatorResult;
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::base::usage::Limits;
use llm_do_core::session::runtime::{BuildError, Runtime, RuntimeBuilder};
use llm_do_providers::Money;
use tokio_util::sync::CancellationToken;

use super::dataset::{Arguments, Dataset, DatasetError};
use super::evaluator::{ByFunction, Evaluator, EvaluatorContext, Findings};
use super::judge::Judge;
use super::plan::{self, OwnEvaluators, PlannedRun};
use super::record::{RunFile, RunRecord};
use super::report::Report;
use super::run::run;

/// The function that is called after each run.
type OnFinished = dyn Fn(&RunRecord) + Send + Sync;

/// The default maximum number of concurrent runs.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(4).expect("it is not 0");

/// Runs variants over a dataset, and scores their outputs.
///
/// # Examples
///
/// See [the module](super).
#[must_use = "an evaluation does nothing until `run` is called"]
pub struct Evaluation {
    dataset: Dataset,
    variants: Vec<Variant>,
    own: OwnEvaluators,
    judge: RuntimeBuilder,
    repetitions: u32,
    concurrency: NonZeroUsize,
    seed: u64,
    limits: Option<Limits>,
    budget: Option<Money>,
    file: Option<PathBuf>,
    cancellation: CancellationToken,
    on_finished: Option<Box<OnFinished>>,
}

/// A variant to compare: a tool or worker in a runtime, which determines its model.
#[derive(Clone, Debug)]
#[must_use = "pass the variant to `Evaluation::variant`"]
pub struct Variant {
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) runtime: Runtime,
}

impl Variant {
    /// Creates a variant with this `name` in reports: the item with the registered name `tool` in `runtime`.
    ///
    /// Each case is a root call, which needs no approval itself; its nested calls do, by the runtime's policy and
    /// approver. Use a runtime without a journal and without a shadow of the tool.
    pub fn new(name: impl Into<String>, tool: impl Into<String>, runtime: &Runtime) -> Self {
        Self { name: name.into(), tool: tool.into(), runtime: runtime.clone() }
    }
}

impl Evaluation {
    /// Creates an evaluation without variants.
    pub fn new(dataset: Dataset) -> Self {
        Self {
            dataset,
            variants: Vec::new(),
            own: OwnEvaluators::new(),
            judge: Runtime::builder(),
            repetitions: 1,
            concurrency: CONCURRENCY,
            seed: 0,
            limits: None,
            budget: None,
            file: None,
            cancellation: CancellationToken::new(),
            on_finished: None,
        }
    }

    /// Adds a variant. Later variants are compared with the first.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variants.push(variant);
        self
    }

    /// Adds an evaluator, which datasets use by its name; it may replace a built-in one.
    pub fn evaluator(mut self, name: impl Into<String>, evaluator: impl Evaluator + 'static) -> Self {
        self.own.insert(name.into(), Arc::new(evaluator));
        self
    }

    /// Adds a function as an evaluator.
    pub fn evaluate_with<F>(self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&EvaluatorContext<'_>, &Arguments) -> EvaluatorResult<Findings> + Send + Sync + 'static,
    {
        self.evaluator(name, ByFunction(function))
    }

    #[doc(hidden)]
    pub fn shared_evaluator(mut self, name: String, evaluator: Arc<dyn Evaluator>) -> Self {
        self.own.insert(name, evaluator);
        self
    }

    /// Sets the runtime of judges, with their default model. Default: a runtime with the model of `LLM_DO_MODEL`.
    ///
    /// The runtime has no linked items.
    pub fn judge(mut self, builder: RuntimeBuilder) -> Self {
        self.judge = builder;
        self
    }

    /// Sets the number of runs of each case. Default: 1; 0 is treated as 1.
    pub fn repeat(mut self, times: u32) -> Self {
        self.repetitions = times.max(1);
        self
    }

    /// Sets the maximum number of concurrent runs. Default: 4.
    pub fn concurrency(mut self, runs: NonZeroUsize) -> Self {
        self.concurrency = runs;
        self
    }

    /// Sets the seed of intervals, tests and votes of judges. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the limits of each run. Default: the limits of its runtime.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets the maximum cost of all runs and judges together: once it is reached, no run starts. Default: unlimited.
    ///
    /// Runs in flight finish, so the total may be higher. Requests of unknown price do not count.
    pub fn budget(mut self, budget: Money) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Records each finished run in this file, and reuses the runs that the file already has. Default: none.
    ///
    /// A run is reused if the name of its variant, tool, case, evaluators, repetition and the seed are equal. The code
    /// of tools, the instructions of workers and the model are not compared: when they change, use a new file or a new
    /// name.
    ///
    /// If a runtime has [`Settings::batch`](llm_do_providers::Settings::batch), the file also has the batches of its requests in
    /// flight: a resumed evaluation waits for them. Calls of tools between them are made again.
    pub fn resumable(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Stops the evaluation once this token is cancelled; runs in flight are dropped.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Calls a function after each run, also for reused runs.
    pub fn on_finished(mut self, function: impl Fn(&RunRecord) + Send + Sync + 'static) -> Self {
        self.on_finished = Some(Box::new(function));
        self
    }

    /// Runs all cases that are not recorded yet, and reports on all. Errors of single runs are part of the report.
    ///
    /// # Errors
    ///
    /// Returns faults of the dataset and the variants before anything runs, [`EvalError::Cancelled`] and
    /// [`EvalError::Budget`] if not all runs finished, and errors of the file.
    pub async fn run(self) -> Result<Report, EvalError> {
        let faults = |faults| EvalError::Dataset(DatasetError { faults });
        self.check_variants()?;
        let cases = plan::cases(&self.dataset, &self.own).map_err(faults)?;
        let judge = Judge::build(self.judge, self.seed, &plan::judges(&cases))?;
        let runs = plan::runs(&self.variants, &cases, self.repetitions, self.seed).map_err(EvalError::Variants)?;
        let opened = self.file.as_deref().map(|path| RunFile::open(path).map_err(|error| file_error(path, error)));
        let (file, mut recorded) =
            opened.transpose()?.map_or_else(Default::default, |(file, runs)| (Some(Arc::new(file)), runs));
        let mut records: Vec<_> = runs.iter().map(|run| recorded.remove(&run.key)).collect();
        let on_finished = |record: &RunRecord| {
            if let Some(function) = &self.on_finished {
                function(record);
            }
        };
        records.iter().flatten().for_each(on_finished);
        let spent = Mutex::new(records.iter().flatten().map(cost).sum::<llm_do_core::base::usage::Cost>());
        let missing: Vec<_> = (0..runs.len()).filter(|index| records[*index].is_none()).collect();
        let of = runs.len();
        let has_budget = || self.budget.is_none_or(|budget| spent.lock().ignore_poison().known < budget);
        let finish = async |index: usize| {
            if !has_budget() {
                return Ok::<_, EvalError>(None);
            }
            let planned: &PlannedRun<'_> = &runs[index];
            let record = run(planned, judge.as_ref(), self.limits.as_ref(), file.as_ref()).await;
            if self.cancellation.is_cancelled() {
                // The error may be caused by the cancellation.
                return Ok(None);
            }
            *spent.lock().ignore_poison() += cost(&record);
            if let Some((path, file)) = self.file.as_deref().zip(file.as_ref()) {
                file.add(&planned.key, &record).map_err(|error| file_error(path, error))?;
            }
            on_finished(&record);
            Ok(Some((index, record)))
        };
        let all = stream::iter(missing).map(|index| finish(index)).buffer_unordered(self.concurrency.get());
        let all = all.try_for_each(|finished| {
            if let Some((index, record)) = finished {
                records[index] = Some(record);
            }
            std::future::ready(Ok::<_, EvalError>(()))
        });
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => {}
            done = all => done?,
        }
        let finished: Vec<_> = records.into_iter().flatten().collect();
        if finished.len() < of {
            let done = finished.len();
            let is_cancelled = self.cancellation.is_cancelled();
            return Err(if is_cancelled { EvalError::Cancelled { done, of } } else { EvalError::Budget { done, of } });
        }
        let names = self.variants.iter().map(|variant| variant.name.clone()).collect();
        let case_names: Vec<_> = cases.iter().map(|case| case.name.clone()).collect();
        Ok(Report::new(self.dataset.name.clone(), names, &case_names, self.repetitions, self.seed, finished))
    }

    fn check_variants(&self) -> Result<(), EvalError> {
        let mut names = HashSet::new();
        let mut faults: Vec<_> = self
            .variants
            .iter()
            .filter(|variant| !names.insert(&variant.name))
            .map(|variant| format!("two variants are named `{}`", variant.name))
            .collect();
        if self.variants.is_empty() {
            faults.push("there is nothing to evaluate: add a variant".to_owned());
        }
        if faults.is_empty() { Ok(()) } else { Err(EvalError::Variants(faults)) }
    }
}

fn file_error(path: &Path, error: io::Error) -> EvalError {
    EvalError::File(path.to_owned(), error)
}

fn cost(record: &RunRecord) -> llm_do_core::base::usage::Cost {
    record.usage.cost + record.judge_usage.cost
}

impl fmt::Debug for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation").field("variants", &self.variants).finish_non_exhaustive()
    }
}

/// The reason that an evaluation has no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The dataset has faults.
    #[error(transparent)]
    Dataset(DatasetError),
    /// The variants have faults: an unknown tool, two equal names, or inputs that are not arguments.
    #[error("{}", .0.join("\n"))]
    Variants(Vec<String>),
    /// The runtime of judges cannot be built.
    #[error("the runtime of judges cannot be built")]
    Judge(#[from] BuildError),
    /// The file of finished runs cannot be read or written.
    #[error("the file of finished runs `{}` cannot be used", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The evaluation was cancelled; with a file, run it again to resume.
    #[error("cancelled after {done} of {of} runs")]
    Cancelled {
        /// The number of finished runs.
        done: usize,
        /// The number of all runs.
        of: usize,
    },
    /// The budget is spent; with a file, run it again with a higher budget to resume.
    #[error("the budget is spent after {done} of {of} runs")]
    Budget {
        /// The number of finished runs.
        done: usize,
        /// The number of all runs.
        of: usize,
    },
}
