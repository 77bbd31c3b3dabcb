//! Errors of journals.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::base::error::BoxError;

/// The error of an effect that could be neither replayed nor recorded.
///
/// Messages contain no inputs and no values: steps are named by kind, name and a short digest of the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The run makes a different call than the recorded one.
    #[error(
        "the run diverged from its journal at {place}: expected {recorded}, found {found}; resume with the code and \
         arguments that wrote the journal, or start a new journal"
    )]
    Diverged {
        /// The position in the call tree, such as "`main` → 3rd call".
        place: String,
        /// The step that is recorded there.
        recorded: String,
        /// The step that the run made instead.
        found: String,
    },

    /// The journal file could not be read or written; all further unrecorded steps of a
    /// [`FileJournal`](super::FileJournal) fail.
    #[error("cannot read or write the journal `{}`; fix the cause, then run again to resume", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// A line of the journal file is not a valid record. The file was not changed.
    #[error(
        "line {line} of the journal `{}` is invalid: {message}; restore the file, or truncate it before this line to \
         resume from there",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The 1-based line number; the header is line 1.
        line: usize,
        /// What is wrong with the line, without its content.
        message: String,
    },

    /// The file is not a journal, or has an unknown version. It was not changed.
    #[error("cannot open `{}` as a journal: {message}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The reason, and what to do.
        message: String,
    },

    /// The file is already open as a journal, in this or another process.
    #[error("the journal `{}` is in use by another run: stop that run, or choose another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },

    /// Another process has claimed the run.
    #[error(
        "the run `{run}` is in use by another process until {until}; stop that process, or try again after that time"
    )]
    Claimed {
        /// The id of the run.
        run: String,
        /// When the claim of the other process lapses, unless it is renewed.
        until: Timestamp,
    },

    /// Another process has claimed the run after this process; records of this process are refused.
    #[error("the run `{run}` was taken over by another process, which continues it")]
    TakenOver {
        /// The id of the run.
        run: String,
    },

    /// A value cannot be recorded, a recorded value does not fit its step, or the records of the step were deleted.
    #[error("{step}: {message}")]
    InvalidValue {
        /// The kind, the name and the input digest of the step.
        step: String,
        /// The reason, and what to do.
        message: String,
    },

    /// The journal stopped the effect before it had an outcome; it runs again on resume.
    #[error("the effect was interrupted; run again to resume")]
    Interrupted,

    /// The engine of a custom journal failed.
    #[error("the journal engine failed")]
    Engine {
        /// The error of the engine.
        source: BoxError,
    },
}
