//! Without the feature `workers`, no tool creates workers, so their files are not written.

use std::io;
use std::path::Path;

/// The outcome of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(dead_code, reason = "the same type as with the feature")]
pub(super) enum WriteOutcome {
    New,
    Equal,
    Other,
}

/// Returns the error that writing a worker file requires the feature.
pub(super) fn create(_: &Path, _: &str) -> io::Result<WriteOutcome> {
    let text = "turn on the feature `workers` of `llm-do` to write worker files";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}

/// Returns the error that writing a worker file requires the feature.
pub(super) fn replace(path: &Path, _: &str, text: &str) -> io::Result<WriteOutcome> {
    create(path, text)
}
