//! The commands and options of the command line.

mod batch;
mod config;
#[cfg(feature = "eval")]
mod eval;
mod gate;
mod harden;
#[cfg(feature = "mcp")]
mod mcp;
mod recorded;
#[cfg(feature = "serve")]
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod session;
#[cfg(feature = "trace")]
mod trace;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use llm_do_core::observe::journal::Settlement;
use serde_json::Value;

pub(super) use self::config::{ConfigCommand, ConfigOptions, ConfigPathOptions, ConfigShowOptions};
#[cfg(feature = "eval")]
pub(super) use self::eval::{
    EvalCommand, EvalOptions, EvaluateOptions, ImportOptions, ReportFormat, SchemaOptions, Threshold,
};
pub(super) use self::harden::HardenOptions;
#[cfg(feature = "mcp")]
pub(super) use self::mcp::{
    CheckServersOptions, LoginOptions, LogoutOptions, McpCommand, McpOptions, ServeOptions, SnapshotOptions,
};
pub(super) use self::recorded::{IN_FLIGHT, RecordOptions, RunFilter};
#[cfg(feature = "serve")]
pub(super) use self::runs::{ListRunsOptions, RunSource, RunsCommand, RunsOptions, SettleOptions, ShowRunOptions};
#[cfg(feature = "serve")]
pub(super) use self::serve::ServiceOptions;
pub(super) use self::session::SessionOptions;
#[cfg(feature = "trace")]
pub(super) use self::trace::{DiffOptions, ShowOptions, TraceCommand, TraceFormat, TraceOptions};
use super::flags::Flag;
use super::output::Format;
use super::project::FileOptions;

/// Runs tools, workers and entries of this program.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, after_help = SETTINGS_HINT)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

const SETTINGS_HINT: &str =
    "Options such as --model can also be set by variables and in files: `config show` lists them.";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run an entry, or any tool or worker, and print its result.
    ///
    /// An argument may also be given as an option of its name: `--path src/lib.rs`.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunOptions>),
    /// Call one tool or worker and print its result.
    ///
    /// An argument may also be given as an option of its name: `--a 2 --b 3`.
    #[command(after_help = CALL_EXAMPLES)]
    Call(Box<CallOptions>),
    /// Talk to a worker or an entry, which remembers the conversation.
    ///
    /// Chats are saved after each message. `/help` lists the commands. Limits apply to each message.
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(Box<ChatOptions>),
    /// List tools, workers, entries and toolsets: kind, effect, approval of calls made by models or code, description.
    Tools(ToolsOptions),
    /// Check names, toolsets, state and models without running anything; warnings go to standard error.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckOptions),
    /// Serve tools, workers and entries to MCP clients; keep snapshots of servers.
    ///
    /// What needs approval is asked of the client's user.
    #[cfg(feature = "mcp")]
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(Box<McpOptions>),
    /// Serve runs over HTTP: start, watch, approve and resume them; they continue after a restart.
    #[cfg(feature = "serve")]
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServiceOptions>),
    /// List the runs of a service, the latest first, or show one.
    ///
    /// They are read from the database of `serve`, which contains the runs that live in Restate and are shown by `--page` too, or
    /// from a running service.
    #[cfg(feature = "serve")]
    #[command(after_help = RUNS_EXAMPLES)]
    Runs(Box<RunsOptions>),
    /// Show the settings of this program, or where their files are.
    Config(ConfigOptions),
    /// Write the files of a new project, or of a new application in Rust, into a folder.
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitOptions),
    /// Print a script with the completions of a shell, for its configuration.
    #[command(after_help = "Example: completions bash > ~/.local/share/bash-completion/completions/NAME")]
    Completions(CompletionsOptions),
    /// Print the manual page, for `man -l -`.
    Man,
    /// List the calls in a journal with their arguments, results and times.
    ///
    /// Nested calls are indented below their caller. An unfinished call is listed if a call in it has finished.
    #[command(after_help = "Examples:\n  run --journal run.jsonl \"Review the notes\", then journal run.jsonl\n  \
                      journal run.jsonl --unknown, then journal run.jsonl --settle STEP --result '{\"id\": 7}'")]
    Journal(JournalOptions),
    /// Show what happened in a run: its calls as a tree, as JSON, or as a page.
    #[cfg(feature = "trace")]
    #[command(after_help = TRACE_EXAMPLES)]
    Trace(TraceOptions),
    /// Run a candidate tool on the recorded inputs of a worker and compare the results.
    ///
    /// Each distinct input is a case. Exits with 0 if the candidate agrees in all cases, and with 1 otherwise.
    #[command(after_help = harden::EXAMPLES)]
    Harden(Box<HardenOptions>),
    /// Run tools and workers over a dataset, score what they return, and compare them.
    ///
    /// Each tool with each model is a variant; the later ones are compared with the first. Exits with 1 if a threshold is not
    /// reached.
    #[cfg(feature = "eval")]
    #[command(after_help = EVAL_EXAMPLES)]
    Eval(Box<EvalOptions>),
    /// Download the file of an embedded model before a run needs it, and print its path.
    #[cfg(feature = "local-download")]
    #[command(after_help = "Example: fetch local:OWNER/REPO/FILE.gguf")]
    Fetch(FetchOptions),
}

#[derive(Args, Debug)]
pub(super) struct CheckOptions {
    /// The model, `provider:model`, of workers that declare none; default: `LLM_DO_MODEL`, or `model` of a configuration
    /// file.
    #[arg(long, value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Replay the recorded runs of this journal, and report the first step of each that differs: before a deploy. Bodies of entries run
    /// again, tools and models do not.
    ///
    /// A file of `--journal`, a database of `serve`, the address of a service, or `restate:NAME`. Of a database, a service and Restate,
    /// the runs in flight are replayed, unless --state or --run is given.
    #[arg(long, value_name = "JOURNAL")]
    pub(super) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(super) runs: RunFilter,
    /// Show which rule decides about a call of this tool by a model or by code, and which other rules match it: those of `--policy`,
    /// of the program and of the project.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["replay", "strict"])]
    pub(super) call: Option<String>,
    /// The arguments of `--call`, as a JSON object; default: `{}`.
    #[arg(long, value_name = "JSON", requires = "call")]
    pub(super) input_json: Option<String>,
    /// Fail if anything is left out: a faulty subagent, skill or MCP server that nothing names, or a tool that a server does not
    /// describe. Keys without an effect are not counted.
    #[arg(long)]
    pub(super) strict: bool,
    #[command(flatten)]
    pub(super) items: FileOptions,
}

const CHECK_EXAMPLES: &str = "Examples:
  check --replay run.jsonl
  check --replay https://runs.example.com --token-file token    the runs in flight
  check --policy policy.json --call refund --input-json '{\"cents\":20000}'";

const RUN_EXAMPLES: &str = "Examples:
  run \"Review the notes\"          the default entry, with a prompt
  run main --path src/lib.rs      an entry, with an argument by name
  run --project DIR --model openai:gpt-5-mini \"Hello\"
  run --journal run.jsonl -v      record the run, or resume it, and show calls
  run --dry-run \"Tidy the inbox\"  print what would be changed, and change nothing";

#[cfg(feature = "mcp")]
const MCP_EXAMPLES: &str = "Examples:
  mcp --tools add,main             for a client that starts this program
  mcp --http 127.0.0.1:8080        for clients of this machine
  mcp --http 0.0.0.0:8080 --host tools.example.com --token-file token
  mcp snapshot github --project . > github.mcp.json";

#[cfg(feature = "serve")]
const SERVE_EXAMPLES: &str = "Examples:
  serve                            for this machine, at http://127.0.0.1:8080/
  serve --service service.json --listen 0.0.0.0:8080 --host runs.example.com
  curl --json '{\"entry\":\"main\",\"arguments\":{\"input\":\"Hello\"}}' http://127.0.0.1:8080/runs";

#[cfg(feature = "serve")]
const RUNS_EXAMPLES: &str = "Examples:
  runs --state waiting             what waits for people or for a time
  runs --entry main --since 7d --json
  runs --url https://runs.example.com --token-file token
  runs show 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01";

const CALL_EXAMPLES: &str = "Examples:
  call project_read_file --path a.txt      arguments by name
  call add --input-json '{\"a\":2,\"b\":3}'    arguments as JSON";

const CHAT_EXAMPLES: &str = "Examples:
  chat                     the default entry
  chat editor -v           a worker, with its calls
  chat --continue          the latest chat of this folder
  chat --resume            the chats of this folder";

#[cfg(feature = "trace")]
const TRACE_EXAMPLES: &str = "Examples:
  run --events run.jsonl --content \"Review the notes\"
  trace run.jsonl                      the calls, with times, tokens and cost
  trace run.jsonl --html run.html      a page, with the messages of each request
  trace diff before.jsonl after.jsonl";

#[cfg(feature = "eval")]
const EVAL_EXAMPLES: &str = "Examples:
  eval import greet --journal run.jsonl > greet.yaml
  eval greet.yaml --tool greet --tool greet_by_rule
  eval greet.yaml --tool greet --model openai:gpt-5 --model openai:gpt-5-mini --repeat 3 --html report.html
  eval greet.yaml --tool greet --results evals --fail-under 0.9 --fail-if-worse";

const INIT_EXAMPLES: &str = "Examples:
  init notes               a project in the folder `notes`
  init --app notes         an application in Rust";

#[derive(Args, Debug)]
pub(super) struct RunOptions {
    /// The entry; default: that of the project, `main`, or the only entry. A single word that names no entry, tool or
    /// worker is the prompt; a path of a project or a worker file is run.
    pub(super) name: Option<String>,
    /// The input, as text; default: standard input, if input is required and standard input is not a terminal.
    pub(super) prompt: Option<String>,
    /// Run this tool or worker instead of an entry.
    #[arg(long, value_name = "NAME")]
    pub(super) tool: Option<String>,
    #[command(flatten)]
    pub(super) call: RootOptions,
}

#[derive(Args, Debug)]
pub(super) struct CallOptions {
    /// The tool or worker.
    pub(super) name: String,
    /// The input, as text; default: standard input, if input is required and standard input is not a terminal.
    pub(super) prompt: Option<String>,
    #[command(flatten)]
    pub(super) call: RootOptions,
}

impl From<CallOptions> for RunOptions {
    fn from(CallOptions { name, prompt, call }: CallOptions) -> Self {
        Self { name: prompt, prompt: None, tool: Some(name), call }
    }
}

/// Options of a root call.
#[derive(Args, Debug)]
pub(super) struct RootOptions {
    /// The input, as a JSON object of arguments.
    #[arg(long, value_name = "JSON", conflicts_with = "prompt")]
    pub(super) input_json: Option<String>,
    /// Arguments that are given as options of their names.
    #[arg(skip)]
    pub(super) flags: Vec<Flag>,
    /// Attach this file, of at most 20 MiB, to the input; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(super) attach: Vec<PathBuf>,
    /// How to print the result: as text, as a JSON object with the usage, or after each event as JSON Lines; default:
    /// text.
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(super) output: Option<Format>,
    /// Write every event to this file, as JSON Lines.
    ///
    /// It contains arguments and answers in plain text; on Unix, only its owner may read it.
    #[arg(long, value_name = "FILE")]
    pub(super) events: Option<PathBuf>,
    /// Record every effect in this file, or resume the run that it records.
    ///
    /// Recorded effects are not repeated. If the run ended in an error, the failures that caused it are retried, and
    /// failures that the run handled are not. `journal FILE` lists the records.
    #[arg(long, value_name = "FILE")]
    pub(super) journal: Option<PathBuf>,
    /// Only plan: run what reads, note all other calls in place of making them, and print this plan.
    ///
    /// No approval is asked for. Models are asked as in any run. The plan follows the result, or is in the JSON object.
    #[arg(long, conflicts_with = "journal")]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) session: SessionOptions,
}

#[derive(Args, Debug)]
pub(super) struct ChatOptions {
    /// The worker or entry to talk to; default: that of the resumed chat, or the default entry.
    pub(super) name: Option<String>,
    /// Continue the latest chat of this folder.
    #[arg(long = "continue", conflicts_with = "resume")]
    pub(super) continues: bool,
    /// Continue this chat: the first letters of its id are enough. Without an id, list the chats of this folder.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(super) resume: Option<String>,
    /// Continue a copy of the chat, and keep the chat as it is.
    #[arg(long)]
    pub(super) fork: bool,
    /// Attach this file, of at most 20 MiB, to the first message; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(super) attach: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) record: RecordOptions,
    #[command(flatten)]
    pub(super) session: SessionOptions,
}

#[derive(Args, Debug)]
pub(super) struct InitOptions {
    /// The folder; existing files are kept, and are an error.
    #[arg(default_value = ".")]
    pub(super) folder: PathBuf,
    /// Write an application in Rust instead of a project of files.
    #[arg(long)]
    pub(super) app: bool,
}

#[derive(Args, Debug)]
pub(super) struct CompletionsOptions {
    /// The shell.
    pub(super) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(super) struct JournalOptions {
    /// The journal: a file of `--journal`, a database of `serve`, the address of a service, or `restate:NAME`.
    #[arg(value_name = "JOURNAL")]
    pub(super) file: PathBuf,
    /// Print each record as a line of JSON with full values, in the order in which the effects finished.
    #[arg(long)]
    pub(super) json: bool,
    /// List only the calls that may have had their effect, with the keys of their steps.
    #[arg(long)]
    pub(super) unknown: bool,
    /// Settle what became of such a call, by the key of its step. Then run the same command again to resume.
    #[arg(long, value_name = "STEP", conflicts_with_all = ["unknown", "json"])]
    pub(super) settle: Option<String>,
    #[command(flatten)]
    pub(super) runs: RunFilter,
    #[command(flatten)]
    pub(super) outcome: OutcomeOptions,
}

/// What became of a call that may have had its effect.
#[derive(Args, Debug)]
pub(super) struct OutcomeOptions {
    /// The call has happened, and this is its result, as JSON.
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(super) result: Option<Value>,
    /// The call has not happened: it runs, once the rules approve it, when the run is resumed.
    #[arg(long, conflicts_with = "result")]
    pub(super) not_done: bool,
}

impl OutcomeOptions {
    /// Returns the settlement, if it is given.
    pub(super) fn settlement(&self) -> Option<Settlement> {
        let not_done = self.not_done.then_some(Settlement::NotDone);
        self.result.clone().map(Settlement::Result).or(not_done)
    }
}

/// Parses JSON.
fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("expected JSON, such as `7` or `\"done\"`: {error}"))
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
    pub(super) items: FileOptions,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory;
    use llm_do_core::base::usage::Limits;
    use llm_do_core::session::runtime::RuntimeBuilder;
    use llm_do_providers::Money;

    use super::{Arguments, Command, Parser};
    use crate::config::setting_names;

    fn overridden(options: &[&str], limits: Limits) -> Limits {
        let words = ["app", "run"].iter().chain(options);
        match Arguments::try_parse_from(words).expect("the arguments are valid").command {
            Command::Run(options) => {
                let builder = options.call.session.settings().add_to(RuntimeBuilder::default().limits(limits));
                builder.preset().limits
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_documentation_of_main_lists_every_command_and_option() {
        let docs = include_str!("../docs/cli.md");
        let (run, rest) = docs.split_once("\n# chat").expect("the page has a part about `chat`");
        let (chat, others) = rest.split_once("\n# Other commands").expect("the page has a list of other commands");
        for command in Arguments::command().get_subcommands() {
            let name = command.get_name();
            let row = others.lines().find(|line| line.contains(&format!("| `{name}")));
            let part = match name {
                "run" | "call" => run,
                "chat" => chat,
                // Their rows refer to the options of `chat`.
                "mcp" | "serve" => &[row.unwrap_or_else(|| panic!("no row for `{name}`")), chat].concat(),
                // The rows of its commands are checked below.
                "config" => continue,
                _ => row.unwrap_or_else(|| panic!("no row for `{name}`")),
            };
            for option in command.get_arguments().filter_map(|argument| argument.get_long()) {
                assert!(part.contains(&format!("`--{option}")), "`{name} --{option}` is not in {part}");
            }
        }
    }

    #[test]
    fn the_documentation_of_main_lists_every_setting_with_its_variable() {
        let docs = include_str!("../docs/cli.md");
        let (_, configuration) = docs.split_once("\n# Configuration").expect("the page has a part about settings");
        for (key, variable) in setting_names() {
            assert!(configuration.contains(&format!("| `{key}` | `{variable}` |")), "no row for `{key}`");
        }
        for command in ["show", "path"] {
            assert!(docs.contains(&format!("| `config {command}`")), "no row for `config {command}`");
        }
    }

    #[test]
    fn an_option_overrides_only_its_own_limit_of_the_application() {
        let of_application = Limits::new().requests(9).tool_calls(7).wall_time(Duration::from_secs(5));
        assert_eq!(overridden(&[], of_application.clone()), of_application);
        let options = ["--limit-requests", "3", "--limit-tokens", "1000", "--limit-cost", "0.5", "--timeout", "1.5"];
        let both = Limits::new().requests(3).tool_calls(7).total_tokens(1000).cost(Money::from_cents(50));
        assert_eq!(overridden(&options, of_application), both.wall_time(Duration::from_millis(1500)));
    }
}
