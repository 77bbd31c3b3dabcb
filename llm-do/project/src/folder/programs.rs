//! The programs in the folder of a project, and the targets of its links outside, with their digests.

mod kind;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use llm_do_core::base::open_file::read_only;
use walkdir::{DirEntry, WalkDir};

use self::kind::is_program;
use super::{Folder, digest_key, open_file};
use crate::digest::{Digest, Digests};

/// The maximum number of programs that one search compares.
const MAX_FILES: usize = 50_000;
/// The maximum size of all compared programs, in bytes.
const MAX_BYTES: u64 = 512 << 20;
/// The maximum number of files and folders that are searched for programs.
const MAX_ENTRIES: usize = 200_000;
const MAX_LINKS: usize = 40;
/// Folders whose files depend on the process that opens them.
const OF_PROCESSES: [&str; 2] = ["/proc", "/dev"];
/// A file that is always empty, to which a link may replace another file.
const EMPTY: &str = "/dev/null";
/// The folder of a `git` repository: only `git` runs its hooks, and only `git` changes its files.
const REPOSITORY: &str = ".git";

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FoundPrograms {
    /// The programs.
    pub(crate) digests: Digests,
    /// The files and folders that could not be compared, each with the reason.
    pub(crate) uncompared: BTreeMap<String, String>,
    /// The limit that ended the search; then no program was compared.
    pub(crate) limit: Option<String>,
}

/// The compared programs.
#[derive(Debug, Default)]
pub(super) struct Programs {
    digests: Digests,
    /// The result of each search, by its folder and its named file.
    found: BTreeMap<(PathBuf, Option<PathBuf>), Arc<FoundPrograms>>,
    /// The number of searched files and folders.
    entries: usize,
    /// The size of the programs, in bytes.
    bytes: u64,
}

impl Programs {
    pub(super) fn digests(&self) -> Digests {
        self.digests.clone()
    }
}

impl Folder {
    /// Returns the absolute path of the target of a path from the root, without symbolic links.
    ///
    /// # Errors
    ///
    /// Returns an error for a missing file, and for a link whose target depends on the process that follows it.
    pub(crate) fn resolved(&self, path: &Path) -> io::Result<PathBuf> {
        let mut found = self.canonical.clone();
        let mut rest = reversed(path.strip_prefix(&self.canonical).unwrap_or(path));
        let mut links = 0;
        while let Some(part) = rest.pop() {
            if part == ".." {
                found.pop();
                continue;
            }
            found.push(part);
            if OF_PROCESSES.iter().any(|folder| found == Path::new(folder)) {
                return Err(io::Error::other(format!("it leads to `{}`: name the file itself", found.display())));
            }
            if found.parent().is_some() && found.symlink_metadata()?.is_symlink() {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::new(io::ErrorKind::NotFound, "too many links"));
                }
                let target = found.read_link()?;
                found.pop();
                rest.extend(reversed(&target));
            }
        }
        Ok(found)
    }

    /// Returns whether a path without symbolic links is in the folder.
    pub(crate) fn contains(&self, resolved: &Path) -> bool {
        resolved.starts_with(&self.canonical)
    }

    /// Returns whether a word is the path of a program of the project.
    pub(crate) fn has_program(&self, word: &str) -> bool {
        let path = self.resolved(Path::new(word));
        path.is_ok_and(|path| self.contains(&path) && path.is_file() && is_program(&path))
    }

    /// Returns a path without symbolic links as a key of digests.
    pub(crate) fn key_of(&self, path: &Path) -> String {
        digest_key(path.strip_prefix(&self.canonical).unwrap_or(path))
    }

    /// Returns the programs below a folder, the targets of links in it, and a named file. The folder is given by its
    /// path without symbolic links.
    pub(crate) fn programs_below(&self, folder: &Path, named: Option<&Path>) -> Arc<FoundPrograms> {
        let key = (folder.to_owned(), named.map(Path::to_owned));
        let known = self.programs.borrow().found.get(&key).cloned();
        known.unwrap_or_else(|| {
            let mut search = ProgramSearch {
                folder: self,
                files: named.map(Path::to_owned).into_iter().collect(),
                uncompared: BTreeMap::new(),
            };
            let found = search.walk(folder).and_then(|()| search.compared());
            let found = Arc::new(
                found.unwrap_or_else(|limit| FoundPrograms { limit: Some(limit), ..FoundPrograms::default() }),
            );
            self.programs.borrow_mut().found.insert(key, Arc::clone(&found));
            found
        })
    }

    /// Returns the digest of a file, given by its path without symbolic links; an error for an unreadable file.
    fn digest_of(&self, path: &Path) -> io::Result<Digest> {
        let key = self.key_of(path);
        let mut programs = self.programs.borrow_mut();
        if let Some(digest) = programs.digests.get(&key) {
            return Ok(digest.clone());
        }
        let file = match path.strip_prefix(&self.canonical) {
            Ok(inside) => open_file(&self.dir, inside)?.into_std(),
            Err(_) => read_only(path)?,
        };
        let (size, left) = (file.metadata()?.len(), MAX_BYTES - programs.bytes);
        if size > left {
            return Err(io::Error::other("it has grown meanwhile"));
        }
        let digest = Digest::of_reader(file.take(size))?;
        programs.bytes += size;
        programs.digests.insert(key, digest.clone());
        Ok(digest)
    }
}

/// A search for programs.
struct ProgramSearch<'a> {
    folder: &'a Folder,
    /// The paths of the programs, without symbolic links.
    files: BTreeSet<PathBuf>,
    uncompared: BTreeMap<String, String>,
}

/// The description of a limit that ends a search.
type Limit = String;

impl ProgramSearch<'_> {
    /// Finds the programs below a folder, and the targets of links in it.
    fn walk(&mut self, folder: &Path) -> Result<(), Limit> {
        let (mut open, mut seen) = (vec![folder.to_owned()], HashSet::new());
        while let Some(next) = open.pop() {
            if next.ancestors().any(|above| seen.contains(above)) {
                continue;
            }
            for entry in WalkDir::new(&next).into_iter().filter_entry(is_searched) {
                self.count_entry(folder)?;
                match entry {
                    Ok(entry) if entry.path_is_symlink() => open.extend(self.linked(entry.path())),
                    Ok(entry) if entry.file_type().is_file() && is_program(entry.path()) => {
                        self.files.insert(entry.into_path());
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                        self.leave_out(error.path().unwrap_or(&next), reason);
                    }
                }
            }
            seen.insert(next);
        }
        Ok(())
    }

    fn count_entry(&self, folder: &Path) -> Result<(), Limit> {
        let mut programs = self.folder.programs.borrow_mut();
        programs.entries += 1;
        let reason = if programs.entries > MAX_ENTRIES {
            format!("has more files and folders than are searched for programs: the limit is {MAX_ENTRIES}")
        } else if self.files.len() > MAX_FILES {
            format!("has more programs than are compared: the limit is {MAX_FILES}")
        } else {
            return Ok(());
        };
        match self.folder.key_of(folder) {
            root if root.is_empty() => Err(format!("the project {reason}")),
            key => Err(format!("`{key}` {reason}")),
        }
    }

    /// Adds the program that is the target of a link, or returns the target if it is a folder.
    fn linked(&mut self, link: &Path) -> Option<PathBuf> {
        if link.read_link().is_ok_and(|target| target == Path::new(EMPTY)) {
            return None;
        }
        match self.folder.resolved(link) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.leave_out(link, error.to_string()),
            Ok(target) if target.is_dir() && self.folder.contains(&target) => return Some(target),
            Ok(target) if target.is_dir() => {
                self.leave_out(link, "it is a link to a folder outside of the project's folder");
            }
            Ok(target) => {
                if target.is_file() && (is_program(link) || is_program(&target)) {
                    self.files.insert(target);
                }
            }
        }
        None
    }

    fn leave_out(&mut self, path: &Path, reason: impl Into<String>) {
        self.uncompared.insert(self.folder.key_of(path), reason.into());
    }

    /// Compares the programs that were found, if they are not too large.
    fn compared(self) -> Result<FoundPrograms, Limit> {
        let Self { folder, files, mut uncompared } = self;
        let left = MAX_BYTES - folder.programs.borrow().bytes;
        let is_new = |path: &&PathBuf| !folder.programs.borrow().digests.contains_key(&folder.key_of(path));
        let sizes = files.iter().filter(is_new).filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len());
        if sizes.fold(0, u64::saturating_add) > left {
            return Err(format!("the programs are too large to be compared: the limit is {MAX_BYTES} bytes"));
        }
        let mut digests = Digests::new();
        for path in files {
            let key = folder.key_of(&path);
            match folder.digest_of(&path) {
                Ok(digest) => drop(digests.insert(key, digest)),
                Err(error) => drop(uncompared.insert(key, error.to_string())),
            }
        }
        Ok(FoundPrograms { digests, uncompared, limit: None })
    }
}

/// Returns whether a file or folder is searched for programs.
fn is_searched(entry: &DirEntry) -> bool {
    entry.depth() == 0 || entry.file_name() != REPOSITORY || !entry.file_type().is_dir()
}

/// Returns the parts of a path, in reverse order.
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<_> = parts.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}
