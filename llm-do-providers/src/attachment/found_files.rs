//! Collects the files that are serialized or deserialized while a function runs: for callers that need the files
//! inside values.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::Attachment;

thread_local! {
    /// The files found so far in the current search.
    static FOUND: RefCell<Option<Vec<FoundFile>>> = const { RefCell::new(None) };
}

/// A file that was serialized or deserialized. Not public API. Used by `llm-do`.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum FoundFile {
    /// A path.
    Path(PathBuf),
    /// A file with its bytes.
    Data(Attachment),
}

/// Runs `run`, and returns the files that this thread serialized or deserialized meanwhile, in order.
///
/// Not public API. Used by `llm-do`.
#[doc(hidden)]
pub fn find_files<T>(run: impl FnOnce() -> T) -> (T, Vec<FoundFile>) {
    let search = Search::begin();
    let result = run();
    (result, search.found())
}

/// Records a file by its path. Not public API. Used by `llm-do`.
#[doc(hidden)]
pub fn found_path(path: &Path) {
    found(|| FoundFile::Path(path.to_owned()));
}

/// Adds a file to the current search, if there is one.
pub(super) fn found(file: impl FnOnce() -> FoundFile) {
    FOUND.with_borrow_mut(|found| {
        if let Some(found) = found {
            found.push(file());
        }
    });
}

/// A running search; a nested one shares the list of the outer one.
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
