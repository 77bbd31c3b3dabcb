//! Walks a tree in the order of its names, through open folders: no symbolic link is followed.

mod ignored;

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, FileType};

use self::ignored::Ignored;
use super::fault::Fault;
use super::locate::Place;
use super::open;
use super::root::Root;

/// The maximum number of entries that one walk visits.
const MAX_ENTRIES: usize = 200_000;

/// The maximum depth of a walk: each level keeps a folder open.
const MAX_DEPTH: usize = 100;

/// The maximum time for which one call visits a tree.
pub(super) const MAX_TIME: Duration = Duration::from_secs(20);

/// A file or a symbolic link in the tree.
pub(super) struct WalkEntry<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: OsString,
    /// The path from the root.
    pub(super) path: PathBuf,
    /// The path from the start of the walk.
    pub(super) below: PathBuf,
    pub(super) is_link: bool,
}

impl WalkEntry<'_> {
    pub(super) fn place(&self) -> Result<Place, Fault> {
        let folder = self.folder.try_clone().map_err(Fault::io("open", &self.path))?;
        Ok(Place { folder, name: self.name.clone(), path: self.path.clone(), folders: Vec::new() })
    }
}

/// The omissions of a walk.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    /// Whether the walk stopped at its maximum number of entries.
    pub(super) is_stopped: bool,
    /// Whether it stopped at the deadline.
    pub(super) is_late: bool,
    /// Whether ignore files have more patterns than the maximum.
    pub(super) has_more_patterns: bool,
    /// The number of folders that could not be read, or exceed the maximum depth.
    pub(super) folders: usize,
}

/// A folder whose entries are being visited.
struct Level {
    dir: Dir,
    path: PathBuf,
    entries: std::vec::IntoIter<(OsString, FileType)>,
    /// The number of levels of ignore files that apply.
    ignored: usize,
}

/// Calls `visit` for each file and symbolic link below `start`, until it breaks or the deadline has passed.
///
/// Hidden files and `.git` are omitted; with `ignoring`, the entries that `.gitignore` and `.ignore` files exclude are
/// omitted too.
pub(super) fn walk(
    root: &Root,
    start: &str,
    ignoring: bool,
    deadline: Instant,
    visit: &mut dyn FnMut(&WalkEntry<'_>) -> Result<ControlFlow<()>, Fault>,
) -> Result<Omitted, Fault> {
    let (dir, base) = open::find_folder(root, start)?;
    let mut ignored = if ignoring { Ignored::above(root, &base) } else { Ignored::nothing() };
    let mut omitted = Omitted::default();
    let mut left = MAX_ENTRIES;
    let mut levels = vec![Level::open(dir, base.clone(), &mut ignored).map_err(Fault::io("list", &base))?];
    while let Some(level) = levels.last_mut() {
        let Some((name, kind)) = level.entries.next() else {
            ignored.truncate(level.ignored);
            levels.pop();
            continue;
        };
        root.check_cancelled()?;
        left -= 1;
        (omitted.is_stopped, omitted.is_late) = (left == 0, Instant::now() > deadline);
        if omitted.is_stopped || omitted.is_late {
            break;
        }
        let path = level.path.join(&name);
        if is_left_out(root, &ignored, &path, &name, kind.is_dir()) {
            continue;
        }
        if kind.is_dir() {
            let opened = level.dir.open_dir_nofollow(&name);
            match opened.and_then(|dir| Level::open(dir, path, &mut ignored)) {
                Ok(level) if levels.len() < MAX_DEPTH => levels.push(level),
                Ok(level) => {
                    ignored.truncate(level.ignored);
                    omitted.folders += 1;
                }
                Err(_) => omitted.folders += 1,
            }
        } else if kind.is_file() || kind.is_symlink() {
            let below = path.strip_prefix(&base).unwrap_or(&path).to_owned();
            let found = WalkEntry { folder: &level.dir, name, path, below, is_link: kind.is_symlink() };
            if visit(&found)?.is_break() {
                break;
            }
        }
    }
    omitted.has_more_patterns = ignored.has_more();
    Ok(omitted)
}

fn is_left_out(root: &Root, ignored: &Ignored, path: &Path, name: &OsString, is_folder: bool) -> bool {
    name.eq_ignore_ascii_case(".git") || root.rules.is_hidden(path, is_folder) || ignored.holds(path, is_folder)
}

impl Level {
    fn open(dir: Dir, path: PathBuf, ignored: &mut Ignored) -> std::io::Result<Self> {
        let mut entries = Vec::new();
        for entry in dir.entries()?.take(MAX_ENTRIES) {
            let entry = entry?;
            // Another process may have removed it.
            if let Ok(kind) = entry.file_type() {
                entries.push((entry.file_name(), kind));
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        let above = ignored.enter(&dir, &path);
        Ok(Self { dir, path, entries: entries.into_iter(), ignored: above })
    }
}
