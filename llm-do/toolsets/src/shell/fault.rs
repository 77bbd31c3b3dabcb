//! The errors of the tools.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::repositories::Unsearched;
use super::settings::SandboxKind;

/// The reason that a command does not run, as text for a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("the command has {bytes} bytes; the maximum is {max}: write what it reads to a file")]
    TooLong { bytes: usize, max: usize },

    #[error("the command is empty; give a program and its arguments")]
    Empty,

    #[error("cannot parse the command: a quote is not closed, or it ends with a backslash")]
    Unbalanced,

    #[error(
        "`{0}` has no meaning here: commands run without a shell, so there are no pipes, redirects, lists, variables or \
         globs; make a separate call for each command, and put single quotes around a literal `{0}`"
    )]
    Metacharacter(char),

    #[error("the command contains a NUL character")]
    Nul,

    #[error("the application refuses commands that begin with `{0}`")]
    Refused(String),

    #[error("invalid rule `{0}` in the application's settings: it is not a command")]
    Rule(String),

    #[error("the application requires a sandbox, and {0} on this machine; no command runs")]
    NoSandbox(&'static str),

    #[error(
        "the command was approved for a sandbox of {0}, which does not work now; it did not run: call the tool again for a new \
         approval"
    )]
    Weaker(SandboxKind),

    #[error(
        "the repositories in the working directory cannot be protected: {0}; no command that may change files runs before this \
         is mended, or the application sets another working directory"
    )]
    Unsearched(Unsearched),

    #[error(
        "the command changed a repository, which may start programs later; do not use git there before this is undone:\n\
         {changes}\nthe command's result:\n{result}"
    )]
    Repository { changes: String, result: String },

    #[error(
        "the repositories in the working directory cannot be checked after the command: {why}; do not use git there before this \
         is mended\nthe command's result:\n{result}"
    )]
    Unchecked { why: Unsearched, result: String },

    #[error(
        "a repository has changed since a command that was cancelled or could not be checked, by it or by another program, and \
         may start programs later; do not use git there before this is undone:\n{0}\nthis command did not run"
    )]
    Earlier(String),

    #[error("the tool panicked")]
    Panicked,

    #[error("cannot lock `{}`, so that no other command changes it meanwhile", .folder.display())]
    Lock { folder: PathBuf, source: io::Error },

    #[error(
        "another command has run in `{}`, or above or below it, for all of {waited:?}; this command waited and did not run: call the \
         tool again later",
        .folder.display()
    )]
    Locked { folder: PathBuf, waited: Duration },

    #[error("the working directory of the commands is unusable")]
    Root(#[source] io::Error),

    #[error("program not found: `{0}`")]
    NotFound(String),

    #[error("cannot start `{program}`")]
    Start { program: String, source: io::Error },

    #[error("cannot wait for the command")]
    Wait(#[source] io::Error),
}
