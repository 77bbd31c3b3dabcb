//! The programs of a project that its servers run, with their digests; a changed program is not started.

mod package;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_worker_file::{McpServer, McpTransport};

use super::server::listed;
#[cfg(feature = "mcp")]
use super::variable::expanded;
use crate::folder::{Folder, FoundPrograms};

/// Programs that run their first argument as a file.
const INTERPRETERS: [&str; 8] = ["bash", "dash", "lua", "node", "perl", "python", "ruby", "sh"];
/// A subcommand of an interpreter.
const SUBCOMMAND: (&str, &str) = ("node", "inspect");
/// The suffixes of variables that hold secrets. Any other variable may name a program, such as `BASH_ENV`.
const SECRETS: [&str; 4] = ["_KEY", "_PASSWORD", "_SECRET", "_TOKEN"];

/// The maximum number of files in the reason for asking the user again.
const MAX_REASONS: usize = 3;

/// The programs of a project that a server runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Programs {
    what: What,
    /// The file that the command names.
    named: Option<String>,
    /// The programs in the folder of the named one, or in the whole project.
    found: Arc<FoundPrograms>,
}

/// The files of the project that a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum What {
    /// A published program, and no file of the project.
    #[default]
    None,
    /// The named program, with the files that it loads.
    Named,
    /// Unknown: any other command may run any file.
    Any,
}

/// Finds the programs of the folder that a server runs, with their digests.
///
/// The command is not interpreted: unless it has one of a few known forms, all programs of the project are compared.
pub(super) fn of_server(server: &McpServer, folder: &Folder) -> Programs {
    let McpTransport::Command { program, arguments, variables } = &server.transport else {
        return Programs::default();
    };
    let program = with_variables(program);
    let arguments: Vec<_> = arguments.iter().map(|argument| with_variables(argument)).collect();
    let has_secrets_only = variables.iter().all(|(name, _)| SECRETS.iter().any(|end| name.ends_with(end)));
    if has_secrets_only {
        if package::is_published(&program, &arguments, folder) {
            return Programs::default();
        }
        if let Some(path) = script(&program, &arguments, folder) {
            return named(&path, folder);
        }
    }
    let found = folder.programs_below(folder.canonical(), None);
    Programs { what: What::Any, named: None, found }
}

/// Returns the file or folder of the project that a command runs, if the command has a known form.
fn script(program: &str, arguments: &[String], folder: &Folder) -> Option<PathBuf> {
    // Without a version, as in `python3.12`.
    let name = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let word = if Path::new(program).components().count() > 1 {
        program
    } else {
        let first = arguments.first().filter(|word| !word.starts_with('-') && (name, word.as_str()) != SUBCOMMAND);
        first.filter(|_| INTERPRETERS.contains(&name))?.as_str()
    };
    // The target of an unresolvable path depends on the process, so the command may run any file.
    folder.resolved(Path::new(word)).ok().filter(|path| folder.contains(path))
}

/// Returns a program, with the programs in its folder, which it may load.
fn named(path: &Path, folder: &Folder) -> Programs {
    if path.is_dir() {
        return Programs { what: What::Named, named: None, found: folder.programs_below(path, None) };
    }
    let found = folder.programs_below(path.parent().unwrap_or(path), Some(path));
    Programs { what: What::Named, named: Some(folder.key_of(path)), found }
}

impl Programs {
    /// Returns whether all found programs were compared; otherwise, an agreement covers one start.
    pub(super) fn is_compared(&self) -> bool {
        self.found.uncompared.is_empty() && self.found.limit.is_none()
    }

    /// Describes the programs for the user.
    pub(super) fn demand(&self) -> String {
        let others = self.found.digests.keys().filter(|name| Some(*name) != self.named.as_ref());
        let names: Vec<_> = self.named.iter().chain(others).map(String::as_str).collect();
        let files = match self.what {
            What::None => String::new(),
            What::Named => {
                let files = listed("; it runs these files of the project", names);
                files + "; changes of other files that it loads are not noticed"
            }
            What::Any if names.is_empty() => {
                "; it may run any file of the project, and changes of these are not noticed".to_owned()
            }
            What::Any => listed("; it may run any file of the project, and changes are only noticed of", names),
        };
        self.reason_to_ask_again() + &files
    }

    /// Describes the reason for asking the user again; empty if everything was compared.
    fn reason_to_ask_again(&self) -> String {
        let FoundPrograms { uncompared, limit, .. } = &*self.found;
        let reason = match (limit, uncompared.len()) {
            (None, 0) => return String::new(),
            (Some(limit), _) => limit.clone(),
            (None, count) => {
                let shown = uncompared.iter().take(MAX_REASONS).map(|(name, reason)| format!("`{name}` ({reason})"));
                let shown: Vec<_> = shown.collect();
                let more = match count.saturating_sub(MAX_REASONS) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "{count} of the files and folders that it may use could not be compared: {}{more}",
                    shown.join(", ")
                )
            }
        };
        format!("; you are asked about it for each command, since {reason}")
    }

    /// Names the first program that differs.
    #[cfg(feature = "mcp")]
    pub(super) fn difference(&self, now: &Self) -> Option<String> {
        if self.what != now.what || self.named != now.named {
            return Some("what the server runs".to_owned());
        }
        // Nothing was compared, so the user is asked each time.
        if self.found.limit.is_some() {
            return None;
        }
        if now.found.limit.is_some() {
            return Some("the number or the size of its programs".to_owned());
        }
        let state = |found: &FoundPrograms, name: &String| {
            (found.digests.get(name).cloned(), found.uncompared.get(name).cloned())
        };
        let mut names =
            [&self.found, &now.found].into_iter().flat_map(|found| found.digests.keys().chain(found.uncompared.keys()));
        let differs = |name: &&String| state(&self.found, name) != state(&now.found, name);
        names.find(differs).map(|name| format!("`{name}`"))
    }
}

/// Replaces the variables of a text; a text with a missing variable is unchanged, since its server is not started.
#[cfg(feature = "mcp")]
fn with_variables(text: &str) -> String {
    expanded(text).unwrap_or_else(|_| text.to_owned())
}

/// Without the feature `mcp`, no server is started.
#[cfg(not(feature = "mcp"))]
fn with_variables(text: &str) -> String {
    text.to_owned()
}
