//! The environment of a command: a few variables of this process, and those of the settings.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::settings::Shell;

/// The variables that are passed on. Many other variables contain secrets or change the behaviour of programs.
const PASSED: &[&str] = &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "SystemRoot"];

/// Variables that disable prompts, pagers and locks.
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

/// Returns the folders of programs, without those that a command can write to, so that `cat` is the program of the
/// system.
pub(super) fn search_path(root: &Path) -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).filter_map(|folder| resolved(&folder, root)).collect()
}

/// Returns the path of the program with a name, without symbolic links.
#[cfg(target_os = "linux")]
pub(super) fn find_program(name: &Path, root: &Path) -> Option<PathBuf> {
    let names = if name.is_absolute() {
        vec![name.to_owned()]
    } else {
        search_path(root).into_iter().map(|folder| folder.join(name)).collect()
    };
    names.iter().filter_map(|name| resolved(name, root)).find(|program| program.is_file())
}

/// Returns a path without symbolic links, which a command cannot redirect; `None` if it is relative or missing, or if a
/// part of it is in `root`.
fn resolved(path: &Path, root: &Path) -> Option<PathBuf> {
    let found = path.canonicalize().ok()?;
    // All parts are checked, since a previous command may have created a link in `root`.
    let is_safe = path.is_absolute() && !found.starts_with(root) && !leads_through(path, root);
    // Some Windows programs do not support the canonical form.
    is_safe.then(|| if cfg!(windows) { path.to_owned() } else { found })
}

/// Returns whether a part of a path, or of a link on its way, is in `root`.
fn leads_through(path: &Path, root: &Path) -> bool {
    path.ancestors().any(|part| {
        let target = || Some(part.parent()?.join(part.read_link().ok()?));
        part.canonicalize().is_ok_and(|part| part.starts_with(root))
            || target().is_some_and(|target| leads_through(&target, root))
    })
}
