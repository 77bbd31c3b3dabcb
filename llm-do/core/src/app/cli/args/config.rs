//! The commands and options of `config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SessionOptions;
use crate::app::cli::output::Format;

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ConfigOptions {
    #[command(subcommand)]
    pub(in crate::app::cli) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::app::cli) enum ConfigCommand {
    /// Print each setting with its value and its source: an option, a variable, the line of a file, or the program.
    #[command(after_help = "Example: config show --project DIR --json")]
    Show(Box<ConfigShowOptions>),
    /// Print the configuration files, and whether they exist.
    Path(ConfigPathOptions),
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ConfigShowOptions {
    /// Print JSON.
    #[arg(long)]
    pub(in crate::app::cli) json: bool,
    /// How `run` prints the result.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(in crate::app::cli) output: Option<Format>,
    #[command(flatten)]
    pub(in crate::app::cli) session: SessionOptions,
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ConfigPathOptions {
    /// Print JSON.
    #[arg(long)]
    pub(in crate::app::cli) json: bool,
    /// The folder, `project.json` or worker file of the project; default: the current folder.
    #[arg(long, value_name = "PATH")]
    pub(in crate::app::cli) project: Option<PathBuf>,
}
