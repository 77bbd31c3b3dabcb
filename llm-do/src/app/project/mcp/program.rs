//! The programs of a project that its servers run, with their digests: one that changed is not started.

mod package;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_worker_file::{McpServer, McpTransport};

use super::server::listed;
#[cfg(feature = "mcp")]
use super::variable::expanded;
use crate::app::project::digest::Digests;
use crate::app::project::folder::Folder;

/// Programs that run the file that is their first argument.
const INTERPRETERS: [&str; 8] = ["bash", "dash", "lua", "node", "perl", "python", "ruby", "sh"];
/// A subcommand of an interpreter.
const SUBCOMMAND: (&str, &str) = ("node", "inspect");
/// The ends of the names of variables that hold secrets. Any other variable may name a program, as `BASH_ENV` does.
const SECRETS: [&str; 4] = ["_KEY", "_PASSWORD", "_SECRET", "_TOKEN"];

/// The programs of a project that a server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Programs {
    what: What,
    /// What the command names.
    named: Digests,
    /// The programs in the folder of the named one, or in the whole project.
    found: Arc<Digests>,
}

/// Which files of the project a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    /// A command that runs a published program, and none of the project.
    #[default]
    None,
    /// The named program, with what it loads.
    Named,
    /// Unknown: any other command may run any file.
    Any,
}

/// Finds the programs of the folder that a server runs, with their digests.
///
/// The command is not interpreted: unless it has one of few known forms, all programs of the project are compared.
///
/// # Errors
///
/// Returns the file that cannot be compared, and why.
pub(super) fn of_server(server: &McpServer, folder: &Folder) -> Result<Programs, String> {
    let McpTransport::Command { program, arguments, variables } = &server.transport else {
        return Ok(Programs::default());
    };
    let program = with_variables(program);
    let arguments: Vec<_> = arguments.iter().map(|argument| with_variables(argument)).collect();
    let has_secrets_only = variables.iter().all(|(name, _)| SECRETS.iter().any(|end| name.ends_with(end)));
    if has_secrets_only {
        if package::is_published(&program, &arguments, folder) {
            return Ok(Programs::default());
        }
        if let Some(path) = script(&program, &arguments, folder)? {
            return named(&path, folder);
        }
    }
    let found = folder.programs_below(folder.canonical())?;
    Ok(Programs { what: What::Any, found, ..Programs::default() })
}

/// Returns the file or folder of the project that a command runs, if the command has a known form.
fn script(program: &str, arguments: &[String], folder: &Folder) -> Result<Option<PathBuf>, String> {
    // Without a version, as in `python3.12`.
    let name = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let word = if Path::new(program).components().count() > 1 {
        program
    } else {
        let first = arguments.first().filter(|word| !word.starts_with('-') && (name, word.as_str()) != SUBCOMMAND);
        let Some(word) = first.filter(|_| INTERPRETERS.contains(&name)) else { return Ok(None) };
        word
    };
    match folder.resolved(Path::new(word)) {
        Ok(path) => Ok(Some(path).filter(|path| folder.contains(path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("`{word}`: {error}")),
    }
}

/// Returns a program, with the programs in its folder, which it may load.
fn named(path: &Path, folder: &Folder) -> Result<Programs, String> {
    let is_folder = path.is_dir();
    let named = if is_folder { Digests::new() } else { Digests::from([folder.program(path)?]) };
    let around = if is_folder { path } else { path.parent().unwrap_or(path) };
    Ok(Programs { what: What::Named, named, found: folder.programs_below(around)? })
}

impl Programs {
    /// Describes them for the user.
    pub(super) fn demand(&self) -> String {
        let found = self.found.keys().filter(|name| !self.named.contains_key(*name));
        let names: Vec<_> = self.named.keys().chain(found).map(String::as_str).collect();
        let files = listed("; it runs these files of the project", names.iter().copied());
        match self.what {
            What::None => files,
            What::Named => files + "; changes of other files that it loads are not noticed",
            What::Any if names.is_empty() => {
                "; it may run any file of the project, and changes of these are not noticed".to_owned()
            }
            What::Any => listed("; it may run any file of the project, and changes are only noticed of", names),
        }
    }

    /// Names the first program that differs.
    #[cfg(feature = "mcp")]
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self == other {
            return None;
        }
        if self.what != other.what {
            return Some("what the server runs".to_owned());
        }
        let digest =
            |programs: &Self, name: &String| programs.named.get(name).or_else(|| programs.found.get(name)).cloned();
        let names = |programs: &Self| programs.named.keys().chain(programs.found.keys()).cloned().collect::<Vec<_>>();
        let mut all = names(self).into_iter().chain(names(other));
        let differs = all.find(|name| digest(self, name) != digest(other, name));
        differs.map(|name| format!("`{name}`"))
    }
}

/// Replaces the variables of a text; one with a missing variable stays as it is, since such a server is not started.
#[cfg(feature = "mcp")]
fn with_variables(text: &str) -> String {
    expanded(text).unwrap_or_else(|_| text.to_owned())
}

/// Without the feature `mcp`, no server is started.
#[cfg(not(feature = "mcp"))]
fn with_variables(text: &str) -> String {
    text.to_owned()
}
