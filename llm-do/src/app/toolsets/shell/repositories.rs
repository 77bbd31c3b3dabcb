//! The repositories in a folder, in a form that shows whether they have changed: hooks and configuration of a repository start programs,
//! outside the sandbox too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, DirEntry, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::base::printable::printable_line;

/// How many files and folders are listed, and for how long; a folder with more cannot be searched.
pub(super) const MAX_ENTRIES: usize = 2_000_000;
const MAX_TIME: Duration = Duration::from_secs(30);

/// How many changes are shown.
const MAX_SHOWN: usize = 20;

/// How many folders are named for a sandbox to protect; later ones are only compared.
const MAX_FOLDERS: usize = 256;

/// What a repository without `.git` starts programs by. Its objects change with each use.
const STARTING: &[&str] = &["commondir", "config", "config.worktree", "hooks", "info", "modules", "worktrees"];

/// The search took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// The repositories in a folder.
#[derive(Debug)]
pub(super) struct Repositories {
    /// All files and folders of theirs, with what changes when they do.
    marks: BTreeMap<PathBuf, Mark>,
    /// The folders named `.git`.
    folders: Vec<PathBuf>,
}

/// What changes when a file does; of a folder, its entries are compared instead.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mark {
    File {
        identity: Identity,
        size: u64,
        modified: (i64, i64),
        changed: (i64, i64),
    },
    Folder(Identity),
    /// It cannot be listed.
    Unreadable,
}

/// A file, its kind, mode and owner.
type Identity = (u64, u64, u32, u32, u32);

/// A search of a folder.
struct Search {
    found: Repositories,
    /// Folders to list, and whether they are in a repository.
    open: Vec<(PathBuf, bool)>,
    entries: usize,
    end: Instant,
}

impl Repositories {
    /// Searches a folder for repositories. Symbolic links are not followed.
    pub(super) fn find(root: &Path) -> Result<Self, TooLarge> {
        let found = Self { marks: BTreeMap::new(), folders: Vec::new() };
        let open = vec![(root.to_owned(), is_git(root))];
        let mut search = Search { found, open, entries: 0, end: Instant::now() + MAX_TIME };
        while let Some((folder, is_inside)) = search.open.pop() {
            search.list(folder, is_inside)?;
        }
        search.found.folders.sort_by_key(|folder| folder.components().count());
        search.found.folders.truncate(MAX_FOLDERS);
        Ok(search.found)
    }

    /// Returns the folders named `.git`, those nearest to the root first.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Describes what differs in a later search, relative to the root; `None` if nothing does.
    pub(super) fn changes(&self, after: &Self, root: &Path) -> Option<String> {
        let paths: BTreeSet<_> = self.marks.keys().chain(after.marks.keys()).collect();
        let mut changes = Vec::new();
        let mut listed: Option<&Path> = None;
        for path in paths {
            let verb = match (self.marks.get(path), after.marks.get(path)) {
                (Some(before), Some(after)) if before == after => continue,
                (_, Some(Mark::Unreadable)) => "made unreadable",
                (Some(_), Some(_)) => "changed",
                (None, _) => "created",
                (_, None) => "removed or moved",
            };
            // What is in a folder that is new or gone need not be listed.
            if listed.is_some_and(|folder| path.starts_with(folder)) {
                continue;
            }
            listed = (verb != "changed").then_some(path);
            changes.push((verb, path.strip_prefix(root).unwrap_or(path)));
        }
        let mut text = String::new();
        for (verb, path) in changes.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {verb}: `{}`", printable_line(&path.to_string_lossy()));
        }
        let more = changes.len().saturating_sub(MAX_SHOWN);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
        (!changes.is_empty()).then(|| text.trim_end().to_owned())
    }
}

impl Search {
    fn list(&mut self, folder: PathBuf, is_inside: bool) -> Result<(), TooLarge> {
        let entries = match fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) => {
                self.found.marks.insert(folder, Mark::Unreadable);
                return Ok(());
            }
        };
        self.entries += entries.len();
        if self.entries > MAX_ENTRIES || Instant::now() > self.end {
            return Err(TooLarge);
        }
        let is_bare = !is_inside && is_bare(&entries);
        for entry in entries {
            let path = entry.path();
            let is_named = is_git(&path);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_starting = is_bare && STARTING.iter().any(|name| entry.file_name() == *name);
            let is_marked = is_inside || is_named || is_starting;
            if is_marked {
                self.mark(&path);
            }
            if is_folder {
                if is_named && !is_inside {
                    self.found.folders.push(path.clone());
                }
                self.open.push((path, is_marked));
            }
        }
        if is_bare {
            self.mark(&folder);
        }
        Ok(())
    }

    fn mark(&mut self, path: &Path) {
        let mark = match fs::symlink_metadata(path) {
            Ok(facts) => Mark::of(&facts),
            Err(error) if error.kind() == ErrorKind::NotFound => return,
            Err(_) => Mark::Unreadable,
        };
        self.found.marks.insert(path.to_owned(), mark);
    }
}

impl Mark {
    #[cfg(unix)]
    fn of(facts: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;

        let identity = (facts.dev(), facts.ino(), facts.mode(), facts.uid(), facts.gid());
        if facts.is_dir() {
            return Self::Folder(identity);
        }
        // The time of the change is set by the kernel alone, for each change of content, links or mode.
        let [modified, changed] = [(facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec())];
        Self::File { identity, size: facts.size(), modified, changed }
    }

    /// Only Linux has a sandbox.
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Self {
        Self::Unreadable
    }
}

/// Returns whether a path has the name of a repository's folder, on any file system.
fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns whether a folder is a repository without `.git`: see `is_git_directory` of git.
fn is_bare(entries: &[DirEntry]) -> bool {
    let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}
