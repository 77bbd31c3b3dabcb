//! The options of `eval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use llm_do_providers::Money;

use super::RunFilter;
use super::batch::BatchOption;
use super::gate::GateOptions;
use super::recorded::MAX_CASES;
use crate::project::FileOptions;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct EvalOptions {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,
    #[command(flatten)]
    pub(crate) evaluate: EvaluateOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Print a dataset of the recorded calls of a worker.
    ///
    /// Each distinct input is a case, and its most frequent result is expected.
    #[command(after_help = "Example: eval import greet --journal run.jsonl > greet.yaml")]
    Import(ImportOptions),
    /// Print the JSON schema of datasets, for editors.
    #[command(after_help = "Example: eval schema --tool greet > greet_schema.json")]
    Schema(SchemaOptions),
}

#[derive(Args, Debug)]
pub(crate) struct EvaluateOptions {
    /// The dataset, in YAML or JSON; `./import` for a file of that name.
    #[arg(value_name = "DATASET", required = true)]
    pub(crate) dataset: Option<PathBuf>,
    /// A tool or worker to evaluate; may be given several times. With --approve-all, it may have effects.
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) tool: Vec<String>,
    /// A model, `provider:model`, of the evaluated workers, and of workers that declare none; may be given several times, to
    /// compare models. Default: the declared one, or else `LLM_DO_MODEL`, or `model` of a configuration file.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Vec<String>,
    /// The model of judges that name none.
    #[arg(long, value_name = "MODEL")]
    pub(crate) judge_model: Option<String>,
    /// Run each case this often.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) repeat: u32,
    /// Run at most this many cases concurrently; default: 4, with --batch all.
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) batch: BatchOption,
    /// The seed of intervals, tests and judges.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Start no run once all of them have cost this, in US dollars.
    #[arg(long, value_name = "DOLLARS")]
    pub(crate) budget: Option<Money>,
    /// Record each finished run in this file, or resume the evaluation that it records.
    ///
    /// The code of tools, the instructions of workers and their models are not compared: use another file when they change.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// How to print the report: as text, or as a JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: ReportFormat,
    /// Write the report as an HTML page to this file; only its owner may read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a log for each variant into this folder, for the viewer of `inspect_ai`.
    #[arg(long, value_name = "DIR")]
    pub(crate) inspect: Option<PathBuf>,
    /// Keep the report in this folder, and compare it with the latest report of the dataset there.
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// Fail if the share of runs that pass is lower than this in a variant, or the mean of a metric, as `NAME=VALUE`; may be
    /// given several times.
    #[arg(long, value_name = "VALUE")]
    pub(crate) fail_under: Vec<Threshold>,
    // If one is given, each variant must pass that gate.
    #[command(flatten)]
    pub(crate) gate: GateOptions,
    /// Fail if a metric is lower than in the latest report in --results.
    #[arg(long, requires = "results")]
    pub(crate) fail_if_worse: bool,
    /// How much lower a metric may be with --fail-if-worse.
    #[arg(long, value_name = "VALUE", default_value_t = 0.0, requires = "fail_if_worse")]
    pub(crate) tolerance: f64,
    /// Allow tools that may change something, and approve every call that needs approval.
    #[arg(long)]
    pub(crate) approve_all: bool,
    #[command(flatten)]
    pub(crate) items: FileOptions,
}

/// The minimum of a metric.
#[derive(Clone, Debug)]
pub(crate) struct Threshold {
    /// The name of the metric; `None` for the share of runs that pass.
    pub(crate) metric: Option<String>,
    pub(crate) value: f64,
}

impl std::str::FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (metric, value) = match text.rsplit_once('=') {
            Some((metric, value)) => (Some(metric.to_owned()), value),
            None => (None, text),
        };
        match value.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self { metric, value }),
            _ => Err(format!("expected a number, or `NAME=NUMBER`, found `{text}`")),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ImportOptions {
    /// The worker's name.
    pub(crate) worker: String,
    /// The journals: files of `--journal`, databases of `serve`, addresses of services, or `restate:NAME`.
    #[arg(long, value_name = "JOURNAL", required = true, num_args = 1..)]
    pub(crate) journal: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) runs: RunFilter,
    /// Keep at most this number of distinct inputs, a sample of them if there are more.
    #[arg(long, value_name = "N", default_value_t = MAX_CASES)]
    pub(crate) max_cases: usize,
}

#[derive(Args, Debug)]
pub(crate) struct SchemaOptions {
    /// Describe the inputs and outputs of this tool or worker too.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) items: FileOptions,
}

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}
