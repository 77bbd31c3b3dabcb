//! Ignore files: `.gitignore` and `.ignore`, of a folder and of those above it.

use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::app::toolsets::filesystem::locate::Place;
use crate::app::toolsets::filesystem::open;
use crate::app::toolsets::filesystem::root::Root;

/// The names of ignore files; a later one takes precedence.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The maximum size of an ignore file in bytes; a larger one is not read.
const MAX_BYTES: u64 = 1 << 20;

/// The ignore files that apply to the current folder, outermost first.
pub(super) struct Ignored {
    levels: Vec<Gitignore>,
    is_on: bool,
}

impl Ignored {
    /// Ignores nothing.
    pub(super) fn nothing() -> Self {
        Self { levels: Vec::new(), is_on: false }
    }

    /// Reads the ignore files of the folders above `base`.
    pub(super) fn above(root: &Root, base: &Path) -> Self {
        let mut ignored = Self { levels: Vec::new(), is_on: true };
        let mut folder = root.dir.try_clone().ok();
        let mut path = PathBuf::new();
        for name in base {
            let Some(dir) = folder else { break };
            ignored.enter(&dir, &path);
            folder = dir.open_dir_nofollow(name).ok();
            path.push(name);
        }
        ignored
    }

    /// Adds the ignore files of a folder; returns how many levels there were before.
    pub(super) fn enter(&mut self, folder: &Dir, path: &Path) -> usize {
        let before = self.levels.len();
        if self.is_on {
            self.levels.extend(NAMES.iter().filter_map(|name| read(folder, path, name)));
        }
        before
    }

    /// Removes the levels of folders that were left.
    pub(super) fn truncate(&mut self, levels: usize) {
        self.levels.truncate(levels);
    }

    /// Returns whether an entry of the current folder is ignored: the innermost file that names it decides.
    pub(super) fn holds(&self, path: &Path, is_folder: bool) -> bool {
        let decisions = self.levels.iter().rev().map(|level| level.matched(path, is_folder));
        decisions.into_iter().find(|decision| !matches!(decision, Match::None)).is_some_and(|found| found.is_ignore())
    }
}

/// Reads an ignore file. An invalid line is skipped, as git does.
fn read(folder: &Dir, path: &Path, name: &str) -> Option<Gitignore> {
    folder.symlink_metadata(name).ok()?;
    let place = Place { folder: folder.try_clone().ok()?, name: name.into(), path: path.join(name) };
    let text = String::from_utf8_lossy(&open::read(&place, MAX_BYTES, "").ok()?.bytes).into_owned();
    let mut builder = GitignoreBuilder::new(path);
    for line in text.lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().ok()
}
