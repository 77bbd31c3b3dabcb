//! Which files are read from JSON, or written to it, while something runs: for who must know of files inside of values.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::Attachment;

thread_local! {
    /// What was found so far, during a search.
    static FOUND: RefCell<Option<Vec<FoundFile>>> = const { RefCell::new(None) };
}

/// A file that was read or written. Not public API. Used by `llm-do`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum FoundFile {
    /// The path of one.
    Path(PathBuf),
    /// One with its bytes.
    Data(Attachment),
}

/// Runs `run`, and returns the files that this thread read or wrote meanwhile, in order.
///
/// Not public API. Used by `llm-do`.
#[doc(hidden)]
pub fn find_files<T>(run: impl FnOnce() -> T) -> (T, Vec<FoundFile>) {
    let search = Search::begin();
    let result = run();
    (result, search.found())
}

/// Notes a file that is known by its path. Not public API. Used by `llm-do`.
#[doc(hidden)]
pub fn found_path(path: &Path) {
    found(|| FoundFile::Path(path.to_owned()));
}

/// Adds a file to the search in progress, if there is one.
pub(super) fn found(file: impl FnOnce() -> FoundFile) {
    FOUND.with_borrow_mut(|found| {
        if let Some(found) = found {
            found.push(file());
        }
    });
}

/// A search under way; one inside of another is a part of it.
struct Search {
    start: usize,
    is_outermost: bool,
}

impl Search {
    fn begin() -> Self {
        FOUND.with_borrow_mut(|found| {
            let is_outermost = found.is_none();
            Self { start: found.get_or_insert_with(Vec::new).len(), is_outermost }
        })
    }

    fn found(&self) -> Vec<FoundFile> {
        FOUND.with_borrow(|found| found.iter().flatten().skip(self.start).cloned().collect())
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        if self.is_outermost {
            FOUND.set(None);
        }
    }
}
