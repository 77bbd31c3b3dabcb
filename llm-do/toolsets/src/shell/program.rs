//! Finds the program that a command starts, for each spelling of its first word.

use std::path::{Path, PathBuf};

use super::environment;

/// Programs whose behaviour depends on their name, so that the target of a link does not matter.
const MULTI_CALL: &[&str] = &["busybox", "ccache", "coreutils", "rustup", "snap", "toybox", "uutils"];

/// The program of the first word of a command or of a rule.
#[derive(Debug)]
pub(super) struct Program<'w> {
    word: &'w str,
    /// The names of its file and of the target of a symbolic link.
    names: Vec<String>,
    /// The path of its file, in a folder without symbolic links, if it exists.
    file: Option<PathBuf>,
}

impl<'w> Program<'w> {
    /// Finds the program, for commands in this folder.
    pub(super) fn new(word: &'w str, root: &Path) -> Self {
        let found = found(word, root);
        let target = found.as_deref().and_then(|file| file.canonicalize().ok());
        let target = target.as_deref().and_then(name_of).filter(|name| !MULTI_CALL.contains(&&**name));
        let names = name_of(Path::new(word)).into_iter().chain(target).collect();
        Self { word, names, file: found.as_deref().and_then(without_links) }
    }

    /// Returns the names of its file, each also without its version: `python3.11` is `python`.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flat_map(|name| [name.as_str(), without_version(name)])
    }

    /// Returns whether a rule that refuses `denied` refuses it: `/usr/bin/python3.11` is refused by `python` and by `python3`.
    pub(super) fn is_refused_by(&self, denied: &str) -> bool {
        let Some(denied) = name_of(Path::new(denied)) else { return false };
        let is_version = |rest: &str| rest.chars().all(is_of_version);
        self.names.iter().any(|name| name.strip_prefix(&*denied).is_some_and(is_version))
    }

    /// Returns whether both words name the same file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.word == other.word || (self.file.is_some() && self.file == other.file)
    }
}

/// Returns the path of the file that a word names, if there is one.
fn found(word: &str, root: &Path) -> Option<PathBuf> {
    if Path::new(word).components().count() > 1 {
        return Some(root.join(word)).filter(|file| file.exists());
    }
    let folders = environment::search_path(root);
    folders.into_iter().map(|folder| folder.join(word)).find(|file| file.is_file())
}

/// Returns the path with resolved folders. A link as the last part is kept, since a program may depend on its name.
fn without_links(file: &Path) -> Option<PathBuf> {
    Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?))
}

/// Returns the name of a file of a program.
fn name_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_str()?;
    Some(name.strip_suffix(".exe").unwrap_or(name).to_owned())
}

/// Returns the name without its final version, unless nothing else is left.
fn without_version(name: &str) -> &str {
    let without = name.trim_end_matches(is_of_version);
    if without.is_empty() { name } else { without }
}

fn is_of_version(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, '.' | '-')
}
