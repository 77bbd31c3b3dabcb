//! The programs in the folder of a project, and those outside that its links lead to, with their digests.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use super::{Folder, digest_key, open_file};
use crate::app::project::digest::{Digest, Digests};
use crate::base::open_file::read_only;

/// The maximum number of programs that are compared.
const MAX_FILES: usize = 50_000;
/// The maximum size of all programs that are compared, in bytes.
const MAX_BYTES: u64 = 512 << 20;
/// The maximum number of files and folders that are searched for programs.
const MAX_ENTRIES: usize = 200_000;
const MAX_LINKS: usize = 40;
/// Folders whose files depend on the process that opens them.
const OF_PROCESSES: [&str; 2] = ["/proc", "/dev"];
const ADVICE: &str = "start the server by a program in a folder of its own";
/// The extensions of programs. Other files are data, which a server may write itself.
const EXTENSIONS: [&str; 50] = [
    "ahk", "awk", "bash", "bat", "c", "cc", "cjs", "clj", "cmd", "cpp", "cs", "cts", "dll", "ex", "exe", "exs", "fish",
    "go", "groovy", "h", "hs", "jar", "java", "jl", "js", "jsx", "kt", "kts", "ksh", "lua", "mjs", "mk", "mts", "node",
    "php", "pl", "ps1", "py", "pyw", "pyz", "rb", "rs", "scala", "sh", "so", "swift", "tcl", "ts", "tsx", "zsh",
];
/// The names of files that programs such as `npm`, `make` or `uv` read without an argument.
const NAMES: [&str; 28] = [
    ".env",
    ".envrc",
    ".npmrc",
    ".python-version",
    "Cargo.toml",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Pipfile",
    "Procfile",
    "Rakefile",
    "Taskfile.yaml",
    "Taskfile.yml",
    "compose.yaml",
    "compose.yml",
    "deno.json",
    "deno.jsonc",
    "docker-compose.yaml",
    "docker-compose.yml",
    "go.mod",
    "justfile",
    "makefile",
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "uv.toml",
];

/// The programs that were compared.
#[derive(Debug, Default)]
pub(super) struct Programs {
    digests: Digests,
    /// The programs below each folder that was searched.
    below: BTreeMap<PathBuf, Arc<Digests>>,
    /// The number of files and folders that were searched.
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
    /// Returns the absolute path of what a path from the root leads to, without links.
    ///
    /// # Errors
    ///
    /// Returns an error for what is missing, and for a link whose target depends on the process that follows it.
    pub(in crate::app::project) fn resolved(&self, path: &Path) -> io::Result<PathBuf> {
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

    /// Returns whether a path without links is in the folder.
    pub(in crate::app::project) fn contains(&self, resolved: &Path) -> bool {
        resolved.starts_with(&self.canonical)
    }

    /// Returns the key and the digest of a file, given by its path without links.
    ///
    /// # Errors
    ///
    /// Returns the file that cannot be compared, and why.
    pub(in crate::app::project) fn program(&self, path: &Path) -> Result<(String, Digest), String> {
        let inside = path.strip_prefix(&self.canonical).ok();
        let key = digest_key(inside.unwrap_or(path));
        let mut programs = self.programs.borrow_mut();
        if let Some(digest) = programs.digests.get(&key) {
            return Ok((key, digest.clone()));
        }
        if programs.digests.len() >= MAX_FILES {
            return Err(format!("`{key}`: more programs than are compared: the limit is {MAX_FILES}; {ADVICE}"));
        }
        let opened = match inside {
            Some(inside) => open_file(&self.dir, inside).map(cap_std::fs::File::into_std),
            None => read_only(path),
        };
        let compared = opened.and_then(|file| {
            let (size, left) = (file.metadata()?.len(), MAX_BYTES - programs.bytes);
            if size > left {
                let text =
                    format!("the programs are too large to be compared: the limit is {MAX_BYTES} bytes; {ADVICE}");
                return Err(io::Error::other(text));
            }
            Ok((Digest::of_reader(file.take(left))?, size))
        });
        let (digest, size) = compared.map_err(|error| format!("`{key}`: {error}"))?;
        programs.bytes += size;
        programs.digests.insert(key.clone(), digest.clone());
        Ok((key, digest))
    }

    /// Returns the programs below a folder, given by its path without links, and those that links in it lead to.
    ///
    /// # Errors
    ///
    /// Returns the file that cannot be compared, and why.
    pub(in crate::app::project) fn programs_below(&self, folder: &Path) -> Result<Arc<Digests>, String> {
        let known = self.programs.borrow().below.get(folder).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let mut found = Digests::new();
        let (mut open, mut seen) = (vec![folder.to_owned()], HashSet::new());
        while let Some(next) = open.pop() {
            if next.ancestors().any(|above| seen.contains(above)) {
                continue;
            }
            for entry in WalkDir::new(&next) {
                self.count_entry(&next)?;
                let entry = entry.map_err(|error| format!("cannot be compared: {error}"))?;
                if entry.path_is_symlink() {
                    open.extend(self.linked(entry.path(), &mut found)?);
                } else if entry.file_type().is_file() && is_program(entry.path()) {
                    found.extend([self.program(entry.path())?]);
                }
            }
            seen.insert(next);
        }
        let found = Arc::new(found);
        self.programs.borrow_mut().below.insert(folder.to_owned(), Arc::clone(&found));
        Ok(found)
    }

    fn count_entry(&self, folder: &Path) -> Result<(), String> {
        let mut programs = self.programs.borrow_mut();
        programs.entries += 1;
        if programs.entries <= MAX_ENTRIES {
            return Ok(());
        }
        let folder = folder.strip_prefix(&self.canonical).unwrap_or(folder);
        let text = "has more files and folders than are searched for programs";
        Err(format!("`{}` {text}: the limit is {MAX_ENTRIES}; {ADVICE}", digest_key(folder)))
    }

    /// Adds a program that a link leads to, or returns the folder that it leads to.
    fn linked(&self, link: &Path, found: &mut Digests) -> Result<Option<PathBuf>, String> {
        let named = |error| format!("`{}`: {error}", digest_key(link.strip_prefix(&self.canonical).unwrap_or(link)));
        let target = match self.resolved(link) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            target => target.map_err(|error| named(error.to_string()))?,
        };
        if target.is_dir() {
            let is_inside = self.contains(&target);
            let outside = || named(format!("it is a link to a folder outside of the project's folder; {ADVICE}"));
            return is_inside.then_some(Some(target)).ok_or_else(outside);
        }
        if target.is_file() && (is_program(link) || is_program(&target)) {
            found.extend([self.program(&target)?]);
        }
        Ok(None)
    }
}

/// Returns the parts of a path, the last one first.
fn reversed(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<_> = parts.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

/// Returns whether a file is a program, by its name or its permissions.
fn is_program(path: &Path) -> bool {
    let has_ending = path.extension().is_some_and(|end| EXTENSIONS.iter().any(|known| end.eq_ignore_ascii_case(known)));
    let has_name = path.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
    has_ending || has_name || is_executable(path)
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}
