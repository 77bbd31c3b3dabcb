//! Arguments as options with their names: `--path src/lib.rs`.

use std::ffi::OsString;

use clap::{ArgAction, Command, CommandFactory};
use llm_do_core::plane::registry::Registered;
use llm_do_worker_file::did_you_mean;
use serde_json::{Map, Value};

use super::CommandError;
use super::args::Arguments;

/// The commands that call one item.
const COMMANDS: [&str; 2] = ["run", "call"];

/// An option that the command does not define.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Flag {
    name: String,
    value: Option<String>,
}

/// Splits off the options that the command does not define.
pub(super) fn split(words: Vec<OsString>) -> (Vec<OsString>, Vec<Flag>) {
    let command = Arguments::command();
    let name = words.get(1).and_then(|word| word.to_str()).filter(|name| COMMANDS.contains(name));
    let Some(command) = name.and_then(|name| command.find_subcommand(name)) else { return (words, Vec::new()) };
    let (mut kept, mut flags) = (Vec::new(), Vec::new());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let Some(long) = word.to_str().and_then(|word| word.strip_prefix("--")) else {
            kept.push(word);
            continue;
        };
        if long.is_empty() {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
        let defined = defined(command, name);
        let is_value = |word: &OsString| word.to_str().is_some_and(|word| !is_option(word));
        if let Some(takes_value) = defined {
            let is_alone = value.is_some() || !takes_value;
            kept.push(word);
            kept.extend(words.next_if(|_| !is_alone));
        } else {
            let name = name.to_owned();
            let next = || words.next_if(is_value).and_then(|word| word.into_string().ok());
            flags.push(Flag { name, value: value.or_else(next) });
        }
    }
    (kept, flags)
}

/// Returns whether the next word is the value of an option; `None` if the command does not define the option.
fn defined(command: &Command, name: &str) -> Option<bool> {
    if name == "help" {
        return Some(false);
    }
    let option = command.get_arguments().find(|option| option.get_long() == Some(name))?;
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    Some(takes_value && !option.is_require_equals_set())
}

/// Returns whether a word is an option, and not a value such as `-5`.
fn is_option(word: &str) -> bool {
    word.starts_with("--")
        || word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_alphabetic()))
}

/// Adds the flags to the arguments of an item.
pub(super) fn add(flags: &[Flag], item: &Registered, arguments: &mut Value) -> Result<(), CommandError> {
    let mut given: Map<String, Value> = Map::new();
    for flag in flags {
        let name = property(flag, item)?;
        if !given.contains_key(name) {
            // `--max-chars` and `--max_chars` are the same.
            let is_same = |other: &&Flag| property(other, item).is_ok_and(|other| other == name);
            let same: Vec<_> = flags.iter().filter(is_same).collect();
            given.insert(name.to_owned(), value(&same, name, item)?);
        }
    }
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.extend(given);
    }
    Ok(())
}

/// Returns the error for an argument that is given twice.
pub(super) fn given_twice(flags: &[Flag], item: &Registered, arguments: &Value) -> Option<CommandError> {
    let is_given = |flag: &&Flag| property(flag, item).is_ok_and(|name| arguments.get(name).is_some());
    let Flag { name, .. } = flags.iter().find(is_given)?;
    let text = format!("`--{name}` and the prompt or --input-json give the same argument: give it once");
    Some(CommandError::Usage(text))
}

/// Returns the argument of a flag: `--max-chars` is `max_chars` too.
pub(super) fn property<'a>(flag: &Flag, item: &'a Registered) -> Result<&'a str, CommandError> {
    let mut known = properties(item);
    let written = flag.name.replace('-', "_");
    known.find(|name| **name == flag.name || **name == written).ok_or_else(|| unknown(flag, item))
}

fn properties(item: &Registered) -> impl Iterator<Item = &str> {
    item.parameters()["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Returns the option that is most similar to a flag: an option of the command, or one of these arguments.
fn suggestion<'a>(Flag { name, .. }: &Flag, arguments: impl Iterator<Item = &'a str>) -> String {
    let command = Arguments::command();
    let command = command.find_subcommand("run");
    let options = command.into_iter().flat_map(Command::get_arguments).filter_map(clap::Arg::get_long);
    let options = options.map(|option| format!("--{option}"));
    let known: Vec<_> = options.chain(arguments.map(|argument| format!("--{argument}"))).collect();
    did_you_mean(&format!("--{name}"), known.iter().map(String::as_str))
}

/// Adds suggestions for misspelled options, which were parsed as arguments of the item, to the error of a command that
/// found no item.
pub(super) fn with_suggestions(flags: &[Flag], error: CommandError) -> CommandError {
    let similar = flags.iter().map(|flag| (flag, suggestion(flag, std::iter::empty())));
    let similar = similar.filter(|(_, hint)| !hint.is_empty());
    let hints: Vec<_> = similar.map(|(flag, hint)| format!("\n{}{hint}", unknown_option(flag))).collect();
    match error {
        CommandError::Usage(text) => CommandError::Usage(text + &hints.concat()),
        CommandError::Error(text) => CommandError::Error(text + &hints.concat()),
    }
}

fn unknown_option(Flag { name, .. }: &Flag) -> String {
    format!("unknown option `--{name}`")
}

fn unknown(flag: &Flag, item: &Registered) -> CommandError {
    let hint = suggestion(flag, properties(item));
    let own: Vec<_> = properties(item).map(|name| format!("`--{}`", name.replace('_', "-"))).collect();
    let own = match (item.name(), own.join(", ")) {
        (item, own) if own.is_empty() => format!("`{item}` takes no arguments"),
        (item, own) => format!("arguments of `{item}`: {own}"),
    };
    let text = format!("{}{hint}\n{own}", unknown_option(flag));
    CommandError::Usage(text)
}

/// Returns the value of an argument: text, or JSON if the schema does not accept the text; a list if the flag is given
/// several times.
fn value(flags: &[&Flag], property: &str, item: &Registered) -> Result<Value, CommandError> {
    let texts: Option<Vec<&str>> = flags.iter().map(|flag| flag.value.as_deref()).collect();
    let Some(texts) = texts else {
        return match flags {
            [_] if item.accepts(property, &Value::Bool(true)) => Ok(Value::Bool(true)),
            _ => Err(CommandError::Usage(format!("`--{}` needs a value", flags[0].name))),
        };
    };
    let text = |text: &&str| Value::String((*text).to_owned());
    let json = |text: &&str| serde_json::from_str(text).unwrap_or_else(|_| Value::String((*text).to_owned()));
    let (as_texts, as_json): (Vec<_>, Vec<_>) = (texts.iter().map(text).collect(), texts.iter().map(json).collect());
    let alone = |values: &[Value]| if let [value] = values { Some(value.clone()) } else { None };
    let candidates = [alone(&as_texts), alone(&as_json), Some(as_texts.into()), Some(as_json.into())];
    let mut candidates = candidates.into_iter().flatten();
    let first = candidates.clone().next().unwrap_or_default();
    Ok(candidates.find(|value| item.accepts(property, value)).unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use super::{Flag, OsString, split};

    fn split_words(words: &[&str]) -> (Vec<String>, Vec<(String, Option<String>)>) {
        let (kept, flags) = split(words.iter().map(OsString::from).collect());
        let kept = kept.into_iter().map(|word| word.into_string().expect("the words are UTF-8")).collect();
        (kept, flags.into_iter().map(|Flag { name, value }| (name, value)).collect())
    }

    #[test]
    fn options_that_the_command_does_not_define_are_arguments() {
        let words = [
            "app",
            "run",
            "main",
            "--path",
            "a b",
            "--model",
            "x:y",
            "--count=3",
            "-v",
            "--low",
            "-5",
            "--force",
            "-v",
        ];
        let (kept, flags) = split_words(&words);
        assert_eq!(kept, ["app", "run", "main", "--model", "x:y", "-v", "-v"]);
        let flag = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let expected =
            [flag("path", Some("a b")), flag("count", Some("3")), flag("low", Some("-5")), flag("force", None)];
        assert_eq!(flags, expected);
    }

    #[test]
    fn words_after_two_dashes_and_options_of_other_commands_are_kept() {
        let words = ["app", "run", "--", "--path", "x"];
        assert_eq!(split_words(&words), (words.map(str::to_owned).to_vec(), vec![]));
        let words = ["app", "tools", "--path"];
        assert_eq!(split_words(&words), (words.map(str::to_owned).to_vec(), vec![]));
    }
}
