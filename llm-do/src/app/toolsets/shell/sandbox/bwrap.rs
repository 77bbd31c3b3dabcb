//! The arguments of `bwrap`.

use std::ffi::OsString;
use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use super::super::rules::Approved;
use super::super::settings::Shell;
use super::hidden;

/// How many folders are searched for repositories; the rest has none that is protected.
const MAX_SEARCHED: usize = 2_000;

/// Returns the arguments of `bwrap` before the command: later ones are mounted over earlier ones.
pub(super) fn arguments(settings: &Shell, root: &Path, approved: Approved, filter: Option<RawFd>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(Into::into).into();
    if settings.has_network && approved == Approved::Changing {
        arguments.push("--share-net".into());
    }
    arguments.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(Into::into));
    for folder in hidden() {
        arguments.extend(["--tmpfs".into(), folder.into()]);
    }
    for folder in settings.readable_folders() {
        arguments.extend(["--ro-bind".into(), folder.clone().into(), folder.into()]);
    }
    let bind = if approved == Approved::Reading { "--ro-bind" } else { "--bind" };
    arguments.extend([bind.into(), root.into(), root.into()]);
    for git in repositories(root) {
        arguments.extend(["--ro-bind".into(), git.clone().into(), git.into()]);
    }
    if let Some(filter) = filter {
        arguments.extend(["--seccomp".into(), filter.to_string().into()]);
    }
    arguments.extend(["--chdir".into(), root.into(), "--".into()]);
    arguments
}

/// Returns the `.git` of the root and of the folders in it: hooks and configuration of a repository run programs, outside
/// the sandbox too.
fn repositories(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    let mut searched = 0;
    while let Some(folder) = open.pop() {
        searched += 1;
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                // A file or a link names the true folder.
                found.extend(entry.path().canonicalize());
            } else if searched + open.len() < MAX_SEARCHED && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}
