//! The grammar of the command line.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::runtime::RuntimeBuilder;

/// Runs tools, workers and entries of this program.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run an entry, or any tool or worker, and print its result.
    Run(RunOptions),
    /// List tools, workers and entries.
    Tools(ToolsOptions),
    /// Check that the program could run: names, toolsets, state.
    Check(Workers),
}

/// Workers besides those that are linked.
#[derive(Args, Debug)]
pub(super) struct Workers {
    /// Add the worker files, `*.worker` and `*.agent`, of this folder; may be given several times.
    #[arg(long, value_name = "DIR")]
    worker_dir: Vec<PathBuf>,
}

impl Workers {
    /// Returns the builder with the workers added.
    pub(super) fn added(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        self.worker_dir.iter().fold(builder, RuntimeBuilder::worker_dir)
    }
}

#[derive(Args, Debug)]
pub(super) struct RunOptions {
    /// The entry; default: `main`, or the only one. A single word that is no entry's name is the prompt.
    pub(super) name: Option<String>,
    /// The input, as text; default: standard input, if it is no terminal and input is needed.
    pub(super) prompt: Option<String>,
    /// The input, as a JSON object of arguments.
    #[arg(long, value_name = "JSON", conflicts_with = "prompt")]
    pub(super) input_json: Option<String>,
    /// Give this file with the input, of at most 20 MiB; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(super) attach: Vec<PathBuf>,
    /// Run this tool or worker instead of an entry.
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Option<String>,
    /// The model, `provider:model`, of workers that name none; default: `LLM_DO_MODEL`.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Approve every call that needs approval; what is blocked stays so.
    #[arg(long, conflicts_with = "reject_all")]
    pub(super) approve_all: bool,
    /// Deny every call that needs approval.
    #[arg(long)]
    pub(super) reject_all: bool,
    /// Tell a worker's model of a denied call, instead of ending the run.
    #[arg(long)]
    pub(super) return_permission_errors: bool,
    /// At most this many workers in one another; default: 5.
    #[arg(long, value_name = "N")]
    pub(super) max_depth: Option<u32>,
    /// Show calls (-v), and what models write (-vv).
    #[arg(short, long, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Write every event to this file, as JSON Lines.
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    #[command(flatten)]
    pub(super) workers: Workers,
}

#[derive(Args, Debug)]
pub(super) struct ToolsOptions {
    /// Print JSON, with schemas.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) workers: Workers,
}
