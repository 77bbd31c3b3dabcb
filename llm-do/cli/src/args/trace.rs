//! The options of `trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct TraceOptions {
    #[command(subcommand)]
    pub(crate) command: Option<TraceCommand>,
    #[command(flatten)]
    pub(crate) show: ShowOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Compare the calls of two runs; calls are matched by their callers, name and order.
    #[command(after_help = "Example: trace diff before.jsonl after.jsonl")]
    Diff(DiffOptions),
}

#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    /// The events, as `run --events` writes them; `./diff` for a file of that name.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) file: Option<PathBuf>,
    /// How to print the calls: as text, or as a JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: TraceFormat,
    /// Write an HTML page to this file instead; only its owner may read it, and it needs no network.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct DiffOptions {
    /// The events of the first run.
    pub(crate) before: PathBuf,
    /// The events of the second run.
    pub(crate) after: PathBuf,
    /// How to print the differences: as text, or as a JSON object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) output: TraceFormat,
}

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}
