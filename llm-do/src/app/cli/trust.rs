//! Whether the files of a project may approve calls in advance: the user is asked, once for each project.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::CommandError;
use super::console::{Console, Terminal};
use super::keyboard::Keyboard;
use super::state;
use super::terminal_user::TerminalUser;
use crate::app::project::{Advance, Project};
use crate::base::printable::{printable, printable_line};

/// The file with what the user agreed to.
const FILE: &str = "trusted.json";

/// What a command does with the approvals of a project.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trust {
    /// Uses them, as an option demands.
    Given,
    /// Asks the user, unless the user agreed before; without a terminal, drops them.
    Ask,
    /// Shows them, since nothing runs.
    Show,
}

impl Trust {
    /// Returns the project with the approvals that may be used.
    pub(super) fn apply(self, project: Project) -> Result<Project, CommandError> {
        let advances = project.advances();
        if advances.is_empty() || self == Self::Given {
            return Ok(project);
        }
        let list = listed(&advances);
        if self == Self::Show {
            note(&format!(
                "note: files of the project approve calls in advance; `run` and `chat` ask about this:{list}"
            ));
            return Ok(project);
        }
        if is_agreed(project.root(), &advances) {
            return Ok(project);
        }
        if !TerminalUser::is_available() {
            note(&format!(
                "warning: files of the project approve calls in advance, which is ignored; --trust-project uses it:{list}"
            ));
            return Ok(project.without_approvals());
        }
        note(&format!("Files of the project approve calls in advance:{list}"));
        if !ask().map_err(CommandError::from_error)? {
            return Ok(project.without_approvals());
        }
        let calls = advances.into_iter().map(|advance| advance.calls);
        if let Err(error) = agree(project.root(), calls) {
            note(&format!("warning: the answer is not remembered: {error}"));
        }
        Ok(project)
    }
}

/// Returns the approvals, each on a line of its own.
fn listed(advances: &[Advance]) -> String {
    let mut text = String::new();
    for advance in advances {
        text.push_str("\n  ");
        text.push_str(&printable_line(&advance.to_string()));
    }
    text
}

/// Asks whether the approvals are used.
fn ask() -> io::Result<bool> {
    let (keyboard, _withdrawal) = Keyboard::open()?;
    let answer = Terminal::new(keyboard).ask("Run these calls without asking, now and later? [y]es, [n]o: ")?;
    Ok(answer.is_some_and(|answer| ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())))
}

/// What the user agreed to, by the folder of the project.
type Agreed = BTreeMap<PathBuf, BTreeSet<String>>;

fn is_agreed(root: &Path, advances: &[Advance]) -> bool {
    let agreed = state::path(FILE).and_then(|file| read(&file).ok()).unwrap_or_default();
    let known = root.canonicalize().ok().and_then(|root| agreed.get(&root).cloned()).unwrap_or_default();
    advances.iter().all(|advance| known.contains(&advance.calls))
}

/// Remembers that the user agreed to these calls in a project.
pub(super) fn agree(root: &Path, calls: impl IntoIterator<Item = String>) -> io::Result<()> {
    let file = state::path(FILE).ok_or_else(|| io::Error::other("the home folder is unknown"))?;
    let mut agreed = match read(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Agreed::new(),
        agreed => agreed?,
    };
    agreed.entry(root.canonicalize()?).or_default().extend(calls);
    file.parent().map_or(Ok(()), state::create_folder)?;
    state::replace(&file, &serde_json::to_string_pretty(&agreed)?)
}

fn read(file: &Path) -> io::Result<Agreed> {
    let at_file = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(at_file)?;
    serde_json::from_str(&text).map_err(|error| at_file(error.into()))
}

fn note(text: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "{}", printable(text));
}
