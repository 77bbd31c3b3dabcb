//! The environment of a command: a few variables of this process, and those of the settings.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::settings::Shell;

/// What is passed on: no other variable, since many hold secrets or change what programs do.
const PASSED: &[&str] = &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "SystemRoot"];

/// What keeps programs from asking, paging and locking.
const SET: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("PAGER", "cat"),
    ("TERM", "dumb"),
];

/// Returns the variables of a command.
pub(super) fn variables(settings: &Shell, root: &Path) -> Vec<(OsString, OsString)> {
    let passed = PASSED.iter().filter_map(|name| Some(((*name).into(), env::var_os(name)?)));
    let set = SET.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let path = env::join_paths(search_path(root)).unwrap_or_default();
    let given = settings.variables.iter().map(|(name, value)| (name.into(), value.into()));
    passed.chain(set).chain([("PATH".into(), path)]).chain(given).collect()
}

/// Returns the folders of programs: not those that a command can write to, so that `cat` stays the system's.
fn search_path(root: &Path) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let is_safe = |folder: &PathBuf| {
        folder.is_absolute() && !folder.canonicalize().unwrap_or_else(|_| folder.clone()).starts_with(root)
    };
    env::split_paths(&path).filter(is_safe).collect()
}

/// Returns the path of a program that is given by its name.
#[cfg(target_os = "linux")]
pub(super) fn find_program(name: &Path, root: &Path) -> Option<PathBuf> {
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    search_path(root).into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}
