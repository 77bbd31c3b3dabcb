//! Whether the files of a project may approve calls in advance and start servers: the user is asked, once for each project.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::CommandError;
use super::console::{Console, Terminal};
use super::keyboard::Keyboard;
use super::state;
use super::terminal_user::TerminalUser;
use crate::app::project::Project;
use crate::base::printable::{printable, printable_line};

/// The file with what the user agreed to.
const FILE: &str = "trusted.json";

/// What a command does with what a project demands in advance: approvals, and servers to start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trust {
    /// Uses it, as an option demands.
    Given,
    /// Uses the approvals, since all calls are approved; asks about servers.
    ApproveAll,
    /// Asks the user, unless the user agreed before; without a terminal, drops it.
    Ask,
    /// Shows it, since nothing runs.
    Show,
}

/// The texts about one kind of what a project demands.
struct Texts {
    shown: &'static str,
    ignored: &'static str,
    heading: &'static str,
    question: &'static str,
}

const APPROVALS: Texts = Texts {
    shown: "note: files of the project approve calls in advance; `run` and `chat` ask about this:",
    ignored: "warning: files of the project approve calls in advance; these approvals are ignored; --trust-project applies \
              them:",
    heading: "Files of the project approve calls in advance:",
    question: "Run these calls without asking, now and later? [y]es, [n]o: ",
};
const SERVERS: Texts = Texts {
    shown: "note: files of the project name MCP servers, which are not started here; `run` and `chat` ask about this:",
    ignored: "warning: files of the project name MCP servers, which are not started; --trust-project starts them:",
    heading: "Files of the project name MCP servers, which run with your rights:",
    question: "Start them, now and later? [y]es, [n]o: ",
};

impl Trust {
    /// Returns the project with the approvals and servers that may be used.
    pub(super) fn apply(self, project: Project) -> Result<Project, CommandError> {
        let advances = project.advances();
        let demands = advances.iter().map(|advance| (advance.to_string(), advance.calls.clone())).collect();
        let is_given = matches!(self, Self::Given | Self::ApproveAll | Self::Show);
        let is_used = self.decide(&project, demands, is_given, &APPROVALS)?;
        let project = if is_used { project } else { project.without_approvals() };
        let servers = project.server_files().iter().map(|server| (server.to_string(), server.start())).collect();
        let is_used = self.decide(&project, servers, self == Self::Given, &SERVERS)?;
        Ok(if is_used { project } else { project.without_servers() })
    }

    /// Returns whether what a project demands is used; each demand is what is shown, and what the user agrees to.
    fn decide(
        self,
        project: &Project,
        demands: Vec<(String, String)>,
        is_given: bool,
        texts: &Texts,
    ) -> Result<bool, CommandError> {
        if demands.is_empty() {
            return Ok(true);
        }
        let list = listed(&demands);
        if self == Self::Show {
            note(&format!("{}{list}", texts.shown));
            return Ok(is_given);
        }
        let agreed: Vec<_> = demands.into_iter().map(|(_, agreed)| agreed).collect();
        if is_given || is_agreed(project.root(), &agreed) {
            return Ok(true);
        }
        if !TerminalUser::is_available() {
            note(&format!("{}{list}", texts.ignored));
            return Ok(false);
        }
        note(&format!("{}{list}", texts.heading));
        if !ask(texts.question).map_err(CommandError::from_error)? {
            return Ok(false);
        }
        if let Err(error) = agree(project.root(), agreed) {
            note(&format!("warning: the answer is not remembered: {error}"));
        }
        Ok(true)
    }
}

/// Returns what is shown, each on a line of its own.
fn listed(demands: &[(String, String)]) -> String {
    let mut text = String::new();
    for (shown, _) in demands {
        text.push_str("\n  ");
        text.push_str(&printable_line(shown));
    }
    text
}

/// Asks whether it is used.
fn ask(question: &str) -> io::Result<bool> {
    let (keyboard, _withdrawal) = Keyboard::open()?;
    let answer = Terminal::new(keyboard).ask(question)?;
    Ok(answer.is_some_and(|answer| ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())))
}

/// What the user agreed to, by the folder of the project.
type Agreed = BTreeMap<PathBuf, BTreeSet<String>>;

fn is_agreed(root: &Path, demands: &[String]) -> bool {
    let agreed = state::path(FILE).and_then(|file| read(&file).ok()).unwrap_or_default();
    let known = root.canonicalize().ok().and_then(|root| agreed.get(&root).cloned()).unwrap_or_default();
    demands.iter().all(|demand| known.contains(demand))
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
