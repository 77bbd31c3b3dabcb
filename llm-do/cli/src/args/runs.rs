//! The options of `runs`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use llm_do_serve::{MAX_LIST, RunState};

use super::OutcomeOptions;
use super::recorded::time;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RunsOptions {
    #[command(subcommand)]
    pub(crate) command: Option<RunsCommand>,
    #[command(flatten)]
    pub(crate) list: ListRunsOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Show one run: its state, its result or error, what it used, and what it asked people.
    #[command(after_help = "Example: runs show 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01")]
    Show(ShowRunOptions),
    /// Settle what became of a call that may have had its effect, of a run that failed or was cancelled. Then resume the run.
    #[command(
        after_help = "Examples:\n  runs settle 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01 'bill:0f3a/pay:77c1' --result '{\"id\": 7}'\n  \
                      runs settle 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01 'bill:0f3a/pay:77c1' --not-done"
    )]
    Settle(SettleOptions),
    /// Send a message to a run that has not ended: it joins the conversation of a worker after what that does now.
    #[command(
        after_help = "Example: runs send 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01 'Leave the tests as they are.' --interrupt"
    )]
    Send(SendOptions),
}

/// Which runs are listed.
#[derive(Args, Debug)]
pub(crate) struct ListRunsOptions {
    /// Only runs in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(RunState::ALL.map(RunState::as_str)))]
    pub(crate) state: Option<String>,
    /// Only runs of this entry.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Only runs that were started at this time or later: a date or a time, in UTC without an offset, or how long ago, such as `2h`
    /// or `7d`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Only runs that were started before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Timestamp>,
    /// Only runs of this tenant.
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Only runs that a service of this version of the program accepted.
    #[arg(long, value_name = "VERSION")]
    pub(crate) app_version: Option<String>,
    /// Only runs that were started before this one, for the next page.
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
    /// List at most this number of runs, up to 500; fewer if they are long.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIST)))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) source: RunSource,
}

#[derive(Args, Debug)]
pub(crate) struct ShowRunOptions {
    /// The id of the run.
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) source: RunSource,
}

#[derive(Args, Debug)]
pub(crate) struct SettleOptions {
    /// The id of the run.
    pub(crate) id: String,
    /// The key of the call, which `runs show ID` prints.
    pub(crate) step: String,
    #[command(flatten)]
    pub(crate) outcome: OutcomeOptions,
    #[command(flatten)]
    pub(crate) source: RunSource,
}

#[derive(Args, Debug)]
pub(crate) struct SendOptions {
    /// The id of the run.
    pub(crate) id: String,
    /// The text of the message.
    #[arg(value_name = "TEXT")]
    pub(crate) message: String,
    /// The registered name of the worker that gets it. Default: the outermost worker that runs.
    #[arg(long, value_name = "NAME")]
    pub(crate) worker: Option<String>,
    /// End the request to the model that runs, and make no further calls of its last answer.
    #[arg(long)]
    pub(crate) interrupt: bool,
    /// Keep the message when the conversation is compacted.
    #[arg(long)]
    pub(crate) pin: bool,
    #[command(flatten)]
    pub(crate) source: RunSource,
}

/// Where the runs are, and how they are printed.
#[derive(Args, Debug)]
pub(crate) struct RunSource {
    /// The database of the service, `--store` of `serve`; the service may be running or not. Default: that of `serve` in this folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Ask a running service at this address instead, such as `https://runs.example.com`.
    #[arg(long, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// The bearer token in this file, for `--url`; default: that in `LLM_DO_SERVE_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print JSON, as the service returns it.
    #[arg(long)]
    pub(crate) json: bool,
}
