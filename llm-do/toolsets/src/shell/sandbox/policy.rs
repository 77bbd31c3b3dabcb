//! The access policy of a command, from which the arguments of `bwrap` and the rules of Landlock are made.

use std::path::{Path, PathBuf};

use super::super::rules::Approved;
use super::Launch;
use super::system;

/// The divisor of the memory limit for the maximum size of each private folder, which is added to the limit.
const PRIVATE_SHARE: u64 = 8;

/// The permitted access of a command; all other access is denied.
#[derive(Debug)]
pub(super) struct Policy<'a> {
    /// The readable paths besides the project, of the system and the settings. A folder comes before its contents.
    pub(super) readable: Vec<Place>,
    /// The project, without symbolic links. Only the application chooses it.
    pub(super) root: &'a Path,
    /// Whether the project is writable.
    pub(super) is_changing: bool,
    /// Folders of a writable project that stay read-only, if the sandbox can protect a nested folder.
    pub(super) protected: &'a [PathBuf],
    /// Whether internet addresses are reachable.
    pub(super) has_network: bool,
    /// The maximum size of each private folder in bytes, which are memory.
    pub(super) private_size: u64,
}

/// A readable file or folder.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The path for commands, which may be a symbolic link.
    pub(super) shown: PathBuf,
    /// The path without symbolic links.
    pub(super) source: PathBuf,
}

impl<'a> Policy<'a> {
    pub(super) fn new(launch: &'a Launch<'_>) -> Self {
        let is_changing = launch.approved == Approved::Changing;
        let has_network = launch.settings.has_network && is_changing;
        let network: &[&str] = if has_network { system::NETWORK } else { &[] };
        let system = [system::PROGRAMS, system::CONFIGURATION, network].concat();
        let given = launch.settings.readable.iter().map(PathBuf::as_path);
        let mut readable: Vec<_> = system.into_iter().map(Path::new).chain(given).filter_map(Place::find).collect();
        readable.sort();
        readable.dedup();
        // 0 would be unlimited.
        let private_size = (launch.settings.limits.memory / PRIVATE_SHARE).max(1 << 16);
        Self { readable, root: launch.root, is_changing, protected: launch.protected, has_network, private_size }
    }

    /// Returns whether a command can read this path.
    pub(super) fn can_read(&self, path: &Path) -> bool {
        let folders = self.readable.iter().map(|place| place.source.as_path()).chain([self.root]);
        path.canonicalize().is_ok_and(|path| folders.into_iter().any(|folder| path.starts_with(folder)))
    }
}

impl Place {
    /// Finds a path; `None` if it does not exist.
    fn find(path: &Path) -> Option<Self> {
        let shown = std::path::absolute(path).ok()?;
        Some(Self { source: shown.canonicalize().ok()?, shown })
    }
}
