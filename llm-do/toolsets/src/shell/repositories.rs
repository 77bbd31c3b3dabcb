//! Lists the repositories in a folder with fingerprints that show changes: the hooks and the configuration of a
//! repository start programs, also outside the sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, DirEntry};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use llm_do_core::base::printable::printable_line;

use super::fingerprint::{self, Fingerprint};

/// The maximum numbers of listed entries and of read bytes, and the maximum time; a larger folder cannot be searched.
const MAX_ENTRIES: usize = 2_000_000;
const MAX_READ: u64 = 512 << 20;
const MAX_TIME: Duration = Duration::from_secs(30);

/// The maximum number of shown changes.
const MAX_SHOWN: usize = 20;

/// The maximum number of folders that a sandbox protects; further folders are only compared.
const MAX_FOLDERS: usize = 256;

/// The files of a repository without `.git` that start programs. Its objects change with each use.
const STARTING: &[&str] = &["commondir", "config", "config.worktree", "hooks", "info", "modules", "worktrees"];

/// The reason that a folder cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unsearched {
    #[error("it has more than {MAX_ENTRIES} files and folders, or they take longer than {MAX_TIME:?} to list")]
    TooManyEntries,

    #[error(
        "its repositories have more than {MAX_READ} bytes besides objects, or a hook or configuration that is too large"
    )]
    TooLarge,

    /// This user, and so a command, can make it readable.
    #[error("`{}` cannot be read; make it readable, or remove it", printable_line(&.0.to_string_lossy()))]
    Unreadable(PathBuf),
}

/// The repositories in a folder.
#[derive(Debug)]
pub(super) struct Repositories {
    /// The fingerprints of all their files and folders.
    fingerprints: BTreeMap<PathBuf, Fingerprint>,
    /// The folders named `.git`.
    folders: Vec<PathBuf>,
}

/// A search of a folder.
struct RepositorySearch {
    found: Repositories,
    /// The folders to list, and whether they are in a repository.
    open: Vec<(PathBuf, bool)>,
    entries: usize,
    /// The number of bytes that may still be read.
    left: u64,
    end: Instant,
}

impl Repositories {
    /// Searches a folder for repositories. Symbolic links are not followed.
    pub(super) fn find(root: &Path) -> Result<Self, Unsearched> {
        let found = Self { fingerprints: BTreeMap::new(), folders: Vec::new() };
        let open = vec![(root.to_owned(), is_git(root))];
        let mut search = RepositorySearch { found, open, entries: 0, left: MAX_READ, end: Instant::now() + MAX_TIME };
        while let Some((folder, is_inside)) = search.open.pop() {
            search.list(folder, is_inside)?;
        }
        search.found.folders.sort_by_key(|folder| folder.components().count());
        search.found.folders.truncate(MAX_FOLDERS);
        Ok(search.found)
    }

    /// Returns the folders named `.git`, in the order of their depth.
    pub(super) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Describes the differences of a later search, relative to the root; `None` if there is no difference.
    pub(super) fn changes(&self, after: &Self, root: &Path) -> Option<String> {
        let paths: BTreeSet<_> = self.fingerprints.keys().chain(after.fingerprints.keys()).collect();
        let mut changes = Vec::new();
        let mut listed: Option<&Path> = None;
        for path in paths {
            let verb = match (self.fingerprints.get(path), after.fingerprints.get(path)) {
                (Some(before), Some(after)) if before == after => continue,
                (_, Some(Fingerprint::Unreadable)) => "made unreadable",
                (Some(_), Some(_)) => "changed",
                (None, _) => "created",
                (_, None) => "removed or moved",
            };
            // The entries of a new or removed folder need not be listed.
            if listed.is_some_and(|folder| path.starts_with(folder)) {
                continue;
            }
            listed = (verb != "changed").then_some(path);
            changes.push((verb, path.strip_prefix(root).unwrap_or(path)));
        }
        // Changes that start programs come first, before the omitted ones.
        changes.sort_by_key(|(_, path)| !starts_programs(path));
        let mut text = String::new();
        for (verb, path) in changes.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {verb}: `{}`", printable_line(&path.to_string_lossy()));
        }
        let more = changes.len().saturating_sub(MAX_SHOWN);
        if more > 0 {
            let starting = changes[MAX_SHOWN..].iter().filter(|(_, path)| starts_programs(path)).count();
            let _ = writeln!(text, "  and {more} more, {starting} of them hooks, configuration or repositories");
        }
        (!changes.is_empty()).then(|| text.trim_end().to_owned())
    }
}

impl RepositorySearch {
    fn list(&mut self, folder: PathBuf, is_inside: bool) -> Result<(), Unsearched> {
        let entries = match fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) => return self.unreadable(folder),
        };
        self.entries += entries.len();
        if self.entries > MAX_ENTRIES || Instant::now() > self.end {
            return Err(Unsearched::TooManyEntries);
        }
        let is_bare = !is_inside && is_bare(&entries);
        for entry in entries {
            let path = entry.path();
            let is_named = is_git(&path);
            let is_folder = match entry.file_type() {
                Ok(kind) => kind.is_dir(),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(_) => {
                    self.unreadable(path)?;
                    continue;
                }
            };
            let is_starting = is_bare && STARTING.iter().any(|name| entry.file_name() == *name);
            let is_compared = is_inside || is_named || is_starting;
            if is_compared {
                self.add(&path)?;
            }
            if is_folder {
                if is_named && !is_inside {
                    self.found.folders.push(path.clone());
                }
                self.open.push((path, is_compared));
            }
        }
        if is_bare {
            self.add(&folder)?;
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) -> Result<(), Unsearched> {
        let facts = match fs::symlink_metadata(path) {
            Ok(facts) => facts,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(_) => return self.unreadable(path.to_owned()),
        };
        let fingerprint = Fingerprint::new(path, &facts, starts_programs(path)).ok_or(Unsearched::TooLarge)?;
        self.left = self.left.checked_sub(fingerprint.bytes_read()).ok_or(Unsearched::TooLarge)?;
        self.found.fingerprints.insert(path.to_owned(), fingerprint);
        Ok(())
    }

    /// Marks an unreadable path; fails if a command could make it readable, change it, and hide it again.
    fn unreadable(&mut self, path: PathBuf) -> Result<(), Unsearched> {
        if fingerprint::is_own(&path) {
            return Err(Unsearched::Unreadable(path));
        }
        self.found.fingerprints.insert(path, Fingerprint::Unreadable);
        Ok(())
    }
}

/// Returns whether a path has the name of a repository's folder, on any file system.
fn is_git(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

/// Returns whether git starts programs because of a file, or searches such files in it.
fn starts_programs(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    is_git(path) || name.starts_with("config") || path.parent().is_some_and(|folder| folder.ends_with("hooks"))
}

/// Returns whether a folder is a repository without `.git`: see `is_git_directory` of git.
fn is_bare(entries: &[DirEntry]) -> bool {
    let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}
