//! The options of `trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::app::cli) struct TraceOptions {
    #[command(subcommand)]
    pub(in crate::app::cli) command: Option<TraceCommand>,
    #[command(flatten)]
    pub(in crate::app::cli) show: ShowOptions,
}

#[derive(Debug, Subcommand)]
pub(in crate::app::cli) enum TraceCommand {
    /// Compare the calls of two runs; calls are matched by their callers, name and order.
    #[command(after_help = "Example: trace diff before.jsonl after.jsonl")]
    Diff(DiffOptions),
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ShowOptions {
    /// The events, as `run --events` writes them; `./diff` for a file of that name.
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::app::cli) file: Option<PathBuf>,
    /// How to print the calls: as text, or as a JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::app::cli) output: TraceFormat,
    /// Write an HTML page to this file instead; only its owner may read it, and it needs no network.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(in crate::app::cli) html: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct DiffOptions {
    /// The events of the first run.
    pub(in crate::app::cli) before: PathBuf,
    /// The events of the second run.
    pub(in crate::app::cli) after: PathBuf,
    /// How to print the differences: as text, or as a JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(in crate::app::cli) output: TraceFormat,
}

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::app::cli) enum TraceFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}
