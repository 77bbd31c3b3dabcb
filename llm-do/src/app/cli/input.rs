//! From words on the command line to a name and arguments.

use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::Failure;
use super::args::RunOptions;
use super::example::example;
use super::patience::announced;
use crate::declare::prompt::read_anywhere;
use crate::observe::event::ItemKind;
use crate::plane::registry::{Registered, Registry, did_you_mean};

/// What runs where nothing else is named: an entry, or a worker of that name.
const MAIN: &str = "main";

/// What is to run.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// Reads what is to run, and with what.
pub(super) fn root(registry: &Registry, options: &RunOptions) -> Result<Root, Failure> {
    let (item, prompt) = target(registry, options)?;
    let arguments = match (&options.input_json, prompt) {
        (Some(_), Some(prompt)) => {
            let text = format!("`{prompt}` is no entry's name, and a prompt and --input-json exclude each other");
            return Err(Failure::Usage(text + &did_you_mean(prompt, entries(registry).map(Registered::name))));
        }
        (Some(json), None) => object(json)?,
        (None, Some(prompt)) => from_prompt(item, prompt)?,
        (None, None) if required(item).is_empty() => Value::Object(Map::new()),
        (None, None) => from_prompt(item, &standard_input(item)?)?,
    };
    let arguments = attached(item, arguments, &options.attach)?;
    let other = if prompt.is_some() { "; --input-json gives it as JSON, each argument by its name" } else { "" };
    let invalid = |fault| Failure::Usage(format!("invalid input for `{}`: {fault}{other}", item.name()));
    item.validate(&arguments).map_err(invalid)?;
    Ok(Root { name: item.name().to_owned(), arguments })
}

/// Finds the item, and the word that is the prompt.
fn target<'a>(registry: &'a Registry, options: &'a RunOptions) -> Result<(&'a Registered, Option<&'a str>), Failure> {
    let words = (options.name.as_deref(), options.prompt.as_deref());
    if let Some(name) = &options.tool {
        let unknown = || Failure::Usage(format!("no tool `{name}`: {}", registry.hint(name, None)));
        let item = registry.get(name).ok_or_else(unknown)?;
        return match words {
            (prompt, None) => Ok((item, prompt)),
            _ => Err(Failure::Usage("with --tool there is at most one word, the prompt".to_owned())),
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

/// Returns what may be run by its name alone: entries, and the worker that is named as one is, `main`.
fn entries(registry: &Registry) -> impl Iterator<Item = &Registered> {
    let is_main = |item: &Registered| item.kind() == ItemKind::Worker && item.name() == MAIN;
    registry.iter().map(AsRef::as_ref).filter(move |item| item.kind() == ItemKind::Entry || is_main(item))
}

fn default_entry(registry: &Registry) -> Result<&Registered, Failure> {
    let all: Vec<_> = entries(registry).collect();
    match all.as_slice() {
        [] => Err(Failure::Usage("this program has no entry; run a tool or worker with --tool NAME".to_owned())),
        [only] => Ok(only),
        several => several.iter().find(|entry| entry.name() == MAIN).copied().ok_or_else(|| {
            let names: Vec<_> = several.iter().map(|entry| entry.name()).collect();
            Failure::Usage(format!("say which entry to run: {}", names.join(", ")))
        }),
    }
}

/// Says how to run a tool or worker that is named where an entry is, and how to give its name as a prompt.
fn not_an_entry(registry: &Registry, item: &Registered, may_be_prompt: bool) -> Failure {
    let (name, kind) = (item.name(), item.kind().as_str());
    let entry = default_entry(registry).ok().filter(|_| may_be_prompt);
    let as_prompt = entry.map(|entry| format!(", or `run {} {name}` if it is the prompt", entry.name()));
    Failure::Usage(format!("`{name}` is a {kind}: use `--tool {name}`{}", as_prompt.unwrap_or_default()))
}

fn unknown_entry(registry: &Registry, name: &str) -> Failure {
    let names: Vec<_> = entries(registry).map(Registered::name).collect();
    let near = did_you_mean(name, names.iter().copied());
    Failure::Usage(format!("no entry `{name}`{near}; there are: {}", names.join(", ")))
}

fn object(json: &str) -> Result<Value, Failure> {
    match serde_json::from_str(json) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Failure::Usage("--input-json must be a JSON object".to_owned())),
        Err(error) => Err(Failure::Usage(format!("invalid JSON in --input-json: {error}"))),
    }
}

/// Puts a prompt into the one argument that can take it: `input`, the only required one, or the only one.
fn from_prompt(item: &Registered, prompt: &str) -> Result<Value, Failure> {
    let properties = item.parameters()["properties"].as_object();
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let required = required(item);
    let place = match (names.as_slice(), required.as_slice()) {
        _ if names.contains(&"input") => "input",
        ([only], _) | (_, [only]) => only,
        ([], _) => return Err(Failure::Usage(format!("`{}` takes no input", item.name()))),
        _ => return Err(needs_json(item)),
    };
    let text = Value::String(prompt.to_owned());
    let with = |value: Value| json!({ place: value });
    // A number, list or object is written as JSON; anything else is text.
    let parsed = serde_json::from_str(prompt).map(with).ok();
    match with(text) {
        as_text if item.validate(&as_text).is_ok() => Ok(as_text),
        as_text => Ok(parsed.filter(|value| item.validate(value).is_ok()).unwrap_or(as_text)),
    }
}

/// Adds the files to the arguments of an item that takes a prompt.
fn attached(item: &Registered, mut arguments: Value, files: &[PathBuf]) -> Result<Value, Failure> {
    if files.is_empty() {
        return Ok(arguments);
    }
    if !item.takes_prompt() {
        let text = format!("`{}` takes no files: only an item whose one argument is a `Prompt` does", item.name());
        return Err(Failure::Usage(text));
    }
    let read = |path: &PathBuf| {
        let what = format!("`{}` to be written to and closed", path.display());
        announced(&what, || read_anywhere(path)).map(|file| json!(file)).map_err(Failure::Usage)
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

fn needs_json(item: &Registered) -> Failure {
    let example = example(item.parameters());
    Failure::Usage(format!("`{}` takes several arguments: give --input-json '{example}'", item.name()))
}

fn standard_input(item: &Registered) -> Result<String, Failure> {
    let mut stdin = io::stdin();
    if stdin.is_terminal() {
        let needs = required(item).join("`, `");
        let text = format!("`{}` needs `{needs}`: give a prompt, --input-json, or standard input", item.name());
        return Err(Failure::Usage(text));
    }
    let mut text = String::new();
    stdin.read_to_string(&mut text).map_err(Failure::error)?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}
