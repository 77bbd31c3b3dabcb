//! The grammar of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand};

use crate::base::usage::Limits;
use crate::session::runtime::RuntimeBuilder;
use crate::usage::Money;

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
    Run(Box<RunOptions>),
    /// List tools, workers and entries: kind, effect, approval of calls that are not the user's own, and description.
    Tools(ToolsOptions),
    /// Check that the program could run: names, toolsets, state, models; what may be wrong goes to standard error.
    Check(CheckOptions),
    /// List what a journal holds: what was called, with what, what it came to and when.
    ///
    /// Each call is above what happened in it. One that has not ended is listed if something in it has.
    Journal(JournalOptions),
    /// Run a candidate over what a worker was asked, as journals have it, and compare the results.
    ///
    /// Each different input is a case. Exits with 0 if the candidate agrees in all of them, and else with 1.
    Harden(HardenOptions),
    /// Fetch an embedded model's file, so that no run waits for it, and print where it is.
    #[cfg(feature = "local-download")]
    Fetch(FetchOptions),
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
pub(super) struct CheckOptions {
    /// The model, `provider:model`, of workers that name none; default: `LLM_DO_MODEL`.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    #[command(flatten)]
    pub(super) workers: Workers,
}

#[derive(Args, Debug)]
pub(super) struct RunOptions {
    /// The entry; default: `main`, or the only one. A single word that is no entry, tool or worker is the prompt.
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
    /// Write the files of the result, if it has any, into this folder; what is there is kept.
    #[arg(long, value_name = "DIR")]
    pub(super) files: Option<PathBuf>,
    /// Show calls (-v), and what models write (-vv).
    #[arg(short, long, action = ArgAction::Count)]
    pub(super) verbose: u8,
    /// Write every event to this file, as JSON Lines.
    ///
    /// On Unix, only its owner may read it: it holds arguments and answers as they are.
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    #[command(flatten)]
    pub(super) workers: Workers,
    /// Record every effect in this file; if it has records of this run, resume it.
    ///
    /// Nothing that is recorded is done again. If the run ended in an error, the failures that led to it are tried again;
    /// failures that it went on from are not. `journal FILE` lists what it holds.
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,
    #[command(flatten)]
    pub(super) limits: LimitOptions,
}

/// What a run may use; an option that is not given leaves what the application says.
#[derive(Args, Debug)]
pub(super) struct LimitOptions {
    /// At most this many requests to models.
    #[arg(long, value_name = "N")]
    limit_requests: Option<u64>,
    /// No further request once so many tokens are read and written.
    #[arg(long, value_name = "N")]
    limit_tokens: Option<u64>,
    /// No further request once they cost so much, such as 0.50; a model of unknown price is refused.
    #[arg(long, value_name = "DOLLARS")]
    limit_cost: Option<Money>,
    /// End the run after so long, such as 90 or 0.5.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl LimitOptions {
    /// Returns the limits of the application, with what the options say in their place.
    pub(super) fn over(&self, limits: Limits) -> Limits {
        let mut over = limits;
        over.requests = self.limit_requests.or(over.requests);
        over.total_tokens = self.limit_tokens.or(over.total_tokens);
        over.cost = self.limit_cost.or(over.cost);
        over.wall_time = self.timeout.or(over.wall_time);
        over
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wanted = || "give seconds, such as 90 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wanted())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wanted)
}

#[derive(Args, Debug)]
pub(super) struct JournalOptions {
    /// The journal, as `run --journal` writes it.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// Print each record as a line of JSON, with whole values, in the order in which the effects ended.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct HardenOptions {
    /// The worker's name.
    pub(super) worker: String,
    /// The candidate: a tool that is `read_only`, or any with --approve-all.
    #[arg(long, value_name = "NAME")]
    pub(super) tool: String,
    /// The journals of runs, as `run --journal` writes them.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) journal: Vec<PathBuf>,
    /// Ignore this field of results, as a JSON pointer such as /note or /people/*/note; may be given several times.
    #[arg(long, value_name = "POINTER")]
    pub(super) ignore: Vec<String>,
    /// Let the candidate change things, and approve every call that it makes.
    #[arg(long)]
    pub(super) approve_all: bool,
    /// Print each case as a line of JSON, with whole values, and a last line with the sums.
    #[arg(long)]
    pub(super) json: bool,
}

#[cfg(feature = "local-download")]
#[derive(Args, Debug)]
pub(super) struct FetchOptions {
    /// The model: `local:OWNER/REPO/FILE.gguf` of the Hugging Face Hub; `REPO@REVISION` for a branch, a tag or a commit.
    #[arg(value_name = "MODEL")]
    pub(super) model: String,
}

#[derive(Args, Debug)]
pub(super) struct ToolsOptions {
    /// Print JSON, with schemas.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) workers: Workers,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::{Arguments, Command, Duration, Limits, Money, Parser};

    fn over(options: &[&str], limits: Limits) -> Limits {
        let words = ["app", "run"].iter().chain(options);
        match Arguments::try_parse_from(words).expect("it is right").command {
            Command::Run(options) => options.limits.over(limits),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_documentation_of_main_lists_every_command_and_option() {
        let docs = include_str!("../../../docs/cli.md");
        let (run, others) = docs.split_once("# Other commands").expect("there are two lists");
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let place = if name == "run" { run } else { others };
            let row = if name == "run" {
                Some(place)
            } else {
                place.lines().find(|line| line.contains(&format!("| `{name}")))
            };
            let row = row.unwrap_or_else(|| panic!("no row for `{name}`"));
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(row.contains(&format!("`--{option}")), "`{name} --{option}` is not in {row}");
            }
        }
    }

    #[test]
    fn an_option_goes_before_what_the_application_says_and_leaves_the_rest() {
        let of_application = Limits::new().requests(9).tool_calls(7).wall_time(Duration::from_secs(5));
        assert_eq!(over(&[], of_application.clone()), of_application);
        let options = ["--limit-requests", "3", "--limit-tokens", "1000", "--limit-cost", "0.5", "--timeout", "1.5"];
        let both = Limits::new().requests(3).tool_calls(7).total_tokens(1000).cost(Money::from_cents(50));
        assert_eq!(over(&options, of_application), both.wall_time(Duration::from_millis(1500)));
    }
}
