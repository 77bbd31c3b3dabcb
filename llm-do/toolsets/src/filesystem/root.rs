//! The open root folder, and the permitted operations in it.

use std::hash::Hash;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tokio_util::sync::CancellationToken;

use super::fault::Fault;
use super::locate::{Place, Target};
use super::previewed::Previewed;
use super::rules::Rules;
use super::settings::Filesystem;

/// The root folder.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) dir: Dir,
    pub(super) rules: Rules,
    previewed: Previewed,
    pub(super) max_bytes: u64,
    cancelled: CancellationToken,
    path: PathBuf,
    canonical: PathBuf,
}

impl Root {
    pub(super) fn open(path: &Path, settings: &Filesystem, cancelled: CancellationToken) -> Result<Self, Fault> {
        let unusable = |source| Fault::Io { action: "open the root folder", path: path.display().to_string(), source };
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(unusable)?;
        let rules = Rules::new(settings)?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let canonical = path.canonicalize().unwrap_or_else(|_| absolute.clone());
        let (previewed, max_bytes) = (Previewed::default(), settings.max_bytes);
        Ok(Self { dir, rules, previewed, max_bytes, cancelled, path: absolute, canonical })
    }

    /// Returns the absolute paths of the root: the given path, and the path without symbolic links.
    pub(super) fn paths(&self) -> [&Path; 2] {
        [&self.path, &self.canonical]
    }

    /// Stores the targets and the content on which the preview of `call` is based.
    pub(super) fn remember(&self, call: &impl Hash, targets: &[&Target], place: Option<&Place>) {
        self.previewed.remember(call, targets, place, self.max_bytes);
    }

    /// Fails if the targets or the file changed since the preview of `call`.
    pub(super) fn check_unchanged(
        &self,
        call: &impl Hash,
        targets: &[&Target],
        place: Option<&Place>,
    ) -> Result<(), Fault> {
        self.previewed.check(call, targets, place, self.max_bytes)
    }

    /// Fails if the call was cancelled: for long loops.
    pub(super) fn check_cancelled(&self) -> Result<(), Fault> {
        if self.cancelled.is_cancelled() { Err(Fault::Cancelled) } else { Ok(()) }
    }
}
