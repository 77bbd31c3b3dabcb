//! The options of `check --replay` for a change.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use llm_do_providers::Money;

/// A change against which recorded runs are replayed.
#[derive(Args, Debug)]
pub(crate) struct ChangeOptions {
    /// Replay all runs with the instructions in this file in place of those of a worker.
    ///
    /// Requests that differ from the recorded ones are made, and tools return what is recorded, up to the first difference.
    #[arg(long, value_name = "FILE", requires = "replay", conflicts_with = "candidate")]
    pub(crate) prompt: Option<PathBuf>,
    /// Replay the recorded calls of the worker --worker with this tool or script in its place; its calls return what is recorded.
    #[arg(long, value_name = "NAME", requires_all = ["replay", "worker"])]
    pub(crate) candidate: Option<String>,
    /// The worker of --prompt and --candidate; default: the only worker.
    #[arg(long, value_name = "NAME", requires = "replay")]
    pub(crate) worker: Option<String>,
    /// Make no further request once the requests have cost this, in US dollars.
    #[arg(long, value_name = "DOLLARS", requires = "replay")]
    pub(crate) budget: Option<Money>,
    /// Replay at most this many runs concurrently; default: 4.
    #[arg(long, value_name = "N", requires = "replay")]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Compare only the calls, and not the results of workers and entries.
    #[arg(long, requires = "replay")]
    pub(crate) calls_only: bool,
    /// Ignore this field of results, as a JSON pointer such as /note; may be given several times.
    #[arg(long, value_name = "POINTER", requires = "replay", conflicts_with = "calls_only")]
    pub(crate) ignore: Vec<String>,
    /// Print the report of a replay against a change, or what `--flow` shows, as a JSON object.
    #[arg(long, requires = "reported")]
    pub(crate) json: bool,
}

impl ChangeOptions {
    /// Returns whether workers or tools run, with what a model, a prompt or a candidate changes.
    pub(crate) fn runs(&self, model: Option<&str>) -> bool {
        model.is_some() || self.prompt.is_some() || self.candidate.is_some()
    }

    /// Returns an option that has an effect only with a change, if it is given.
    pub(crate) fn without_effect(&self) -> Option<&'static str> {
        let given = [
            (self.json, "--json"),
            (self.calls_only, "--calls-only"),
            (!self.ignore.is_empty(), "--ignore"),
            (self.budget.is_some(), "--budget"),
            (self.concurrency.is_some(), "--concurrency"),
            (self.worker.is_some(), "--worker"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
    }
}
