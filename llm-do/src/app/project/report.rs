//! The faults and warnings of a project's files, each with its file and line.

use std::path::Path;

use llm_do_worker_file::{Fault, Key, Place, did_you_mean};

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

    /// Adds a warning about a key without effect: one of those that other programs read, or an unknown one.
    pub(super) fn ignored_key(&mut self, path: &Path, key: &Key, ignored: &[&str], known: &[&str]) {
        let name = key.name.as_str();
        let message = if ignored.contains(&name) {
            format!("`{name}` has no effect here")
        } else {
            format!("unknown key `{name}` has no effect here{}", did_you_mean(name, known.iter().copied()))
        };
        self.warning(path, key.place, message);
    }

    /// Adds a warning about a file whose extension is a known one but for the case of its letters.
    pub(super) fn misspelled(&mut self, path: &Path, extensions: &[&str]) {
        let Some(extension) = path.extension().and_then(|end| end.to_str()) else { return };
        let near = extensions.iter().find(|known| known.eq_ignore_ascii_case(extension) && **known != extension);
        if let Some(known) = near {
            let message = format!("left out: the extension must be `{known}`, in lowercase");
            self.warnings.push(format!("{}: {message}", shown(path).display()));
        }
    }

    /// Adds a file that cannot be read.
    fn unreadable(&mut self, path: &Path, error: &std::io::Error) {
        self.faults.push(format!("{}: cannot be read: {error}", shown(path).display()));
    }

    /// Returns the text of a file below a folder, or reports why it cannot be read: a model gets the text, so no link may
    /// lead to a file outside.
    pub(super) fn text_within(&mut self, folder: &Path, path: &Path) -> Option<String> {
        let is_within = path.canonicalize().and_then(|file| Ok(file.starts_with(folder.canonicalize()?)));
        match is_within {
            Ok(true) => self.text_of(path),
            Ok(false) => {
                let error = std::io::Error::other("it is a link to a file outside of the project's folder");
                self.unreadable(path, &error);
                None
            }
            Err(error) => {
                self.unreadable(path, &error);
                None
            }
        }
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
