//! What a command may reach: the one description from which the arguments of `bwrap` and the rules of Landlock are made.

use std::path::{Path, PathBuf};

use super::super::rules::Approved;
use super::Launch;
use super::system;

/// The part of the limit of memory that each private folder may hold in addition.
const PRIVATE_SHARE: u64 = 8;

/// What a command may reach; it reaches nothing else.
#[derive(Debug)]
pub(super) struct Policy<'a> {
    /// What can be read besides the project: of the system, and of the settings. A folder stands before what is in it.
    pub(super) readable: Vec<Place>,
    /// The project: without symbolic links, chosen by the application alone.
    pub(super) root: &'a Path,
    /// Whether the project can be changed.
    pub(super) is_changing: bool,
    /// Folders of the project that cannot be changed even so, where the sandbox can protect a folder in another.
    pub(super) protected: &'a [PathBuf],
    /// Whether addresses of the internet can be reached.
    pub(super) has_network: bool,
    /// How many bytes each private folder holds, which are memory.
    pub(super) private_size: u64,
}

/// A file or folder that can be read.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The path by which commands know it, which may be a symbolic link.
    pub(super) shown: PathBuf,
    /// The same without symbolic links.
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
        // 0 would mean no limit.
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
    /// Finds a place; none if it does not exist.
    fn find(path: &Path) -> Option<Self> {
        let shown = std::path::absolute(path).ok()?;
        Some(Self { source: shown.canonicalize().ok()?, shown })
    }
}
