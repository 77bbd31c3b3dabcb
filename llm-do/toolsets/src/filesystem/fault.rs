//! The errors of the tools.

use std::io;
use std::path::Path;

use llm_do_core::base::printable::printable_line;

/// The reason that a call failed, as text for a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("`{0}` is outside the root folder; give a path inside it, relative to the root")]
    Outside(String),

    #[error("{0}")]
    Invalid(String),

    #[error("file not found: `{0}`")]
    NotFound(String),

    #[error("not a file: `{0}` is a folder")]
    IsFolder(String),

    #[error("not a folder: `{0}`")]
    NotAFolder(String),

    #[error("not a file: `{0}` is a pipe, a socket or a device")]
    Special(String),

    #[error("`{0}` is hidden by the application")]
    Hidden(String),

    #[error("`{0}` is protected by the application: it can be read, but not changed")]
    Protected(String),

    #[error("the files are read-only: the application allows no changes")]
    ReadOnly,

    #[error("`{0}` is a read-only file")]
    ReadOnlyFile(String),

    #[error("`{0}` already exists; delete it first, or choose another path")]
    Exists(String),

    #[error("`{path}` has {bytes} bytes; the maximum is {max}{hint}")]
    TooLarge { path: String, bytes: u64, max: u64, hint: &'static str },

    #[error(
        "`{path}`: the text has {chars} characters, and `max_chars` is {max}; raise it, or read fewer lines with `offset` and `limit`"
    )]
    TooLong { path: String, chars: usize, max: u32 },

    #[error("`{path}` is not UTF-8 text: {what} at byte {offset}")]
    NotText { path: String, what: &'static str, offset: usize },

    #[error("`{0}` changed after the approver saw the difference; read it again, and repeat the call")]
    Changed(String),

    #[error(
        "`{0}` is not where the approver saw that the path leads: a symbolic link of the path changed; list the files again"
    )]
    Elsewhere(String),

    #[error("a folder of the path of `{0}` changed during the call; repeat the call")]
    Moved(String),

    #[error("the call was cancelled")]
    Cancelled,

    #[error("cannot {action} `{path}`")]
    Io { action: &'static str, path: String, source: io::Error },
}

impl Fault {
    /// Returns a function that converts an error of the system to a fault about `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = shown(path);
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path),
            io::ErrorKind::AlreadyExists => Self::Exists(path),
            io::ErrorKind::IsADirectory => Self::IsFolder(path),
            io::ErrorKind::NotADirectory => Self::NotAFolder(path),
            _ => Self::Io { action, path, source },
        }
    }
}

/// Returns a path as models read it: with `/`, and `.` for the root. Invisible characters are escaped.
pub(super) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for part in path {
        if !text.is_empty() {
            text.push('/');
        }
        text.push_str(&printable_line(&part.to_string_lossy()));
    }
    if text.is_empty() { ".".to_owned() } else { text }
}
