//! The faults and warnings of a project's files, each with its file and line.

use std::path::Path;

use llm_do_worker_file::{Fault, Place};

/// What was found while a project was read.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Report {
    /// Adds the faults of a file.
    pub(super) fn faults(&mut self, path: &Path, faults: impl IntoIterator<Item = Fault>) {
        let mut faults: Vec<_> = faults.into_iter().collect();
        faults.sort_by_key(|fault| fault.place);
        self.faults.extend(faults.into_iter().map(|fault| fault.in_file(shown(path).display())));
    }

    /// Adds the fault of a file at a place.
    pub(super) fn fault(&mut self, path: &Path, place: Place, message: impl Into<String>) {
        self.faults(path, [Fault::new(place, message)]);
    }

    /// Adds a warning about a file.
    pub(super) fn warning(&mut self, path: &Path, place: Place, message: impl Into<String>) {
        self.warnings.push(Fault::new(place, message).in_file(shown(path).display()));
    }

    /// Adds a file that cannot be read.
    pub(super) fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.faults.push(format!("{}: cannot be read: {error}", shown(path).display()));
    }

    /// Returns the text of a file, or reports why it cannot be read.
    pub(super) fn text_of(&mut self, path: &Path) -> Option<String> {
        crate::declare::worker_file::text_of(path).map_err(|error| self.unreadable(path, &error)).ok()
    }
}

/// Returns a path without the `./` of the current folder.
pub(super) fn shown(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}
