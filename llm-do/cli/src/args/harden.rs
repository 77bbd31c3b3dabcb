//! The options of `harden`.

#[cfg(feature = "script")]
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
#[cfg(feature = "script")]
use llm_do_providers::Money;

use super::RunFilter;
use super::batch::BatchOption;
use super::gate::GateOptions;
use super::recorded::MAX_CASES;
use crate::project::FileOptions;

#[cfg(not(feature = "script"))]
pub(crate) const EXAMPLES: &str = "Examples:
  harden greet --tool greet_by_rule --journal run.jsonl
  harden triage --learn --agreement 0.98 --journal run-*.jsonl
  harden --explain triage '{ \"message\": \"my card is lost\" }'";
#[cfg(feature = "script")]
pub(crate) const EXAMPLES: &str = "Examples:
  harden greet --tool greet_by_rule --journal run.jsonl
  harden --report --journal https://runs.example.com --token-file token --since 7d
  harden greet --propose --model openai:gpt-5-mini --budget 0.50 --journal run-*.jsonl
  harden triage --learn --agreement 0.98 --journal run-*.jsonl
  harden --explain triage '{ \"message\": \"my card is lost\" }'";

#[derive(Args, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(crate) struct HardenOptions {
    /// The worker's name.
    #[arg(
        required_unless_present_any = ["report", "status", "explain"],
        conflicts_with_all = ["report", "status", "explain"]
    )]
    pub(crate) worker: Option<String>,
    /// The candidate tool; with --approve-all, it may have effects other than `read_only`.
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present_any = ["candidate", "report", "status", "explain"],
        conflicts_with_all = ["candidate", "report", "status", "explain"]
    )]
    pub(crate) tool: Option<String>,
    #[command(flatten)]
    pub(crate) candidate: CandidateOptions,
    #[cfg(feature = "script")]
    #[command(flatten)]
    pub(crate) propose: ProposeOptions,
    #[command(flatten)]
    pub(crate) learn: LearnOptions,
    /// Instead of comparing, rank the workers in the journals by what hardening would save: their cost, times the share of calls that code could answer at the gate.
    ///
    /// It also shows the share that code answered in hybrids.
    #[arg(long)]
    pub(crate) report: bool,
    /// Instead of comparing, show the hybrids with a guarantee: who answers, the share that code answered, the bound of its disagreement,
    /// comparisons, money saved, since when. --journal names the databases of services, and files of --evidence; default: the file of the
    /// project, or of the current folder.
    #[arg(long, conflicts_with_all = ["report", "events", "candidate", "explain"])]
    pub(crate) status: bool,
    /// The journals: files of `--journal`, databases of `serve`, addresses of services, or `restate:NAME`.
    #[cfg_attr(
        not(feature = "eval"),
        arg(long, value_name = "JOURNAL", required_unless_present_any = ["events", "status", "explain"], num_args = 1..)
    )]
    #[cfg_attr(
        feature = "eval",
        arg(long, value_name = "JOURNAL", required_unless_present_any = ["events", "status", "dataset", "explain"], num_args = 1..)
    )]
    pub(crate) journal: Vec<PathBuf>,
    /// A dataset whose expected outputs are the right answers: they count in place of what the worker answered to equal inputs.
    #[cfg(feature = "eval")]
    #[arg(long, value_name = "FILE", conflicts_with = "report")]
    pub(crate) dataset: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) gate: GateOptions,
    #[command(flatten)]
    pub(crate) runs: RunFilter,
    /// Keep at most this number of distinct inputs, a sample of them if there are more.
    #[arg(long, value_name = "N", default_value_t = MAX_CASES)]
    pub(crate) max_cases: usize,
    /// Logs of events, as `run --events` writes them, with the comparisons of shadows; for --report.
    #[arg(long, value_name = "FILE", requires = "report", num_args = 1..)]
    pub(crate) events: Vec<PathBuf>,
    /// With --report, fail if shadows of a worker disagree in a larger share of comparisons, from 0 to 1.
    #[arg(long, value_name = "SHARE", requires = "events")]
    pub(crate) fail_over: Option<f64>,
    /// Ignore this field of results, as a JSON pointer such as /note or /people/*/note; may be given several times.
    #[arg(long, value_name = "POINTER")]
    pub(crate) ignore: Vec<String>,
    /// Allow a candidate that may change something, and approve every call that it makes.
    #[arg(long, conflicts_with = "candidate")]
    pub(crate) approve_all: bool,
    #[command(flatten)]
    pub(crate) batch: BatchOption,
    /// Print each case as a line of JSON with full values, and a summary as the last line.
    ///
    /// With --propose and --learn, print the report as a JSON object; with --explain, the explanation.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) items: FileOptions,
}

/// The options of a command that writes a candidate.
#[derive(Args, Debug)]
pub(crate) struct CandidateOptions {
    /// The name of the candidate and of its file; default: that of the worker, with `_script` or `_learned`.
    #[arg(long, value_name = "NAME", requires = "candidate")]
    pub(crate) name: Option<String>,
    /// The folder for the candidate and the report; default: the current one.
    #[arg(long, value_name = "DIR", requires = "candidate")]
    pub(crate) out: Option<PathBuf>,
}

/// The options of `harden --learn` and `harden --explain`.
#[derive(Args, Debug)]
pub(crate) struct LearnOptions {
    /// Learn a decision in place of the worker, whose results are choices, from its recorded cases, without a model.
    ///
    /// Writes WORKER.learned.json, if the cases show what --agreement, --confidence and --coverage ask for, and the report WORKER.learn.md and
    /// WORKER.learn.json; also a Python file, if few rules are nearly as good.
    #[arg(long, conflicts_with_all = ["report", "ignore"], group = "candidate")]
    pub(crate) learn: bool,
    /// Show what speaks for which answer of a learned tool: its name or its file, and the arguments as a JSON object.
    #[arg(long, value_names = ["NAME", "INPUT"], num_args = 2, conflicts_with_all = ["report", "candidate", "journal"])]
    pub(crate) explain: Option<Vec<String>>,
}

/// The options of `harden --propose`.
#[cfg(feature = "script")]
#[derive(Args, Debug)]
pub(crate) struct ProposeOptions {
    /// Have a model write a script in place of the worker, and measure it on recorded cases that the model has not seen.
    ///
    /// Writes NAME.py, if a script passes the gate of --agreement, --confidence and --coverage, and the report NAME.propose.md and NAME.propose.json. The script may call the tools of
    /// the worker that are `effect = read_only`.
    #[arg(long, conflicts_with = "report", group = "candidate")]
    pub(crate) propose: bool,
    /// The model, `provider:model`, that writes scripts; default: that of the configuration.
    #[arg(long, value_name = "MODEL", requires = "propose")]
    pub(crate) model: Option<String>,
    /// Ask for no further script once the requests have cost this, in US dollars.
    #[arg(long, value_name = "DOLLARS", requires = "propose")]
    pub(crate) budget: Option<Money>,
    /// Have at most this many scripts written.
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) attempts: NonZeroU32,
    /// Also write NAME.rs: a Rust function with the worker's signature to start from, which has the script as a comment.
    #[arg(long, requires = "propose")]
    pub(crate) rust: bool,
}
