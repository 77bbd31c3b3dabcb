//! The hidden files, and the files that may not be changed.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::fault::{Fault, shown};
use super::settings::Filesystem;

/// The compiled patterns of the settings.
#[derive(Debug)]
pub(super) struct Rules {
    hidden: Gitignore,
    protected: Gitignore,
    read_only: bool,
}

impl Rules {
    pub(super) fn new(settings: &Filesystem) -> Result<Self, Fault> {
        let (hidden, protected) = (matcher(&settings.hidden)?, matcher(&settings.protected)?);
        Ok(Self { hidden, protected, read_only: settings.read_only })
    }

    pub(super) fn is_hidden(&self, path: &Path, is_folder: bool) -> bool {
        matches(&self.hidden, path, is_folder)
    }

    /// Checks that a path without symbolic links may be read.
    pub(super) fn check_read(&self, path: &Path, is_folder: bool) -> Result<(), Fault> {
        if self.is_hidden(path, is_folder) { Err(Fault::Hidden(shown(path))) } else { Ok(()) }
    }

    /// Checks that a path without symbolic links may be changed.
    pub(super) fn check_change(&self, path: &Path, is_folder: bool) -> Result<(), Fault> {
        self.check_changes()?;
        self.check_read(path, is_folder)?;
        if matches(&self.protected, path, is_folder) { Err(Fault::Protected(shown(path))) } else { Ok(()) }
    }

    /// Checks that files may be changed at all.
    pub(super) fn check_changes(&self) -> Result<(), Fault> {
        if self.read_only { Err(Fault::ReadOnly) } else { Ok(()) }
    }
}

fn matches(patterns: &Gitignore, path: &Path, is_folder: bool) -> bool {
    // `""`, the root, has no name to match.
    !path.as_os_str().is_empty() && patterns.matched_path_or_any_parents(path, is_folder).is_ignore()
}

fn matcher(patterns: &[String]) -> Result<Gitignore, Fault> {
    let invalid = |pattern: &str, error: &dyn std::fmt::Display| {
        Fault::Invalid(format!("invalid pattern `{pattern}` in the application's settings: {error}"))
    };
    let mut builder = GitignoreBuilder::new("");
    // Some file systems ignore case: `.GIT` may be `.git`.
    builder.case_insensitive(true).map_err(|error| invalid("", &error))?;
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|error| invalid(pattern, &error))?;
    }
    builder.build().map_err(|error| invalid("", &error))
}
