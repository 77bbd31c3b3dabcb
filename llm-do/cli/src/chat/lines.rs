//! The lines of the user: from the terminal, or from standard input.

use std::io;

use super::super::listener::Listener;
use super::super::rule_file::RuleFile;
use super::{CommandError, Progress, TerminalUser};

/// The source of the user's lines.
#[derive(Debug)]
pub(super) enum Lines {
    Terminal(TerminalUser),
    /// Each line of standard input is a message.
    Piped,
}

impl Lines {
    pub(super) fn new(progress: &Progress) -> Self {
        if TerminalUser::is_available() {
            Self::Terminal(TerminalUser::new(progress.clone(), RuleFile::default()))
        } else {
            Self::Piped
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Listens to what the user types while an answer is pending; `None` without a terminal.
    pub(super) fn listen(&self) -> Option<Listener> {
        match self {
            Self::Terminal(user) => Listener::start(user.terminal().clone()),
            Self::Piped => None,
        }
    }

    /// Returns the next input of the user; `None` at the end of the input.
    pub(super) async fn next(&self) -> Result<Option<String>, CommandError> {
        match self {
            Self::Terminal(user) => user.ask(|mut console| console.message("> ")).await.map_err(CommandError::Error),
            Self::Piped => {
                let read = tokio::task::spawn_blocking(read_line).await.map_err(CommandError::from_error)?;
                read.map_err(|error| CommandError::Error(format!("cannot read standard input: {error}")))
            }
        }
    }
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let count = io::stdin().read_line(&mut line)?;
    Ok((count > 0).then_some(line))
}
