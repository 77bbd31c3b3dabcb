//! The commands and options of `config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::SessionOptions;
use crate::output::Format;

#[derive(Args, Debug)]
pub(crate) struct ConfigOptions {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print each setting with its value and its source: an option, a variable, the line of a file, or the program.
    #[command(after_help = "Example: config show --project DIR --json")]
    Show(Box<ConfigShowOptions>),
    /// Print the configuration files, and whether they exist.
    Path(ConfigPathOptions),
}

#[derive(Args, Debug)]
pub(crate) struct ConfigShowOptions {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// How `run` prints the result.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) output: Option<Format>,
    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

#[derive(Args, Debug)]
pub(crate) struct ConfigPathOptions {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder, `project.json` or worker file of the project; default: the current folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) project: Option<PathBuf>,
}
