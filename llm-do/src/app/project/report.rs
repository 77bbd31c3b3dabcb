//! The faults and warnings of a project's files, each with its file and line.

use std::path::Path;
use std::rc::Rc;

use llm_do_worker_file::{Fault, Key, Place, did_you_mean};

use super::folder::Folder;

/// What was found while a project was read.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) faults: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The folder of the project, which all of its files are in; `None` for a file of the user.
    pub(super) folder: Option<Rc<Folder>>,
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

    /// Returns whether a path is inside of the project's folder; otherwise it is left out with a warning.
    pub(super) fn is_inside(&mut self, path: &Path) -> bool {
        let Some(Err(error)) = self.folder.as_ref().map(|folder| folder.inside(path)) else { return true };
        let text = if error.kind() == std::io::ErrorKind::Other {
            "it leads outside of the project's folder".to_owned()
        } else {
            error.to_string()
        };
        self.warnings.push(format!("{}: left out: {text}", shown(path).display()));
        false
    }

    /// Returns the text of a file, or reports why it cannot be read: of a project, no path and no link leads outside.
    pub(super) fn text_of(&mut self, path: &Path) -> Option<String> {
        self.read(path).map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Opens a folder, or reports why it cannot be opened.
    pub(super) fn folder_at(&mut self, path: &Path) -> Option<cap_std::fs::Dir> {
        let opened = self.folder.as_ref()?.open_folder(path);
        opened.map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Returns the text of a file.
    pub(super) fn read(&self, path: &Path) -> std::io::Result<String> {
        match &self.folder {
            Some(folder) => folder.text(path),
            None => crate::declare::worker_file::text_of(path),
        }
    }
}

/// Returns a path without the `./` of the current folder.
pub(super) fn shown(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}
