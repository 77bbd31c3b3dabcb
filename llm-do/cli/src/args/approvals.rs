//! The options of `approvals`.

use std::path::PathBuf;

use clap::Args;

use super::RunFilter;
use crate::project::FileOptions;

pub(crate) const EXAMPLES: &str = "Examples:
  approvals --propose run-*.jsonl
  approvals --propose https://runs.example.com --token-file token --since 30d --data write.text
  check --replay run.jsonl --policy proposed-policy.json    what it would have decided";

#[derive(Args, Debug)]
pub(crate) struct ApprovalsOptions {
    /// Propose the smallest policy that would have decided as people did, with the evidence for each rule.
    ///
    /// A rule approves the calls of one tool by one caller whose arguments have what the approved ones have in common: exact values, a
    /// range of numbers, a folder, or a host and a path.
    #[arg(long, required = true)]
    #[expect(dead_code, reason = "the command does nothing else, so the parser requires the option")]
    pub(crate) propose: bool,
    /// The journals: files of `--journal`, databases of `serve`, addresses of services, or `restate:NAME`.
    #[arg(value_name = "JOURNAL", required = true, num_args = 1..)]
    pub(crate) journal: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) runs: RunFilter,
    /// Also propose rules for tools that are `effect = destructive`.
    #[arg(long)]
    pub(crate) destructive: bool,
    /// This argument of a tool only carries data, such as the text of a file: any text of the approved length is approved; may be given
    /// several times.
    #[arg(long, value_name = "TOOL.ARGUMENT", value_parser = data)]
    pub(crate) data: Vec<(String, String)>,
    /// The new file for the policy; the evidence is written beside it, as FILE.evidence.md.
    #[arg(long, value_name = "FILE", default_value = "proposed-policy.json")]
    pub(crate) out: PathBuf,
    /// Print the proposal with its evidence as a JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) items: FileOptions,
}

/// Parses the name of an argument of a tool. The names of tools have no dots.
fn data(text: &str) -> Result<(String, String), String> {
    let (tool, argument) = text.split_once('.').ok_or("expected `TOOL.ARGUMENT`, such as `write.text`")?;
    Ok((tool.to_owned(), argument.to_owned()))
}
