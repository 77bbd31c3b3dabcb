//! Resolves the words on the command line to the item to run and its arguments.

use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use llm_do_core::declare::prompt::read_anywhere;
use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::registry::{Registered, Registry};
use llm_do_worker_file::did_you_mean;
use serde_json::{Map, Value, json};

use super::CommandError;
use super::args::{RootOptions, RunOptions};
use super::example::example;
use super::flags::{self, Flag};
use super::project::{Entries, no_project};
use super::wait_notice::with_wait_notice;

/// The name of the default entry, or of a worker that serves as one.
const MAIN: &str = "main";

/// The root call of a run.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Resolves the item to run and its arguments.
pub(super) fn root(registry: &Registry, options: &RunOptions, entries: &Entries) -> Result<Root, CommandError> {
    let names = CommandNames { registry, entries };
    let call = &options.call;
    let found = names.target(options).map_err(|error| flags::with_suggestions(&call.flags, error));
    let (item, prompt) = found?;
    let has_input = prompt.is_some() || call.input_json.is_some() || !call.flags.is_empty() || !call.attach.is_empty();
    if entries.refuses_input && has_input {
        let text = "the project takes no input: `allow_cli_input` is false in its `project.json`";
        return Err(CommandError::Usage(text.to_owned()));
    }
    let is_entry = entries.entry.as_deref() == Some(item.name());
    let of_project = entries.arguments.as_ref().filter(|_| is_entry);
    let mut arguments = match (&call.input_json, prompt, of_project) {
        (Some(_), Some(prompt), _) => return Err(names.json_and_prompt(prompt)),
        (Some(json), None, _) => object(json)?,
        (None, Some(prompt), _) => from_prompt(item, prompt, &call.flags)?,
        (None, None, Some(arguments)) => arguments.clone(),
        (None, None, None) if required(item, &[]).is_empty() || !call.flags.is_empty() => Value::Object(Map::new()),
        (None, None, None) if entries.refuses_input => {
            let text = "the project takes no input, so its `project.json` must give the arguments as `entry.args`";
            return Err(CommandError::Usage(text.to_owned()));
        }
        (None, None, None) => from_prompt(item, &standard_input(item, call)?, &call.flags)?,
    };
    let is_given = prompt.is_some() || call.input_json.is_some();
    if let Some(error) = flags::given_twice(&call.flags, item, &arguments).filter(|_| is_given) {
        return Err(error);
    }
    flags::add(&call.flags, item, &mut arguments)?;
    attach(read_files(item, &call.attach)?, &mut arguments);
    let advice = if prompt.is_some() { "; use --input-json to give the arguments by name" } else { "" };
    let invalid = |fault| CommandError::Usage(format!("invalid input for `{}`: {fault}{advice}", item.name()));
    item.validate(&arguments).map_err(invalid)?;
    Ok(Root { name: item.name().to_owned(), arguments })
}

/// Returns the item with this name, or the default entry.
pub(super) fn named<'a>(
    registry: &'a Registry,
    entries: &'a Entries,
    name: Option<&str>,
) -> Result<&'a Registered, CommandError> {
    let names = CommandNames { registry, entries };
    match name {
        Some(name) => names.tool(name, (None, None)).map(|(item, _)| item),
        None => names.default_entry(),
    }
}

/// Returns the names of items that can be run by name alone, and of those that the project and the program expose;
/// `None` if these expose nothing.
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(super) fn exposed_names(registry: &Registry, entries: &Entries, by_program: Vec<String>) -> Option<Vec<String>> {
    let exposed = [by_program, entries.exposed.clone()].concat();
    if exposed.is_empty() { None } else { Some([entry_names(registry, entries), exposed].concat()) }
}

/// Returns the names of items that can be run by name alone.
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(super) fn entry_names(registry: &Registry, entries: &Entries) -> Vec<String> {
    CommandNames { registry, entries }.all().map(|item| item.name().to_owned()).collect()
}

/// The names that a command line may contain.
#[derive(Clone, Copy)]
struct CommandNames<'a> {
    registry: &'a Registry,
    entries: &'a Entries,
}

impl<'a> CommandNames<'a> {
    /// Finds the item, and the prompt among the words.
    fn target(self, options: &'a RunOptions) -> Result<(&'a Registered, Option<&'a str>), CommandError> {
        let words = (options.name.as_deref(), options.prompt.as_deref());
        if let Some(name) = &options.tool {
            return self.tool(name, words);
        }
        let named = |name: &str| self.all().find(|entry| entry.name() == name);
        if let (Some(name), prompt) = words
            && named(name).is_none()
            && let Some(item) = self.registry.get(name)
        {
            return Err(self.not_an_entry(item, prompt.is_none()));
        }
        match words {
            (Some(name), prompt) if named(name).is_some() || prompt.is_some() => {
                let item = named(name).ok_or_else(|| self.unknown_entry(name))?;
                Ok((item, prompt))
            }
            (prompt, _) => Ok((self.default_entry()?, prompt)),
        }
    }

    /// Finds the item that `--tool` names.
    fn tool(
        self,
        name: &str,
        words: (Option<&'a str>, Option<&'a str>),
    ) -> Result<(&'a Registered, Option<&'a str>), CommandError> {
        let unknown = || CommandError::Usage(self.unknown_tool(name));
        let item = self.registry.get(name).ok_or_else(unknown)?;
        match words {
            (prompt, None) => Ok((item, prompt)),
            _ => Err(CommandError::Usage(
                "--tool takes at most one argument, the prompt; quote a prompt of several words".to_owned(),
            )),
        }
    }

    /// Returns the error for an unknown name; in a project, without advice about linking.
    fn unknown_tool(self, name: &str) -> String {
        if let Some(why) = self.registry.why_left_out(name) {
            return format!("unknown tool or worker `{name}`: {why}");
        }
        let near = did_you_mean(name, self.registry.iter().map(|item| item.name()));
        match &self.entries.project {
            Some(_) if near.is_empty() => format!("unknown tool or worker `{name}`; `tools` lists all"),
            Some(_) => format!("unknown tool or worker `{name}`{near}"),
            None => format!("unknown tool `{name}`: {}", self.registry.hint(name, None)),
        }
    }

    /// Returns the items that can be run by name alone: all entries, the workers of the project, and a worker named
    /// `main`.
    fn all(self) -> impl Iterator<Item = &'a Registered> {
        let Self { registry, entries } = self;
        let is_named = |item: &Registered| {
            let is_worker = item.kind() == ItemKind::Worker;
            let is_of_project = entries.workers.iter().chain(&entries.entry).any(|name| name == item.name());
            item.kind() == ItemKind::Entry || (is_worker && item.name() == MAIN) || is_of_project
        };
        registry.iter().map(AsRef::as_ref).filter(move |item| is_named(item))
    }

    fn default_entry(self) -> Result<&'a Registered, CommandError> {
        if let Some(entry) = self.entries.entry.as_deref().and_then(|name| self.registry.get(name)) {
            return Ok(entry);
        }
        if self.entries.is_entry_refused {
            let text = "the entry of the project is not used: give --trust-project to agree to it, or name a worker";
            return Err(CommandError::Usage(text.to_owned()));
        }
        let all: Vec<_> = self.all().collect();
        match all.as_slice() {
            [] if self.entries.needs_project => Err(no_project()),
            [] if self.entries.project.is_some() => Err(no_entry(self.entries)),
            [] => {
                Err(CommandError::Usage("this program has no entry: run a tool or worker with --tool NAME".to_owned()))
            }
            [only] => Ok(only),
            several => several.iter().find(|entry| entry.name() == MAIN).copied().ok_or_else(|| {
                let names: Vec<_> = several.iter().map(|entry| entry.name()).collect();
                CommandError::Usage(format!(
                    "several entries, and none is named `main`; name the entry to run: {}",
                    names.join(", ")
                ))
            }),
        }
    }

    /// Returns the error for a tool or worker in place of an entry: how to run it, or how to pass its name as the
    /// prompt.
    fn not_an_entry(self, item: &Registered, may_be_prompt: bool) -> CommandError {
        let (name, kind) = (item.name(), item.kind().as_str());
        let entry = self.default_entry().ok().filter(|_| may_be_prompt);
        let as_prompt = entry.map(|entry| format!(", or `run {} {name}` if it is the prompt", entry.name()));
        CommandError::Usage(format!("`{name}` is a {kind}: use `--tool {name}`{}", as_prompt.unwrap_or_default()))
    }

    fn unknown_entry(self, name: &str) -> CommandError {
        if let Some(why) = self.registry.why_left_out(name) {
            return CommandError::Usage(format!("unknown entry `{name}`: {why}"));
        }
        let names: Vec<_> = self.all().map(Registered::name).collect();
        let near = did_you_mean(name, names.iter().copied());
        CommandError::Usage(format!("unknown entry `{name}`{near}; entries: {}", names.join(", ")))
    }

    fn json_and_prompt(self, prompt: &str) -> CommandError {
        let text = format!("unknown entry `{prompt}`; a prompt cannot be combined with --input-json");
        CommandError::Usage(text + &did_you_mean(prompt, self.all().map(Registered::name)))
    }
}

/// Returns the error for a project without an entry or worker.
fn no_entry(entries: &Entries) -> CommandError {
    let project = entries.project.as_deref().unwrap_or(Path::new(".")).display();
    CommandError::Usage(format!("the project in {project} has no worker: add a file such as `main.worker`"))
}

pub(super) fn object(json: &str) -> Result<Value, CommandError> {
    match serde_json::from_str(json) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(CommandError::Usage("--input-json must be a JSON object".to_owned())),
        Err(error) => Err(CommandError::Usage(format!("invalid JSON in --input-json: {error}"))),
    }
}

/// Passes the prompt to its [argument](prompt_argument).
pub(super) fn from_prompt(item: &Registered, prompt: &str, flags: &[Flag]) -> Result<Value, CommandError> {
    let argument = prompt_argument(item, flags)?;
    let text = Value::String(prompt.to_owned());
    // A number, list or object may be given as JSON; any other text is a string.
    let parsed = serde_json::from_str(prompt).ok().filter(|value| item.accepts(argument, value));
    let value = if item.accepts(argument, &text) { text } else { parsed.unwrap_or(text) };
    Ok(json!({ argument: value }))
}

/// Returns the argument `input`, otherwise the only required argument, otherwise the only argument.
fn prompt_argument<'a>(item: &'a Registered, flags: &[Flag]) -> Result<&'a str, CommandError> {
    let properties = item.parameters()["properties"].as_object();
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    match (names.as_slice(), required(item, flags).as_slice()) {
        _ if names.contains(&"input") => Ok("input"),
        ([only], _) | (_, [only]) => Ok(*only),
        ([], _) => Err(CommandError::Usage(format!("`{}` takes no input", item.name()))),
        _ => Err(needs_json(item)),
    }
}

/// Reads files for the input of an item, which must take a `Prompt`.
pub(super) fn read_files(item: &Registered, files: &[PathBuf]) -> Result<Vec<Value>, CommandError> {
    if !files.is_empty() && !item.takes_prompt() {
        let text = format!(
            "`{}` takes no files: only a tool, worker or entry with a single `Prompt` argument takes files",
            item.name()
        );
        return Err(CommandError::Usage(text));
    }
    let read = |path: &PathBuf| {
        let what = format!("a writer of `{}` to close it", path.display());
        with_wait_notice(&what, || read_anywhere(path)).map(|file| json!(file)).map_err(CommandError::Usage)
    };
    files.iter().map(read).collect()
}

/// Adds files to the arguments of an item that takes a `Prompt`.
pub(super) fn attach(mut files: Vec<Value>, arguments: &mut Value) {
    match arguments.get_mut("attachments") {
        Some(Value::Array(given)) => given.append(&mut files),
        _ if files.is_empty() => {}
        _ => arguments["attachments"] = Value::Array(files),
    }
}

/// Returns the required arguments that are not given as options.
fn required<'a>(item: &'a Registered, flags: &[Flag]) -> Vec<&'a str> {
    let given: Vec<_> = flags.iter().filter_map(|flag| flags::property(flag, item).ok()).collect();
    let required = item.parameters()["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.filter(|name| !given.contains(name)).collect()
}

fn needs_json(item: &Registered) -> CommandError {
    let example = example(item.parameters());
    CommandError::Usage(format!("`{}` takes several arguments: use --input-json '{example}'", item.name()))
}

/// Reads the prompt from standard input; an empty one counts as missing, unless files are attached.
fn standard_input(item: &Registered, call: &RootOptions) -> Result<String, CommandError> {
    let argument = prompt_argument(item, &call.flags)?;
    let missing = |why: &str| {
        let text =
            format!("`{}` requires `{argument}`: give a prompt, --input-json, or standard input{why}", item.name());
        CommandError::Usage(text)
    };
    let mut stdin = io::stdin();
    if stdin.is_terminal() {
        return Err(missing(""));
    }
    let mut text = String::new();
    let read = with_wait_notice("standard input to end, since no prompt is given", || stdin.read_to_string(&mut text));
    read.map_err(CommandError::from_error)?;
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() && call.attach.is_empty() {
        return Err(missing(", which is empty"));
    }
    Ok(text.to_owned())
}
