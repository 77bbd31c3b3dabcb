//! The command line of an application: runs and lists the linked tools, workers and entries.

mod agreed;
mod answer;
mod approvals;
mod approve;
mod args;
mod chat;
mod check;
mod config;
mod console;
#[cfg(feature = "eval")]
mod eval;
mod example;
#[cfg(feature = "local-download")]
mod fetch;
mod files;
mod flags;
mod gate;
mod generate;
mod harden;
mod init;
mod input;
mod journal;
mod keyboard;
mod listener;
#[cfg(feature = "mcp")]
mod mcp;
mod out_folder;
mod output;
mod progress;
mod project;
mod record;
mod recorded;
#[cfg(feature = "restate")]
mod restate;
mod rule_file;
mod run;
#[cfg(feature = "serve")]
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod setup;
mod state;
mod stdout;
mod terminal_lock;
mod terminal_user;
mod tools;
#[cfg(feature = "trace")]
mod trace;
mod trust;
mod wait_notice;

use std::ffi::OsString;
use std::fmt;
use std::future::Future;
use std::io::{self, Write};
use std::process::ExitCode;
#[cfg(feature = "eval")]
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches};
use futures_util::FutureExt;
use llm_do_core::base::error::{BoxError, chain};
use llm_do_core::base::printable::printable;
use llm_do_core::plane::registry::Application;
use llm_do_core::session::runtime::{BuildError, RuntimeBuilder};
#[cfg(feature = "eval")]
use llm_do_eval::{Arguments as EvaluatorArguments, ByFunction, Evaluator, EvaluatorContext, Findings};

use self::args::{Arguments, Command};
use self::flags::Flag;
use self::stdout::{print, print_json, print_raw};

#[doc = include_str!("../docs/cli.md")]
#[must_use]
pub fn main() -> ExitCode {
    Cli::new().main()
}

/// The command line of an application, with its default model and runtime configuration.
#[must_use = "a command line does nothing until `main` is called"]
#[derive(Default)]
pub struct Cli {
    default_model: Option<String>,
    configure: Option<Box<dyn FnOnce(RuntimeBuilder) -> RuntimeBuilder>>,
    configure_async: Option<setup::Configure>,
    runs_projects: bool,
    application: Option<Application>,
    exposed: Vec<String>,
    #[cfg(feature = "eval")]
    evaluators: eval::Evaluators,
}

impl Cli {
    /// Returns a command line without a default model or configuration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the model of workers that declare none, if no option, variable or configuration file does. Default: none.
    pub fn default_model(mut self, name: impl Into<String>) -> Self {
        self.default_model = Some(name.into());
        self
    }

    /// Sets the name and version of the application, such as `env!("CARGO_PKG_NAME")` and `env!("CARGO_PKG_VERSION")`.
    /// They appear in `--version`, in MCP servers and clients, on the page of a service and in the user agent of
    /// requests. Default: the file name of the program, and the version of this crate.
    pub fn application(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.application = Some(Application::new(name, Some(version.into())));
        self
    }

    /// Also offers these tools, workers and toolsets in the commands `mcp` and `serve`, besides the entries. Default:
    /// `mcp` offers entries and workers, or the application's own tools if it has neither; `serve` offers entries.
    ///
    /// A project lists its own as `"mcp": { "expose": [..] }`, and the options `--expose` list everything that is
    /// offered.
    pub fn expose(mut self, names: impl IntoIterator<Item: Into<String>>) -> Self {
        self.exposed.extend(names.into_iter().map(Into::into));
        self
    }

    /// Runs the project in the current folder, unless an option names another: for a program without its own entries,
    /// such as `llm-do`. Default: only linked items, and those that options name.
    pub fn run_projects(mut self) -> Self {
        self.runs_projects = true;
        self
    }

    /// Configures the runtime: its state, sinks, policy and settings. Options, variables and configuration files take
    /// precedence.
    ///
    /// It runs before every command, including those that only list and check, so it should be fast: use
    /// [`configure_async`](Self::configure_async) to connect to servers and to open resources that may be missing.
    ///
    /// # Examples
    ///
    /// ```no_run,standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// struct Notes(Vec<String>);
    ///
    /// /// Count the notes.
    /// #[tool(effect = read_only)]
    /// fn count_notes(notes: State<Notes>) -> usize {
    ///     notes.0.len()
    /// }
    ///
    /// fn main() -> ExitCode {
    ///     llm_do::cli::Cli::new().configure(|builder| builder.state(Notes(vec![]))).main()
    /// }
    /// ```
    pub fn configure(mut self, configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder + 'static) -> Self {
        self.configure = Some(Box::new(configure));
        self
    }

    /// Configures the runtime with async or fallible code, after [`configure`](Self::configure). An error ends the
    /// program with exit code 1.
    ///
    /// It runs before the commands that make calls: `run`, `call`, `chat`, `serve`, `mcp`, `eval`, `harden`, `approvals` and
    /// `check --replay`. Other commands, such as `tools` and `check`, run without it: they do not see its tools and
    /// policies, and `check` does not check state. Tasks that it spawns live as long as the program.
    ///
    /// # Examples
    ///
    /// ```no_run,standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// struct Notes(String);
    ///
    /// /// Find a note.
    /// #[tool(effect = read_only)]
    /// fn find_note(word: &str, notes: State<Notes>) -> Option<String> {
    ///     notes.0.lines().find(|line| line.contains(word)).map(str::to_owned)
    /// }
    ///
    /// fn main() -> ExitCode {
    ///     let cli = llm_do::cli::Cli::new().configure_async(async |builder| {
    ///         let text = tokio::task::spawn_blocking(|| std::fs::read_to_string("notes.txt")).await??;
    ///         Ok(builder.state(Notes(text)))
    ///     });
    ///     cli.main()
    /// }
    /// ```
    pub fn configure_async<F, R>(mut self, configure: F) -> Self
    where
        F: FnOnce(RuntimeBuilder) -> R + 'static,
        R: Future<Output = llm_do_core::base::error::Result<RuntimeBuilder>> + 'static,
    {
        self.configure_async = Some(Box::new(move |builder: RuntimeBuilder| configure(builder).boxed_local()));
        self
    }

    /// Adds an evaluator of the command `eval`, which datasets use by its name.
    #[cfg(feature = "eval")]
    pub fn evaluator(mut self, name: impl Into<String>, evaluator: impl Evaluator + 'static) -> Self {
        self.evaluators.insert(name.into(), Arc::new(evaluator));
        self
    }

    /// Adds a function as an evaluator of the command `eval`.
    #[cfg(feature = "eval")]
    pub fn evaluate_with<F>(self, name: impl Into<String>, function: F) -> Self
    where
        F: Fn(&EvaluatorContext<'_>, &EvaluatorArguments) -> llm_do_core::base::error::Result<Findings>
            + Send
            + Sync
            + 'static,
    {
        self.evaluator(name, ByFunction(function))
    }

    /// Runs the command line.
    #[must_use]
    pub fn main(self) -> ExitCode {
        #[cfg(feature = "mcp")]
        llm_do_mcp::reaper_process();
        #[cfg(feature = "script")]
        llm_do_core::plane::script::interpreter_process();
        // Exits here with 2 for invalid usage, and with 0 after printing help.
        let (words, flags) = flags::split(std::env::args_os().collect());
        let arguments = self.parse(words);
        // A tool's panic becomes the error of its call. Its message may contain a model's text, so it is escaped.
        std::panic::set_hook(Box::new(|panic| drop(writeln!(io::stderr(), "{}", printable(&panic.to_string())))));
        match self.execute(arguments.command, flags) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Ignored: standard error may be closed.
                let _ = writeln!(io::stderr(), "error: {}", printable(&error.to_string()));
                error.exit_code()
            }
        }
    }

    /// Parses the command line, and sets the name of the application.
    fn parse(&self, words: Vec<OsString>) -> Arguments {
        let application = self.application.clone().unwrap_or_else(|| Application::new(program_name(), None));
        let shown = Arguments::command().name(application.name.clone()).version(application.shown_version());
        #[cfg(any(feature = "anthropic", feature = "gemini", feature = "local-download", feature = "openai"))]
        llm_do_providers::set_user_agent(application.user_agent());
        application.set();
        let parsed = Arguments::from_arg_matches(&shown.get_matches_from(words));
        parsed.unwrap_or_else(|error| error.exit())
    }

    fn execute(self, command: Command, flags: Vec<Flag>) -> Result<(), CommandError> {
        let runs_projects = self.runs_projects;
        #[cfg(any(feature = "mcp", feature = "serve"))]
        let exposed = self.exposed;
        #[cfg(feature = "eval")]
        let evaluators = self.evaluators;
        let mut builder = RuntimeBuilder::default();
        if let Some(name) = self.default_model {
            builder = builder.default_model(name);
        }
        if let Some(configure) = self.configure {
            builder = configure(builder);
        }
        if let Some(configure) = self.configure_async {
            builder = setup::configured(builder, configure, &command)?;
        }
        match command {
            Command::Run(options) => run::run(builder, *options, flags, runs_projects),
            Command::Call(options) => run::run(builder, (*options).into(), flags, runs_projects),
            Command::Chat(options) => chat::chat(builder, *options, runs_projects),
            Command::Tools(options) => tools::list(builder, &options, runs_projects),
            Command::Check(options) => check::check(builder, &options, runs_projects),
            #[cfg(feature = "mcp")]
            Command::Mcp(options) => mcp::mcp(builder, &options, exposed, runs_projects),
            #[cfg(feature = "serve")]
            Command::Serve(options) => serve::serve(builder, &options, exposed, runs_projects),
            #[cfg(feature = "serve")]
            Command::Runs(options) => runs::runs(&options),
            Command::Config(options) => config::config(builder, &options.command, runs_projects),
            Command::Init(options) => init::init(&options),
            Command::Completions(options) => generate::completions(options.shell),
            Command::Man => generate::manual(),
            Command::Journal(options) => journal::journal(&options),
            Command::Harden(options) => harden::harden(builder, &options, runs_projects),
            Command::Approvals(options) => approvals::propose(builder, &options, runs_projects),
            #[cfg(feature = "eval")]
            Command::Eval(options) => eval::eval(builder, &options, evaluators, runs_projects),
            #[cfg(feature = "trace")]
            Command::Trace(options) => trace::trace(&options),
            #[cfg(feature = "local-download")]
            Command::Fetch(options) => fetch::fetch(&options),
        }
    }
}

impl fmt::Debug for Cli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli").field("default_model", &self.default_model).finish_non_exhaustive()
    }
}

/// Returns the file name of this program, without its extension.
fn program_name() -> String {
    let program = std::env::args_os().next().map(std::path::PathBuf::from);
    let name = program.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "llm-do".to_owned())
}

/// The error for a call that is settled without an outcome.
const NO_OUTCOME: &str = "what became of the call is missing; give `--result JSON` or `--not-done`";

/// The error of a command.
#[derive(Debug)]
enum CommandError {
    /// The command line is invalid: exit code 2.
    Usage(String),
    /// The command failed: exit code 1.
    Error(String),
}

impl CommandError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Error(_) => ExitCode::FAILURE,
        }
    }

    fn from_error(error: impl Into<BoxError>) -> Self {
        let error = error.into();
        match error.downcast_ref::<BuildError>() {
            Some(error) => Self::Error(error.of_command_line()),
            None => Self::Error(chain(error.as_ref())),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text) | Self::Error(text)) = self;
        f.write_str(text)
    }
}
