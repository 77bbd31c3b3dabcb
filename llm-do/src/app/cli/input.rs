//! Resolves the words on the command line to the item to run and its arguments.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use llm_do_worker_file::did_you_mean;
use serde_json::{Map, Value, json};

use super::CommandError;
use super::args::RunOptions;
use super::example::example;
use super::wait_notice::with_wait_notice;
use crate::declare::prompt::read_anywhere;
use crate::observe::event::ItemKind;
use crate::plane::registry::{Registered, Registry};

/// The name of the default entry, or of a worker that serves as one.
const MAIN: &str = "main";

/// The root call of a run.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Resolves the item to run and its arguments.
pub(super) fn root(registry: &Registry, options: &RunOptions) -> Result<Root, CommandError> {
    let (item, prompt) = target(registry, options)?;
    let arguments = match (&options.input_json, prompt) {
        (Some(_), Some(prompt)) => {
            let text = format!("unknown entry `{prompt}`; a prompt cannot be combined with --input-json");
            return Err(CommandError::Usage(text + &did_you_mean(prompt, entries(registry).map(Registered::name))));
        }
        (Some(json), None) => object(json)?,
        (None, Some(prompt)) => from_prompt(item, prompt)?,
        (None, None) if required(item).is_empty() => Value::Object(Map::new()),
        (None, None) => from_prompt(item, &standard_input(item)?)?,
    };
    let arguments = attached(item, arguments, &options.attach)?;
    let advice = if prompt.is_some() { "; use --input-json to give the arguments by name" } else { "" };
    let invalid = |fault| CommandError::Usage(format!("invalid input for `{}`: {fault}{advice}", item.name()));
    item.validate(&arguments).map_err(invalid)?;
    Ok(Root { name: item.name().to_owned(), arguments })
}

/// Finds the item, and the prompt among the words.
fn target<'a>(
    registry: &'a Registry,
    options: &'a RunOptions,
) -> Result<(&'a Registered, Option<&'a str>), CommandError> {
    let words = (options.name.as_deref(), options.prompt.as_deref());
    if let Some(name) = &options.tool {
        let unknown = || CommandError::Usage(format!("no tool `{name}`: {}", registry.hint(name, None)));
        let item = registry.get(name).ok_or_else(unknown)?;
        return match words {
            (prompt, None) => Ok((item, prompt)),
            _ => Err(CommandError::Usage(
                "--tool takes at most one argument, the prompt; quote a prompt of several words".to_owned(),
            )),
        };
    }
    let named = |name: &str| entries(registry).find(|entry| entry.name() == name);
    if let (Some(name), prompt) = words
        && named(name).is_none()
        && let Some(item) = registry.get(name)
    {
        return Err(not_an_entry(registry, item, prompt.is_none()));
    }
    match words {
        (Some(name), prompt) if named(name).is_some() || prompt.is_some() => {
            let item = named(name).ok_or_else(|| unknown_entry(registry, name))?;
            Ok((item, prompt))
        }
        (prompt, _) => Ok((default_entry(registry)?, prompt)),
    }
}

/// Returns what can be run by its name alone: all entries, and a worker named `main`.
fn entries(registry: &Registry) -> impl Iterator<Item = &Registered> {
    let is_main = |item: &Registered| item.kind() == ItemKind::Worker && item.name() == MAIN;
    registry.iter().map(AsRef::as_ref).filter(move |item| item.kind() == ItemKind::Entry || is_main(item))
}

fn default_entry(registry: &Registry) -> Result<&Registered, CommandError> {
    let all: Vec<_> = entries(registry).collect();
    match all.as_slice() {
        [] => Err(CommandError::Usage("this program has no entry: run a tool or worker with --tool NAME".to_owned())),
        [only] => Ok(only),
        several => several.iter().find(|entry| entry.name() == MAIN).copied().ok_or_else(|| {
            let names: Vec<_> = several.iter().map(|entry| entry.name()).collect();
            CommandError::Usage(format!(
                "several entries, none named `main`: name the one to run: {}",
                names.join(", ")
            ))
        }),
    }
}

/// Returns the error for a tool or worker in place of an entry: how to run it, or how to give its name as the prompt.
fn not_an_entry(registry: &Registry, item: &Registered, may_be_prompt: bool) -> CommandError {
    let (name, kind) = (item.name(), item.kind().as_str());
    let entry = default_entry(registry).ok().filter(|_| may_be_prompt);
    let as_prompt = entry.map(|entry| format!(", or `run {} {name}` if it is the prompt", entry.name()));
    CommandError::Usage(format!("`{name}` is a {kind}: use `--tool {name}`{}", as_prompt.unwrap_or_default()))
}

fn unknown_entry(registry: &Registry, name: &str) -> CommandError {
    let names: Vec<_> = entries(registry).map(Registered::name).collect();
    let near = did_you_mean(name, names.iter().copied());
    CommandError::Usage(format!("unknown entry `{name}`{near}; entries: {}", names.join(", ")))
}

fn object(json: &str) -> Result<Value, CommandError> {
    match serde_json::from_str(json) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(CommandError::Usage("--input-json must be a JSON object".to_owned())),
        Err(error) => Err(CommandError::Usage(format!("invalid JSON in --input-json: {error}"))),
    }
}

/// Gives the prompt to the argument `input`, or else to the only required argument, or to the only argument.
fn from_prompt(item: &Registered, prompt: &str) -> Result<Value, CommandError> {
    let properties = item.parameters()["properties"].as_object();
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let required = required(item);
    let argument = match (names.as_slice(), required.as_slice()) {
        _ if names.contains(&"input") => "input",
        ([only], _) | (_, [only]) => only,
        ([], _) => return Err(CommandError::Usage(format!("`{}` takes no input", item.name()))),
        _ => return Err(needs_json(item)),
    };
    let text = Value::String(prompt.to_owned());
    let with = |value: Value| json!({ argument: value });
    // A number, list or object may be given as JSON; anything else is text.
    let parsed = serde_json::from_str(prompt).map(with).ok();
    match with(text) {
        as_text if item.validate(&as_text).is_ok() => Ok(as_text),
        as_text => Ok(parsed.filter(|value| item.validate(value).is_ok()).unwrap_or(as_text)),
    }
}

/// Adds the files to the arguments, if the item takes a `Prompt`.
fn attached(item: &Registered, mut arguments: Value, files: &[PathBuf]) -> Result<Value, CommandError> {
    if files.is_empty() {
        return Ok(arguments);
    }
    if !item.takes_prompt() {
        let text = format!("`{}` takes no files: only items with a single `Prompt` argument do", item.name());
        return Err(CommandError::Usage(text));
    }
    let read = |path: &PathBuf| {
        let what = format!("a writer of `{}` to close it", path.display());
        with_wait_notice(&what, || read_anywhere(path)).map(|file| json!(file)).map_err(CommandError::Usage)
    };
    let mut read = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if let Some(Value::Array(given)) = arguments.get_mut("attachments") {
        given.append(&mut read);
    } else {
        arguments["attachments"] = Value::Array(read);
    }
    Ok(arguments)
}

fn required(item: &Registered) -> Vec<&str> {
    item.parameters()["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn needs_json(item: &Registered) -> CommandError {
    let example = example(item.parameters());
    CommandError::Usage(format!("`{}` takes several arguments: use --input-json '{example}'", item.name()))
}

fn standard_input(item: &Registered) -> Result<String, CommandError> {
    let mut stdin = io::stdin();
    if stdin.is_terminal() {
        let required = required(item).join("`, `");
        let text = format!("`{}` requires `{required}`: give a prompt, --input-json, or standard input", item.name());
        return Err(CommandError::Usage(text));
    }
    let mut text = String::new();
    stdin.read_to_string(&mut text).map_err(CommandError::from_error)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
