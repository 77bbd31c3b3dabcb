//! Why an effect was neither replayed nor recorded.

use std::io;
use std::path::PathBuf;

use crate::base::error::BoxError;

/// What an effect came to if it came to no end worth recording: it runs again on resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was interrupted")]
pub struct Interrupted;

/// Why an effect was neither replayed nor recorded.
///
/// No text of it holds an input or a value: steps are named by kind, name and a short digest of the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The run does something else than what is recorded.
    #[error(
        "the run departs from its journal at {place}: recorded is {recorded}, and now came {found}; run the code and \
         arguments that wrote the journal, or begin a new one"
    )]
    Diverged {
        /// Where in the call tree, such as "`main` → 3rd call".
        place: String,
        /// What is recorded there.
        recorded: String,
        /// What the run did instead.
        found: String,
    },

    /// The journal's file could not be read or written; nothing more runs on this journal.
    #[error("cannot use the journal `{}`: see that it can be read and written, and run again to resume", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },

    /// A line of the journal's file is no record. The file was not changed.
    #[error(
        "line {line} of the journal `{}` is no record: {message}; restore the file, or cut it off before this line to \
         resume from there",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1; the header is line 1.
        line: usize,
        /// What is wrong with it, without what it holds.
        message: String,
    },

    /// The file is no journal that can be resumed here. It was not changed.
    #[error("`{}` cannot be resumed: {message}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },

    /// Another journal is open on the file, here or in another process.
    #[error("the journal `{}` is in use: end the other run, or choose another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },

    /// A value cannot be recorded, or is not what its step expects.
    #[error("{step}: {message}")]
    Unfit {
        /// The step: kind, name and digest of the input.
        step: String,
        /// Why, and what to do.
        message: String,
    },

    /// The effect came to no end worth recording; it runs again on resume.
    #[error("the effect was interrupted: run again to resume")]
    Interrupted,

    /// An engine behind a journal failed in its own way.
    #[error("the journal failed")]
    Engine {
        /// What it says.
        source: BoxError,
    },
}

impl From<Interrupted> for JournalError {
    fn from(Interrupted: Interrupted) -> Self {
        Self::Interrupted
    }
}
