//! The arguments of `bwrap`: an empty system, into which the paths of the policy are mounted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::path::Path;

use super::policy::{Place, Policy};
use super::system;

/// Returns the arguments of `bwrap` before the command: later ones are mounted over earlier ones.
pub(super) fn arguments(policy: &Policy<'_>, filter: RawFd) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"].map(Into::into).into();
    if policy.has_network {
        arguments.push("--share-net".into());
    }
    for (path, option) in mounts(policy) {
        if option == "--tmpfs" {
            arguments.extend(["--size".into(), policy.private_size.to_string().into()]);
        }
        let source = (option == "--ro-bind").then(|| path.into());
        arguments.extend([option.into()].into_iter().chain(source).chain([path.into()]));
    }
    for place in links(policy) {
        arguments.extend(["--symlink".into(), place.source.clone().into(), place.shown.clone().into()]);
    }
    let bind = if policy.is_changing { "--bind" } else { "--ro-bind" };
    arguments.extend([bind.into(), policy.root.into(), policy.root.into()]);
    for folder in policy.protected {
        arguments.extend(["--ro-bind".into(), folder.into(), folder.into()]);
    }
    // Kernel settings are files of root in `/proc`, which a command of root could write.
    arguments.extend(["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"].map(Into::into));
    arguments.extend(["--seccomp".into(), filter.to_string().into()]);
    arguments.extend(["--chdir".into(), policy.root.into(), "--".into()]);
    arguments
}

/// Returns the mounts by path, a folder before its contents.
fn mounts<'a>(policy: &'a Policy<'_>) -> BTreeMap<&'a Path, &'static str> {
    let own = system::PRIVATE.iter().map(|path| (Path::new(*path), "--tmpfs"));
    let read = policy.readable.iter().map(|place| place.source.as_path()).filter(|source| {
        let holds = |other: &Place| *source != other.source && source.starts_with(&other.source);
        is_own(source) || !policy.readable.iter().any(holds)
    });
    let made = [(Path::new("/dev"), "--dev"), (Path::new("/proc"), "--proc")];
    own.chain(read.map(|source| (source, "--ro-bind"))).chain(made).collect()
}

/// Returns the paths that are symbolic links outside all mounted folders.
fn links<'a>(policy: &'a Policy<'_>) -> impl Iterator<Item = &'a Place> {
    policy.readable.iter().filter(|place| {
        let holds = |other: &Place| *other != **place && place.shown.starts_with(&other.shown);
        place.shown != place.source && !is_made(&place.shown) && !policy.readable.iter().any(holds)
    })
}

/// Returns whether a path is in a folder that the sandbox creates.
fn is_own(path: &Path) -> bool {
    is_made(path) || system::PRIVATE.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether a path is in a folder that the sandbox creates with all its contents.
fn is_made(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder))
}
