//! The value of a setting, and its source.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// An option of the command line.
    Option(&'static str),
    /// An environment variable.
    Variable(String),
    /// A line of the user's file.
    User(PathBuf, usize),
    /// A line of the project's file, which may only make a setting stricter.
    Project(PathBuf, usize),
    /// The `project.json` of the project.
    Manifest,
    /// The code of the program.
    Application,
    Default,
}

impl Source {
    /// Returns whether the value was set for this command, rather than in a file or in code.
    pub(crate) fn is_of_command(&self) -> bool {
        matches!(self, Self::Option(_) | Self::Variable(_))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(name) => f.write_str(name),
            Self::Variable(name) => f.write_str(name),
            Self::User(path, line) | Self::Project(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Manifest => f.write_str("project.json"),
            Self::Application => f.write_str("application"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The content of a variable or a key.
#[derive(Debug)]
pub(super) enum Given {
    Text(String),
    List(Vec<String>),
}

impl Given {
    /// Returns the text, or an error with the `expected` form.
    pub(super) fn text(&self, expected: &str) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text.trim()),
            Self::List(_) => Err(format!("expected {expected}, found a list")),
        }
    }
}

/// A type of values.
pub(super) trait Parsed: Clone + fmt::Debug {
    /// Parses a value; relative paths are relative to `folder`.
    fn parse(given: &Given, folder: &Path) -> Result<Self, String>;

    /// Returns the value as JSON: a text, a number or a flag.
    fn to_json(&self) -> Value;

    /// Returns whether this value permits less than another.
    fn is_stricter(&self, _other: &Self) -> bool {
        false
    }
}

/// The value of a setting, if it is set.
#[derive(Clone, Debug)]
pub(crate) struct Set<T> {
    value: Option<(T, Source)>,
    /// The value in the project's file, until [`settle`](Slot::settle).
    of_project: Option<(T, Source)>,
}

impl<T> Default for Set<T> {
    fn default() -> Self {
        Self { value: None, of_project: None }
    }
}

impl<T> Set<T> {
    /// Returns the setting with the value of an option, if given.
    pub(crate) fn option(value: Option<T>, name: &'static str) -> Self {
        Self { value: value.map(|value| (value, Source::Option(name))), of_project: None }
    }

    /// Sets the value, unless a source with precedence has set it.
    pub(super) fn offer(&mut self, value: T, source: Source) {
        match source {
            Source::Project(..) => self.of_project = Some((value, source)),
            _ => drop(self.value.get_or_insert((value, source))),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().map(|(value, _)| value)
    }

    /// Returns the value of the project's file, unless the value was set for this command.
    pub(super) fn of_project(&self) -> Option<&(T, Source)> {
        let is_given = self.source().is_some_and(Source::is_of_command);
        self.of_project.as_ref().filter(|_| !is_given)
    }

    pub(crate) fn source(&self) -> Option<&Source> {
        self.value.as_ref().map(|(_, source)| source)
    }
}

/// A setting of any type.
pub(super) trait Slot {
    /// Parses a value, and sets it unless a source with precedence has set it.
    fn parse(&mut self, given: &Given, folder: &Path, source: Source) -> Result<(), String>;

    /// Uses the value of the project's file, unless an option or a variable is set, or the current value is stricter.
    ///
    /// If a stricter value is kept, returns the source in the project's file and the source of the stricter value.
    fn settle(&mut self) -> Option<(Source, Source)>;

    /// Returns the value as JSON, and its source.
    fn shown(&self) -> (Value, Source);
}

impl<T: Parsed> Slot for Set<T> {
    fn parse(&mut self, given: &Given, folder: &Path, source: Source) -> Result<(), String> {
        self.offer(T::parse(given, folder)?, source);
        Ok(())
    }

    fn settle(&mut self) -> Option<(Source, Source)> {
        let (value, source) = self.of_project.take()?;
        match &self.value {
            Some((_, given)) if given.is_of_command() => None,
            Some((present, from)) if present.is_stricter(&value) => Some((source, from.clone())),
            _ => {
                self.value = Some((value, source));
                None
            }
        }
    }

    fn shown(&self) -> (Value, Source) {
        let shown = self.value.as_ref().map(|(value, source)| (value.to_json(), source.clone()));
        shown.unwrap_or((Value::Null, Source::Default))
    }
}
