//! Ignore files: `.gitignore` and `.ignore`, of a folder and its parents.

use std::path::{Path, PathBuf};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::filesystem::fault::Fault;
use crate::filesystem::locate::Place;
use crate::filesystem::open;
use crate::filesystem::root::Root;

/// The names of ignore files; a later one takes precedence.
const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The maximum size of an ignore file in bytes; a larger one is not read.
const MAX_FILE: u64 = 1 << 20;

/// The maximum size of the patterns that apply to one folder, in bytes: each name is matched with all of them.
const MAX_BYTES: usize = 64 << 10;

/// The maximum number of patterns that apply to one folder.
const MAX_PATTERNS: usize = 2_000;

/// The maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 1_000;

/// The ignore files that apply to the current folder, outermost first.
pub(super) struct Ignored {
    levels: Vec<Level>,
    is_on: bool,
    /// Whether a pattern was omitted because of a maximum.
    has_more: bool,
}

/// An ignore file.
struct Level {
    matcher: Gitignore,
    size: Size,
}

/// The size of patterns.
#[derive(Clone, Copy, Default)]
struct Size {
    patterns: usize,
    bytes: usize,
}

impl Ignored {
    /// Ignores nothing.
    pub(super) fn nothing() -> Self {
        Self { levels: Vec::new(), is_on: false, has_more: false }
    }

    /// Reads the ignore files of the folders above `base`.
    pub(super) fn above(root: &Root, base: &Path) -> Self {
        let mut ignored = Self { is_on: true, ..Self::nothing() };
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

    /// Adds the ignore files of a folder; returns the previous number of levels.
    pub(super) fn enter(&mut self, folder: &Dir, path: &Path) -> usize {
        let before = self.levels.len();
        if self.is_on {
            for name in NAMES {
                let level = self.read(folder, path, name);
                self.levels.extend(level);
            }
        }
        before
    }

    /// Removes the levels of the folders that the walk has left.
    pub(super) fn truncate(&mut self, levels: usize) {
        self.levels.truncate(levels);
    }

    /// Returns whether an entry of the current folder is ignored: the innermost file with a matching pattern decides.
    pub(super) fn holds(&self, path: &Path, is_folder: bool) -> bool {
        let decisions = self.levels.iter().rev().map(|level| level.matcher.matched(path, is_folder));
        decisions.into_iter().find(|decision| !matches!(decision, Match::None)).is_some_and(|found| found.is_ignore())
    }

    /// Returns whether a pattern was omitted because of a maximum.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Reads an ignore file. An invalid line is skipped, as git does.
    fn read(&mut self, folder: &Dir, path: &Path, name: &str) -> Option<Level> {
        folder.symlink_metadata(name).ok()?;
        let place =
            Place { folder: folder.try_clone().ok()?, name: name.into(), path: path.join(name), folders: Vec::new() };
        let bytes = match open::read(&place, MAX_FILE, "") {
            Ok(content) => content.bytes,
            Err(fault) => {
                self.has_more |= matches!(fault, Fault::TooLarge { .. });
                return None;
            }
        };
        let level = self.level(path, &String::from_utf8_lossy(&bytes));
        self.has_more |= level.is_none();
        level
    }

    /// Compiles the patterns within the maxima.
    fn level(&mut self, path: &Path, text: &str) -> Option<Level> {
        let mut total = self.levels.iter().fold(Size::default(), |total, level| total.plus(level.size));
        let mut size = Size::default();
        let mut builder = GitignoreBuilder::new(path);
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let pattern = Size { patterns: 1, bytes: line.len() };
            if line.len() > MAX_PATTERN || !total.plus(pattern).is_allowed() {
                self.has_more = true;
                continue;
            }
            (size, total) = (size.plus(pattern), total.plus(pattern));
            drop(builder.add_line(None, line));
        }
        Some(Level { matcher: builder.build().ok()?, size })
    }
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self { patterns: self.patterns + other.patterns, bytes: self.bytes + other.bytes }
    }

    fn is_allowed(self) -> bool {
        self.patterns <= MAX_PATTERNS && self.bytes <= MAX_BYTES
    }
}
