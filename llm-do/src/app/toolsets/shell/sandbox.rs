//! The sandbox: `bwrap`, where it is installed and the system lets it work.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::environment::{find_program, variables};
use super::rules::Approved;
use super::settings::{Sandbox, Shell};

/// Folders that are empty in the sandbox: files of users, and the sockets of services.
const HIDDEN: &[&str] = &["/tmp", "/var/tmp", "/run", "/home", "/root"];

/// Returns the program, if the settings want a sandbox and one starts here.
pub(super) fn find(settings: &Shell, root: &Path) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") || settings.sandbox == Sandbox::Off || root.parent().is_none() {
        // With `/` as the working directory, nothing would be hidden or protected.
        return None;
    }
    let bwrap = find_program(&settings.bwrap, root)?;
    let mut probe = Command::new(&bwrap);
    probe.args(arguments(settings, root, Approved::Reading)).arg("true");
    probe.env_clear().envs(variables(settings, root)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success()).then_some(bwrap)
}

/// Returns the arguments of `bwrap` before the command: later ones are mounted over earlier ones.
pub(super) fn arguments(settings: &Shell, root: &Path, approved: Approved) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(Into::into).into();
    if settings.has_network && approved == Approved::Changing {
        arguments.push("--share-net".into());
    }
    arguments.extend(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"].map(Into::into));
    for folder in hidden() {
        arguments.extend(["--tmpfs".into(), folder.into()]);
    }
    let bind = if approved == Approved::Reading { "--ro-bind" } else { "--bind" };
    arguments.extend([bind.into(), root.into(), root.into()]);
    // The hooks and the configuration of a repository run programs, outside the sandbox too.
    if let Ok(git) = root.join(".git").canonicalize().map(OsString::from) {
        arguments.extend(["--ro-bind".into(), git.clone(), git]);
    }
    arguments.extend(["--chdir".into(), root.into(), "--".into()]);
    arguments
}

/// Returns the folders to hide that exist, without symbolic links, which cannot be mounted over.
fn hidden() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let folders = HIDDEN.iter().map(PathBuf::from).chain(home);
    let mut found: Vec<_> = folders.filter_map(|folder| folder.canonicalize().ok()).collect();
    found.retain(|folder| folder.is_dir() && folder.parent().is_some());
    // A folder before the folders in it, or it would hide their mounts; of equal ones, one.
    found.sort();
    found.dedup();
    found
}
